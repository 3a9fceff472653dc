//! A partition as one client alone would see it, with every step to be taken back: the model of the
//! search for linearizability. Written apart from the auditor's reference, so that neither covers the
//! other's mistakes. Must never know a replica's state, nor an op.

use std::collections::BTreeMap;

use crate::digest::{checksum_bytes, mix};
use crate::ids::Checksum;
use crate::machine::codec::{Answer, Command, Payloads, Refusal};
use crate::oracle::{Operation, Sequential};

/// Messages by their checksums, and how far consumers have read.
#[derive(Debug)]
pub(super) struct PartitionModel {
    /// Messages that can still be read.
    retention: u64,
    messages: Vec<Checksum>,
    /// Digest of the messages up to each, itself included.
    digests: Vec<u64>,
    offsets: BTreeMap<u8, u64>,
}

/// How to take a step back.
#[derive(Debug)]
pub(super) enum Undo {
    Nothing,
    Sent { count: usize },
    Offset { consumer: u8, before: Option<u64> },
}

impl PartitionModel {
    pub(super) fn new(retention: u32) -> Self {
        Self {
            retention: u64::from(retention),
            messages: Vec::new(),
            digests: Vec::new(),
            offsets: BTreeMap::new(),
        }
    }

    /// Whether a command may leave a trace.
    pub(super) fn changes(body: &[u8]) -> bool {
        match Command::decode(body) {
            Ok(
                Command::SendMessages { .. }
                | Command::StoreOffset { .. }
                | Command::DeleteOffset { .. },
            ) => true,
            Ok(Command::Poll { .. } | Command::GetOffset { .. }) | Err(_) => false,
        }
    }

    fn next(&self) -> u64 {
        self.messages.len() as u64
    }

    fn send(&mut self, payloads: Payloads<'_>) -> Undo {
        for payload in payloads.iter() {
            let checksum = checksum_bytes(payload);
            let before = self.digests.last().copied().unwrap_or_default();
            self.messages.push(checksum);
            self.digests.push(mix(before, checksum.0));
        }
        Undo::Sent {
            count: payloads.count() as usize,
        }
    }

    /// Whether an answer to a poll holds what stands there.
    fn is_poll(&self, (from, count): (u64, u32), answer: Answer<'_>) -> bool {
        let Answer::Messages { first, payloads } = answer else {
            return false;
        };
        let oldest = self.next().saturating_sub(self.retention);
        let there = self.next().saturating_sub(first).min(u64::from(count));
        let place = usize::try_from(first).unwrap_or(usize::MAX);
        let stored = self.messages.iter().skip(place);
        first == from.max(oldest)
            && u64::from(payloads.count()) == there
            && payloads
                .iter()
                .zip(stored)
                .all(|(given, stored)| checksum_bytes(given) == *stored)
    }
}

impl Sequential for PartitionModel {
    type Undo = Undo;

    fn apply(&mut self, operation: &Operation) -> Option<Undo> {
        let answer = match &operation.answered {
            // Bytes that are no answer fit nowhere.
            Some((_, bytes)) => Some(Answer::decode(bytes).ok()?),
            None => None,
        };
        let fits = |right: Answer<'_>| answer.is_none_or(|answer| answer == right);
        let Ok(command) = Command::decode(&operation.body) else {
            return fits(Answer::Refused(Refusal::Undecodable)).then_some(Undo::Nothing);
        };
        match command {
            Command::SendMessages { payloads } => {
                let (first, count) = (self.next(), payloads.count());
                fits(Answer::Sent { first, count }).then(|| self.send(payloads))
            }
            Command::StoreOffset { consumer, offset } => {
                let next = self.next();
                if offset >= next {
                    let refused = Answer::Refused(Refusal::OutOfRange { next });
                    return fits(refused).then_some(Undo::Nothing);
                }
                fits(Answer::Stored).then(|| Undo::Offset {
                    consumer,
                    before: self.offsets.insert(consumer, offset),
                })
            }
            Command::DeleteOffset { consumer } => {
                let right = match self.offsets.get(&consumer) {
                    Some(_) => Answer::Deleted,
                    None => Answer::Refused(Refusal::UnknownConsumer),
                };
                fits(right).then(|| Undo::Offset {
                    consumer,
                    before: self.offsets.remove(&consumer),
                })
            }
            Command::Poll { from, count } => answer
                .is_none_or(|answer| self.is_poll((from, count), answer))
                .then_some(Undo::Nothing),
            Command::GetOffset { consumer } => {
                let right = Answer::Offset(self.offsets.get(&consumer).copied());
                fits(right).then_some(Undo::Nothing)
            }
        }
    }

    fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Nothing => {}
            Undo::Sent { count } => {
                let left = self.messages.len() - count;
                self.messages.truncate(left);
                self.digests.truncate(left);
            }
            Undo::Offset { consumer, before } => {
                match before {
                    Some(offset) => self.offsets.insert(consumer, offset),
                    None => self.offsets.remove(&consumer),
                };
            }
        }
    }

    fn digest(&self) -> u64 {
        let messages = mix(self.next(), self.digests.last().copied().unwrap_or(0));
        let offsets = self.offsets.iter();
        offsets.fold(messages, |digest, (&consumer, &offset)| {
            mix(mix(digest, u64::from(consumer)), offset)
        })
    }
}
