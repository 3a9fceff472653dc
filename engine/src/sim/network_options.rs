//! The dice of the network, as plain data: what a fault profile, a link and a swarm draw set. Must
//! never know the network that rolls them.

use serde::Serialize;

/// Probabilities are integers per million; times are ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkOptions {
    /// No packet is faster. At least 1, or a duplicate could arrive in the tick that made it.
    pub delay_min_ticks: u32,
    /// Mean of the exponential draw that the minimum is a floor of.
    pub delay_mean_ticks: u32,
    /// Chance that a packet is lost when it is due.
    pub loss_per_million: u32,
    /// Chance that a delivered packet travels once more.
    pub replay_per_million: u32,
    /// Most packets on the way on one link; one more pushes a drawn one out. What a clog or a hold
    /// keeps back does not count.
    pub link_capacity: u32,
    /// Chance a tick that the replicas part.
    pub partition_per_million: u32,
    /// Chance a tick that they meet again.
    pub unpartition_per_million: u32,
    /// How long a partition stands at least.
    pub partition_stability_ticks: u32,
    /// How long the replicas stay together at least, also at the start.
    pub unpartition_stability_ticks: u32,
    /// How the sides are drawn.
    pub partition_mode: PartitionMode,
    /// Whether both sides are deaf.
    pub partition_symmetry: PartitionSymmetry,
    /// Chance a tick and link that it clogs.
    pub clog_per_million: u32,
    /// Mean of the exponential draw of a clog's length.
    pub clog_mean_ticks: u32,
}

/// How the two sides of a partition are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionMode {
    /// No partitions.
    None,
    /// A uniform size, then that many replicas.
    UniformSize,
    /// A coin for each replica; both sides have one at least.
    UniformPartition,
    /// One replica alone.
    IsolateSingle,
}

/// Which way a partition cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionSymmetry {
    /// Neither side hears the other.
    Symmetric,
    /// One side, drawn, still reaches the other.
    Asymmetric,
}

impl NetworkOptions {
    /// Delays alone.
    #[must_use]
    pub fn none() -> Self {
        Self {
            delay_min_ticks: 1,
            delay_mean_ticks: 3,
            loss_per_million: 0,
            replay_per_million: 0,
            link_capacity: 64,
            partition_per_million: 0,
            unpartition_per_million: 0,
            partition_stability_ticks: 0,
            unpartition_stability_ticks: 0,
            partition_mode: PartitionMode::None,
            partition_symmetry: PartitionSymmetry::Symmetric,
            clog_per_million: 0,
            clog_mean_ticks: 0,
        }
    }

    /// A network that is sometimes bad.
    #[must_use]
    pub fn light() -> Self {
        Self {
            loss_per_million: 20_000,
            replay_per_million: 10_000,
            partition_per_million: 5_000,
            unpartition_per_million: 50_000,
            partition_stability_ticks: 20,
            unpartition_stability_ticks: 40,
            partition_mode: PartitionMode::IsolateSingle,
            partition_symmetry: PartitionSymmetry::Asymmetric,
            clog_per_million: 2_000,
            clog_mean_ticks: 10,
            ..Self::none()
        }
    }

    /// A network that is rarely good.
    #[must_use]
    pub fn heavy() -> Self {
        Self {
            delay_mean_ticks: 8,
            loss_per_million: 100_000,
            replay_per_million: 30_000,
            partition_per_million: 20_000,
            unpartition_per_million: 20_000,
            partition_stability_ticks: 50,
            unpartition_stability_ticks: 50,
            partition_mode: PartitionMode::UniformSize,
            partition_symmetry: PartitionSymmetry::Asymmetric,
            clog_per_million: 10_000,
            clog_mean_ticks: 25,
            ..Self::none()
        }
    }
}

impl Default for NetworkOptions {
    fn default() -> Self {
        Self::none()
    }
}
