//! What a page may see of one replica's disk: its troubles, its two rings slot by slot, the copies of
//! its superblock, and which ops of a log it could not give back. Must never change anything, nor be
//! asked by a replica.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::ids::{Checksum, GroupId, Incarnation, Op, ReplicaId, View};
use crate::journal::{self, Block, COPIES, Sector, Zone};
use crate::run::Session;
use crate::sim::Simulator;
use crate::vsr::io::SNAPSHOT_PLACES;

/// Slots that a view of the rings lists at most; rings of ordinary size are far below.
const SLOTS_SHOWN: usize = 1_024;

const RINGS: [Zone; 2] = [Zone::Prepares, Zone::Headers];

/// What is wrong with a disk, and what it is doing.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct Troubles {
    pub lies: bool,
    /// The next crash tears what is being written.
    pub tears: bool,
    pub slow_factor: u32,
    /// Operations under way.
    pub pending: usize,
    /// Writes that are done and not durable.
    pub unsynced: usize,
}

/// A disk in full.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct DiskView {
    pub replica: ReplicaId,
    /// How many slots a ring has.
    pub slots: u32,
    /// Those in which something was ever written, ascending.
    pub rings: Vec<SlotView>,
    pub superblocks: Vec<CopyView>,
    pub snapshots: Vec<PlaceView>,
}

/// One of the two places for snapshots.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct PlaceView {
    pub place: u32,
    pub state: BlockState,
    /// The op whose state it is.
    pub op: Option<Op>,
    pub bytes: Option<u64>,
}

/// One slot of both rings.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct SlotView {
    pub slot: u32,
    pub prepare: BlockView,
    pub header: BlockView,
}

/// What stands in one place. The op of a damaged block is known to the world, not to the replica.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct BlockView {
    pub state: BlockState,
    pub op: Option<Op>,
    pub view: Option<View>,
}

/// How it is with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockState {
    /// Nothing was ever written there.
    Empty,
    /// It can be read and belongs there.
    Whole,
    /// It no longer matches its checksum.
    Damaged,
    /// It can be read and belongs elsewhere.
    Astray,
}

/// One copy of the superblock.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct CopyView {
    pub copy: u32,
    pub state: BlockState,
    pub sequence: Option<u64>,
    pub view: Option<View>,
    pub log_view: Option<View>,
    pub commit_max: Option<Op>,
    pub checkpoint: Option<Op>,
    pub incarnation: Option<Incarnation>,
}

/// An op that a disk does not give back, and what its redundant header still tells of it.
#[derive(Debug)]
pub struct Damage {
    /// The op.
    pub op: Op,
    /// Its view and identity, where a header can be read.
    pub header: Option<(View, Checksum)>,
}

/// The troubles of a replica's disk.
#[must_use]
pub fn troubles(simulator: &Simulator, replica: ReplicaId) -> Troubles {
    let disk = simulator.world().disk(replica);
    Troubles {
        lies: disk.lies(),
        tears: disk.tears(),
        slow_factor: disk.slow_factor(),
        pending: disk.pending(),
        unsynced: disk.unsynced(),
    }
}

/// The disk of a replica, as far as one group is on it.
#[must_use]
pub fn disk(session: &Session, replica: ReplicaId, group: GroupId) -> DiskView {
    let simulator = session.simulator();
    let places = places(simulator, replica, group);
    DiskView {
        replica,
        slots: simulator.values().knobs.journal_slots,
        rings: places
            .into_iter()
            .take(SLOTS_SHOWN)
            .map(|slot| SlotView {
                slot,
                prepare: block(simulator, replica, group, Zone::Prepares, slot),
                header: block(simulator, replica, group, Zone::Headers, slot),
            })
            .collect(),
        superblocks: (0..COPIES)
            .map(|copy| copy_of(simulator, replica, group, copy))
            .collect(),
        snapshots: (0..SNAPSHOT_PLACES)
            .map(|place| place_of(simulator, replica, group, place))
            .collect(),
    }
}

/// Whether the disk could not give back an op. `is_synced`: the replica holds it, and was told that it
/// is durable.
#[must_use]
pub fn is_damaged(
    simulator: &Simulator,
    replica: ReplicaId,
    group: GroupId,
    op: Op,
    is_synced: bool,
) -> bool {
    let disk = simulator.world().disk(replica);
    let slots = simulator.values().knobs.journal_slots;
    let slot = journal::slot(op, slots);
    RINGS.into_iter().any(|ring| {
        let address = journal::address(group, ring, slot);
        // While a disk lies, what it calls durable stands in its cache and can be read.
        let cached = disk.cached(address).and_then(|block| block.op());
        if cached == Some(op) {
            return false;
        }
        match disk.durable(address) {
            Sector::Damaged => disk.pristine(address).and_then(|block| block.op()) == Some(op),
            Sector::Empty => is_synced,
            Sector::Block(block) => match block.op() {
                Some(found) if journal::slot(found, slots) != slot => true,
                // A later op has taken the slot by right.
                Some(found) => is_synced && found < op,
                None => true,
            },
        }
    })
}

