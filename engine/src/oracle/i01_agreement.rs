//! I1, agreement: at every op that two replicas executed stands the same entry (Viewstamped
//! Replication Revisited, section 4; scenarios section C). Executions are compared as they happen, so
//! a replica that boots and executes anew is walked again. Against entries that change after they
//! were executed, every move of a commit point is compared with the log itself, and one more op a
//! tick in rotation. No exceptions. Must never know who is right.

use super::canon::{Canon, Record};
use super::patrol::Patrol;
use super::view::{Logs, MemberView};
use super::violation::{Property, Replicas, Report};
use crate::ids::{Checksum, Op, ReplicaId};
use crate::vsr::message::Header;

/// Compares one execution with the first one at that op; says whether they agree.
pub(super) fn executed(
    record: &Record,
    header: &Header,
    replica: ReplicaId,
    report: &mut Report,
) -> bool {
    report.compared(Property::I1);
    let agree = record.checksum == header.checksum;
    if !agree {
        differ(header.op, header.checksum, replica, record, report);
    }
    agree
}

/// Compares a log with what was executed, where a commit point moved and where the patrol stands.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    patrol: Patrol,
}

impl Agreement {
    /// A commit point moved.
    pub(super) fn moved(member: &MemberView, canon: &Canon, logs: &dyn Logs, report: &mut Report) {
        compare(member, member.commit_min, canon, logs, report);
    }

    /// One op of one replica, in rotation.
    pub(super) fn walk(
        &mut self,
        members: &[MemberView],
        canon: &Canon,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        if let Some((member, op)) = self.patrol.next(members, canon.range().0) {
            compare(member, op, canon, logs, report);
        }
    }
}

fn compare(member: &MemberView, op: Op, canon: &Canon, logs: &dyn Logs, report: &mut Report) {
    let Some(record) = canon.get(op) else {
        return;
    };
    let Some(held) = logs.checksum_at(member.replica, member.group, op) else {
        return;
    };
    report.compared(Property::I1);
    if held != record.checksum {
        differ(op, held, member.replica, record, report);
    }
}

fn differ(op: Op, held: Checksum, replica: ReplicaId, record: &Record, report: &mut Report) {
    let others = record.executed_by.without(Replicas::one(replica));
    let text = if others.is_empty() {
        format!(
            "{replica} executed {} at op {op} and now has {held} there",
            record.checksum
        )
    } else {
        format!(
            "{replica} has {held} at op {op}, where {others} executed {}",
            record.checksum
        )
    };
    report.violated(Property::I1, Some(op), others.with(replica), text);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, chain, fork};
    use super::*;

    #[test]
    fn the_same_entries_everywhere_agree() {
        let mut world = World::new(3);
        world.execute_everywhere(5);
        world.tick();
        assert_eq!(world.found(Property::I1), 0);
        assert!(world.compared(Property::I1) >= 10);
        assert_eq!(world.oracles.ops_compared(), 5);
    }

    #[test]
    fn another_entry_at_an_executed_op_is_a_violation() {
        let mut world = World::new(3);
        world.execute(0, &chain(1)[0], 1);
        world.execute(1, &fork(&chain(1)[0]), 1);
        let found = &world.kept()[0];
        assert_eq!(found.property, Property::I1);
        assert_eq!(found.op, Some(Op(1)));
        assert_eq!(found.replicas, [0, 1].map(ReplicaId).into_iter().collect());
        assert!(found.text.contains("where 0 executed"), "{}", found.text);
    }

    #[test]
    fn an_entry_that_changes_after_it_was_executed_is_found_by_the_patrol() {
        let mut world = World::new(3);
        world.execute_everywhere(4);
        world.tick();
        world.logs.put(2, &fork(&chain(2)[1]));
        for _ in 0..20 {
            world.tick();
        }
        assert!(world.found(Property::I1) > 0);
        assert_eq!(world.kept()[0].op, Some(Op(2)));
    }

    #[test]
    fn a_replica_that_boots_is_walked_again() {
        let mut world = World::new(3);
        world.execute_everywhere(2);
        world.restart(2);
        world.execute(2, &fork(&chain(1)[0]), 1);
        assert_eq!(world.found(Property::I1), 1);
    }
}
