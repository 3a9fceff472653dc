//! What the network does on its own: delay, loss, duplication, partitions, clogs. Plain data; must
//! never know a packet.

use serde::Serialize;

/// How a random partition chooses its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionMode {
    /// No random partitions.
    None,
    /// A uniform size, then random members.
    UniformSize,
    /// A random side for each replica.
    UniformPartition,
    /// One replica against all others.
    IsolateSingle,
}

/// Whether a random partition blocks both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionSymmetry {
    /// Both ways.
    Symmetric,
    /// One random side still reaches the other.
    Asymmetric,
}

/// Every value of the network. Rates are per million.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkOptions {
    /// Shortest one-way delay.
    pub delay_min_ticks: u32,
    /// Mean of the exponential delay.
    pub delay_mean_ticks: u32,
    /// Chance that a packet is lost.
    pub loss_per_million: u32,
    /// Chance that a packet arrives twice.
    pub replay_per_million: u32,
    /// Packets a link holds.
    pub link_capacity: u32,
    /// Chance per tick that a partition begins.
    pub partition_per_million: u32,
    /// Chance per tick that it ends.
    pub unpartition_per_million: u32,
    /// Shortest partition.
    pub partition_stability_ticks: u32,
    /// Shortest time without one.
    pub unpartition_stability_ticks: u32,
    /// How sides are chosen.
    pub partition_mode: PartitionMode,
    /// Both ways or one.
    pub partition_symmetry: PartitionSymmetry,
    /// Chance per tick and link that a clog begins.
    pub clog_per_million: u32,
    /// Mean length of a clog.
    pub clog_mean_ticks: u32,
}

impl NetworkOptions {
    /// A network that only delays.
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

    /// Some loss, single replicas cut off for a moment.
    #[must_use]
    pub fn light() -> Self {
        Self {
            delay_min_ticks: 1,
            delay_mean_ticks: 3,
            loss_per_million: 20_000,
            replay_per_million: 10_000,
            link_capacity: 64,
            partition_per_million: 5_000,
            unpartition_per_million: 50_000,
            partition_stability_ticks: 20,
            unpartition_stability_ticks: 40,
            partition_mode: PartitionMode::IsolateSingle,
            partition_symmetry: PartitionSymmetry::Asymmetric,
            clog_per_million: 2_000,
            clog_mean_ticks: 10,
        }
    }

    /// A bad day.
    #[must_use]
    pub fn heavy() -> Self {
        Self {
            delay_min_ticks: 1,
            delay_mean_ticks: 8,
            loss_per_million: 100_000,
            replay_per_million: 30_000,
            link_capacity: 64,
            partition_per_million: 20_000,
            unpartition_per_million: 20_000,
            partition_stability_ticks: 50,
            unpartition_stability_ticks: 50,
            partition_mode: PartitionMode::UniformSize,
            partition_symmetry: PartitionSymmetry::Asymmetric,
            clog_per_million: 10_000,
            clog_mean_ticks: 25,
        }
    }
}
