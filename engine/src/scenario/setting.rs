//! Every single value of a Run that a person can turn, under one name in links (`loss=0.02`) and in
//! the script (`set.loss.20000`): rates, network values, knobs of the protocol. Must never know what
//! a value does.

use serde::Serialize;

use super::faults::{MILLION, millionths_to_text, parse_millionths};
use super::problem::{Problem, number_u32, shown};
use super::run::Run;
use super::skew::{DRIFT_PPM_MAX, OFFSET_MS_MAX};
use crate::error::InputError;
use crate::ids::SHARDS_MAX;
use crate::machine::RETENTION_MAX;
use crate::sim::network_options::{PartitionMode, PartitionSymmetry};
use crate::workload::Plane;

/// A value of a Run. The order is that of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "each is documented at the field of the Run that it names"
)]
pub enum Setting {
    Crash,
    Restart,
    CrashPrimary,
    MinSurvivors,
    Loss,
    Replay,
    DelayMin,
    DelayMean,
    Capacity,
    Partition,
    Unpartition,
    PartitionStability,
    UnpartitionStability,
    PartitionMode,
    PartitionSymmetry,
    Clog,
    ClogMean,
    Load,
    Retry,
    Heartbeat,
    HeartbeatWait,
    ViewChangeWait,
    VoteResend,
    VoteExpiry,
    PrepareResend,
    Abdicate,
    Probe,
    ProbeAttempts,
    RepairRetry,
    RepairChunk,
    Pipeline,
    Slots,
    Sessions,
    Tear,
    Rot,
    Misdirect,
    Lie,
    Slow,
    Atlas,
    ClockOffsetMax,
    ClockDriftMax,
    Plane,
    AckQuorumRatio,
    Shell,
    Retention,
    StateChunk,
    Shards,
    Mesh,
}

/// How a value is written. All are `u32` inside.
enum Form {
    /// Millionths: a decimal in links, an integer in actions.
    Rate,
    /// A whole number within bounds.
    Number(u32, u32),
    /// One of these words; the value is its place.
    Word(&'static [&'static str]),
}

/// Waits double up to 16 times, and what doubles must stay a sane number of ticks.
const TICKS_HIGH: u32 = 100_000;
const MODES: [PartitionMode; 4] = [
    PartitionMode::None,
    PartitionMode::UniformSize,
    PartitionMode::UniformPartition,
    PartitionMode::IsolateSingle,
];
const SYMMETRIES: [PartitionSymmetry; 2] =
    [PartitionSymmetry::Symmetric, PartitionSymmetry::Asymmetric];
