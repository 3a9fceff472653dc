//! I10, contiguity: in one life a replica executes every op once and in order, from the checkpoint
//! its state machine was loaded from, and what it executed stays in its log (protocol section 1:
//! held, proven, committed; scenarios section C). Order is checked at every execution, presence for
//! one op a tick in rotation and where a commit point moved. Must never know entries.
//!
//! Exceptions. A state machine that was loaded from a checkpoint goes on after it. Up to its durable
//! checkpoint a replica need not keep bodies: their slots may be used again. A replica whose view's
//! log begins further ahead than its rings reach waits for a state and minds its old entries no
//! more, so that having them on disk is enough (sweep seed 1327). What the simulator did to its disk
//! is no fault of a replica.

use super::faults::Faults;
use super::patrol::Patrol;
use super::view::{Logs, MemberView};
use super::violation::{Property, Replicas, Report};
use crate::ids::{Op, ReplicaId};

/// An execution that did not follow the one before: right only after a checkpoint was loaded.
#[derive(Debug)]
struct Jump {
    replica: ReplicaId,
    before: Option<Op>,
    op: Op,
}

/// What each replica executed last in this life.
#[derive(Debug, Default)]
pub(super) struct NoGaps {
    last: Vec<Option<Op>>,
    jumps: Vec<Jump>,
    patrol: Patrol,
}

impl NoGaps {
    fn last(&mut self, replica: ReplicaId) -> &mut Option<Op> {
        let place = usize::from(replica.0);
        if self.last.len() <= place {
            self.last.resize(place + 1, None);
        }
        &mut self.last[place]
    }

    /// A new life begins.
    pub(super) fn booted(&mut self, replica: ReplicaId) {
        *self.last(replica) = None;
    }

    /// A replica executed an op.
    pub(super) fn executed(&mut self, replica: ReplicaId, op: Op, report: &mut Report) {
        report.compared(Property::I10);
        let last = self.last(replica);
        let before = last.replace(op);
        if before.map(Op::next) != Some(op) {
            self.jumps.push(Jump {
                replica,
                before,
                op,
            });
        }
    }

    /// Judges the jumps of this tick by the checkpoint that the replica was loaded from. A replica
    /// that is down by now took the answer with it.
    pub(super) fn settle(&mut self, members: &[MemberView], report: &mut Report) {
        for jump in self.jumps.drain(..) {
            let member = members
                .iter()
                .find(|member| member.replica == jump.replica && member.up);
            let Some(member) = member else {
                continue;
            };
            if member.restored.next() == jump.op {
                continue;
            }
            let after = jump.before.map_or_else(
                || {
                    format!(
                        "first in this life, loaded from checkpoint {}",
                        member.restored
                    )
                },
                |before| format!("right after op {before}"),
            );
            report.violated(
                Property::I10,
                Some(jump.op),
                Replicas::one(jump.replica),
                format!("{} executed op {} {after}", jump.replica, jump.op),
            );
        }
    }

    /// A commit point moved: what was executed last is there.
    pub(super) fn moved(
        member: &MemberView,
        faults: &Faults,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        if member.up {
            present(member, member.commit_min, faults, logs, report);
        }
    }

    /// One op of one replica, in rotation.
    pub(super) fn walk(
        &mut self,
        members: &[MemberView],
        faults: &Faults,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        if let Some((member, op)) = self.patrol.next(members, Op(1)) {
            present(member, op, faults, logs, report);
        }
    }
}

fn present(member: &MemberView, op: Op, faults: &Faults, logs: &dyn Logs, report: &mut Report) {
    let replica = member.replica;
    if op <= member.checkpoint || op <= member.restored || faults.contains(replica, op) {
        return;
    }
    report.compared(Property::I10);
    let group = member.group;
    let is_there = logs.checksum_at(replica, group, op).is_some()
        || member.needs_state && logs.durable_checksum(replica, group, op).is_some();
    if !is_there {
        report.violated(
            Property::I10,
            Some(op),
            Replicas::one(replica),
            format!(
                "{replica} executed up to op {} and has nothing at op {op}",
                member.commit_min
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{GROUP, World, chain};
    use super::*;

    #[test]
    fn one_op_after_the_other_holds_in_every_life() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.tick();
        world.restart(1);
        world.execute(1, &chain(1)[0], 1);
        world.tick();
        assert_eq!(world.found(Property::I10), 0);
        assert!(world.compared(Property::I10) >= 10);
    }

    #[test]
    fn a_skipped_op_and_a_repeated_op_are_violations() {
        let mut world = World::new(3);
        let headers = chain(3);
        world.execute(0, &headers[0], 1);
        world.execute(0, &headers[2], 3);
        world.execute(0, &headers[2], 3);
        world.tick();
        let texts: Vec<&str> = world.kept().iter().map(|v| v.text.as_str()).collect();
        assert_eq!(
            texts[..2],
            [
                "0 executed op 3 right after op 1",
                "0 executed op 3 right after op 3"
            ]
        );
    }

    #[test]
    fn execution_goes_on_after_a_loaded_checkpoint() {
        let mut world = World::new(3);
        for header in &chain(6) {
            world.execute(0, header, header.op.0);
        }
        world.tick();
        world.restart(1);
        world.members[1].restored = Op(4);
        world.members[1].checkpoint = Op(4);
        world.execute(1, &chain(5)[4], 5);
        world.tick();
        assert_eq!(world.found(Property::I10), 0);
    }

    #[test]
    fn what_the_disk_lost_through_a_recorded_fault_is_excused() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.tick();
        world.logs.remove(1, 2);
        world.oracles.fault(ReplicaId(1), GROUP, Op(2));
        for _ in 0..20 {
            world.tick();
        }
        assert_eq!(world.found(Property::I10), 0);
    }

    #[test]
    fn an_old_entry_on_disk_is_enough_while_a_state_is_awaited() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.tick();
        world.logs.forget(1, 2);
        world.members[1].needs_state = true;
        for _ in 0..20 {
            world.tick();
        }
        assert_eq!(world.found(Property::I10), 0);
        world.members[1].needs_state = false;
        for _ in 0..20 {
            world.tick();
        }
        assert!(world.found(Property::I10) > 0);
    }

    #[test]
    fn an_executed_op_that_vanishes_is_a_violation() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.tick();
        world.logs.remove(1, 2);
        for _ in 0..20 {
            world.tick();
        }
        assert!(world.found(Property::I10) > 0);
        assert_eq!(
            world.kept()[0].text,
            "1 executed up to op 3 and has nothing at op 2"
        );
    }
}
