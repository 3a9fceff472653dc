//! How often clients do what: the presets of the workload. Must never know how an action is drawn.

use serde::Serialize;

use super::action::Action;
use crate::prng::Rng;

/// A preset: which plane the load is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plane {
    /// Messages and offsets alone.
    #[default]
    Partition,
    /// Streams, users and consumer groups alone.
    Metadata,
    /// Mostly messages, some of the rest.
    Mixed,
    /// Every action as often as any other.
    Uniform,
}

impl Plane {
    /// All presets.
    pub const ALL: [Self; 4] = [Self::Partition, Self::Metadata, Self::Mixed, Self::Uniform];

    /// The name, as links spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Partition => "partition",
            Self::Metadata => "metadata",
            Self::Mixed => "mixed",
            Self::Uniform => "uniform",
        }
    }

    /// The preset of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plane| plane.name() == name)
    }

    /// The share of each action, by its number.
    #[must_use]
    pub fn weights(self) -> &'static [u32; Action::COUNT] {
        match self {
            Self::Partition => &PARTITION,
            Self::Metadata => &METADATA,
            Self::Mixed => &MIXED,
            Self::Uniform => &UNIFORM,
        }
    }

    pub(super) fn draw(self, rng: &mut Rng) -> Action {
        draw_weighted(self.weights().iter().copied().zip(Action::ALL), rng)
            .expect("every preset gives some action a weight")
    }
}

/// One of some things by weight; nothing where no weight is above zero.
pub(super) fn draw_weighted<T>(
    weighted: impl Iterator<Item = (u32, T)> + Clone,
    rng: &mut Rng,
) -> Option<T> {
    let sum = weighted.clone().map(|(weight, _)| weight).sum();
    if sum == 0 {
        return None;
    }
    let mut left = rng.below(sum);
    for (weight, thing) in weighted {
        if left < weight {
            return Some(thing);
        }
        left -= weight;
    }
    None
}

const PARTITION: [u32; Action::COUNT] = [
    60, 15, 12, 5, 8, // messages and offsets
    0, 0, 0, 0, 0, 0, 0, 0, // streams, topics, partitions
    0, 0, 0, 0, 0, 0, // users and tokens
    0, 0, 0, 0, // consumer groups
    0, 0, 0, 0, // reads
];
/// Nearly as much is deleted as is made, so that limits are met now and then.
const METADATA: [u32; Action::COUNT] = [
    0, 0, 0, 0, 0, // messages and offsets
    8, 4, 5, 10, 4, 7, 6, 5, // streams, topics, partitions
    6, 3, 4, 3, 6, 4, // users and tokens
    6, 3, 8, 6, // consumer groups
    2, 3, 2, 2, // reads
];
/// Of a thousand: 800 for messages and offsets, 200 for the rest in the shares of the above.
const MIXED: [u32; Action::COUNT] = [
    520, 110, 80, 40, 50, // messages and offsets
    15, 7, 9, 20, 7, 13, 11, 9, // streams, topics, partitions
    11, 6, 7, 6, 11, 7, // users and tokens
    11, 6, 15, 11, // consumer groups
    4, 6, 4, 4, // reads
];
const UNIFORM: [u32; Action::COUNT] = [1; Action::COUNT];
