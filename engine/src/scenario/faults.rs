//! What goes wrong without being asked: the profile, its network values, crash and restart rates,
//! what disks do, how wrong clocks are.
//! Must never know how a fault is injected.

use serde::Serialize;

use super::problem::{Problem, shown};
use super::skew::Skew;
use super::swarm;
use crate::ids::ReplicaId;
use crate::prng::{Purpose, Rng};
use crate::sim::network_options::NetworkOptions;

/// Probability one, in millionths.
pub const MILLION: u32 = 1_000_000;

/// A named set of network faults. Crashes are chosen apart from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Delays only.
    None,
    /// Some loss, a replica cut off now and then.
    Light,
    /// Loss, long delays, partitions of any size, clogs.
    Heavy,
    /// Everything drawn from the seed: cluster, network, crashes, load, knobs.
    Swarm,
}

impl Profile {
    /// All profiles, mildest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Light, Self::Heavy, Self::Swarm];

    /// The name, as links and scripts spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Light => "light",
            Self::Heavy => "heavy",
            Self::Swarm => "swarm",
        }
    }

    /// The network values of this profile; `swarm` draws them from the seed.
    #[must_use]
    pub fn network(self, seed: u64) -> NetworkOptions {
        match self {
            Self::None => NetworkOptions::none(),
            Self::Light => NetworkOptions::light(),
            Self::Heavy => NetworkOptions::heavy(),
            Self::Swarm => swarm::network(seed),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == text)
            .ok_or_else(|| Problem::new(shown(text), "none, light, heavy or swarm"))
    }
}

/// All faults of a Run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// The profile that `network` started from; single values may have been changed since.
    pub profile: Profile,
    /// What the network does on its own.
    pub network: NetworkOptions,
    /// Chance per tick that a replica is crashed.
    pub crash_per_million: u32,
    /// Chance per tick that a crashed replica is restarted.
    pub restart_per_million: u32,
    /// Whether the primary may be crashed.
    pub crash_primary: bool,
    /// Replicas able to vote that crashes leave alive; the view-change quorum where not given.
    pub min_survivors: Option<u8>,
    /// What disks do on their own.
    pub disk: DiskFaults,
    /// How wrong clocks are.
    pub clock: ClockFaults,
}

/// How wrong clocks may be, drawn for each replica when the run starts: they stay so, whatever
/// crashes. Zero draws nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockFaults {
    /// A clock is ahead or behind by at most so many milliseconds.
    pub offset_max_ms: u32,
    /// A clock gains or loses at most so many millionths.
    pub drift_max_ppm: u32,
}

/// What disks do on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DiskFaults {
    /// Chance that a crash tears a write that is not durable yet.
    pub tear_per_million: u32,
    /// Chance that a written block rots.
    pub rot_per_million: u32,
    /// Chance that a written prepare lands in another slot.
    pub misdirect_per_million: u32,
    /// Chance per tick that a replica's disk begins to lie about syncs for a while.
    pub lie_per_million: u32,
    /// Chance per tick that a replica's disk is slow for a while.
    pub slow_per_million: u32,
    /// Whether damage stays within what a cluster must recover from: at most r - 1 replicas for one
    /// op, each in a way that it can tell, and no lies. What people do is not held by it.
    pub atlas: bool,
}

impl ClockFaults {
    /// How wrong one replica's clock is. Offset and drift each have a stream of their own.
    #[must_use]
    pub fn draw(self, seed: u64, replica: ReplicaId) -> Skew {
        let signed = |place: u64, max: u32| {
            if max == 0 {
                return 0;
            }
            let mut rng = Rng::keyed(seed, Purpose::Clock, [u64::from(replica.0), place]);
            let drawn = i64::from(rng.between(0, 2 * max)) - i64::from(max);
            i32::try_from(drawn).expect("twice the largest skew fits an i32")
        };
        Skew {
            offset_ms: signed(0, self.offset_max_ms),
            drift_ppm: signed(1, self.drift_max_ppm),
        }
    }
}

impl Default for DiskFaults {
    fn default() -> Self {
        Self {
            tear_per_million: 0,
            rot_per_million: 0,
            misdirect_per_million: 0,
            lie_per_million: 0,
            slow_per_million: 0,
            atlas: true,
        }
    }
}

impl Faults {
    /// Delays alone: the profile `none`, without crashes.
    #[must_use]
    pub fn none() -> Self {
        Self {
            profile: Profile::None,
            network: NetworkOptions::none(),
            crash_per_million: 0,
            restart_per_million: 0,
            crash_primary: false,
            min_survivors: None,
            disk: DiskFaults::default(),
            clock: ClockFaults::default(),
        }
    }
}

/// Reads a probability, `0.02`, as exact millionths. No float is involved, so that `0.29` is never
/// 289,999.
pub(crate) fn parse_millionths(text: &str) -> Result<u32, Problem> {
    let wrong = || {
        Problem::new(
            shown(text),
            "a probability from 0 to 1 with at most six decimals, 0.02 for instance",
        )
    };
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) if !decimals.is_empty() => (whole, decimals),
        Some(_) => return Err(wrong()),
        None => (text, ""),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !matches!(whole, "0" | "1") || decimals.len() > 6 || !digits(decimals) {
        return Err(wrong());
    }
    let padded = format!("{decimals:0<6}");
    let fraction: u32 = padded.parse().map_err(|_| wrong())?;
    let value = if whole == "1" { MILLION } else { 0 } + fraction;
    if value > MILLION {
        return Err(wrong());
    }
    Ok(value)
}

/// [`parse_millionths`] for callers outside: `what` is the flag or key to name in the error.
///
/// # Errors
/// If the text is not a probability from 0 to 1 with at most six decimals.
pub fn millionths_from_text(what: &str, text: &str) -> Result<u32, crate::error::InputError> {
    parse_millionths(text).map_err(|problem| problem.at(what))
}

/// Writes millionths as the shortest decimal.
#[must_use]
pub fn millionths_to_text(per_million: u32) -> String {
    let whole = per_million / MILLION;
    let fraction = per_million % MILLION;
    if fraction == 0 {
        return whole.to_string();
    }
    let digits = format!("{fraction:06}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_read_exactly() {
        for (text, expected) in [
            ("0", 0),
            ("1", 1_000_000),
            ("1.0", 1_000_000),
            ("0.02", 20_000),
            ("0.29", 290_000),
            ("0.000001", 1),
            ("0.999999", 999_999),
        ] {
            assert_eq!(parse_millionths(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn every_millionth_round_trips() {
        for value in (0..=MILLION).step_by(7).chain([MILLION]) {
            assert_eq!(parse_millionths(&millionths_to_text(value)), Ok(value));
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "2",
            "1.000001",
            "0.0000001",
            "-0.1",
            "+0.1",
            "0,1",
            "1e-3",
            "0x1",
            "NaN",
            "00.1",
            "0.1.2",
        ] {
            let error = millionths_from_text("crash", text).unwrap_err().to_string();
            assert!(error.starts_with("crash: "), "{error}");
            assert!(error.contains("a probability from 0 to 1"), "{error}");
        }
    }
}
