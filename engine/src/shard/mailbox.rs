//! What waits for a shard's pump: ends of disk operations, and frames. Must never know what is done
//! with them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::Waker;

use crate::ids::{Checksum, GroupId, Op};
use crate::vsr::message::Frame;

/// A disk operation that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// A prepare is in both rings.
    Prepare {
        /// Of which group.
        group: GroupId,
        /// Its op.
        op: Op,
        /// Its identity.
        checksum: Checksum,
    },
    /// A superblock is durable.
    Superblock {
        /// Of which group.
        group: GroupId,
        /// Its sequence.
        sequence: u64,
    },
    /// A snapshot is durable.
    Snapshot {
        /// Of which group.
        group: GroupId,
        /// The op it is of.
        op: Op,
        /// Its checksum.
        checksum: Checksum,
    },
}

impl Completion {
    /// Of which group it is.
    #[must_use]
    pub fn group(&self) -> GroupId {
        match self {
            Self::Prepare { group, .. }
            | Self::Superblock { group, .. }
            | Self::Snapshot { group, .. } => *group,
        }
    }

    /// The op of a prepare, or the sequence of a superblock.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Self::Prepare { op, .. } | Self::Snapshot { op, .. } => op.0,
            Self::Superblock { sequence, .. } => *sequence,
        }
    }
}

/// One thing for the pump to do.
#[derive(Debug)]
pub enum Item {
    /// A disk operation ended.
    Completion(Completion),
    /// A frame arrived.
    Frame(Frame),
}

/// The lanes into a pump. Every push wakes it.
#[derive(Debug)]
pub struct Mailbox {
    frames: RefCell<VecDeque<Frame>>,
    completions: RefCell<VecDeque<Completion>>,
    waker: RefCell<Option<Waker>>,
    frames_max: usize,
    high: Cell<usize>,
}

impl Mailbox {
    /// An empty mailbox for at most `frames_max` frames.
    #[must_use]
    pub fn new(frames_max: usize) -> Self {
        Self {
            frames: RefCell::default(),
            completions: RefCell::default(),
            waker: RefCell::default(),
            frames_max,
            high: Cell::new(0),
        }
    }

    /// Puts a frame in; whether there was room.
    pub fn push_frame(&self, frame: Frame) -> bool {
        let mut frames = self.frames.borrow_mut();
        if frames.len() >= self.frames_max {
            return false;
        }
        frames.push_back(frame);
        self.high.set(self.high.get().max(frames.len()));
        drop(frames);
        self.wake();
        true
    }

    /// Puts the end of a disk operation in.
    pub fn push_completion(&self, completion: Completion) {
        self.completions.borrow_mut().push_back(completion);
        self.wake();
    }

    /// Takes the next item: disk first, since it frees acks.
    pub fn pop(&self) -> Option<Item> {
        if let Some(completion) = self.completions.borrow_mut().pop_front() {
            return Some(Item::Completion(completion));
        }
        self.frames.borrow_mut().pop_front().map(Item::Frame)
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much waits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.borrow().len() + self.completions.borrow().len()
    }

    /// The most frames that waited at once since the last call.
    pub fn take_high(&self) -> usize {
        self.high.replace(0)
    }

    /// Whom to wake.
    pub fn set_waker(&self, waker: &Waker) {
        let mut held = self.waker.borrow_mut();
        match &mut *held {
            Some(known) if known.will_wake(waker) => {}
            slot => *slot = Some(waker.clone()),
        }
    }

    fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}
