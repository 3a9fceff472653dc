//! The journal of one group: where its blocks stand on disk, in which order they are written, and
//! what boot makes of them. Pure layout and decisions: must never perform a read or a write.

mod recovery;
mod superblock;

use std::rc::Rc;

pub use recovery::{Rings, SlotFound, decide_slot, recover_rings};
pub use superblock::{COPIES, Unopenable, open_superblock};

use crate::ids::{GroupId, Op};
use crate::vsr::io::Superblock;
use crate::vsr::message::{Header, Prepare};

/// The content of one block. Bodies are shared with memory, never copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A slot of the prepare ring.
    Prepare(Rc<Prepare>),
    /// A slot of the header ring.
    Header(Rc<Header>),
    /// A copy of the superblock.
    Superblock(Rc<Superblock>),
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
}

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

/// The slot of an op in both rings.
///
/// # Panics
/// If the ring has no slots, which the knobs rule out.
#[must_use]
pub fn slot(op: Op, journal_slots: u32) -> u32 {
    let place = op.0 % u64::from(journal_slots);
    u32::try_from(place).expect("a remainder of a u32 fits a u32")
}
