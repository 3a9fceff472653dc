//! The one history of a group: what was first executed at each op. Agreement, hash chain, exactly
//! once and digest equality compare against it. Must never know who is right when two differ.

use std::collections::VecDeque;

use super::violation::Replicas;
use crate::digest::mix;
use crate::ids::{Checksum, GroupId, Op, ReplicaId};
use crate::vsr::message::Header;

/// A jump further ahead than any journal is a broken replica, not a gap to reserve memory for.
const GAP_MAX: u64 = 1 << 17;

/// What was executed at one op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Identity of the entry.
    pub(super) checksum: Checksum,
    /// Digest of the state after it.
    pub(super) digest: Checksum,
    /// When its primary took it in, by its own clock.
    pub(super) timestamp_micros: u64,
    /// Who executed it so; nobody where the op was jumped over.
    pub(super) executed_by: Replicas,
}

/// The history, kept from `base` on and folded into one checksum below.
#[derive(Debug)]
pub(super) struct Canon {
    root: Checksum,
    base: Op,
    records: VecDeque<Record>,
    folded: Checksum,
    shared: u64,
}

impl Canon {
    pub(super) fn new(group: GroupId) -> Self {
        Self {
            root: Header::root(group).checksum,
            base: Op(1),
            records: VecDeque::new(),
            folded: Checksum(0),
            shared: 0,
        }
    }

    fn place(&self, op: Op) -> Option<usize> {
        usize::try_from(op.0.checked_sub(self.base.0)?).ok()
    }

    /// The record of an op that somebody executed and that is not folded yet.
    pub(super) fn get(&self, op: Op) -> Option<&Record> {
        self.records
            .get(self.place(op)?)
            .filter(|record| !record.executed_by.is_empty())
    }

    /// Identity at an op; the root's at 0.
    pub(super) fn checksum(&self, op: Op) -> Option<Checksum> {
        if op == Op(0) {
            return Some(self.root);
        }
        self.get(op).map(|record| record.checksum)
    }

    /// Whether an op lies below what is kept.
    pub(super) fn is_folded(&self, op: Op) -> bool {
        op < self.base
    }

    /// The lowest op kept and the last op executed.
    pub(super) fn range(&self) -> (Op, Op) {
        (self.base, Op(self.base.0 + self.records.len() as u64 - 1))
    }

    /// Writes down the first execution of an op.
    pub(super) fn append(&mut self, header: &Header, digest: Checksum, replica: ReplicaId) {
        let (_, last) = self.range();
        if self.is_folded(header.op) || header.op.0 > last.0 + GAP_MAX {
            return;
        }
        while self.range().1 < header.op {
            self.records.push_back(Record::default());
        }
        if let Some(place) = self.place(header.op) {
            self.records[place] = Record {
                checksum: header.checksum,
                digest,
                timestamp_micros: header.timestamp_micros,
                executed_by: Replicas::one(replica),
            };
        }
    }

    /// Writes down that one more replica executed an op in the same way.
    pub(super) fn confirm(&mut self, op: Op, replica: ReplicaId) {
        let Some(record) = self.place(op).and_then(|place| self.records.get_mut(place)) else {
            return;
        };
        if record.executed_by.count() == 1 && !record.executed_by.contains(replica) {
            self.shared += 1;
        }
        record.executed_by = record.executed_by.with(replica);
    }

    /// Ops executed alike by two replicas or more.
    pub(super) fn shared(&self) -> u64 {
        self.shared
    }

    /// Forgets the ops above `op`: the group lost them, as it may. Whether there were any.
    pub(super) fn cut_above(&mut self, op: Op) -> bool {
        let (_, last) = self.range();
        let kept = usize::try_from((op.0 + 1).saturating_sub(self.base.0)).unwrap_or(usize::MAX);
        self.records.truncate(kept);
        last > op
    }

    /// Forgets the ops below `op`, but for a checksum over all of them.
    pub(super) fn fold_below(&mut self, op: Op) {
        while self.base < op {
            let Some(record) = self.records.pop_front() else {
                return;
            };
            self.folded = Checksum(mix(self.folded.0, record.checksum.0));
            self.base = self.base.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{GROUP, chain};
    use super::*;

    #[test]
    fn folding_forgets_records_and_keeps_a_checksum_over_them() {
        let mut canon = Canon::new(GROUP);
        for header in chain(9) {
            canon.append(&header, Checksum(header.op.0), ReplicaId(0));
        }
        canon.fold_below(Op(5));
        assert_eq!(canon.range(), (Op(5), Op(9)));
        assert!(canon.get(Op(4)).is_none());
        assert_eq!(
            canon.get(Op(5)).map(|record| record.digest),
            Some(Checksum(5))
        );
        let folded = canon.folded;
        canon.fold_below(Op(6));
        assert_ne!(canon.folded, folded);
    }

    #[test]
    fn an_op_counts_as_shared_once_however_many_execute_it() {
        let mut canon = Canon::new(GROUP);
        canon.append(&chain(1)[0], Checksum(1), ReplicaId(0));
        for replica in [0, 1, 1, 2, 0] {
            canon.confirm(Op(1), ReplicaId(replica));
        }
        assert_eq!(canon.shared(), 1);
    }

    #[test]
    fn a_wild_op_number_reserves_no_memory() {
        let mut canon = Canon::new(GROUP);
        let mut header = chain(1)[0].clone();
        header.op = Op(u64::MAX - 1);
        canon.append(&header, Checksum(0), ReplicaId(0));
        assert_eq!(canon.records.len(), 0);
    }
}
