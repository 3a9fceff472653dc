//! Knobs of the protocol: values under which every property must hold (protocol section 10).
//! Must never hold a switch that weakens a rule; that would be a mutation.

use serde::Serialize;

/// All knobs of one group. Ticks are 10 ms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Knobs {
    /// The primary's heartbeat interval.
    pub heartbeat_ticks: u32,
    /// How long a backup hears nothing before it votes to leave the view.
    pub heartbeat_wait_ticks: u32,
    /// How long a view change may take before its replica votes to leave it; doubles, at most 16×.
    pub view_change_wait_ticks: u32,
    /// Interval at which StartViewChange and DoViewChange are sent again.
    pub vote_resend_ticks: u32,
    /// How long a vote to leave counts.
    pub vote_expiry_ticks: u32,
    /// First interval at which unacked prepares are sent again; doubles, at most 16×, plus jitter.
    pub prepare_resend_ticks: u32,
    /// How long a primary with unacked prepares goes without a commit before it stops heartbeats.
    pub abdicate_ticks: u32,
    /// Interval of RequestStartView.
    pub probe_ticks: u32,
    /// Unanswered probes after which a recovering replica votes.
    pub probe_attempts_max: u32,
    /// How long a repair request waits for an answer, before jitter.
    pub repair_retry_ticks: u32,
    /// Most ops asked for in one repair request.
    pub repair_chunk_max: u32,
    /// Most prepares that wait for a quorum.
    pub pipeline_max: u32,
    /// Slots of the journal's rings, at least three pipelines. A slot is free again only behind a
    /// checkpoint.
    pub journal_slots: u32,
    /// Most client sessions of a group.
    pub sessions_max: u32,
    /// Bytes of one part of a state under way from one replica to another.
    pub state_chunk_bytes: u32,
}

impl Knobs {
    /// What a Run has that says nothing else.
    pub const DEFAULT: Self = Self {
        heartbeat_ticks: 50,
        heartbeat_wait_ticks: 500,
        view_change_wait_ticks: 500,
        vote_resend_ticks: 50,
        vote_expiry_ticks: 500,
        prepare_resend_ticks: 25,
        abdicate_ticks: 1_000,
        probe_ticks: 100,
        probe_attempts_max: 5,
        repair_retry_ticks: 100,
        repair_chunk_max: 128,
        pipeline_max: 8,
        journal_slots: 65_536,
        sessions_max: 64,
        state_chunk_bytes: 256,
    };

    /// Ops between two checkpoints. Two pipelines less than the ring holds: one for what is prepared
    /// while the quorum of a checkpoint forms, one for what commits meanwhile.
    #[must_use]
    pub fn checkpoint_interval(&self) -> u64 {
        let interval =
            u64::from(self.journal_slots).saturating_sub(2 * u64::from(self.pipeline_max));
        interval.max(1)
    }
}

impl Default for Knobs {
    fn default() -> Self {
        Self::DEFAULT
    }
}