/// The word for *no number given*, then the numbers.
const SURVIVORS: &[&str] = &["quorum", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Setting {
    /// All settings, in the order of links.
    pub const ALL: [Self; 48] = [
        Self::Crash,
        Self::Restart,
        Self::CrashPrimary,
        Self::MinSurvivors,
        Self::Loss,
        Self::Replay,
        Self::DelayMin,
        Self::DelayMean,
        Self::Capacity,
        Self::Partition,
        Self::Unpartition,
        Self::PartitionStability,
        Self::UnpartitionStability,
        Self::PartitionMode,
        Self::PartitionSymmetry,
        Self::Clog,
        Self::ClogMean,
        Self::Load,
        Self::Retry,
        Self::Heartbeat,
        Self::HeartbeatWait,
        Self::ViewChangeWait,
        Self::VoteResend,
        Self::VoteExpiry,
        Self::PrepareResend,
        Self::Abdicate,
        Self::Probe,
        Self::ProbeAttempts,
        Self::RepairRetry,
        Self::RepairChunk,
        Self::Pipeline,
        Self::Slots,
        Self::Sessions,
        Self::Tear,
        Self::Rot,
        Self::Misdirect,
        Self::Lie,
        Self::Slow,
        Self::Atlas,
        Self::ClockOffsetMax,
        Self::ClockDriftMax,
        Self::Plane,
        Self::AckQuorumRatio,
        Self::Shell,
        Self::Retention,
        Self::StateChunk,
        Self::Shards,
        Self::Mesh,
    ];

    /// The name, as links and scripts spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Restart => "restart",
            Self::CrashPrimary => "crash-primary",
            Self::MinSurvivors => "min-survivors",
            Self::Loss => "loss",
            Self::Replay => "replay",
            Self::DelayMin => "delay-min",
            Self::DelayMean => "delay-mean",
            Self::Capacity => "capacity",
            Self::Partition => "partition",
            Self::Unpartition => "unpartition",
            Self::PartitionStability => "partition-stability",
            Self::UnpartitionStability => "unpartition-stability",
            Self::PartitionMode => "partition-mode",
            Self::PartitionSymmetry => "partition-symmetry",
            Self::Clog => "clog",
            Self::ClogMean => "clog-mean",
            Self::Load => "load",
            Self::Retry => "retry",
            Self::Heartbeat => "heartbeat",
            Self::HeartbeatWait => "heartbeat-wait",
            Self::ViewChangeWait => "view-change-wait",
            Self::VoteResend => "vote-resend",
            Self::VoteExpiry => "vote-expiry",
            Self::PrepareResend => "prepare-resend",
            Self::Abdicate => "abdicate",
            Self::Probe => "probe",
            Self::ProbeAttempts => "probe-attempts",
            Self::RepairRetry => "repair-retry",
            Self::RepairChunk => "repair-chunk",
            Self::Pipeline => "pipeline",
            Self::Slots => "slots",
            Self::Sessions => "sessions",
            Self::Tear => "tear",
            Self::Rot => "rot",
            Self::Misdirect => "misdirect",
            Self::Lie => "lie",
            Self::Slow => "slow",
            Self::Atlas => "atlas",
            Self::ClockOffsetMax => "clock-offset-max",
            Self::ClockDriftMax => "clock-drift-max",
            Self::Plane => "plane",
            Self::AckQuorumRatio => "ack-quorum-ratio",
            Self::Shell => "shell",
            Self::Retention => "retention",
            Self::StateChunk => "state-chunk",
            Self::Shards => "shards",
            Self::Mesh => "mesh",
        }
    }

    /// The setting of a name, or nothing.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// Whether it may change while the run goes on. Rings and tables are sized once, at the start, when
    /// clocks are drawn, too, and shards made; checkpoints stand at the same ops on every replica; what a
    /// partition keeps must be equal on every replica.
    #[must_use]
    pub fn changes_while_running(self) -> bool {
        !matches!(
            self,
            Self::Pipeline
                | Self::Slots
                | Self::Sessions
                | Self::ClockOffsetMax
                | Self::ClockDriftMax
                | Self::Shell
                | Self::Retention
                | Self::Shards
                | Self::Mesh
        )
    }

    fn form(self) -> Form {
        match self {
            Self::Crash
            | Self::Restart
            | Self::Loss
            | Self::Replay
            | Self::Partition
            | Self::Unpartition
            | Self::Clog
            | Self::Load
            | Self::Tear
            | Self::Rot
            | Self::Misdirect
            | Self::Lie
            | Self::Slow
            | Self::AckQuorumRatio => Form::Rate,
            Self::CrashPrimary | Self::Atlas => Form::Word(&["no", "yes"]),
            Self::MinSurvivors => Form::Word(SURVIVORS),
            Self::PartitionMode => Form::Word(&[
                "none",
                "uniform-size",
                "uniform-partition",
                "isolate-single",
            ]),
            Self::PartitionSymmetry => Form::Word(&["symmetric", "asymmetric"]),
            Self::DelayMin | Self::DelayMean => Form::Number(1, 10_000),
            Self::Capacity => Form::Number(1, 1_024),
            Self::PartitionStability | Self::UnpartitionStability | Self::ClogMean => {
                Form::Number(0, TICKS_HIGH)
            }
            Self::Retry
            | Self::Heartbeat
            | Self::HeartbeatWait
            | Self::ViewChangeWait
            | Self::VoteResend
            | Self::VoteExpiry
            | Self::PrepareResend
            | Self::Abdicate
            | Self::Probe
            | Self::RepairRetry => Form::Number(1, TICKS_HIGH),
            Self::ProbeAttempts => Form::Number(1, 1_000),
            Self::RepairChunk => Form::Number(1, 1_024),
            Self::Pipeline => Form::Number(1, 64),
            Self::Slots => Form::Number(16, 1 << 20),
            Self::Sessions => Form::Number(8, 1_024),
            Self::ClockOffsetMax => Form::Number(0, OFFSET_MS_MAX),
            Self::ClockDriftMax => Form::Number(0, DRIFT_PPM_MAX),
            Self::Plane => Form::Word(&["partition", "metadata", "mixed", "uniform"]),
            Self::Shell => Form::Word(&["0", "1"]),
            Self::Retention => Form::Number(1, RETENTION_MAX),
            Self::StateChunk => Form::Number(16, 65_536),
            Self::Shards => Form::Number(1, SHARDS_MAX as u32),
            Self::Mesh => Form::Number(1, 8_192),
        }
    }

    /// The value in a Run.
    #[must_use]
    pub fn read(self, run: &Run) -> u32 {
        let (network, knobs) = (&run.faults.network, &run.knobs);
        let disk = &run.faults.disk;
        match self {
            Self::Crash => run.faults.crash_per_million,
            Self::Restart => run.faults.restart_per_million,
            Self::CrashPrimary => u32::from(run.faults.crash_primary),
            Self::MinSurvivors => run
                .faults
                .min_survivors
                .map_or(0, |survivors| u32::from(survivors) + 1),
            Self::Loss => network.loss_per_million,
            Self::Replay => network.replay_per_million,
            Self::DelayMin => network.delay_min_ticks,
            Self::DelayMean => network.delay_mean_ticks,
            Self::Capacity => network.link_capacity,
            Self::Partition => network.partition_per_million,
            Self::Unpartition => network.unpartition_per_million,
            Self::PartitionStability => network.partition_stability_ticks,
            Self::UnpartitionStability => network.unpartition_stability_ticks,
            Self::PartitionMode => place_of(&MODES, network.partition_mode),
            Self::PartitionSymmetry => place_of(&SYMMETRIES, network.partition_symmetry),
            Self::Clog => network.clog_per_million,
            Self::ClogMean => network.clog_mean_ticks,
            Self::Load => run.workload.load_per_million,
            Self::Retry => run.workload.retry_ticks,
            Self::Heartbeat => knobs.heartbeat_ticks,
            Self::HeartbeatWait => knobs.heartbeat_wait_ticks,
            Self::ViewChangeWait => knobs.view_change_wait_ticks,
            Self::VoteResend => knobs.vote_resend_ticks,
            Self::VoteExpiry => knobs.vote_expiry_ticks,
            Self::PrepareResend => knobs.prepare_resend_ticks,
            Self::Abdicate => knobs.abdicate_ticks,
            Self::Probe => knobs.probe_ticks,
            Self::ProbeAttempts => knobs.probe_attempts_max,
            Self::RepairRetry => knobs.repair_retry_ticks,
            Self::RepairChunk => knobs.repair_chunk_max,
            Self::Pipeline => knobs.pipeline_max,
            Self::Slots => knobs.journal_slots,
            Self::Sessions => knobs.sessions_max,
            Self::Tear => disk.tear_per_million,
            Self::Rot => disk.rot_per_million,
            Self::Misdirect => disk.misdirect_per_million,
            Self::Lie => disk.lie_per_million,
            Self::Slow => disk.slow_per_million,
            Self::Atlas => u32::from(disk.atlas),
            Self::ClockOffsetMax => run.faults.clock.offset_max_ms,
            Self::ClockDriftMax => run.faults.clock.drift_max_ppm,
            Self::Plane => place_of(&Plane::ALL, run.workload.plane),
            Self::AckQuorumRatio => run.workload.ack_quorum_ratio_per_million,
            Self::Shell => u32::from(run.workload.shell),
            Self::Retention => run.workload.retention,
            Self::StateChunk => knobs.state_chunk_bytes,
            Self::Shards => u32::from(run.shards.count),
            Self::Mesh => run.shards.channel_frames_max,
        }
    }

    /// Changes the value in a Run. A partition rate without a mode means partitions of any size, as
    /// the rate alone would do nothing.
    pub fn write(self, value: u32, run: &mut Run) {
        let (network, knobs) = (&mut run.faults.network, &mut run.knobs);
        match self {
            Self::Crash => run.faults.crash_per_million = value,
            Self::Restart => run.faults.restart_per_million = value,
            Self::CrashPrimary => run.faults.crash_primary = value != 0,
            Self::MinSurvivors => {
                run.faults.min_survivors =
                    value.checked_sub(1).and_then(|value| value.try_into().ok());
            }
            Self::Loss => network.loss_per_million = value,
            Self::Replay => network.replay_per_million = value,
            Self::DelayMin => network.delay_min_ticks = value,
            Self::DelayMean => network.delay_mean_ticks = value,
            Self::Capacity => network.link_capacity = value,
            Self::Partition => {
                network.partition_per_million = value;
                if value > 0 && network.partition_mode == PartitionMode::None {
                    network.partition_mode = PartitionMode::UniformSize;
                }
            }
            Self::Unpartition => network.unpartition_per_million = value,
            Self::PartitionStability => network.partition_stability_ticks = value,
            Self::UnpartitionStability => network.unpartition_stability_ticks = value,
            Self::PartitionMode => network.partition_mode = at_place(&MODES, value),
            Self::PartitionSymmetry => network.partition_symmetry = at_place(&SYMMETRIES, value),
            Self::Clog => network.clog_per_million = value,
            Self::ClogMean => network.clog_mean_ticks = value,
            Self::Load => run.workload.load_per_million = value,
            Self::Retry => run.workload.retry_ticks = value,
            Self::Heartbeat => knobs.heartbeat_ticks = value,
            Self::HeartbeatWait => knobs.heartbeat_wait_ticks = value,
            Self::ViewChangeWait => knobs.view_change_wait_ticks = value,
            Self::VoteResend => knobs.vote_resend_ticks = value,
            Self::VoteExpiry => knobs.vote_expiry_ticks = value,
            Self::PrepareResend => knobs.prepare_resend_ticks = value,
            Self::Abdicate => knobs.abdicate_ticks = value,
            Self::Probe => knobs.probe_ticks = value,
            Self::ProbeAttempts => knobs.probe_attempts_max = value,
            Self::RepairRetry => knobs.repair_retry_ticks = value,
            Self::RepairChunk => knobs.repair_chunk_max = value,
            Self::Pipeline => knobs.pipeline_max = value,
            Self::Slots => knobs.journal_slots = value,
            Self::Sessions => knobs.sessions_max = value,
            Self::Tear => run.faults.disk.tear_per_million = value,
            Self::Rot => run.faults.disk.rot_per_million = value,
            Self::Misdirect => run.faults.disk.misdirect_per_million = value,
            Self::Lie => run.faults.disk.lie_per_million = value,
            Self::Slow => run.faults.disk.slow_per_million = value,
            Self::Atlas => run.faults.disk.atlas = value != 0,
            Self::ClockOffsetMax => run.faults.clock.offset_max_ms = value,
            Self::ClockDriftMax => run.faults.clock.drift_max_ppm = value,
            Self::Plane => run.workload.plane = at_place(&Plane::ALL, value),
            Self::AckQuorumRatio => run.workload.ack_quorum_ratio_per_million = value,
            Self::Shell => run.workload.shell = value != 0,
            Self::Retention => run.workload.retention = value,
            Self::StateChunk => knobs.state_chunk_bytes = value,
            Self::Shards => run.shards.count = u8::try_from(value).unwrap_or(SHARDS_MAX),
            Self::Mesh => run.shards.channel_frames_max = value,
        }
    }

    /// Whether a value lies within the bounds of its setting.
    pub(crate) fn check(self, value: u32) -> Result<(), Problem> {
        let (low, high) = match self.form() {
            Form::Rate => (0, MILLION),
            Form::Number(low, high) => (low, high),
            Form::Word(words) => (0, u32::try_from(words.len()).unwrap_or(0).saturating_sub(1)),
        };
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let expected = format!("a whole number from {low} to {high}");
        Err(Problem::new(value.to_string(), expected))
    }

    /// Reads the form of links: rates are probabilities.
    pub(crate) fn parse_for_link(self, text: &str) -> Result<u32, Problem> {
        match self.form() {
            Form::Rate => parse_millionths(text),
            Form::Number(low, high) => number_u32(text, low, high),
            Form::Word(words) => parse_word(words, text),
        }
    }

    /// Reads the form of links for callers outside; `what` is the flag or field to name in the error.
    ///
    /// # Errors
    /// If the text is no value of this setting.
    pub fn value_from_text(self, what: &str, text: &str) -> Result<u32, InputError> {
        self.parse_for_link(text)
            .map_err(|problem| problem.at(what))
    }

    /// Reads the form of actions: rates are integers per million.
    pub(crate) fn parse_for_action(self, text: &str) -> Result<u32, Problem> {
        match self.form() {
            Form::Rate => parse_rate(text),
            Form::Number(low, high) => number_u32(text, low, high),
            Form::Word(words) => parse_word(words, text),
        }
    }

    /// A value as links write it.
    #[must_use]
    pub fn text_for_link(self, value: u32) -> String {
        match self.form() {
            Form::Rate => millionths_to_text(value),
            Form::Number(..) => value.to_string(),
            Form::Word(words) => word_at(words, value),
        }
    }

    /// A value as actions write it.
    #[must_use]
    pub fn text_for_action(self, value: u32) -> String {
        match self.form() {
            Form::Rate | Form::Number(..) => value.to_string(),
            Form::Word(words) => word_at(words, value),
        }
    }
}

/// A rate in an action: an integer per million.
pub(crate) fn parse_rate(text: &str) -> Result<u32, Problem> {
    number_u32(text, 0, MILLION).map_err(|_| {
        Problem::new(
            shown(text),
            "a rate per million, a whole number up to 1000000",
        )
    })
}

fn parse_word(words: &[&str], text: &str) -> Result<u32, Problem> {
    words
        .iter()
        .position(|&word| word == text)
        .and_then(|place| u32::try_from(place).ok())
        .ok_or_else(|| Problem::new(shown(text), format!("one of {}", words.join(", "))))
}

fn word_at(words: &[&str], value: u32) -> String {
    usize::try_from(value)
        .ok()
        .and_then(|place| words.get(place))
        .map_or_else(|| value.to_string(), |&word| word.to_owned())
}

fn place_of<T: PartialEq>(all: &[T], value: T) -> u32 {
    let place = all.iter().position(|other| *other == value);
    place
        .and_then(|place| u32::try_from(place).ok())
        .unwrap_or(0)
}

fn at_place<T: Copy, const N: usize>(all: &[T; N], place: u32) -> T {
    all[(place as usize).min(N - 1)]
}
