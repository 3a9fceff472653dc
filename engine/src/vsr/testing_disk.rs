//! The disks of a cluster driven by hand: writes that wait, rings, places for snapshots, power. Must
//! never know what is written.

use std::rc::Rc;

use super::Cluster;
use crate::ids::{Checksum, Op, ReplicaId};
use crate::vsr::io::{Input, Superblock};
use crate::vsr::message::{Message, Prepare};
use crate::vsr::snapshot::Snapshot;

#[derive(Clone, Debug)]
pub(super) enum Write {
    Prepare(Rc<Prepare>),
    Superblock(Rc<Superblock>),
    Snapshot(u32, Rc<Snapshot>),
}

impl Cluster {
    /// Keeps a replica's writes waiting until they are finished by hand.
    pub(crate) fn slow_disk(&mut self, r: u8) {
        self.slow_disks.insert(r);
    }

    /// Finishes everything that waits and goes back to writing at once.
    pub(crate) fn fast_disk(&mut self, r: u8) {
        self.slow_disks.remove(&r);
        self.settle();
    }

    /// Finishes the write waiting longest; whether there was one.
    pub(super) fn write_next(&mut self, r: u8) -> bool {
        let Some(write) = self.node(r).writes.pop_front() else {
            return false;
        };
        self.finish(r, write);
        true
    }

    /// Finishes the waiting superblock.
    pub(crate) fn finish_superblock(&mut self, r: u8) {
        let is_superblock = |write: &Write| matches!(write, Write::Superblock(_));
        self.finish_where(r, is_superblock, "superblock");
    }

    /// Finishes the waiting write of an op, out of turn where need be.
    pub(crate) fn finish_op(&mut self, r: u8, op: u64) {
        let is_op = |write: &Write| match write {
            Write::Prepare(prepare) => prepare.header.op == Op(op),
            Write::Superblock(_) | Write::Snapshot(..) => false,
        };
        self.finish_where(r, is_op, "prepare");
    }

    fn finish_where(&mut self, r: u8, is_it: impl Fn(&Write) -> bool, what: &str) {
        let writes = &mut self.node(r).writes;
        let place = writes.iter().position(is_it);
        let place = place.unwrap_or_else(|| panic!("no {what} waits at {r}"));
        let write = writes.remove(place).unwrap();
        self.finish(r, write);
    }

    fn finish(&mut self, r: u8, write: Write) {
        match write {
            Write::Prepare(prepare) => {
                let (op, checksum) = (prepare.header.op, prepare.header.checksum);
                let slot = self.slot(op.0);
                self.node(r).slots.insert(slot, prepare);
                self.input(r, Input::PrepareSynced { op, checksum });
            }
            Write::Superblock(superblock) => {
                let sequence = superblock.sequence;
                self.node(r).superblock = superblock.as_ref().clone();
                self.input(r, Input::SuperblockSynced { sequence });
            }
            Write::Snapshot(place, snapshot) => {
                let (op, checksum) = (snapshot.op(), snapshot.checksum);
                self.node(r).snapshots.insert(place, snapshot);
                self.input(r, Input::SnapshotSynced { op, checksum });
            }
        }
    }

    /// Puts an entry into a crashed replica's journal, or takes one out.
    pub(crate) fn tamper(&mut self, r: u8, op: u64, entry: Option<Rc<Prepare>>) {
        assert!(!self.is_up(r), "only a disk at rest is tampered with");
        let slot = self.slot(op);
        match entry {
            Some(entry) => self.node(r).slots.insert(slot, entry),
            None => self.node(r).slots.remove(&slot),
        };
    }

    /// Stops a replica; writes under way are lost.
    pub(crate) fn crash(&mut self, r: u8) {
        let node = self.node(r);
        node.replica = None;
        node.writes.clear();
    }

    /// Boots a replica from its disk.
    pub(crate) fn restart(&mut self, r: u8) {
        assert!(!self.is_up(r), "only a crashed replica restarts");
        self.begin(r, true);
    }

