//! I11, ack honesty: after a PrepareOk of an op and identity, that entry is on the replica's disk
//! until a later view replaces it (protocol section 2; scenarios section C). Checked when the replica
//! boots, for what it acknowledged above its last commits. Must never know how the disk is laid out.
//!
//! Exceptions. An entry that the replica dropped, or whose place it gave to another, is promised no
//! more, even if that newer view is not durable yet (TigerBeetle needed both relaxations: pull
//! requests 2654 and 3411); what boot itself cuts is no such drop. Up to the durable checkpoint slots
//! may be used again. What the simulator did to the disk is no fault of the replica.

use std::collections::VecDeque;

use super::faults::Faults;
use super::view::{Logs, MemberView};
use super::violation::{Property, Replicas, Report};
use crate::ids::{Checksum, Op, ReplicaId};

/// Acknowledged ops that are remembered at or below what the replica executed.
const ACKS_KEPT: usize = 64;

/// What a replica acknowledged, ascending in op.
#[derive(Debug, Default)]
struct Acks {
    entries: VecDeque<(Op, Checksum)>,
    executed: Op,
    booting: bool,
    check: bool,
}

/// Acknowledgements by replica.
#[derive(Debug, Default)]
pub(super) struct HonestAcks {
    acks: Vec<Acks>,
    checks: u32,
}

impl HonestAcks {
    fn of(&mut self, replica: ReplicaId) -> &mut Acks {
        let place = usize::from(replica.0);
        if self.acks.len() <= place {
            self.acks.resize_with(place + 1, Acks::default);
        }
        &mut self.acks[place]
    }

    /// A replica acknowledged an entry.
    pub(super) fn acked(&mut self, replica: ReplicaId, op: Op, checksum: Checksum) {
        let acks = self.of(replica);
        match acks.entries.binary_search_by_key(&op, |&(op, _)| op) {
            Ok(place) => acks.entries[place].1 = checksum,
            Err(place) => acks.entries.insert(place, (op, checksum)),
        }
        while acks.entries.len() > ACKS_KEPT
            && acks
                .entries
                .front()
                .is_some_and(|&(op, _)| op <= acks.executed)
        {
            acks.entries.pop_front();
        }
    }

    /// A replica executed an op.
    pub(super) fn executed(&mut self, replica: ReplicaId, op: Op) {
        self.of(replica).executed = op;
    }

    /// A replica gives an op's place to an entry.
    pub(super) fn placed(&mut self, replica: ReplicaId, op: Op, checksum: Checksum) {
        self.forget(replica, op, |acked| acked != checksum);
    }

    /// A replica dropped an entry.
    pub(super) fn dropped(&mut self, replica: ReplicaId, op: Op, checksum: Checksum) {
        if !self.of(replica).booting {
            self.forget(replica, op, |acked| acked == checksum);
        }
    }

    fn forget(&mut self, replica: ReplicaId, op: Op, which: impl Fn(Checksum) -> bool) {
        let acks = self.of(replica);
        if acks.entries.back().is_none_or(|&(last, _)| last < op) {
            return;
        }
        if let Ok(place) = acks.entries.binary_search_by_key(&op, |&(op, _)| op)
            && which(acks.entries[place].1)
        {
            acks.entries.remove(place);
        }
    }

    /// A replica went down or begins to boot.
    pub(super) fn booting(&mut self, replica: ReplicaId) {
        self.of(replica).booting = true;
    }

    /// A replica booted: its disk is looked at when the tick ends.
    pub(super) fn booted(&mut self, replica: ReplicaId) {
        let acks = self.of(replica);
        acks.booting = false;
        acks.executed = Op(0);
        acks.check = true;
        self.checks += 1;
    }

