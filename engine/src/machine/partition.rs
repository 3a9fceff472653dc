//! A partition: a log of messages with offsets, and how far each consumer has read. Messages stay in
//! the bodies that brought them, which every replica and its journal share. Must never know how an
//! entry came to be committed, nor answer from anything but the entries executed so far.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::codec::{Answer, Command, Gathered, Malformed, Payloads, Refusal};
use crate::digest::{checksum_bytes, mix};
use crate::ids::Checksum;
use crate::vsr::io::{self, StateMachine};
use crate::vsr::message::{Operation, Prepare};

/// The state of one partition. A later retention drops batches at the front; offsets stay.
#[derive(Clone, Debug, Default)]
pub struct Partition {
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
        let mut out = Vec::new();
        let mut put = |word: u64| out.extend_from_slice(&word.to_le_bytes());
        put(self.digest);
        put(self.next_offset);
        put(self.consumers.len() as u64);
        for (&consumer, &offset) in &self.consumers {
            put(u64::from(consumer));
            put(offset);
        }
        for batch in &self.batches {
            out.extend_from_slice(&batch.first.to_le_bytes());
            out.extend_from_slice(&(batch.body.len() as u64).to_le_bytes());
            out.extend_from_slice(&batch.body);
        }
        out.into()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), io::Malformed> {
        let mut rest = bytes;
        let word = |rest: &mut &[u8]| {
            let (word, after) = rest.split_first_chunk::<8>().ok_or(io::Malformed)?;
            *rest = after;
            Ok(u64::from_le_bytes(*word))
        };
        let mut read = Self {
            digest: word(&mut rest)?,
            next_offset: word(&mut rest)?,
            ..Self::default()
        };
        for _ in 0..word(&mut rest)? {
            let consumer = u8::try_from(word(&mut rest)?).map_err(|_| io::Malformed)?;
            read.consumers.insert(consumer, word(&mut rest)?);
        }
        while !rest.is_empty() {
            let first = word(&mut rest)?;
            let length = usize::try_from(word(&mut rest)?).map_err(|_| io::Malformed)?;
            let (body, after) = rest.split_at_checked(length).ok_or(io::Malformed)?;
            rest = after;
            let body = Rc::from(body);
            read.batches.push_back(Batch { first, body });
        }
        *self = read;
        Ok(())
    }
}

impl Partition {
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
        for payload in payloads.iter() {
            self.fold(checksum_bytes(payload).0);
        }
        Answer::Sent { first, count }.encode()
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
        self.batches
            .front()
            .map_or(self.next_offset, |batch| batch.first)
    }

    /// The offset the next message will get.
    #[must_use]
    pub fn next_offset(&self) -> u64 {
        self.next_offset
    }

    /// The contents of one message, where it is kept.
    #[must_use]
    pub fn message(&self, offset: u64) -> Option<&[u8]> {
        let batch = self.batches.get(self.batch_of(offset))?;
        let place = usize::try_from(offset.checked_sub(batch.first)?).ok()?;
        batch.payloads().nth(place)
    }

    /// All messages kept, with their offsets, in order.
    pub fn messages(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.batches
            .iter()
            .flat_map(|batch| (batch.first..).zip(batch.payloads()))
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
