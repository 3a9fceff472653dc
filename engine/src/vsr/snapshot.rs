//! A snapshot: the whole state of a group after one op, as bytes that are equal on every replica that
//! executed the same ops, and how it is cut into parts for its way to another replica (protocol
//! section 7). Must never know where it is kept or who asks for it.

use std::ops::Range;
use std::rc::Rc;

use crate::digest::{checksum_bytes, checksum_words};
use crate::ids::{Checksum, GroupId, Op};
use crate::vsr::io::Checkpoint;
use crate::vsr::message::Header;

/// The state after one op. Shared, never copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The header of that op.
    pub header: Rc<Header>,
    /// The state machine's bytes.
    pub machine: Rc<[u8]>,
    /// The session table's bytes, replies included.
    pub sessions: Rc<[u8]>,
    /// Over all of it.
    pub checksum: Checksum,
}

/// What a replica offers to hand over: which state it is, and the checksum of each part of it.
#[derive(Debug, PartialEq, Eq)]
pub struct StateTarget {
    /// The header of the op whose state it is.
    pub header: Rc<Header>,
    /// The snapshot's checksum.
    pub checksum: Checksum,
    /// Length of the state machine's bytes.
    pub machine_bytes: u32,
    /// Length of the session table's bytes.
    pub sessions_bytes: u32,
    /// Length of a part; the last of either half may be shorter.
    pub chunk_bytes: u32,
    /// Checksums of the parts: first the state machine's, then the sessions'.
    pub chunks: Rc<[Checksum]>,
}

impl Snapshot {
    /// The snapshot of a state after the op of `header`.
    #[must_use]
    pub fn new(header: Rc<Header>, machine: Rc<[u8]>, sessions: Rc<[u8]>) -> Self {
        let checksum = checksum_of(&header, &machine, &sessions);
        Self {
            header,
            machine,
            sessions,
            checksum,
        }
    }

    /// The op whose state it is.
    #[must_use]
    pub fn op(&self) -> Op {
        self.header.op
    }

    /// The group whose state it is.
    #[must_use]
    pub fn group(&self) -> GroupId {
        self.header.group
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.machine.len() as u64 + self.sessions.len() as u64
    }

    /// Whether it is the one that a superblock names, and whole.
    #[must_use]
    pub fn is_that_of(&self, checkpoint: &Checkpoint) -> bool {
        self.header == checkpoint.header
            && self.checksum == checkpoint.snapshot
            && self.checksum == checksum_of(&self.header, &self.machine, &self.sessions)
    }

    /// What is offered of it, in parts of `chunk_bytes`.
    #[must_use]
    pub fn target(&self, chunk_bytes: u32) -> StateTarget {
        let chunk_bytes = chunk_bytes.max(1);
        let halves = [&self.machine, &self.sessions];
        let chunks = halves.into_iter().flat_map(|half| {
            let parts = half.chunks(length(chunk_bytes));
            parts.map(checksum_bytes)
        });
        StateTarget {
            header: Rc::clone(&self.header),
            checksum: self.checksum,
            machine_bytes: count(self.machine.len()),
            sessions_bytes: count(self.sessions.len()),
            chunk_bytes,
            chunks: chunks.collect(),
        }
    }

    /// One part of it; nothing where it has fewer.
    #[must_use]
    pub fn chunk(&self, chunk_bytes: u32, index: u32) -> Option<Rc<[u8]>> {
        let chunk = length(chunk_bytes.max(1));
        let index = length(index);
        let of_machine = self.machine.len().div_ceil(chunk);
        let (half, place) = match index.checked_sub(of_machine) {
            None => (&self.machine, index),
            Some(place) => (&self.sessions, place),
        };
        let range = part(half.len(), chunk, place)?;
        Some(Rc::from(&half[range]))
    }
}

impl StateTarget {
    /// The op whose state it is.
    #[must_use]
    pub fn op(&self) -> Op {
        self.header.op
    }