/// The ops that a disk was given and could not give back, ascending: what a replica that is down will
/// miss when it boots.
#[must_use]
pub fn damages(simulator: &Simulator, replica: ReplicaId, group: GroupId) -> Vec<Damage> {
    let disk = simulator.world().disk(replica);
    let header_of = |slot| {
        let address = journal::address(group, Zone::Headers, slot);
        disk.durable(address).block().and_then(Block::header)
    };
    let written = RINGS.into_iter().flat_map(|ring| {
        let scanned = disk.scan(journal::zone(group, ring)).into_iter();
        scanned.filter_map(|(address, _)| disk.pristine(address)?.op())
    });
    let ops: BTreeSet<Op> = written.collect();
    let slots = simulator.values().knobs.journal_slots;
    ops.into_iter()
        .filter_map(|op| {
            let slot = journal::slot(op, slots);
            let header = header_of(slot).filter(|header| header.op == op);
            let is_there = is_prepare_whole(simulator, replica, group, op);
            let is_lost =
                is_damaged(simulator, replica, group, op, false) || (header.is_some() && !is_there);
            is_lost.then(|| Damage {
                op,
                header: header.map(|header| (header.view, header.checksum)),
            })
        })
        .collect()
}

fn is_prepare_whole(simulator: &Simulator, replica: ReplicaId, group: GroupId, op: Op) -> bool {
    let slot = journal::slot(op, simulator.values().knobs.journal_slots);
    let address = journal::address(group, Zone::Prepares, slot);
    let found = simulator.world().disk(replica).durable(address).block();
    found.and_then(|block| block.op()) == Some(op)
}

fn places(simulator: &Simulator, replica: ReplicaId, group: GroupId) -> BTreeSet<u32> {
    let disk = simulator.world().disk(replica);
    let zones = RINGS.map(|ring| disk.scan(journal::zone(group, ring)));
    let found = zones.iter().flatten();
    found.map(|(address, _)| journal::place(*address)).collect()
}

fn block(
    simulator: &Simulator,
    replica: ReplicaId,
    group: GroupId,
    ring: Zone,
    slot: u32,
) -> BlockView {
    let disk = simulator.world().disk(replica);
    let address = journal::address(group, ring, slot);
    let slots = simulator.values().knobs.journal_slots;
    let seen = |state, block: Option<&Block>| BlockView {
        state,
        op: block.and_then(Block::op),
        view: block.and_then(view_of),
    };
    match disk.durable(address) {
        Sector::Empty => seen(BlockState::Empty, None),
        Sector::Damaged => seen(BlockState::Damaged, disk.pristine(address).as_ref()),
        Sector::Block(block) => {
            let is_home = block
                .op()
                .is_some_and(|op| journal::slot(op, slots) == slot);
            let state = if is_home {
                BlockState::Whole
            } else {
                BlockState::Astray
            };
            seen(state, Some(&block))
        }
    }
}

fn view_of(block: &Block) -> Option<View> {
    match block {
        Block::Prepare(prepare) => Some(prepare.header.view),
        Block::Header(header) => Some(header.view),
        Block::Superblock(_) | Block::Snapshot(_) => None,
    }
}

fn copy_of(simulator: &Simulator, replica: ReplicaId, group: GroupId, copy: u32) -> CopyView {
    let disk = simulator.world().disk(replica);
    let address = journal::address(group, Zone::Superblock, copy);
    let sector = disk.durable(address).and_then(Block::superblock);
    let state = match sector {
        Sector::Empty => BlockState::Empty,
        Sector::Damaged => BlockState::Damaged,
        Sector::Block(_) => BlockState::Whole,
    };
    let found = sector.block();
    let found = found.as_deref();
    CopyView {
        copy,
        state,
        sequence: found.map(|block| block.sequence),
        view: found.map(|block| block.view),
        log_view: found.map(|block| block.log_view),
        commit_max: found.map(|block| block.commit_max),
        checkpoint: found.map(|block| block.checkpoint.op()),
        incarnation: found.map(|block| block.incarnation),
    }
}

fn place_of(simulator: &Simulator, replica: ReplicaId, group: GroupId, place: u32) -> PlaceView {
    let disk = simulator.world().disk(replica);
    let address = journal::address(group, Zone::Snapshots, place);
    let (state, found) = match disk.durable(address).and_then(Block::snapshot) {
        Sector::Empty => (BlockState::Empty, None),
        Sector::Damaged => (BlockState::Damaged, None),
        Sector::Block(snapshot) => (BlockState::Whole, Some(snapshot)),
    };
    PlaceView {
        place,
        state,
        op: found.as_ref().map(|snapshot| snapshot.op()),
        bytes: found.as_ref().map(|snapshot| snapshot.bytes()),
    }
}

#[cfg(test)]
#[path = "disk_view_tests.rs"]
mod tests;
