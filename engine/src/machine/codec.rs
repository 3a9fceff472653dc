//! What stands in the bodies of requests and results: a compact little-endian form of the partition's
//! commands and answers. Decoding borrows, refuses every text but the one that encoding writes, and
//! never panics, since a body comes from the network. Must never know the state of a partition.

use std::fmt;
use std::rc::Rc;

use super::wire::{Reader, within};
use crate::vsr::io::Malformed;

/// Most messages of one send.
pub const BATCH_MAX: u32 = 4;
/// Most bytes of one message: its length is one byte.
pub const PAYLOAD_BYTES_MAX: usize = 255;
/// Most messages of one poll.
pub const POLL_MAX: u32 = 32;

/// What a client asks of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Appends 1 to [`BATCH_MAX`] messages.
    SendMessages {
        /// Their contents.
        payloads: Payloads<'a>,
    },
    /// Remembers how far a consumer has read.
    StoreOffset {
        /// Which consumer.
        consumer: u8,
        /// The offset of the last message it read.
        offset: u64,
    },
    /// Forgets how far a consumer has read.
    DeleteOffset {
        /// Which consumer.
        consumer: u8,
    },
    /// Reads messages.
    Poll {
        /// The first offset wanted.
        from: u64,
        /// At most this many, 1 to [`POLL_MAX`].
        count: u32,
    },
    /// Reads how far a consumer has read.
    GetOffset {
        /// Which consumer.
        consumer: u8,
    },
}

/// What a partition answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The command was not carried out.
    Refused(Refusal),
    /// The messages stand at `first` and after.
    Sent {
        /// The first one's offset.
        first: u64,
        /// How many.
        count: u32,
    },
    /// The consumer's offset is remembered.
    Stored,
    /// The consumer's offset is forgotten.
    Deleted,
    /// The messages at `first` and after; none where nothing stands there yet.
    Messages {
        /// The first one's offset.
        first: u64,
        /// Their contents.
        payloads: Payloads<'a>,
    },
    /// The consumer's offset, where one is remembered.
    Offset(Option<u64>),
}

/// Why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The body is not a command.
    Undecodable,
    /// The offset names no message.
    OutOfRange {
        /// The offset the next message will get.
        next: u64,
    },
    /// No offset is remembered for the consumer.
    UnknownConsumer,
}

/// The contents of some messages, still in their encoded form, which is the same in a send, in a
/// poll's answer and in the partition's memory. Known to be well formed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Payloads<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> Payloads<'a> {
    /// Reads so many, one after the other.
    pub(super) fn read(reader: &mut Reader<'a>, count: u32) -> Result<Self, Malformed> {
        let bytes = reader.spanned(|reader| {
            for _ in 0..count {
                let length = usize::from(reader.u8()?);
                reader.bytes(length)?;
            }
            Ok(())
        })?;
        Ok(Self { count, bytes })
    }

    /// How many.
    #[must_use]
    pub fn count(self) -> u32 {
        self.count
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.bytes;
        std::iter::from_fn(move || {
            let (&length, after) = rest.split_first()?;
            let (payload, after) = after.split_at_checked(usize::from(length))?;
            rest = after;
            Some(payload)
        })
    }
}

impl fmt::Debug for Payloads<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.iter().map(String::from_utf8_lossy);
        f.debug_list().entries(texts).finish()
    }
}

const SEND_MESSAGES: u8 = 1;
const STORE_OFFSET: u8 = 2;
const DELETE_OFFSET: u8 = 3;
const POLL: u8 = 4;
const GET_OFFSET: u8 = 5;

