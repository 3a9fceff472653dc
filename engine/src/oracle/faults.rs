//! What the simulator did to disks: the entries that a replica can no longer be expected to have on
//! its disk, through no fault of its own. Must never know an entry, only its op.
//!
//! A fault is over once the replica journaled the op again and its disk holds it at the end of the
//! tick: damage may hit between a write and the note of it.

use std::collections::BTreeMap;

use super::view::{Logs, MemberView};
use crate::ids::{Op, ReplicaId};

/// Faults of one replica that are remembered, the highest ops: many more than acknowledged ops are.
const FAULTS_KEPT: usize = 1_024;

/// Faults by replica and op, each with whether the op was journaled since.
#[derive(Debug, Default)]
pub(super) struct Faults {
    by_replica: Vec<BTreeMap<Op, bool>>,
    journaled: u32,
}

impl Faults {
    /// A replica's disk lost an op, or cannot read it.
    pub(super) fn hit(&mut self, replica: ReplicaId, op: Op) {
        let place = usize::from(replica.0);
        if self.by_replica.len() <= place {
            self.by_replica.resize_with(place + 1, BTreeMap::new);
        }
        let faults = &mut self.by_replica[place];
        faults.insert(op, false);
        if faults.len() > FAULTS_KEPT {
            faults.pop_first();
        }
    }

    /// Whether a fault of this op stands.
    pub(super) fn contains(&self, replica: ReplicaId, op: Op) -> bool {
        let faults = self.by_replica.get(usize::from(replica.0));
        faults.is_some_and(|faults| faults.contains_key(&op))
    }

    /// A replica journaled an op.
    pub(super) fn journaled(&mut self, replica: ReplicaId, op: Op) {
        let faults = self.by_replica.get_mut(usize::from(replica.0));
        if let Some(journaled) = faults.and_then(|faults| faults.get_mut(&op)) {
            *journaled = true;
            self.journaled += 1;
        }
    }

    /// Looks at the disks for what was journaled again in this tick.
    pub(super) fn settle(&mut self, members: &[MemberView], logs: &dyn Logs) {
        if self.journaled == 0 {
            return;
        }
        self.journaled = 0;
        for member in members {
            let Some(faults) = self.by_replica.get_mut(usize::from(member.replica.0)) else {
                continue;
            };
            faults.retain(|&op, journaled| {
                let is_whole = std::mem::take(journaled)
                    && logs
                        .durable_checksum(member.replica, member.group, op)
                        .is_some();
                !is_whole
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeLogs, World, chain};
    use super::*;

    const ONE: ReplicaId = ReplicaId(1);

    #[test]
    fn a_fault_is_over_once_the_disk_holds_the_op_again() {
        let world = World::new(3);
        let mut logs = FakeLogs::default();
        let mut faults = Faults::default();
        faults.hit(ONE, Op(2));
        faults.settle(&world.members, &logs);
        assert!(faults.contains(ONE, Op(2)));
        // Journaled, and damaged before the tick was over.
        faults.journaled(ONE, Op(2));
        faults.settle(&world.members, &logs);
        assert!(faults.contains(ONE, Op(2)));
        logs.put(1, &chain(2)[1]);
        faults.settle(&world.members, &logs);
        assert!(faults.contains(ONE, Op(2)), "nobody journaled it");
        faults.journaled(ONE, Op(2));
        faults.settle(&world.members, &logs);
        assert!(!faults.contains(ONE, Op(2)));
    }

    #[test]
    fn only_so_many_faults_are_remembered() {
        let mut faults = Faults::default();
        for op in 1..=5_000 {
            faults.hit(ONE, Op(op));
        }
        assert_eq!(faults.by_replica[1].len(), FAULTS_KEPT);
        assert!(faults.contains(ONE, Op(5_000)));
        assert!(!faults.contains(ReplicaId(0), Op(5_000)));
    }
}
