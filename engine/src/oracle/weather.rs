//! What the world does to replicas and links now, for the oracles that demand progress: they must know
//! when it is fair to. Plain answers that the simulator gives. Must never know the simulator, nor
//! change anything.

use crate::ids::{GroupId, Process, ReplicaId};

/// How long things take in this run, and whether packets are lost by dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long a backup hears nothing before it votes.
    pub heartbeat_wait_ticks: u32,
    /// How long a view change may take, without back-off.
    pub view_change_wait_ticks: u32,
    /// How long a primary waits for a commit.
    pub abdicate_ticks: u32,
    /// Interval of probes.
    pub probe_ticks: u32,
    /// Unanswered probes after which a recovering replica votes.
    pub probe_attempts_max: u32,
    /// How long a repair request waits, before jitter.
    pub repair_retry_ticks: u32,
    /// How long a client waits before it asks the next replica.
    pub client_retry_ticks: u32,
    /// Mean one-way delay.
    pub delay_mean_ticks: u32,
    /// Whether packets are lost by dice, or pushed out of small links.
    pub lossy: bool,
}

impl Pace {
    /// Whether a packet is there long before somebody has waited for it long enough to do something
    /// about it. Delays are drawn, and ten times the mean is seldom passed.
    #[must_use]
    pub fn is_prompt(&self) -> bool {
        let shortest = self.heartbeat_wait_ticks.min(self.view_change_wait_ticks);
        self.delay_mean_ticks.saturating_mul(20) <= shortest
    }
}

/// The weather. All of it is asked for a few times in a tick at most.
pub trait Weather {
    /// How long things take.
    fn pace(&self) -> Pace;

    /// Whether a replica runs, is not paused, and has a disk that is neither slow nor a liar.
    fn is_hale(&self, replica: ReplicaId) -> bool;

    /// Whether everything passes a directed link, dice aside.
    fn is_free(&self, from: Process, to: Process) -> bool;

    /// The proof that these replicas can do nothing but wait, from what their disks hold; nothing where
    /// they could decide. Expensive: for the moment before a verdict.
    fn proven_stall(&self, group: GroupId, core: &[ReplicaId]) -> Option<String>;
}

/// Ticks between two looks at the weather: many links are looked at, and what lasts shorter does no
/// harm to demands of thousands of ticks.
pub(super) const LOOK_EVERY: u64 = 16;

/// Good weather, for tests.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Fair {
    pub(super) pace: Pace,
    pub(super) sick: Vec<ReplicaId>,
    pub(super) blocked: Vec<(Process, Process)>,
    pub(super) stall: Option<String>,
}

#[cfg(test)]
impl Default for Fair {
    fn default() -> Self {
        Self {
            pace: Pace {
                heartbeat_wait_ticks: 500,
                view_change_wait_ticks: 500,
                abdicate_ticks: 1_000,
                probe_ticks: 100,
                probe_attempts_max: 5,
                repair_retry_ticks: 100,
                client_retry_ticks: 200,
                delay_mean_ticks: 3,
                lossy: false,
            },
            sick: Vec::new(),
            blocked: Vec::new(),
            stall: None,
        }
    }
}

#[cfg(test)]
impl Weather for Fair {
    fn pace(&self) -> Pace {
        self.pace
    }

    fn is_hale(&self, replica: ReplicaId) -> bool {
        !self.sick.contains(&replica)
    }

    fn is_free(&self, from: Process, to: Process) -> bool {
        !self.blocked.contains(&(from, to))
    }

    fn proven_stall(&self, _: GroupId, _: &[ReplicaId]) -> Option<String> {
        self.stall.clone()
    }
}