impl<'a> Command<'a> {
    /// Reads a request's body.
    ///
    /// # Errors
    /// If the bytes are not exactly what [`Command::encode`] writes.
    pub fn decode(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let command = match reader.u8()? {
            SEND_MESSAGES => {
                let count = u32::from(reader.u8()?);
                Self::SendMessages {
                    payloads: Payloads::read(&mut reader, within(count, 1, BATCH_MAX)?)?,
                }
            }
            STORE_OFFSET => Self::StoreOffset {
                consumer: reader.u8()?,
                offset: reader.u64()?,
            },
            DELETE_OFFSET => Self::DeleteOffset {
                consumer: reader.u8()?,
            },
            POLL => Self::Poll {
                from: reader.u64()?,
                count: within(reader.u32()?, 1, POLL_MAX)?,
            },
            GET_OFFSET => Self::GetOffset {
                consumer: reader.u8()?,
            },
            _ => return Err(Malformed),
        };
        reader.finish()?;
        Ok(command)
    }

    /// Writes a request's body.
    #[must_use]
    pub fn encode(self) -> Rc<[u8]> {
        let mut out = Vec::with_capacity(16);
        match self {
            Self::SendMessages { payloads } => {
                out.push(SEND_MESSAGES);
                out.push(u8::try_from(payloads.count).expect("a batch was counted by a byte"));
                out.extend_from_slice(payloads.bytes);
            }
            Self::StoreOffset { consumer, offset } => {
                out.extend_from_slice(&[STORE_OFFSET, consumer]);
                out.extend_from_slice(&offset.to_le_bytes());
            }
            Self::DeleteOffset { consumer } => out.extend_from_slice(&[DELETE_OFFSET, consumer]),
            Self::Poll { from, count } => {
                out.push(POLL);
                out.extend_from_slice(&from.to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
            }
            Self::GetOffset { consumer } => out.extend_from_slice(&[GET_OFFSET, consumer]),
        }
        out.into()
    }
}

/// The body of a send.
///
/// # Panics
/// If there are no messages, more than [`BATCH_MAX`], or one longer than [`PAYLOAD_BYTES_MAX`]: the
/// sender is ours and must not.
#[must_use]
pub fn send_messages(payloads: &[&[u8]]) -> Rc<[u8]> {
    let count = u32::try_from(payloads.len()).unwrap_or(u32::MAX);
    assert!(
        (1..=BATCH_MAX).contains(&count),
        "a send carries 1 to {BATCH_MAX} messages"
    );
    let mut bytes = Vec::new();
    for payload in payloads {
        let length = u8::try_from(payload.len()).expect("a message's length fits a byte");
        bytes.push(length);
        bytes.extend_from_slice(payload);
    }
    let payloads = Payloads {
        count,
        bytes: &bytes,
    };
    Command::SendMessages { payloads }.encode()
}

const REFUSED: u8 = 0;
const SENT: u8 = 1;
const STORED: u8 = 2;
const DELETED: u8 = 3;
const MESSAGES: u8 = 4;
const OFFSET: u8 = 5;

const UNDECODABLE: u8 = 0;
const OUT_OF_RANGE: u8 = 1;
const UNKNOWN_CONSUMER: u8 = 2;

impl<'a> Answer<'a> {
    /// Reads a result.
    ///
    /// # Errors
    /// If the bytes are not exactly what a partition writes.
    pub fn decode(result: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(result);
        let answer = match reader.u8()? {
            REFUSED => Self::Refused(match reader.u8()? {
                UNDECODABLE => Refusal::Undecodable,
                OUT_OF_RANGE => Refusal::OutOfRange {
                    next: reader.u64()?,
                },
                UNKNOWN_CONSUMER => Refusal::UnknownConsumer,
                _ => return Err(Malformed),
            }),
            SENT => Self::Sent {
                first: reader.u64()?,
                count: reader.u32()?,
            },
            STORED => Self::Stored,
            DELETED => Self::Deleted,
            MESSAGES => {
                let first = reader.u64()?;
                let count = within(reader.u32()?, 0, POLL_MAX)?;
                Self::Messages {
                    first,
                    payloads: Payloads::read(&mut reader, count)?,
                }
            }
            OFFSET => Self::Offset(match reader.u8()? {
                0 => None,
                1 => Some(reader.u64()?),
                _ => return Err(Malformed),
            }),
            _ => return Err(Malformed),
        };
        reader.finish()?;
        Ok(answer)
    }

