//! A replica's log in memory, above its checkpoint: which headers are known, which bodies are held and
//! synced, and how far down from the head the parents are proven to link (protocol section 1). Must
//! never know views, votes or peers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::ids::{Checksum, GroupId, Op};
use crate::vsr::message::{Header, Prepare};

/// What stands at one op.
#[derive(Clone, Debug)]
enum Slot {
    /// Nothing is known.
    Missing,
    /// The header is known, the body is not held.
    Known(Rc<Header>),
    /// The body is held; `synced` once it is in both rings.
    Held { prepare: Rc<Prepare>, synced: bool },
}

/// What a reader may see of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Nothing is known.
    Missing,
    /// The header is known, the body is not held.
    Known,
    /// The body is held.
    Held {
        /// In both rings, synced.
        synced: bool,
    },
    /// The log begins above it: a checkpoint contains it.
    Contained,
}

/// Why a body cannot be filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfilled {
    /// It is held already.
    Duplicate,
    /// Another identity is known at this op.
    OtherIdentity,
    /// Above the head.
    AboveHead,
    /// At or below the floor.
    BelowFloor,
}

/// An entry that the log lost to a contradiction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its header.
    pub header: Rc<Header>,
}

/// The log: what stands above its floor, which is the checkpoint.
#[derive(Debug)]
pub struct Log {
    floor: Op,
    /// The header at the floor, the parent of what stands above it. Unknown where a view's log lies
    /// so far ahead that nothing links it to the checkpoint.
    anchor: Option<Rc<Header>>,
    slots: VecDeque<Slot>,
    proven_from: Op,
    held_through: Op,
    /// Ops whose slot on disk could not be read at boot and has not been written since.
    damaged: BTreeSet<Op>,
    /// Entries at or below the floor whose slots may not have been used again, in the rings or on
    /// their way there: others may still ask for them.
    ring: BTreeMap<Op, Checksum>,
}

impl Log {
    /// An empty log: the root alone.
    #[must_use]
    pub fn new(group: GroupId) -> Self {
        Self::above(Rc::new(Header::root(group)))
    }

    /// An empty log above a checkpoint.
    #[must_use]
    pub fn above(anchor: Rc<Header>) -> Self {
        let floor = anchor.op;
        Self {
            floor,
            anchor: Some(anchor),
            slots: VecDeque::new(),
            proven_from: floor.next(),
            held_through: floor,
            damaged: BTreeSet::new(),
            ring: BTreeMap::new(),
        }
    }

    /// The op below the first that stands here.
    #[must_use]
    pub fn floor(&self) -> Op {
        self.floor
    }

    /// How many ops stand here, known or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether none does.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The highest op of which anything is known, or that a start of view announced.
    #[must_use]
    pub fn head(&self) -> Op {
        Op(self.floor.0 + self.slots.len() as u64)
    }

    /// The lowest op whose chain of parents is known to reach the head.
    #[must_use]
    pub fn proven_from(&self) -> Op {
        self.proven_from
    }

    /// The highest op up to which every body is held: the repair planner's cursor stands after it.
    #[must_use]
    pub fn held_through(&self) -> Op {
        self.held_through
    }

    fn place(&self, op: Op) -> Option<usize> {
        let place = op.0.checked_sub(self.floor.0 + 1)?;
        usize::try_from(place).ok()
    }

    fn slot(&self, op: Op) -> Option<&Slot> {
        self.slots.get(self.place(op)?)
    }

    fn slot_mut(&mut self, op: Op) -> Option<&mut Slot> {
        let place = self.place(op)?;
        self.slots.get_mut(place)
    }

    /// The header at an op, where one is known; at the floor the checkpoint's.
    #[must_use]
    pub fn header(&self, op: Op) -> Option<&Rc<Header>> {
        if op == self.floor {
            return self.anchor.as_ref();
        }
        match self.slot(op)? {
            Slot::Missing => None,
            Slot::Known(header) => Some(header),
            Slot::Held { prepare, .. } => Some(&prepare.header),
        }
    }

