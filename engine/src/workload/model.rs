//! The reference that answers are held against: what a partition and its sessions must do, written
//! again in the plainest way. Must never share code with the partition or the protocol's session
//! table beyond the form of bodies and results.

use crate::digest::checksum_bytes;
use crate::ids::{Checksum, ClientId, Op, RequestNumber};
use crate::machine::codec::{Answer, Command, POLL_MAX, Payloads, Refusal};

/// Every message ever committed, by its checksum, and the consumers' offsets.
#[derive(Debug, Default)]
pub(super) struct Model {
    messages: Vec<Checksum>,
    offsets: Vec<(u8, u64)>,
}

/// The right answer to one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Refused(Refusal),
    Sent {
        first: u64,
        count: u32,
    },
    Stored,
    Deleted,
    /// `count` messages of the model from `first`: it only grows, so they can be looked up later.
    Messages {
        first: u64,
        count: u32,
    },
    Offset(Option<u64>),
}

impl Model {
    /// Executes one body.
    pub(super) fn apply(&mut self, body: &[u8]) -> Expected {
        let Ok(command) = Command::decode(body) else {
            return Expected::Refused(Refusal::Undecodable);
        };
        match command {
            Command::SendMessages { payloads } => {
                let first = self.next_offset();
                self.messages.extend(payloads.iter().map(checksum_bytes));
                Expected::Sent {
                    first,
                    count: payloads.count(),
                }
            }
            Command::StoreOffset { consumer, offset } => {
                let next = self.next_offset();
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
                let there = self.next_offset().saturating_sub(from);
                let there = u32::try_from(there).unwrap_or(POLL_MAX);
                Expected::Messages {
                    first: from,
                    count: count.min(there),
                }
            }
            Command::GetOffset { consumer } => Expected::Offset(self.offset(consumer)),
        }
    }

    pub(super) fn next_offset(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Checksum of the message at an offset.
    pub(super) fn message(&self, offset: u64) -> Option<Checksum> {
        let place = usize::try_from(offset).ok()?;
        self.messages.get(place).copied()
    }

    pub(super) fn offset(&self, consumer: u8) -> Option<u64> {
        let stored = self.offsets.iter().find(|(of, _)| *of == consumer);
        stored.map(|(_, offset)| *offset)
    }

    /// What is wrong with an answer, in words, or nothing.
    pub(super) fn difference(&self, expected: Expected, result: &[u8]) -> Option<String> {
        let Ok(answer) = Answer::decode(result) else {
            return Some(format!("{} bytes that are no answer", result.len()));
        };
        let right = match answer {
            Answer::Refused(refusal) => Expected::Refused(refusal),
            Answer::Sent { first, count } => Expected::Sent { first, count },
            Answer::Stored => Expected::Stored,
            Answer::Deleted => Expected::Deleted,
            Answer::Messages { first, payloads } => {
                if let Some(wrong) = self.wrong_message(first, payloads) {
                    return Some(wrong);
                }
                Expected::Messages {
                    first,
                    count: payloads.count(),
                }
            }
            Answer::Offset(offset) => Expected::Offset(offset),
        };
        (right != expected).then(|| format!("{}, not {}", words(right), words(expected)))
    }

    fn wrong_message(&self, first: u64, payloads: Payloads<'_>) -> Option<String> {
        let mut offset = first;
        for payload in payloads.iter() {
            if self.message(offset) != Some(checksum_bytes(payload)) {
                let text = String::from_utf8_lossy(payload);
                return Some(format!(
                    "a message at offset {offset} that is not there: {text:?}"
                ));
            }
            offset = offset.saturating_add(1);
        }
        None
    }
}

fn words(expected: Expected) -> String {
    match expected {
        Expected::Refused(Refusal::Undecodable) => "a refusal of the body".to_owned(),
        Expected::Refused(Refusal::OutOfRange { next }) => {
            format!("a refusal of an offset past {next}")
        }
        Expected::Refused(Refusal::UnknownConsumer) => "a refusal of the consumer".to_owned(),
        Expected::Sent { first, count } => format!("{count} sent at offset {first}"),
        Expected::Stored => "stored".to_owned(),
        Expected::Deleted => "deleted".to_owned(),
        Expected::Messages { first, count } => format!("{count} read at offset {first}"),
        Expected::Offset(Some(offset)) => format!("offset {offset}"),
        Expected::Offset(None) => "no offset".to_owned(),
    }
}

/// Who has a session, and how far its requests have come (protocol section 8).
#[derive(Debug)]
pub(super) struct Sessions {
    max: u32,
    open: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    client: ClientId,
    epoch: Op,
    highest: RequestNumber,
    last_commit: Op,
}

/// Whether a committed request may have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Good,
    /// The client has no session, or the request names an older one.
    Dead,
    /// A request of this number, or a higher one, had its effect.
    Repeated,
}

impl Sessions {
    pub(super) fn new(max: u32) -> Self {
        let open = Vec::new();
        Self { max, open }
    }

    /// Opens a session. In a full table the one that committed nothing for longest makes room.
    pub(super) fn register(&mut self, client: ClientId, epoch: Op) {
        self.open.retain(|session| session.client != client);
        let full = self.open.len() as u64 >= u64::from(self.max.max(1));
        if full && let Some(oldest) = self.open.iter().map(|s| s.last_commit).min() {
            self.open.retain(|session| session.last_commit != oldest);
        }
        self.open.push(Session {
            client,
            epoch,
            highest: RequestNumber(0),
            last_commit: epoch,
        });
    }

    pub(super) fn standing(&self, client: ClientId, of: Op, request: RequestNumber) -> Standing {
        match self.open.iter().find(|session| session.client == client) {
            Some(session) if session.epoch == of && request > session.highest => Standing::Good,
            Some(session) if session.epoch == of => Standing::Repeated,
            Some(_) | None => Standing::Dead,
        }
    }

    /// Notes that a request had its effect.
    pub(super) fn executed(&mut self, client: ClientId, of: Op, request: RequestNumber, op: Op) {
        let is_its = |session: &&mut Session| session.client == client && session.epoch == of;
        if let Some(session) = self.open.iter_mut().find(is_its) {
            session.highest = session.highest.max(request);
            session.last_commit = op;
        }
    }
}