    pub(super) fn serve(
        &mut self,
        r: u8,
        to: ReplicaId,
        asked: (Op, Op, Op),
        entries: &[(Op, Checksum)],
    ) {
        let view = self.at(r).view();
        let (from, through, checkpoint) = asked;
        let mut has_first = false;
        for (op, checksum) in entries {
            let slot = self.slot(op.0);
            let found = self.nodes[usize::from(r)].slots.get(&slot).cloned();
            if let Some(prepare) = found.filter(|found| found.header.checksum == *checksum) {
                has_first |= *op == from;
                self.send(r, to, view, Message::RepairPrepare { prepare });
            }
        }
        let done = Message::repair_done(from, through, checkpoint, has_first);
        self.send(r, to, view, done);
    }

    fn slot(&self, op: u64) -> u64 {
        op % u64::from(self.knobs.journal_slots)
    }

    /// What stands in a replica's ring, ascending by op.
    pub(crate) fn ring(&self, r: u8) -> Vec<Rc<Prepare>> {
        let mut prepares: Vec<_> = self.nodes[usize::from(r)].slots.values().cloned().collect();
        prepares.sort_by_key(|prepare| prepare.header.op);
        prepares
    }

    /// The snapshots on a replica's disk, by place.
    pub(crate) fn snapshots(&self, r: u8) -> Vec<(u32, u64)> {
        let snapshots = self.nodes[usize::from(r)].snapshots.iter();
        snapshots
            .map(|(&place, snapshot)| (place, snapshot.op().0))
            .collect()
    }

    /// A snapshot on a replica's disk.
    pub(crate) fn snapshot_of(&self, r: u8, op: u64) -> Option<Rc<Snapshot>> {
        let mut snapshots = self.nodes[usize::from(r)].snapshots.values();
        snapshots.find(|snapshot| snapshot.op() == Op(op)).cloned()
    }

    /// Makes every snapshot of a crashed replica unreadable.
    pub(crate) fn lose_snapshots(&mut self, r: u8) {
        assert!(!self.is_up(r), "only a disk at rest is tampered with");
        self.node(r).snapshots.clear();
    }

    /// What waits to be written, in order.
    pub(crate) fn waiting(&self, r: u8) -> Vec<String> {
        let writes = self.nodes[usize::from(r)].writes.iter();
        let name = |write: &Write| match write {
            Write::Prepare(prepare) => format!("prepare {}", prepare.header.op),
            Write::Superblock(_) => "superblock".to_string(),
            Write::Snapshot(_, snapshot) => format!("snapshot {}", snapshot.op()),
        };
        writes.map(name).collect()
    }

    /// Finishes the waiting snapshot.
    pub(crate) fn finish_snapshot(&mut self, r: u8) {
        let is_snapshot = |write: &Write| matches!(write, Write::Snapshot(..));
        self.finish_where(r, is_snapshot, "snapshot");
    }

    /// Finishes the waiting writes of prepares, in order.
    pub(crate) fn finish_prepares(&mut self, r: u8) {
        let is_prepare = |write: &Write| matches!(write, Write::Prepare(_));
        while self.node(r).writes.iter().any(is_prepare) {
            self.finish_where(r, is_prepare, "prepare");
        }
    }

    /// Finishes one of the waiting writes that may be finished now: no prepare before a superblock
    /// that was asked for earlier, nor before another one of its slot.
    pub(crate) fn finish_any(&mut self, r: u8, pick: u32) {
        let slots = u64::from(self.knobs.journal_slots);
        let writes = &self.nodes[usize::from(r)].writes;
        let may_finish = |&place: &usize| {
            let Write::Prepare(prepare) = &writes[place] else {
                return true;
            };
            let slot = prepare.header.op.0 % slots;
            writes.iter().take(place).all(|earlier| match earlier {
                Write::Superblock(_) => false,
                Write::Prepare(earlier) => earlier.header.op.0 % slots != slot,
                Write::Snapshot(..) => true,
            })
        };
        let ready: Vec<usize> = (0..writes.len()).filter(may_finish).collect();
        if ready.is_empty() {
            return;
        }
        let place = ready[pick as usize % ready.len()];
        let write = self.node(r).writes.remove(place).unwrap();
        self.finish(r, write);
    }
}
