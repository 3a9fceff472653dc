//! Randomness: child seeds drawn from the Run's seed, and under each a small stream per consumer,
//! named by purpose and key, so that what a click or a disabled feature does not touch keeps its
//! luck. Must never draw a `usize` or use a standard float function: both differ between targets.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

use crate::digest::mix;

/// The child seeds, drawn in this order; new ones go at the end only, since the order is what makes
/// a seed mean the same run tomorrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Delays, losses, duplicates, partitions and clogs.
    pub network: u64,
    /// What clients ask for, and when.
    pub workload: u64,
    /// Which ready task runs next.
    pub executor: u64,
    /// Which shard a packet lands on.
    pub entry_shard: u64,
    /// Crashes and restarts.
    pub faults: u64,
    /// The configuration that `swarm` draws.
    pub swarm: u64,
    /// Disk latencies and damage.
    pub disk: u64,
    /// Clock offsets and drift.
    pub clock: u64,
    /// Back-off jitter of replicas.
    pub jitter: u64,
}

impl Seeds {
    /// Derives the child seeds of a Run's seed.
    #[must_use]
    pub fn derive(seed: u64) -> Self {
        let mut parent = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self {
            network: parent.next_u64(),
            workload: parent.next_u64(),
            executor: parent.next_u64(),
            entry_shard: parent.next_u64(),
            faults: parent.next_u64(),
            swarm: parent.next_u64(),
            disk: parent.next_u64(),
            clock: parent.next_u64(),
            jitter: parent.next_u64(),
        }
    }
}

/// What a keyed stream is for. Append only: the number is part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Delay of the n-th packet on a link.
    Delay = 1,
    /// Loss of the n-th packet on a link.
    Loss = 2,
    /// Duplication of the n-th packet on a link.
    Duplicate = 3,
    /// Entry shard of the n-th packet on a link.
    EntryShard = 4,
    /// Which queued packet a full link evicts for its n-th packet.
    Evict = 5,
    /// Partition rolls of a tick.
    Partition = 6,
    /// Clog rolls of a tick and link.
    Clog = 7,
    /// Crash and restart rolls of a tick and replica.
    Crash = 8,
    /// The n-th operation on a replica's disk.
    Disk = 9,
    /// The n-th choice of the executor in a tick.
    Schedule = 10,
    /// The n-th request of a client.
    Workload = 11,
    /// Back-off of a replica, group and incarnation.
    Jitter = 12,
    /// Clock offset and drift of a replica.
    Clock = 13,
    /// Which replica the nemesis or a client picks in a tick.
    Pick = 14,
    /// Whether a replica's n-th crash tears its n-th write.
    Tear = 15,
    /// Whether a replica's n-th write rots.
    Rot = 16,
    /// Whether a replica's n-th write lands elsewhere, and where.
    Misdirect = 17,
    /// Whether a replica's disk begins to lie in a tick, and for how long.
    Lie = 18,
    /// Whether a replica's disk becomes slow in a tick, how slow, and for how long.
    Slow = 19,
}

/// One small stream of draws.
#[derive(Clone, Debug)]
pub struct Rng {
    generator: Xoshiro256PlusPlus,
}

impl Rng {
    /// The stream of `purpose` and `key` below a child seed.
    #[must_use]
    pub fn keyed(child_seed: u64, purpose: Purpose, key: [u64; 2]) -> Self {
        let named = mix(mix(mix(child_seed, purpose as u64), key[0]), key[1]);
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(named),
        }
    }

    /// A uniform 64-bit draw.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A uniform draw from `0..bound`. The reduction is ours, so that a library upgrade moves no seed.
    ///
    /// # Panics
    /// If `bound` is zero, which is a bug of the caller.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a draw below zero has no outcome");
        let wide = (self.next_u64() >> 32) * u64::from(bound);
        u32::try_from(wide >> 32).expect("the high half of a 32 by 32 bit product fits 32 bits")
    }

    /// A uniform draw from `low..=high`.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// Whether an event of probability `per_million` millionths happens. Callers skip the draw where
    /// the probability is zero, so that a feature that is off draws nothing.
    pub fn chance(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < per_million
    }

    /// An exponential draw of the given mean, rounded down. `libm` gives the same bits on every
    /// target; the standard library's logarithm does not.
    pub fn exponential(&mut self, mean: u32) -> u64 {
        let uniform = f64::from(self.below(u32::MAX)) + 1.0;
        let unit = uniform / f64::from(u32::MAX);
        let drawn = -libm::log(unit) * f64::from(mean);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the draw is finite, not negative and below 23 times a u32"
        )]
        let floor = drawn as u64;
        floor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_with_different_keys_differ() {
        let mut a = Rng::keyed(1, Purpose::Delay, [0, 1]);
        let mut b = Rng::keyed(1, Purpose::Delay, [1, 0]);
        let mut c = Rng::keyed(1, Purpose::Loss, [0, 1]);
        let drawn = [a.next_u64(), b.next_u64(), c.next_u64()];
        assert_ne!(drawn[0], drawn[1]);
        assert_ne!(drawn[0], drawn[2]);
        assert_ne!(drawn[1], drawn[2]);
    }

    #[test]
    fn draws_below_a_bound_cover_it_and_stay_below() {
        let mut rng = Rng::keyed(7, Purpose::Schedule, [0, 0]);
        let mut seen = [0_u32; 5];
        for _ in 0..5_000 {
            seen[rng.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 800), "{seen:?}");
    }

    #[test]
    fn exponential_draws_have_about_their_mean() {
        let mut rng = Rng::keyed(7, Purpose::Delay, [0, 0]);
        let total: u64 = (0..20_000).map(|_| rng.exponential(50)).sum();
        let mean = total / 20_000;
        assert!((46..=53).contains(&mean), "{mean}");
    }

    #[test]
    fn a_pinned_seed_gives_pinned_draws() {
        let seeds = Seeds::derive(211);
        let mut rng = Rng::keyed(seeds.network, Purpose::Delay, [3, 4]);
        let drawn: Vec<u64> = (0..4).map(|_| rng.exponential(1_000)).collect();
        let again: Vec<u64> = {
            let mut rng = Rng::keyed(Seeds::derive(211).network, Purpose::Delay, [3, 4]);
            (0..4).map(|_| rng.exponential(1_000)).collect()
        };
        assert_eq!(drawn, again);
    }
}
