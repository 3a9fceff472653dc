//! A replica's log in memory: which headers are known, which bodies are held and synced, and how far
//! down from the head the parents are proven to link (protocol section 1). Must never know views,
//! votes or peers.

use std::collections::{BTreeSet, VecDeque};
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
}

/// An entry that the log lost to a contradiction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its header.
    pub header: Rc<Header>,
}

/// The log. Ops at or below `floor` were executed here and are proven by that.
#[derive(Debug)]
pub struct Log {
    root: Rc<Header>,
    slots: VecDeque<Slot>,
    proven_from: Op,
    held_through: Op,
    /// Ops whose slot on disk could not be read at boot and has not been written since.
    damaged: BTreeSet<Op>,
}

impl Log {
    /// An empty log: the root alone.
    #[must_use]
    pub fn new(group: GroupId) -> Self {
        Self {
            root: Rc::new(Header::root(group)),
            slots: VecDeque::new(),
            proven_from: Op(1),
            held_through: Op(0),
            damaged: BTreeSet::new(),
        }
    }

    /// The highest op of which anything is known, or that a start of view announced.
    #[must_use]
    pub fn head(&self) -> Op {
        Op(self.slots.len() as u64)
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

    fn slot(&self, op: Op) -> Option<&Slot> {
        let index = op.0.checked_sub(1)?;
        self.slots.get(usize::try_from(index).ok()?)
    }

    fn slot_mut(&mut self, op: Op) -> Option<&mut Slot> {
        let index = op.0.checked_sub(1)?;
        self.slots.get_mut(usize::try_from(index).ok()?)
    }

    /// The header at an op, where one is known; the root at op 0.
    #[must_use]
    pub fn header(&self, op: Op) -> Option<&Rc<Header>> {
        if op == Op(0) {
            return Some(&self.root);
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

    /// Headers `from ..= head` for as long as they are known without a gap. The root is left out.
    #[must_use]
    pub fn headers_from(&self, from: Op) -> Vec<Rc<Header>> {
        let mut headers = Vec::new();
        let mut op = Op(from.0.max(1));
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

    /// Remembers that boot could not read the slot of an op: who cannot read abstains.
    pub fn mark_damaged(&mut self, op: Op) {
        self.damaged.insert(op);
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
        self.proven_from = suffix
            .first()
            .map_or(head.next(), |header| Op(header.op.0.max(1)));
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
        self.proven_from = op;
    }

    /// Lets the proof grow downwards to `executed + 1`: an entry whose identity is the parent of the
    /// one above joins it, one that contradicts it becomes a hole again.
    pub fn prove(&mut self, executed: Op) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        while self.proven_from > executed.next() {
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
        while op > Op(0) {
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