    /// How many parts it has.
    #[must_use]
    pub fn len(&self) -> u32 {
        count(self.chunks.len())
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Puts the parts together again; nothing unless they are what was offered.
    #[must_use]
    pub fn assemble(&self, chunks: &[Rc<[u8]>]) -> Option<Snapshot> {
        let of_machine = self.machine_bytes.div_ceil(self.chunk_bytes.max(1));
        let (machine, sessions) = chunks.split_at_checked(length(of_machine))?;
        let joined = |parts: &[Rc<[u8]>]| -> Rc<[u8]> { parts.concat().into() };
        let header = Rc::clone(&self.header);
        let snapshot = Snapshot::new(header, joined(machine), joined(sessions));
        (snapshot.checksum == self.checksum).then_some(snapshot)
    }

    pub(super) fn fold(&self) -> Checksum {
        let head = [
            self.header.checksum.0,
            self.checksum.0,
            u64::from(self.machine_bytes),
            u64::from(self.sessions_bytes),
            u64::from(self.chunk_bytes),
        ];
        let chunks = self.chunks.iter().map(|chunk| chunk.0);
        let words: Vec<u64> = head.into_iter().chain(chunks).collect();
        checksum_words(&words)
    }
}

fn part(bytes: usize, chunk: usize, place: usize) -> Option<Range<usize>> {
    let from = place.checked_mul(chunk).filter(|&from| from < bytes)?;
    Some(from..bytes.min(from + chunk))
}

fn checksum_of(header: &Header, machine: &[u8], sessions: &[u8]) -> Checksum {
    checksum_words(&[
        header.checksum.0,
        checksum_bytes(machine).0,
        checksum_bytes(sessions).0,
    ])
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn length(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::GROUP_PARTITION_0;

    fn snapshot(machine: &[u8], sessions: &[u8]) -> Snapshot {
        let header = Rc::new(Header::root(GROUP_PARTITION_0));
        Snapshot::new(header, Rc::from(machine), Rc::from(sessions))
    }

    fn parts(snapshot: &Snapshot, chunk_bytes: u32) -> Vec<Rc<[u8]>> {
        let all = (0..).map(|index| snapshot.chunk(chunk_bytes, index));
        all.map_while(|chunk| chunk).collect()
    }

    #[test]
    fn parts_of_any_length_put_together_are_the_snapshot() {
        for (machine, sessions) in [("", ""), ("a", ""), ("", "b"), ("abcdefgh", "ijklm")] {
            let snapshot = snapshot(machine.as_bytes(), sessions.as_bytes());
            for chunk_bytes in 1..10 {
                let target = snapshot.target(chunk_bytes);
                let parts = parts(&snapshot, chunk_bytes);
                let checksums: Vec<_> = parts.iter().map(|part| checksum_bytes(part)).collect();
                assert_eq!(*target.chunks, *checksums);
                assert_eq!(target.assemble(&parts).as_ref(), Some(&snapshot));
            }
        }
    }

    #[test]
    fn parts_that_were_not_offered_make_no_snapshot() {
        let wanted = snapshot(b"abcd", b"ef");
        let target = wanted.target(2);
        let other = parts(&snapshot(b"abcx", b"ef"), 2);
        assert_eq!(target.assemble(&other), None);
        assert_eq!(target.assemble(&parts(&wanted, 2)[..1]), None);
    }

    #[test]
    fn equal_parts_of_two_states_have_equal_checksums() {
        let older = snapshot(b"aabbcc", b"s").target(2);
        let newer = snapshot(b"aabbccdd", b"s").target(2);
        assert_eq!(older.chunks[..3], newer.chunks[..3]);
        assert_eq!(older.chunks[3], newer.chunks[4], "sessions begin a part");
    }

    #[test]
    fn a_snapshot_is_that_of_a_checkpoint_only_if_it_is_whole() {
        let good = snapshot(b"abc", b"d");
        let mut checkpoint = Checkpoint {
            header: Rc::clone(&good.header),
            snapshot: good.checksum,
            place: 1,
        };
        assert!(good.is_that_of(&checkpoint));
        let rotten = Snapshot {
            machine: Rc::from(*b"abx"),
            ..snapshot(b"abc", b"d")
        };
        assert!(!rotten.is_that_of(&checkpoint));
        checkpoint.snapshot = Checksum(7);
        assert!(!good.is_that_of(&checkpoint));
    }
}