    /// The identity at an op, where a header is known.
    #[must_use]
    pub fn identity(&self, op: Op) -> Option<Checksum> {
        self.header(op).map(|header| header.checksum)
    }

    /// The entry at an op, where its body is held.
    #[must_use]
    pub fn prepare(&self, op: Op) -> Option<&Rc<Prepare>> {
        match self.slot(op)? {
            Slot::Held { prepare, .. } => Some(prepare),
            Slot::Missing | Slot::Known(_) => None,
        }
    }

    /// What is known at an op.
    #[must_use]
    pub fn state(&self, op: Op) -> SlotState {
        if op <= self.floor {
            return SlotState::Contained;
        }
        match self.slot(op) {
            None | Some(Slot::Missing) => SlotState::Missing,
            Some(Slot::Known(_)) => SlotState::Known,
            Some(Slot::Held { synced, .. }) => SlotState::Held { synced: *synced },
        }
    }

    /// Whether the body is in both rings.
    #[must_use]
    pub fn is_synced(&self, op: Op) -> bool {
        self.state(op) == SlotState::Held { synced: true }
    }

    /// Headers `from ..= head` for as long as they are known without a gap, from the floor at the
    /// lowest. The root is left out.
    #[must_use]
    pub fn headers_from(&self, from: Op) -> Vec<Rc<Header>> {
        let mut headers = Vec::new();
        let mut op = Op(from.max(self.floor).0.max(1));
        while let Some(header) = self.header(op) {
            headers.push(Rc::clone(header));
            op = op.next();
        }
        headers
    }

    /// Appends the entry after the head, whose parent the caller checked; whether it is the next.
    #[must_use]
    pub fn append(&mut self, prepare: Rc<Prepare>) -> bool {
        if prepare.header.op != self.head().next() {
            return false;
        }
        self.slots.push_back(Slot::Held {
            prepare,
            synced: false,
        });
        self.advance_held();
        true
    }

    /// Gives an op at or below the head its body. Below the proof anything readable is taken, and
    /// judged when the proof reaches it.
    ///
    /// # Errors
    /// Why the body is not taken.
    pub fn fill(&mut self, prepare: &Rc<Prepare>) -> Result<(), Unfilled> {
        let op = prepare.header.op;
        if op <= self.floor {
            return Err(Unfilled::BelowFloor);
        }
        let expected = self.expected_identity(op);
        let Some(slot) = self.slot_mut(op) else {
            return Err(Unfilled::AboveHead);
        };
        if expected.is_some_and(|expected| expected != prepare.header.checksum) {
            return Err(Unfilled::OtherIdentity);
        }
        if matches!(slot, Slot::Held { .. }) {
            return Err(Unfilled::Duplicate);
        }
        *slot = Slot::Held {
            prepare: Rc::clone(prepare),
            synced: false,
        };
        self.advance_held();
        Ok(())
    }

    /// The identity that must stand at an op: its own known header's, or for the op below the proof
    /// the parent of the lowest proven one.
    fn expected_identity(&self, op: Op) -> Option<Checksum> {
        if op.next() == self.proven_from {
            return self.header(self.proven_from).map(|header| header.parent);
        }
        if op >= self.proven_from {
            return self.identity(op);
        }
        None
    }

    /// Remembers that boot could not read the slot of an op: who cannot read abstains. Nobody asks
    /// what stood below the floor.
    pub fn mark_damaged(&mut self, op: Op) {
        if op > self.floor {
            self.damaged.insert(op);
        }
    }

    /// Whether the slot of an op may have held something that cannot be read.
    #[must_use]
    pub fn is_damaged(&self, op: Op) -> bool {
        self.damaged.contains(&op)
    }