    /// Writes a result.
    #[must_use]
    pub fn encode(self) -> Rc<[u8]> {
        let mut out = Vec::with_capacity(16);
        match self {
            Self::Refused(Refusal::Undecodable) => out.extend_from_slice(&[REFUSED, UNDECODABLE]),
            Self::Refused(Refusal::OutOfRange { next }) => {
                out.extend_from_slice(&[REFUSED, OUT_OF_RANGE]);
                out.extend_from_slice(&next.to_le_bytes());
            }
            Self::Refused(Refusal::UnknownConsumer) => {
                out.extend_from_slice(&[REFUSED, UNKNOWN_CONSUMER]);
            }
            Self::Sent { first, count } => {
                out.push(SENT);
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
            }
            Self::Stored => out.push(STORED),
            Self::Deleted => out.push(DELETED),
            Self::Messages { first, payloads } => {
                out.push(MESSAGES);
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&payloads.count.to_le_bytes());
                out.extend_from_slice(payloads.bytes);
            }
            Self::Offset(offset) => {
                out.extend_from_slice(&[OFFSET, u8::from(offset.is_some())]);
                if let Some(offset) = offset {
                    out.extend_from_slice(&offset.to_le_bytes());
                }
            }
        }
        out.into()
    }
}

/// Gathers the contents of a poll's answer out of several sends.
#[derive(Default)]
pub(super) struct Gathered {
    count: u32,
    bytes: Vec<u8>,
}

impl Gathered {
    /// Adds one message that comes out of a decoded send, and is therefore short enough.
    pub(super) fn push(&mut self, payload: &[u8]) {
        let Ok(length) = u8::try_from(payload.len()) else {
            return;
        };
        self.count += 1;
        self.bytes.push(length);
        self.bytes.extend_from_slice(payload);
    }

    /// How many so far.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// All of them.
    pub(super) fn payloads(&self) -> Payloads<'_> {
        Payloads {
            count: self.count,
            bytes: &self.bytes,
        }
    }
}

/// What a request's body asks, in a few words.
#[must_use]
pub fn describe(body: &[u8]) -> String {
    match Command::decode(body) {
        Ok(Command::SendMessages { payloads }) => format!("send {}", messages(payloads.count)),
        Ok(Command::StoreOffset { consumer, offset }) => {
            format!("store offset {offset} for consumer {consumer}")
        }
        Ok(Command::DeleteOffset { consumer }) => {
            format!("delete the offset of consumer {consumer}")
        }
        Ok(Command::Poll { from, count }) => {
            format!("poll up to {} from offset {from}", messages(count))
        }
        Ok(Command::GetOffset { consumer }) => format!("get the offset of consumer {consumer}"),
        Err(Malformed) => format!("{} bytes that are no command", body.len()),
    }
}

/// What a result says, in a few words.
#[must_use]
pub fn describe_answer(result: &[u8]) -> String {
    match Answer::decode(result) {
        Ok(Answer::Refused(Refusal::Undecodable)) => "refused: not a command".to_owned(),
        Ok(Answer::Refused(Refusal::OutOfRange { next })) => {
            format!("refused: no message stands there, the next offset is {next}")
        }
        Ok(Answer::Refused(Refusal::UnknownConsumer)) => {
            "refused: the consumer has no offset".to_owned()
        }
        Ok(Answer::Sent { first, count }) => format!("{} from offset {first}", messages(count)),
        Ok(Answer::Stored) => "stored".to_owned(),
        Ok(Answer::Deleted) => "deleted".to_owned(),
        Ok(Answer::Messages { first, payloads }) if payloads.count == 0 => {
            format!("nothing at offset {first} yet")
        }
        Ok(Answer::Messages { first, payloads }) => {
            format!("read {} from offset {first}", messages(payloads.count))
        }
        Ok(Answer::Offset(Some(offset))) => format!("offset {offset}"),
        Ok(Answer::Offset(None)) => "no offset".to_owned(),
        Err(Malformed) => format!("{} bytes that are no answer", result.len()),
    }
}

fn messages(count: u32) -> String {
    format!("{count} message{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
