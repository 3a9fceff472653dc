//! I18, storage sanity: in an idle journal, what a replica holds in memory is what its disk would give
//! back (scenarios section C; TigerBeetle's storage checker). One op of one replica a tick, round and
//! round, and all of them once the cluster has come to rest. Must never know how a disk is laid out.
//!
//! Exceptions. A replica with writes under way, or one that does not run, is not idle. Up to the
//! checkpoint slots may be used again. What the simulator did to the disk, rot, torn and misdirected
//! writes, lies that a crash uncovered, is no fault of the replica, until it journaled the op again. The
//! other way round more may stand on the disk than memory knows: what a newer log dropped stays there
//! until its slot is used again.

use super::faults::Faults;
use super::view::{Logs, MemberView};
use super::violation::{Property, Replicas, Report};
use crate::ids::Op;

/// Where the walk stands.
#[derive(Debug, Default)]
pub(super) struct SaneStorage {
    member: usize,
    op: Op,
    told: Replicas,
}

impl SaneStorage {
    /// One op of one replica.
    pub(super) fn walk(
        &mut self,
        members: &[MemberView],
        faults: &Faults,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        let Some(member) = members.get(self.member) else {
            self.member = 0;
            return;
        };
        let op = self.op.next().max(member.checkpoint.next());
        if is_idle(member) && op <= member.head {
            self.op = op;
            self.compare(member, op, faults, logs, report);
        } else {
            self.op = Op(0);
            self.member = (self.member + 1) % members.len();
        }
    }

    /// Everything, once.
    pub(super) fn at_rest(
        &mut self,
        members: &[MemberView],
        faults: &Faults,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        for member in members.iter().filter(|member| is_idle(member)) {
            for op in (member.checkpoint.0 + 1..=member.head.0).map(Op) {
                self.compare(member, op, faults, logs, report);
            }
        }
    }

    fn compare(
        &mut self,
        member: &MemberView,
        op: Op,
        faults: &Faults,
        logs: &dyn Logs,
        report: &mut Report,
    ) {
        let (replica, group) = (member.replica, member.group);
        let Some(held) = logs.checksum_at(replica, group, op) else {
            return;
        };
        report.compared(Property::I18);
        let stored = logs.stored_checksum(replica, group, op);
        if stored == Some(held) || faults.contains(replica, op) || self.told.contains(replica) {
            return;
        }
        // One finding a replica: where its journal is wrong, much of it is.
        self.told = self.told.with(replica);
        let stands = stored.map_or("nothing".to_owned(), |other| other.to_string());
        report.violated(
            Property::I18,
            Some(op),
            Replicas::one(replica),
            format!(
                "{replica} holds op {op} as {held} and writes nothing, and {stands} is on its disk there"
            ),
        );
    }
}

fn is_idle(member: &MemberView) -> bool {
    member.up && !member.paused && member.writes_pending == 0
}

#[cfg(test)]
mod tests {
    use super::super::testing::{GROUP, World, chain, fork};
    use super::*;
    use crate::ids::ReplicaId;

    fn walk(world: &mut World) {
        for _ in 0..60 {
            world.tick();
        }
    }

    #[test]
    fn memory_and_disk_that_agree_hold() {
        let mut world = World::new(3);
        world.execute_everywhere(5);
        walk(&mut world);
        assert_eq!(world.found(Property::I18), 0);
        assert!(world.compared(Property::I18) >= 15);
    }

    #[test]
    fn an_entry_that_is_not_on_disk_or_is_another_there_is_found_once() {
        for other in [None, Some(fork(&chain(3)[2]))] {
            let mut world = World::new(3);
            world.execute_everywhere(5);
            world
                .logs
                .stored(1, Op(3), other.map(|header| header.checksum));
            walk(&mut world);
            assert_eq!(world.found(Property::I18), 1);
            assert_eq!(world.kept()[0].op, Some(Op(3)));
            walk(&mut world);
            assert_eq!(world.found(Property::I18), 1);
        }
    }

    #[test]
    fn all_is_looked_at_once_the_cluster_is_at_rest() {
        let mut world = World::new(3);
        world.execute_everywhere(5);
        world.logs.stored(2, Op(5), None);
        world.at_rest();
        assert_eq!(world.found(Property::I18), 1);
        assert_eq!(world.compared(Property::I18), 15);
    }

    #[test]
    fn writes_under_way_checkpoints_and_recorded_faults_are_excuses() {
        type Change = fn(&mut World);
        let excuses: [Change; 5] = [
            |world| world.members[1].writes_pending = 1,
            |world| world.members[1].paused = true,
            |world| world.members[1].up = false,
            |world| world.members[1].checkpoint = Op(3),
            |world| world.oracles.fault(ReplicaId(1), GROUP, Op(3)),
        ];
        for excuse in excuses {
            let mut world = World::new(3);
            world.execute_everywhere(5);
            world.logs.stored(1, Op(3), None);
            excuse(&mut world);
            walk(&mut world);
            assert_eq!(world.found(Property::I18), 0);
        }
    }
}
