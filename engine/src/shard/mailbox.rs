//! What waits for a shard's pump: ends of disk operations, frames from the network, and frames that
//! other shards forward. Must never know what is done with them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::Waker;

use crate::ids::{Checksum, GroupId, Op};
use crate::shard::mesh::Room;
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

    /// The op of a prepare or snapshot, or the sequence of a superblock.
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
    frames: Lane,
    /// The channel from the other shards.
    forwarded: Lane,
    completions: RefCell<VecDeque<Completion>>,
    waker: RefCell<Option<Waker>>,
    room: Room,
}

/// Frames in the order they came.
#[derive(Debug, Default)]
struct Lane {
    frames: RefCell<VecDeque<Frame>>,
    high: Cell<usize>,
}

impl Lane {
    fn push(&self, frame: Frame, frames_max: usize) -> bool {
        let mut frames = self.frames.borrow_mut();
        if frames.len() >= frames_max {
            return false;
        }
        frames.push_back(frame);
        self.high.set(self.high.get().max(frames.len()));
        true
    }

    fn pop(&self) -> Option<Frame> {
        self.frames.borrow_mut().pop_front()
    }

    fn len(&self) -> usize {
        self.frames.borrow().len()
    }
}

impl Mailbox {
    /// An empty mailbox.
    #[must_use]
    pub fn new(room: Room) -> Self {
        Self {
            frames: Lane::default(),
            forwarded: Lane::default(),
            completions: RefCell::default(),
            waker: RefCell::default(),
            room,
        }
    }

    /// How much fits.
    #[must_use]
    pub fn room(&self) -> Room {
        self.room
    }

    /// Puts a frame in; whether there was room.
    pub fn push_frame(&self, frame: Frame) -> bool {
        let fits = self.frames.push(frame, self.room.inbox_frames);
        if fits {
            self.wake();
        }
        fits
    }

    /// Puts in a frame that another shard forwards; whether there was room.
    pub fn push_forwarded(&self, frame: Frame) -> bool {
        let fits = self.forwarded.push(frame, self.room.channel_frames);
        if fits {
            self.wake();
        }
        fits
    }

    /// Puts the end of a disk operation in.
    pub fn push_completion(&self, completion: Completion) {
        self.completions.borrow_mut().push_back(completion);
        self.wake();
    }

    /// Takes the next item: disk first, since it frees acks; then what has waited in an inbox before.
    pub fn pop(&self) -> Option<Item> {
        if let Some(completion) = self.completions.borrow_mut().pop_front() {
            return Some(Item::Completion(completion));
        }
        let frame = self.forwarded.pop().or_else(|| self.frames.pop());
        frame.map(Item::Frame)
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inbox_len() + self.channel_len() == 0
    }

    /// How much waits, the channel aside.
    #[must_use]
    pub fn inbox_len(&self) -> usize {
        self.frames.len() + self.completions.borrow().len()
    }

    /// How many frames wait in the channel.
    #[must_use]
    pub fn channel_len(&self) -> usize {
        self.forwarded.len()
    }

    /// The most frames that waited at once in the inbox, and in the channel, since the last call.
    pub fn take_highs(&self) -> (usize, usize) {
        (self.frames.high.replace(0), self.forwarded.high.replace(0))
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
