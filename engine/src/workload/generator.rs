//! Draws the next request of each client: first the outcome to provoke, then the arguments that
//! should give it. Every message names the client and request that brought it, so that no two are
//! alike. Must never draw from a stream that another client or a click also draws from.

use std::rc::Rc;

use crate::ids::{CLIENTS_MAX, ClientId, Tick};
use crate::machine::codec::{BATCH_MAX, Command, send_messages};
use crate::prng::{Purpose, Rng};

/// Consumers whose offsets clients store.
pub const CONSUMERS: u8 = 4;
/// Most messages that a drawn poll asks for.
const POLL_COUNT_MAX: u32 = 8;

/// Share of each command, in percent.
const WEIGHTS: [(Kind, u32); 5] = [
    (Kind::Send, 60),
    (Kind::Poll, 15),
    (Kind::StoreOffset, 12),
    (Kind::DeleteOffset, 5),
    (Kind::GetOffset, 8),
];
/// Share of polls and stored offsets that reach past the last message, and of reads and deletions
/// that name a consumer without an offset, in percent.
const UNUSUAL_PERCENT: u32 = 20;

#[derive(Clone, Copy)]
enum Kind {
    Send,
    Poll,
    StoreOffset,
    DeleteOffset,
    GetOffset,
}

/// What an onlooker knows of the partition when a request is drawn; enough to aim at an outcome,
/// which may still come out otherwise, since other clients write meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The offset the next message will get.
    pub next_offset: u64,
    /// Bit n stands for consumer n: an offset is stored for it.
    pub consumers: u8,
}

/// The requests of all clients.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    load_per_million: u32,
    /// Requests drawn for the load, by client.
    drawn: [u64; CLIENTS_MAX as usize],
    /// Requests a person or a story asked for, by client. Counted apart, so that a click leaves the
    /// load what it would have been.
    asked: [u64; CLIENTS_MAX as usize],
}

/// Whether the load or a person asks; separates their streams and the names of their messages.
#[derive(Clone, Copy)]
enum Origin {
    Load,
    Asked,
}

/// Marks the stream of what was asked for, beyond any count of drawn requests.
const ASKED: u64 = 1 << 63;
/// Marks the streams that decide whether a client asks in a tick, beyond any client's number.
const ROLL: u64 = 1 << 32;

impl Generator {
    /// `seed` is the Run's workload seed.
    #[must_use]
    pub fn new(seed: u64, load_per_million: u32) -> Self {
        Self {
            seed,
            load_per_million,
            drawn: [0; CLIENTS_MAX as usize],
            asked: [0; CLIENTS_MAX as usize],
        }
    }

    /// The chance that an idle client asks in a tick, in millionths.
    #[must_use]
    pub fn load_per_million(&self) -> u32 {
        self.load_per_million
    }

    /// Changes that chance; zero stops the load and draws nothing.
    pub fn set_load_per_million(&mut self, load_per_million: u32) {
        self.load_per_million = load_per_million;
    }

    /// Whether an idle client asks in this tick.
    #[must_use]
    pub fn wants(&self, tick: Tick, client: ClientId) -> bool {
        match self.load_per_million {
            0 => false,
            1_000_000.. => true,
            chance => self
                .rng([ROLL | u64::from(client.0), tick.0])
                .chance(chance),
        }
    }

    /// The body of the client's next request under load.
    pub fn next(&mut self, client: ClientId, known: Known) -> Rc<[u8]> {
        let (n, mut rng) = self.step(client, Origin::Load);
        match draw_kind(&mut rng) {
            Kind::Send => send(client, Origin::Load, n, &mut rng),
            Kind::Poll => poll(known, &mut rng),
            Kind::StoreOffset => store_offset(known, &mut rng),
            Kind::DeleteOffset => Command::DeleteOffset {
                consumer: draw_consumer(known, &mut rng),
            }
            .encode(),
            Kind::GetOffset => Command::GetOffset {
                consumer: draw_consumer(known, &mut rng),
            }
            .encode(),
        }
    }

