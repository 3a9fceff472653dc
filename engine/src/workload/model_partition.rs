//! The reference that a partition's answers are held against, written again in the plainest way. Must
//! never share code with the partition beyond the form of bodies and results.

use std::collections::VecDeque;
use std::rc::Rc;

use super::aim::{CONSUMERS, Known};
use crate::digest::checksum_bytes;
use crate::ids::Checksum;
use crate::machine::codec::{Answer, Command, Payloads, Refusal};

/// The messages at the end of a partition, by their checksums, and the consumers' offsets.
#[derive(Debug)]
pub(super) struct PartitionModel {
    /// Messages that may still be read.
    retention: u64,
    /// Those, and as many before them: a replica that lags may still hold older ones.
    messages: VecDeque<(u64, Checksum)>,
    next_offset: u64,
    offsets: Vec<(u8, u64)>,
}

/// The right answer to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Refused(Refusal),
    Sent {
        first: u64,
        count: u32,
    },
    Stored,
    Deleted,
    /// By their checksums: when the answer comes, they may be gone from the partition.
    Messages {
        first: u64,
        checksums: Rc<[Checksum]>,
    },
    Offset(Option<u64>),
}

impl PartitionModel {
    pub(super) fn new(retention: u32) -> Self {
        Self {
            retention: u64::from(retention),
            messages: VecDeque::new(),
            next_offset: 0,
            offsets: Vec::new(),
        }
    }

    /// Executes one body.
    pub(super) fn apply(&mut self, body: &[u8]) -> Expected {
        let Ok(command) = Command::decode(body) else {
            return Expected::Refused(Refusal::Undecodable);
        };
        match command {
            Command::SendMessages { payloads } => {
                let first = self.next_offset;
                payloads.iter().for_each(|payload| self.add(payload));
                Expected::Sent {
                    first,
                    count: payloads.count(),
                }
            }
            Command::StoreOffset { consumer, offset } => {
                let next = self.next_offset;
                if offset >= next {
                    return Expected::Refused(Refusal::OutOfRange { next });
                }
                self.offsets.retain(|(of, _)| *of != consumer);
                self.offsets.push((consumer, offset));
                Expected::Stored
            }
            Command::DeleteOffset { consumer } => {
                let Some(place) = self.offsets.iter().position(|(of, _)| *of == consumer) else {
                    return Expected::Refused(Refusal::UnknownConsumer);
                };
                self.offsets.remove(place);
                Expected::Deleted
            }
            Command::Poll { from, count } => {
                let first = from.max(self.oldest_readable());
                let read = (0..u64::from(count)).map_while(|n| self.message(first.checked_add(n)?));
                Expected::Messages {
                    first,
                    checksums: read.collect(),
                }
            }
            Command::GetOffset { consumer } => Expected::Offset(self.offset(consumer)),
        }
    }

    fn add(&mut self, payload: &[u8]) {
        let message = (self.next_offset, checksum_bytes(payload));
        self.messages.push_back(message);
        self.next_offset += 1;
        if self.messages.len() as u64 > 2 * self.retention {
            self.messages.pop_front();
        }
    }

    pub(super) fn next_offset(&self) -> u64 {
        self.next_offset
    }

    /// The offset of the oldest message that a partition of so many still gives out.
    pub(super) fn oldest_readable_of(&self, next_offset: u64) -> u64 {
        next_offset - next_offset.min(self.retention)
    }

    fn oldest_readable(&self) -> u64 {
        self.oldest_readable_of(self.next_offset)
    }

    pub(super) fn keeps_nothing(&self) -> bool {
        self.retention == 0
    }

    /// Whether what stood at an offset is forgotten here.
    pub(super) fn has_forgotten(&self, offset: u64) -> bool {
        let known = self
            .messages
            .front()
            .map_or(self.next_offset, |(at, _)| *at);
        offset < known
    }

    /// Checksum of the message at an offset.
    pub(super) fn message(&self, offset: u64) -> Option<Checksum> {
        let (known, _) = self.messages.front()?;
        let place = usize::try_from(offset.checked_sub(*known)?).ok()?;
        self.messages.get(place).map(|(_, checksum)| *checksum)
    }

    /// What an onlooker knows.
    pub(super) fn known(&self) -> Known {
        let with_offset = (0..CONSUMERS).filter(|&consumer| self.offset(consumer).is_some());
        Known {
            first_offset: self.oldest_readable(),
            next_offset: self.next_offset,
            consumers: with_offset.fold(0, |bits, consumer| bits | 1 << consumer),
        }
    }

    pub(super) fn offset(&self, consumer: u8) -> Option<u64> {
        let stored = self.offsets.iter().find(|(of, _)| *of == consumer);
        stored.map(|(_, offset)| *offset)
    }
}

impl Expected {
    /// What is wrong with an answer, in words, or nothing.
    pub(super) fn difference(&self, result: &[u8]) -> Option<String> {
        let Ok(answer) = Answer::decode(result) else {
            return Some(format!("{} bytes that are no answer", result.len()));
        };
        let given = match answer {
            Answer::Refused(refusal) => Self::Refused(refusal),
            Answer::Sent { first, count } => Self::Sent { first, count },
            Answer::Stored => Self::Stored,
            Answer::Deleted => Self::Deleted,
            Answer::Messages { first, payloads } => {
                if let Some(wrong) = self.wrong_message(first, payloads) {
                    return Some(wrong);
                }
                Self::Messages {
                    first,
                    checksums: payloads.iter().map(checksum_bytes).collect(),
                }
            }
            Answer::Offset(offset) => Self::Offset(offset),
        };
        (given != *self).then(|| format!("{}, not {}", given.words(), self.words()))
    }

    fn wrong_message(&self, given_first: u64, payloads: Payloads<'_>) -> Option<String> {
        let Self::Messages { first, checksums } = self else {
            return None;
        };
        if given_first != *first {
            return None;
        }
        let given = payloads.iter().zip(checksums.iter());
        for ((payload, checksum), offset) in given.zip(*first..) {
            if *checksum != checksum_bytes(payload) {
                let text = String::from_utf8_lossy(payload);
                return Some(format!(
                    "a message at offset {offset} that is not there: {text:?}"
                ));
            }
        }
        None
    }

    fn words(&self) -> String {
        match self {
            Self::Refused(Refusal::Undecodable) => "a refusal of the body".to_owned(),
            Self::Refused(Refusal::OutOfRange { next }) => {
                format!("a refusal of an offset past {next}")
            }
            Self::Refused(Refusal::UnknownConsumer) => "a refusal of the consumer".to_owned(),
            Self::Sent { first, count } => format!("{count} sent at offset {first}"),
            Self::Stored => "stored".to_owned(),
            Self::Deleted => "deleted".to_owned(),
            Self::Messages { first, checksums } => {
                format!("{} read at offset {first}", checksums.len())
            }
            Self::Offset(Some(offset)) => format!("offset {offset}"),
            Self::Offset(None) => "no offset".to_owned(),
        }
    }
}
