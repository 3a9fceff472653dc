//! The journal of one group: where its blocks stand on disk, in which order they are written, and
//! what boot makes of them. Pure layout and decisions: must never perform a read or a write.

mod recovery;
mod superblock;

use std::rc::Rc;

pub use recovery::{Case, Decision, Rings, Unreadable, Window, case, decide, recover_rings};
pub use superblock::{COPIES, Unopenable, open_superblock, write_order};

use crate::ids::{GroupId, Op};
use crate::vsr::io::Superblock;
use crate::vsr::message::{Header, Prepare};
use crate::vsr::snapshot::Snapshot;

/// The content of one block. Bodies are shared with memory, never copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A slot of the prepare ring.
    Prepare(Rc<Prepare>),
    /// A slot of the header ring.
    Header(Rc<Header>),
    /// A copy of the superblock.
    Superblock(Rc<Superblock>),
    /// A snapshot, in one of its two places.
    Snapshot(Rc<Snapshot>),
}

/// What a read finds at an address. Damage is always told, as a checksum tells it: what is rotten or
/// torn never passes for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector<B> {
    /// Nothing was ever written there.
    Empty,
    /// A whole block; whether it belongs there is for its reader to check.
    Block(B),
    /// Something that no longer matches its checksum.
    Damaged,
}

impl Block {
    /// A prepare.
    #[must_use]
    pub fn prepare(self) -> Option<Rc<Prepare>> {
        match self {
            Self::Prepare(prepare) => Some(prepare),
            Self::Header(_) | Self::Superblock(_) | Self::Snapshot(_) => None,
        }
    }

    /// A redundant header.
    #[must_use]
    pub fn header(self) -> Option<Rc<Header>> {
        match self {
            Self::Header(header) => Some(header),
            Self::Prepare(_) | Self::Superblock(_) | Self::Snapshot(_) => None,
        }
    }

    /// A copy of the superblock.
    #[must_use]
    pub fn superblock(self) -> Option<Rc<Superblock>> {
        match self {
            Self::Superblock(superblock) => Some(superblock),
            Self::Prepare(_) | Self::Header(_) | Self::Snapshot(_) => None,
        }
    }

    /// A snapshot.
    #[must_use]
    pub fn snapshot(self) -> Option<Rc<Snapshot>> {
        match self {
            Self::Snapshot(snapshot) => Some(snapshot),
            Self::Prepare(_) | Self::Header(_) | Self::Superblock(_) => None,
        }
    }

    /// The op of an entry of the rings.
    #[must_use]
    pub fn op(&self) -> Option<Op> {
        match self {
            Self::Prepare(prepare) => Some(prepare.header.op),
            Self::Header(header) => Some(header.op),
            Self::Superblock(_) | Self::Snapshot(_) => None,
        }
    }
}

impl<B> Sector<B> {
    /// The block, where there is one that can be read.
    #[must_use]
    pub fn block(self) -> Option<B> {
        match self {
            Self::Block(block) => Some(block),
            Self::Empty | Self::Damaged => None,
        }
    }

    /// The same, borrowed.
    #[must_use]
    pub fn as_ref(&self) -> Sector<&B> {
        match self {
            Self::Empty => Sector::Empty,
            Self::Block(block) => Sector::Block(block),
            Self::Damaged => Sector::Damaged,
        }
    }

    /// The same of a part of the block; nothing of that kind in a block is damage.
    #[must_use]
    pub fn and_then<C>(self, part: impl FnOnce(B) -> Option<C>) -> Sector<C> {
        match self {
            Self::Empty => Sector::Empty,
            Self::Damaged => Sector::Damaged,
            Self::Block(block) => part(block).map_or(Sector::Damaged, Sector::Block),
        }
    }
}

/// The zones of a group on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Zone {
    /// The copies of the superblock.
    Superblock = 0,
    /// The ring of prepares.
    Prepares = 1,
    /// The ring of redundant headers.
    Headers = 2,
    /// The two places for snapshots.
    Snapshots = 3,
}

/// Addresses that agree above these bits lie in one zone.
const ZONE_SHIFT: u32 = 32;
const GROUP_SHIFT: u32 = 34;

/// The address of a place in a zone of a group: groups, then zones, then places.
#[must_use]
pub fn address(group: GroupId, zone: Zone, place: u32) -> u64 {
    group.0 << GROUP_SHIFT | (zone as u64) << ZONE_SHIFT | u64::from(place)
}

/// The addresses of a whole zone.
#[must_use]
pub fn zone(group: GroupId, zone: Zone) -> std::ops::Range<u64> {
    address(group, zone, 0)..address(group, zone, u32::MAX)
}

/// The group that an address belongs to.
#[must_use]
pub fn group(address: u64) -> GroupId {
    GroupId(address >> GROUP_SHIFT)
}

/// Whether a copy of a superblock stands at an address.
#[must_use]
pub fn is_superblock(address: u64) -> bool {
    zone(group(address), Zone::Superblock).contains(&address)
}

/// The place of an address in its zone.
///
/// # Panics
/// Never: it is masked to 32 bits.
#[must_use]
pub fn place(address: u64) -> u32 {
    u32::try_from(address & u64::from(u32::MAX)).expect("masked to 32 bits")
}

/// The slot of an op in both rings.
///
/// # Panics
/// If the ring has no slots, which the knobs rule out.
#[must_use]
pub fn slot(op: Op, journal_slots: u32) -> u32 {
    let place = op.0 % u64::from(journal_slots);
    u32::try_from(place).expect("a remainder of a u32 fits a u32")
}
