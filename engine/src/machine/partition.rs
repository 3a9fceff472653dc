//! A partition: a log of messages with offsets, and how far each consumer has read. Messages stay in
//! the bodies that brought them, which every replica and its journal share; only the last of them are
//! kept. Must never know how an entry came to be committed, nor answer from anything but the entries
//! executed so far.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::codec::{Answer, Command, Gathered, Payloads, Refusal};
use crate::digest::{checksum_bytes, mix};
use crate::ids::Checksum;
use crate::vsr::io::{Malformed, StateMachine};
use crate::vsr::message::{Operation, Prepare};

#[path = "partition_snapshot.rs"]
mod snapshot;

/// Messages that a partition keeps where nothing else is said.
pub const RETENTION_DEFAULT: u32 = 128;
/// Most messages that a partition may be told to keep: its memory, and that of its snapshots, stays
/// within what a page can hold.
pub const RETENTION_MAX: u32 = 1_024;

/// The state of one partition.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Messages kept. Equal on every replica for the whole run: what a send drops must depend on
    /// nothing but the entries before it.
    retention: u32,
    batches: VecDeque<Batch>,
    next_offset: u64,
    consumers: BTreeMap<u8, u64>,
    digest: u64,
}

/// The messages of one send.
#[derive(Clone, Debug)]
struct Batch {
    first: u64,
    body: Rc<[u8]>,
}

impl Batch {
    fn payloads(&self) -> impl Iterator<Item = &[u8]> {
        let payloads = match Command::decode(&self.body) {
            Ok(Command::SendMessages { payloads }) => Some(payloads),
            Ok(_) | Err(Malformed) => None,
        };
        payloads.into_iter().flat_map(Payloads::iter)
    }
}

impl StateMachine for Partition {
    fn apply(&mut self, prepare: &Prepare) -> Rc<[u8]> {
        if prepare.header.operation != Operation::Machine {
            // Sessions are opened by the layer above; they leave no trace in a partition.
            return Rc::from([]);
        }
        let result = self.execute(&prepare.body);
        self.fold(prepare.header.op.0);
        self.fold(checksum_bytes(&result).0);
        result
    }

    fn digest(&self) -> Checksum {
        Checksum(self.digest)
    }

    fn snapshot(&self) -> Rc<[u8]> {
        snapshot::write(self)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = snapshot::read(bytes, self.retention)?;
        Ok(())
    }
}

impl Default for Partition {
    fn default() -> Self {
        Self::new(RETENTION_DEFAULT)
    }
}

impl Partition {
    /// An empty partition that keeps its last `retention` messages.
    #[must_use]
    pub fn new(retention: u32) -> Self {
        Self {
            retention,
            batches: VecDeque::new(),
            next_offset: 0,
            consumers: BTreeMap::new(),
            digest: 0,
        }
    }

    fn execute(&mut self, body: &Rc<[u8]>) -> Rc<[u8]> {
        match Command::decode(body) {
            Ok(Command::SendMessages { payloads }) => self.send(body, payloads),
            Ok(Command::StoreOffset { consumer, offset }) => self.store_offset(consumer, offset),
            Ok(Command::DeleteOffset { consumer }) => self.delete_offset(consumer),
            Ok(Command::Poll { from, count }) => self.poll(from, count),
            Ok(Command::GetOffset { consumer }) => {
                Answer::Offset(self.consumer_offset(consumer)).encode()
            }
            Err(Malformed) => Answer::Refused(Refusal::Undecodable).encode(),
        }
    }

    fn send(&mut self, body: &Rc<[u8]>, payloads: Payloads<'_>) -> Rc<[u8]> {
        let (first, count) = (self.next_offset, payloads.count());
        self.batches.push_back(Batch {
            first,
            body: Rc::clone(body),
        });
        self.next_offset += u64::from(count);
        self.drop_old_batches();
        for payload in payloads.iter() {
            self.fold(checksum_bytes(payload).0);
        }
        Answer::Sent { first, count }.encode()
    }

    /// Lets go of bodies in which nothing is kept any more.
    fn drop_old_batches(&mut self) {
        let first = self.first_offset();
        while !self.batches.is_empty() && self.end_of_front() <= first {
            self.batches.pop_front();
        }
    }

    fn end_of_front(&self) -> u64 {
        let second = self.batches.get(1);
        second.map_or(self.next_offset, |batch| batch.first)
    }

    fn store_offset(&mut self, consumer: u8, offset: u64) -> Rc<[u8]> {
        if offset >= self.next_offset {
            let next = self.next_offset;
            return Answer::Refused(Refusal::OutOfRange { next }).encode();
        }
        self.consumers.insert(consumer, offset);
        self.fold(u64::from(consumer));
        self.fold(offset);
        Answer::Stored.encode()
    }

    fn delete_offset(&mut self, consumer: u8) -> Rc<[u8]> {
        let Some(offset) = self.consumers.remove(&consumer) else {
            return Answer::Refused(Refusal::UnknownConsumer).encode();
        };
        self.fold(u64::from(consumer));
        self.fold(offset);
        Answer::Deleted.encode()
    }

    fn poll(&self, from: u64, count: u32) -> Rc<[u8]> {
        let first = from.max(self.first_offset());
        let mut gathered = Gathered::default();
        'batches: for batch in self.batches.range(self.batch_of(first)..) {
            for (offset, payload) in (batch.first..).zip(batch.payloads()) {
                if gathered.count() == count {
                    break 'batches;
                }
                if offset >= first {
                    gathered.push(payload);
                }
            }
        }
        let payloads = gathered.payloads();
        Answer::Messages { first, payloads }.encode()
    }

    /// The place of the batch that holds an offset, or of the end.
    fn batch_of(&self, offset: u64) -> usize {
        if offset >= self.next_offset {
            return self.batches.len();
        }
        let after = self.batches.partition_point(|batch| batch.first <= offset);
        after.saturating_sub(1)
    }

    fn fold(&mut self, word: u64) {
        self.digest = mix(self.digest, word);
    }

    /// The offset of the oldest message kept; equal to [`Self::next_offset`] where there is none.
    #[must_use]
    pub fn first_offset(&self) -> u64 {
        self.next_offset.saturating_sub(u64::from(self.retention))
    }

    /// The offset the next message will get.
    #[must_use]
    pub fn next_offset(&self) -> u64 {
        self.next_offset
    }

    /// The contents of one message, where it is kept.
    #[must_use]
    pub fn message(&self, offset: u64) -> Option<&[u8]> {
        if offset < self.first_offset() {
            return None;
        }
        let batch = self.batches.get(self.batch_of(offset))?;
        let place = usize::try_from(offset.checked_sub(batch.first)?).ok()?;
        batch.payloads().nth(place)
    }

    /// All messages kept, with their offsets, in order.
    pub fn messages(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.batches
            .iter()
            .flat_map(|batch| (batch.first..).zip(batch.payloads()))
            .skip_while(|(offset, _)| *offset < self.first_offset())
    }

    /// How far a consumer has read, where it said so.
    #[must_use]
    pub fn consumer_offset(&self, consumer: u8) -> Option<u64> {
        self.consumers.get(&consumer).copied()
    }
}

#[cfg(test)]
#[path = "partition_tests.rs"]
mod tests;
