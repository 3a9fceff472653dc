//! Bodies for a partition. Every message names the client and request that brought it, so that no two
//! are alike. Must never know streams or users.

use std::rc::Rc;

use super::pick;
use crate::ids::ClientId;
use crate::machine::codec::{BATCH_MAX, Command, send_messages};
use crate::prng::Rng;
use crate::workload::action::Action;
use crate::workload::outcome::Outcome;

/// Consumers whose offsets clients store.
pub const CONSUMERS: u8 = 4;
/// Most messages that a drawn poll asks for.
const POLL_COUNT_MAX: u32 = 8;

/// What an onlooker knows of a partition when a request is drawn; enough to aim at an outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The offset of the oldest message kept.
    pub first_offset: u64,
    /// The offset the next message will get.
    pub next_offset: u64,
    /// Bit n stands for consumer n: an offset is stored for it.
    pub consumers: u8,
}

/// The body of a command other than a send, where one can come to this.
pub(in crate::workload) fn aim_at_partition(
    action: Action,
    at: Outcome,
    known: Known,
    rng: &mut Rng,
) -> Option<Rc<[u8]>> {
    match action {
        Action::Poll => poll_at(at, known, rng),
        Action::StoreOffset => {
            let offset = match at {
                Outcome::OutOfRange => past_the_end(known, rng),
                _ => a_kept_one(known, rng)?,
            };
            let consumer = draw_byte(CONSUMERS, rng);
            Some(Command::StoreOffset { consumer, offset }.encode())
        }
        Action::DeleteOffset => {
            let consumer = consumer_with(at != Outcome::UnknownConsumer, known, rng)?;
            Some(Command::DeleteOffset { consumer }.encode())
        }
        Action::GetOffset => {
            let consumer = consumer_with(at != Outcome::Nothing, known, rng)?;
            Some(Command::GetOffset { consumer }.encode())
        }
        _ => None,
    }
}

/// A poll that should find messages, or else one at the end.
pub(in crate::workload) fn poll(known: Known, rng: &mut Rng) -> Rc<[u8]> {
    let from = a_kept_one(known, rng).unwrap_or(known.next_offset);
    let count = rng.between(1, POLL_COUNT_MAX);
    Command::Poll { from, count }.encode()
}

fn poll_at(at: Outcome, known: Known, rng: &mut Rng) -> Option<Rc<[u8]>> {
    let from = match at {
        Outcome::Nothing => past_the_end(known, rng),
        Outcome::Trimmed => one_of(0, known.first_offset, rng)?,
        _ => a_kept_one(known, rng)?,
    };
    let count = rng.between(1, POLL_COUNT_MAX);
    Some(Command::Poll { from, count }.encode())
}

/// A send of the client's `nth` request, `mark`ed by what asked for it: `c0-17.1` is the first message
/// of client 0's 17th drawn request, `c0-w3.1` that of the third asked for by hand.
pub(in crate::workload) fn send(client: ClientId, mark: &str, nth: u64, rng: &mut Rng) -> Rc<[u8]> {
    let count = rng.between(1, BATCH_MAX);
    let texts: Vec<String> = (1..=count)
        .map(|place| format!("c{client}-{mark}{nth}.{place}"))
        .collect();
    let payloads: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    send_messages(&payloads)
}

fn a_kept_one(known: Known, rng: &mut Rng) -> Option<u64> {
    one_of(known.first_offset, known.next_offset, rng)
}

fn past_the_end(known: Known, rng: &mut Rng) -> u64 {
    known.next_offset.saturating_add(u64::from(rng.below(4)))
}

/// An offset of `from..to`; of a very long stretch one near its end.
fn one_of(from: u64, to: u64, rng: &mut Rng) -> Option<u64> {
    let length = to.checked_sub(from).filter(|length| *length > 0)?;
    let bound = u32::try_from(length).unwrap_or(u32::MAX);
    Some(to - 1 - u64::from(rng.below(bound)))
}

fn consumer_with(an_offset: bool, known: Known, rng: &mut Rng) -> Option<u8> {
    let fits = |consumer: &u8| (known.consumers >> consumer & 1 == 1) == an_offset;
    let fitting: Vec<u8> = (0..CONSUMERS).filter(fits).collect();
    pick(&fitting, rng)
}

fn draw_byte(bound: u8, rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(u32::from(bound))).expect("a draw below a byte fits a byte")
}