    /// The highest damaged op.
    #[must_use]
    pub fn damaged_max(&self) -> Option<Op> {
        self.damaged.last().copied()
    }

    /// Marks a body as synced; false where the log no longer holds this identity.
    pub fn mark_synced(&mut self, op: Op, checksum: Checksum) -> bool {
        match self.slot_mut(op) {
            Some(Slot::Held { prepare, synced }) if prepare.header.checksum == checksum => {
                *synced = true;
                self.damaged.remove(&op);
                true
            }
            _ => false,
        }
    }

    /// Installs the linked headers of a view's log: they become the head, whatever contradicts them
    /// or lies above is dropped, what they name is kept. `head` is their last op, or the commit
    /// point where there are none.
    pub fn install(&mut self, suffix: &[Rc<Header>], head: Op) -> Vec<Dropped> {
        let head = head.max(self.floor);
        let mut dropped = Vec::new();
        while self.head() > head {
            if let Some(slot) = self.slots.pop_back() {
                dropped.extend(slot.into_dropped());
            }
        }
        while self.head() < head {
            self.slots.push_back(Slot::Missing);
        }
        for header in suffix {
            let Some(slot) = self.slot_mut(header.op) else {
                continue;
            };
            let same = match slot {
                Slot::Missing => false,
                Slot::Known(known) => known.checksum == header.checksum,
                Slot::Held { prepare, .. } => prepare.header.checksum == header.checksum,
            };
            if !same {
                let old = std::mem::replace(slot, Slot::Known(Rc::clone(header)));
                dropped.extend(old.into_dropped());
            }
        }
        let named_from = suffix.first().map_or(head.next(), |header| header.op);
        self.proven_from = named_from.max(self.floor.next());
        self.held_through = Op(self.held_through.0.min(head.0));
        self.recount_held();
        dropped
    }

    /// Puts what boot found in the rings into the log, unproven; the head rises to it.
    pub fn rejoin(&mut self, prepare: Rc<Prepare>) {
        let op = prepare.header.op;
        while self.head() < op {
            self.slots.push_back(Slot::Missing);
        }
        if let Some(slot) = self.slot_mut(op) {
            *slot = Slot::Held {
                prepare,
                synced: true,
            };
        }
        self.advance_held();
    }

    /// Puts a header that the superblock vouches for into the log, where nothing stands yet.
    pub fn learn(&mut self, header: &Rc<Header>) {
        while self.head() < header.op {
            self.slots.push_back(Slot::Missing);
        }
        if let Some(slot @ Slot::Missing) = self.slot_mut(header.op) {
            *slot = Slot::Known(Rc::clone(header));
        }
    }

    /// Says from where on the log is proven, after boot.
    pub fn set_proven_from(&mut self, op: Op) {
        self.proven_from = op.max(self.floor.next());
    }

    /// Lets the log begin above a checkpoint that is durable now: what it contains goes, what stands
    /// above stays. `slots` is the length of the ring in which entries may still be read.
    pub fn rebase(&mut self, anchor: Rc<Header>, slots: u32) {
        let floor = anchor.op;
        while self.floor > floor {
            self.slots.push_front(Slot::Missing);
            self.floor = self.floor.previous();
        }
        self.raise_floor(floor);
        self.anchor = Some(anchor);
        self.held_through = floor;
        self.advance_held();
        let oldest = self.head().next().0.saturating_sub(u64::from(slots));
        self.ring = self.ring.split_off(&Op(oldest));
    }

    /// Lets the log begin above an op of which nothing is known, since what a view announced lies
    /// further ahead than the rings reach. Entries below stay on disk.
    pub fn skip_to(&mut self, floor: Op) {
        if floor > self.floor {
            self.raise_floor(floor);
            self.anchor = None;
            self.held_through = floor;
            self.advance_held();
        }
    }