    /// Looks at the disks of those that booted in this tick.
    pub(super) fn settle(
        &mut self,
        members: &[MemberView],
        faults: &Faults,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        if self.checks == 0 {
            return;
        }
        self.checks = 0;
        for member in members {
            let acks = self.of(member.replica);
            if !std::mem::take(&mut acks.check) {
                continue;
            }
            let mut lost = 0;
            acks.entries.retain(|&(op, checksum)| {
                if op <= member.checkpoint {
                    return true;
                }
                report.compared(Property::I11);
                let found = logs.durable_checksum(member.replica, member.group, op);
                if found == Some(checksum) {
                    return true;
                }
                if faults.contains(member.replica, op) {
                    return false;
                }
                lost += 1;
                // What follows the first lost op is seldom another fault.
                if lost == 1 {
                    let what = found.map_or("nothing".to_string(), |other| format!("{other}"));
                    report.violated(
                        Property::I11,
                        Some(op),
                        Replicas::one(member.replica),
                        format!(
                            "{} acknowledged op {op} as {checksum}, and booted with {what} on its disk there",
                            member.replica
                        ),
                    );
                }
                false
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{GROUP, World, chain, fork};
    use super::*;
    use crate::ids::View;
    use crate::vsr::note::Note;

    fn ack(world: &mut World, op: u64) {
        let header = chain(op).pop().expect("a chain of ops has a last");
        world.note(
            1,
            Note::Acked {
                op: header.op,
                checksum: header.checksum,
                to: ReplicaId(0),
            },
        );
    }

    #[test]
    fn an_acknowledged_entry_on_disk_holds() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        for op in 1..=3 {
            ack(&mut world, op);
        }
        world.restart(1);
        world.tick();
        assert_eq!(world.found(Property::I11), 0);
        assert_eq!(world.compared(Property::I11), 3);
    }

    #[test]
    fn an_acknowledged_entry_that_the_disk_lost_is_a_violation() {
        let mut world = World::new(3);
        ack(&mut world, 1);
        world.restart(1);
        world.tick();
        assert_eq!(world.found(Property::I11), 1);
        assert!(world.kept()[0].text.contains("with nothing on its disk"));
    }

    #[test]
    fn a_recorded_fault_excuses_the_replica_until_it_journaled_the_op_again() {
        let mut world = World::new(3);
        let header = chain(1).remove(0);
        ack(&mut world, 1);
        world.oracles.fault(ReplicaId(1), GROUP, Op(1));
        // A duplicate is acknowledged from memory, and promises nothing new of the disk.
        ack(&mut world, 1);
        world.restart(1);
        world.tick();
        assert_eq!(world.found(Property::I11), 0);
        world.note(
            1,
            Note::Journaled {
                op: header.op,
                checksum: header.checksum,
            },
        );
        world.logs.put(1, &header);
        world.tick();
        ack(&mut world, 1);
        world.logs.remove(1, 1);
        world.restart(1);
        world.tick();
        assert_eq!(
            world.found(Property::I11),
            1,
            "this time nobody else did it"
        );
    }

    #[test]
    fn a_lie_of_the_disk_excuses_its_replica() {
        let mut world = World::new(3);
        ack(&mut world, 1);
        world.oracles.disk_lied(ReplicaId(1), GROUP, Op(1));
        world.restart(1);
        world.tick();
        assert_eq!(world.found(Property::I11), 0);
    }

    #[test]
    fn a_dropped_or_replaced_entry_is_promised_no_more() {
        let mut world = World::new(3);
        ack(&mut world, 1);
        ack(&mut world, 2);
        let headers = chain(2);
        world.note(
            1,
            Note::EntryDropped {
                op: Op(1),
                checksum: headers[0].checksum,
                view: View(0),
            },
        );
        world.note(
            1,
            Note::Appended {
                op: Op(2),
                checksum: fork(&headers[1]).checksum,
            },
        );
        world.restart(1);
        world.tick();
        assert_eq!(world.found(Property::I11), 0);
    }

    #[test]
    fn what_boot_cuts_was_promised_all_the_same() {
        let mut world = World::new(3);
        ack(&mut world, 1);
        world.crash(1);
        world.note(
            1,
            Note::EntryDropped {
                op: Op(1),
                checksum: chain(1)[0].checksum,
                view: View(0),
            },
        );
        world.boot(1);
        world.tick();
        assert_eq!(world.found(Property::I11), 1);
    }

    #[test]
    fn the_window_is_bounded_below_what_is_executed_and_open_above() {
        let mut acks = HonestAcks::default();
        for op in 1..=500 {
            acks.acked(ReplicaId(0), Op(op), Checksum(op));
        }
        assert_eq!(acks.acks[0].entries.len(), 500);
        acks.executed(ReplicaId(0), Op(500));
        acks.acked(ReplicaId(0), Op(501), Checksum(501));
        assert_eq!(acks.acks[0].entries.len(), ACKS_KEPT);
    }
}
