//! The profile that draws everything: cluster, clients, network, crashes, load, knobs. Each value has
//! a small stream of its own under the swarm seed, named by its place in [`Draw`], so that a value
//! that joins later moves none of those before it. Must never know who overrides what it drew.

use super::faults::{ClockFaults, DiskFaults, Faults, Profile};
use super::run::{Cluster, Run, Workload};
use crate::prng::{Purpose, Rng, Seeds};
use crate::sim::network_options::{NetworkOptions, PartitionMode, PartitionSymmetry};
use crate::vsr::knobs::{Knobs, SLOTS_PER_PIPELINE};

/// What is drawn. Append only: the number is the key of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Draw {
    Replicas = 0,
    Clients = 1,
    DelayMin = 2,
    DelayMean = 3,
    Loss = 4,
    Replay = 5,
    Capacity = 6,
    Partition = 7,
    Unpartition = 8,
    PartitionStability = 9,
    UnpartitionStability = 10,
    PartitionMode = 11,
    PartitionSymmetry = 12,
    Clog = 13,
    ClogMean = 14,
    Crash = 15,
    Restart = 16,
    CrashPrimary = 17,
    Load = 18,
    Retry = 19,
    Heartbeat = 20,
    HeartbeatWait = 21,
    ViewChangeWait = 22,
    VoteResend = 23,
    VoteExpiry = 24,
    PrepareResend = 25,
    Abdicate = 26,
    Probe = 27,
    ProbeAttempts = 28,
    RepairRetry = 29,
    RepairChunk = 30,
    Pipeline = 31,
    Sessions = 32,
    Tear = 33,
    Rot = 34,
    Misdirect = 35,
    Slow = 36,
    ClockOffset = 37,
    ClockDrift = 38,
    Partitions = 39,
    SlotsPerPipeline = 40,
    StateChunk = 41,
    AckQuorumRatio = 42,
    Retention = 43,
    Shards = 44,
}

/// Fewest slots that a Run may name.
const SLOTS_MIN: u32 = 16;

/// Draws below one swarm seed.
struct Lots(u64);

impl Lots {
    fn rng(&self, draw: Draw) -> Rng {
        Rng::keyed(self.0, Purpose::Swarm, [draw as u64, 0])
    }

    fn between(&self, draw: Draw, low: u32, high: u32) -> u32 {
        self.rng(draw).between(low, high)
    }

    /// A rate up to `high` tenths of a percent.
    fn tenths(&self, draw: Draw, low: u32, high: u32) -> u32 {
        self.between(draw, low, high) * 1_000
    }

    fn one_of<T: Copy, const N: usize>(&self, draw: Draw, all: [T; N]) -> T {
        let count = u32::try_from(N).unwrap_or(u32::MAX);
        all[self.rng(draw).below(count) as usize]
    }

    fn small(&self, draw: Draw, low: u8, high: u8) -> u8 {
        let value = self.between(draw, u32::from(low), u32::from(high));
        u8::try_from(value).unwrap_or(high)
    }
}

/// The network values that `swarm` draws for a seed.
pub(super) fn network(seed: u64) -> NetworkOptions {
    let lots = Lots(Seeds::derive(seed).swarm);
    let delay_min_ticks = lots.between(Draw::DelayMin, 1, 3);
    let partition_mode = lots.one_of(
        Draw::PartitionMode,
        [
            PartitionMode::None,
            PartitionMode::UniformSize,
            PartitionMode::UniformPartition,
            PartitionMode::IsolateSingle,
        ],
    );
    let partition_per_million = match partition_mode {
        PartitionMode::None => 0,
        PartitionMode::UniformSize
        | PartitionMode::UniformPartition
        | PartitionMode::IsolateSingle => lots.tenths(Draw::Partition, 0, 30),
    };
    let symmetries = [PartitionSymmetry::Symmetric, PartitionSymmetry::Asymmetric];
    NetworkOptions {
        delay_min_ticks,
        delay_mean_ticks: lots.between(Draw::DelayMean, delay_min_ticks, 10),
        loss_per_million: lots.between(Draw::Loss, 0, 15) * 10_000,
        replay_per_million: lots.between(Draw::Replay, 0, 5) * 10_000,
        link_capacity: lots.between(Draw::Capacity, 8, 64),
        partition_per_million,
        unpartition_per_million: lots.between(Draw::Unpartition, 1, 10) * 10_000,
        partition_stability_ticks: lots.between(Draw::PartitionStability, 20, 80),
        unpartition_stability_ticks: lots.between(Draw::UnpartitionStability, 0, 60),
        partition_mode,
        partition_symmetry: lots.one_of(Draw::PartitionSymmetry, symmetries),
        clog_per_million: lots.tenths(Draw::Clog, 0, 15),
        clog_mean_ticks: lots.between(Draw::ClogMean, 0, 40),
    }
}