    /// The body of a write that a person or a story asks for.
    pub fn next_send(&mut self, client: ClientId) -> Rc<[u8]> {
        let (n, mut rng) = self.step(client, Origin::Asked);
        send(client, Origin::Asked, n, &mut rng)
    }

    /// The body of a read that a person or a story asks for.
    pub fn next_poll(&mut self, client: ClientId, known: Known) -> Rc<[u8]> {
        let (_, mut rng) = self.step(client, Origin::Asked);
        poll(known, &mut rng)
    }

    /// The number of the client's next request of this origin, from 1, and its stream.
    fn step(&mut self, client: ClientId, origin: Origin) -> (u64, Rng) {
        let (counts, mark) = match origin {
            Origin::Load => (&mut self.drawn, 0),
            Origin::Asked => (&mut self.asked, ASKED),
        };
        let count = &mut counts[usize::from(client.0)];
        *count += 1;
        let n = *count;
        (n, self.rng([u64::from(client.0), mark | n]))
    }

    fn rng(&self, key: [u64; 2]) -> Rng {
        Rng::keyed(self.seed, Purpose::Workload, key)
    }
}

fn draw_kind(rng: &mut Rng) -> Kind {
    let mut left = rng.below(WEIGHTS.iter().map(|(_, weight)| weight).sum());
    for (kind, weight) in WEIGHTS {
        if left < weight {
            return kind;
        }
        left -= weight;
    }
    Kind::Send
}

/// `c0-17.1` is the first message of client 0's 17th request; `c0-w3.1` of the third asked for by
/// hand.
fn send(client: ClientId, origin: Origin, n: u64, rng: &mut Rng) -> Rc<[u8]> {
    let mark = match origin {
        Origin::Load => "",
        Origin::Asked => "w",
    };
    let count = rng.between(1, BATCH_MAX);
    let texts: Vec<String> = (1..=count)
        .map(|place| format!("c{client}-{mark}{n}.{place}"))
        .collect();
    let payloads: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    send_messages(&payloads)
}

fn poll(known: Known, rng: &mut Rng) -> Rc<[u8]> {
    let from = draw_offset(known, rng);
    let count = rng.between(1, POLL_COUNT_MAX);
    Command::Poll { from, count }.encode()
}

fn store_offset(known: Known, rng: &mut Rng) -> Rc<[u8]> {
    let offset = draw_offset(known, rng);
    let consumer = draw_below(CONSUMERS, rng);
    Command::StoreOffset { consumer, offset }.encode()
}

/// An offset that names a message, or more rarely one just past the last.
fn draw_offset(known: Known, rng: &mut Rng) -> u64 {
    let past = rng.below(100) < UNUSUAL_PERCENT;
    if past || known.next_offset == 0 {
        return known.next_offset.saturating_add(u64::from(rng.below(4)));
    }
    let bound = u32::try_from(known.next_offset).unwrap_or(u32::MAX);
    u64::from(rng.below(bound))
}

/// A consumer with an offset, or more rarely one without; any where there is none of the wanted sort.
fn draw_consumer(known: Known, rng: &mut Rng) -> u8 {
    let with_offset = rng.below(100) >= UNUSUAL_PERCENT;
    let fits = |consumer: &u8| (known.consumers >> consumer & 1 == 1) == with_offset;
    let fitting = u8::try_from((0..CONSUMERS).filter(fits).count()).unwrap_or(0);
    if fitting == 0 {
        return draw_below(CONSUMERS, rng);
    }
    let place = draw_below(fitting, rng);
    (0..CONSUMERS)
        .filter(fits)
        .nth(usize::from(place))
        .unwrap_or(0)
}

fn draw_below(bound: u8, rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(u32::from(bound))).expect("a draw below a byte fits a byte")
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