    fn raise_floor(&mut self, floor: Op) {
        while self.floor < floor {
            self.floor = self.floor.next();
            let Some(slot) = self.slots.pop_front() else {
                self.floor = floor;
                break;
            };
            if let Slot::Held { prepare, .. } = slot {
                self.ring.insert(self.floor, prepare.header.checksum);
            }
        }
        self.damaged = self.damaged.split_off(&floor.next());
        self.proven_from = self.proven_from.max(floor.next());
    }

    /// Entries held in memory whose writes have not landed, ascending.
    pub fn unsynced(&self) -> impl Iterator<Item = Op> + '_ {
        let ops = (self.floor.0 + 1..=self.head().0).map(Op);
        ops.filter(|&op| matches!(self.state(op), SlotState::Held { synced: false }))
    }

    /// Remembers a synced entry below the floor, for whoever asks.
    pub fn remember(&mut self, header: &Header) {
        if header.op <= self.floor {
            self.ring.insert(header.op, header.checksum);
        }
    }

    /// The identity of the entry whose body is held at an op, in memory or below the floor on disk.
    #[must_use]
    pub fn held(&self, op: Op) -> Option<Checksum> {
        match self.prepare(op) {
            Some(prepare) => Some(prepare.header.checksum),
            None => self.ring.get(&op).copied(),
        }
    }

    /// How many entries below the floor are remembered.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.ring.len()
    }

    /// The identity of the entry that the rings hold at an op, as far as is known: below the floor
    /// it may never have got there, and its slot may have been used again since.
    #[must_use]
    pub fn on_disk(&self, op: Op) -> Option<Checksum> {
        if op <= self.floor {
            return self.ring.get(&op).copied();
        }
        self.identity(op).filter(|_| self.is_synced(op))
    }

    /// Lets the proof grow downwards to `executed + 1`: an entry whose identity is the parent of the
    /// one above joins it, one that contradicts it becomes a hole again.
    pub fn prove(&mut self, executed: Op) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        let lowest = executed.max(self.floor).next();
        while self.proven_from > lowest {
            let below = self.proven_from.previous();
            let expected = self.header(self.proven_from).map(|header| header.parent);
            let Some(found) = self.identity(below) else {
                break;
            };
            if Some(found) == expected {
                self.proven_from = below;
                continue;
            }
            if let Some(slot) = self.slot_mut(below) {
                let old = std::mem::replace(slot, Slot::Missing);
                dropped.extend(old.into_dropped());
            }
            self.recount_held();
            break;
        }
        dropped
    }

    /// Whether the proof links to what was executed, once it has reached it.
    #[must_use]
    pub fn links_to(&self, executed: Op) -> bool {
        if self.proven_from > executed.next() {
            return true;
        }
        match self.header(executed.next()) {
            Some(header) => Some(header.parent) == self.identity(executed),
            None => true,
        }
    }

    fn advance_held(&mut self) {
        while matches!(self.slot(self.held_through.next()), Some(Slot::Held { .. })) {
            self.held_through = self.held_through.next();
        }
    }

    /// A held entry below the cursor may have become a hole: look again from the lowest one.
    fn recount_held(&mut self) {
        let mut op = self.held_through;
        let mut lowest_hole = None;
        // Executed entries are never dropped, so the walk ends at the first run of held ones that
        // reaches the window's start; the window is at most a pipeline and what repair fetches.
        while op > self.floor {
            match self.slot(op) {
                Some(Slot::Held { .. }) => {}
                _ => lowest_hole = Some(op),
            }
            if op < self.proven_from.previous() {
                break;
            }
            op = op.previous();
        }
        if let Some(hole) = lowest_hole {
            self.held_through = hole.previous();
        }
        self.advance_held();
    }
}

impl Slot {
    fn into_dropped(self) -> Option<Dropped> {
        match self {
            Self::Missing => None,
            Self::Known(header) => Some(Dropped { header }),
            Self::Held { prepare, .. } => Some(Dropped {
                header: Rc::clone(&prepare.header),
            }),
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