/// Writes every drawn value into a Run. One with a story keeps its cluster, which its actions name.
pub(super) fn draw_into(run: &mut Run) {
    let lots = Lots(Seeds::derive(run.seed).swarm);
    if run.story.actions().is_empty() {
        run.cluster = Cluster {
            replicas: lots.small(Draw::Replicas, 1, 9),
            clients: lots.small(Draw::Clients, 1, 8),
            partitions: lots.one_of(Draw::Partitions, [1, 1, 1, 2, 3]),
        };
    }
    run.faults = Faults {
        profile: Profile::Swarm,
        network: network(run.seed),
        crash_per_million: lots.tenths(Draw::Crash, 0, 20),
        restart_per_million: lots.tenths(Draw::Restart, 5, 100),
        crash_primary: lots.one_of(Draw::CrashPrimary, [false, true]),
        min_survivors: None,
        disk: disk(&lots),
        clock: ClockFaults {
            offset_max_ms: lots.one_of(Draw::ClockOffset, [0, 0, 100, 10_000, 3_600_000]),
            drift_max_ppm: lots.one_of(Draw::ClockDrift, [0, 0, 50, 500, 10_000]),
        },
    };
    run.workload = Workload {
        load_per_million: lots.one_of(
            Draw::Load,
            [5_000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000],
        ),
        retry_ticks: lots.between(Draw::Retry, 100, 300),
        ack_quorum_ratio_per_million: lots.between(Draw::AckQuorumRatio, 0, 4) * 250_000,
        retention: lots.one_of(Draw::Retention, [8, 32, 128, 128, 512]),
        ..run.workload
    };
    run.knobs = knobs(&lots);
    run.shards.count = lots.one_of(Draw::Shards, [1, 1, 2, 3, 4]);
}

/// What disks do wrong, within what a cluster must recover from; no lies.
fn disk(lots: &Lots) -> DiskFaults {
    DiskFaults {
        tear_per_million: lots.one_of(Draw::Tear, [0, 200_000, 1_000_000]),
        rot_per_million: lots.one_of(Draw::Rot, [0, 0, 2_000, 20_000]),
        misdirect_per_million: lots.one_of(Draw::Misdirect, [0, 0, 2_000, 20_000]),
        slow_per_million: lots.one_of(Draw::Slow, [0, 0, 500]),
        ..DiskFaults::default()
    }
}

/// Timers shorter and longer than usual, in the proportions that protocol section 10 asks for.
fn knobs(lots: &Lots) -> Knobs {
    let heartbeat_ticks = lots.between(Draw::Heartbeat, 20, 80);
    let vote_resend_ticks = lots.between(Draw::VoteResend, 20, 80);
    let pipeline_max = lots.one_of(Draw::Pipeline, [1, 2, 4, 8, 16, 32]);
    let pipelines = lots.one_of(Draw::SlotsPerPipeline, [3, 4, 4, 8, 32]);
    Knobs {
        heartbeat_ticks,
        heartbeat_wait_ticks: heartbeat_ticks * lots.between(Draw::HeartbeatWait, 5, 12),
        view_change_wait_ticks: lots.between(Draw::ViewChangeWait, 300, 700),
        vote_resend_ticks,
        vote_expiry_ticks: vote_resend_ticks * lots.between(Draw::VoteExpiry, 5, 12),
        prepare_resend_ticks: lots.between(Draw::PrepareResend, 15, 50),
        abdicate_ticks: lots.between(Draw::Abdicate, 500, 1_500),
        probe_ticks: lots.between(Draw::Probe, 50, 150),
        probe_attempts_max: lots.between(Draw::ProbeAttempts, 3, 8),
        repair_retry_ticks: lots.between(Draw::RepairRetry, 50, 150),
        repair_chunk_max: lots.one_of(Draw::RepairChunk, [1, 2, 4, 8, 16, 64, 128]),
        pipeline_max,
        journal_slots: (pipeline_max * pipelines).max(SLOTS_MIN),
        state_chunk_bytes: lots.one_of(Draw::StateChunk, [32, 128, 256, 1_024]),
        sessions_max: lots.between(Draw::Sessions, 8, 64),
    }
}

/// Brings drawn values in line with those that somebody gave in place of others: a given minimum
/// lifts the mean that was drawn, and so on. What contradicts itself as given stays, to be refused.
pub(super) fn reconcile(run: &mut Run) {
    let drawn = {
        let mut drawn = run.clone();
        draw_into(&mut drawn);
        drawn
    };
    let replicas = run.cluster.replicas;
    if replicas == drawn.cluster.replicas {
        let survivors = &mut run.faults.min_survivors;
        *survivors = survivors.map(|survivors| survivors.min(replicas));
    }
    let (network, was) = (&mut run.faults.network, &drawn.faults.network);
    if network.delay_mean_ticks < network.delay_min_ticks {
        if network.delay_mean_ticks == was.delay_mean_ticks {
            network.delay_mean_ticks = network.delay_min_ticks;
        } else if network.delay_min_ticks == was.delay_min_ticks {
            network.delay_min_ticks = network.delay_mean_ticks;
        }
    }
    if network.partition_mode == PartitionMode::None
        && network.partition_per_million == was.partition_per_million
    {
        network.partition_per_million = 0;
    }
    let (knobs, was) = (&mut run.knobs, &drawn.knobs);
    let slots_min = SLOTS_PER_PIPELINE * knobs.pipeline_max;
    if knobs.journal_slots < slots_min {
        if knobs.journal_slots == was.journal_slots {
            knobs.journal_slots = slots_min.max(SLOTS_MIN);
        } else if knobs.pipeline_max == was.pipeline_max {
            knobs.pipeline_max = (knobs.journal_slots / SLOTS_PER_PIPELINE).max(1);
        }
    }
    if knobs.heartbeat_wait_ticks <= knobs.heartbeat_ticks {
        if knobs.heartbeat_wait_ticks == was.heartbeat_wait_ticks {
            knobs.heartbeat_wait_ticks = knobs.heartbeat_ticks.saturating_mul(5).min(100_000);
        } else if knobs.heartbeat_ticks == was.heartbeat_ticks {
            knobs.heartbeat_ticks = knobs.heartbeat_wait_ticks.saturating_sub(1).max(1);
        }
    }
}

#[cfg(test)]
#[path = "swarm_tests.rs"]
mod tests;
