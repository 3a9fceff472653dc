//! Why a replica ignores, drops, decides or does something: the typed reasons that notes carry. Pure
//! data: must never know the words for it.

use serde::Serialize;

use crate::ids::{Incarnation, Op, ReplicaId, View};
use crate::vsr::io::Status;
use crate::vsr::message::MessageKind;

/// Why a message, or a part of it, has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "because", rename_all = "kebab-case")]
pub enum Ignored {
    /// The sender's view is older than ours.
    OlderView {
        /// Its view.
        view: View,
        /// Ours.
        ours: View,
    },
    /// The sender's view is newer; nothing of it is adopted, we ask for its log.
    NewerView {
        /// Its view.
        view: View,
        /// Ours.
        ours: View,
    },
    /// Only the primary of the view may say this.
    NotFromPrimary,
    /// Only the primary of the view may act on this.
    NotPrimary {
        /// Who is.
        primary: ReplicaId,
    },
    /// Our status does not allow it.
    WrongStatus {
        /// The status.
        status: Status,
    },
    /// The group or the sender's identity is not of this cluster.
    Foreign,
    /// The op is not the next one after our head.
    Gap {
        /// Its op.
        op: Op,
        /// Our head.
        head: Op,
    },
    /// The parent is not our head's identity.
    BrokenChain {
        /// Its op.
        op: Op,
    },
    /// The identity differs from the one we know at this op.
    OtherIdentity {
        /// The op.
        op: Op,
    },
    /// Already held.
    Duplicate {
        /// The op.
        op: Op,
    },
    /// The ack names an op or identity that is not waiting for a quorum.
    StaleAck {
        /// The op.
        op: Op,
    },
    /// A StartView whose head is not above ours, in a log we already have.
    NothingNew {
        /// Its head.
        head: Op,
        /// Ours.
        ours: Op,
    },
    /// A StartView that does not answer this life of ours and is not above our durable view.
    OtherIncarnation {
        /// The life it answers.
        answers: Incarnation,
        /// Ours.
        ours: Incarnation,
    },
    /// Recovering replicas are not pulled into a view.
    RecoveringNotPulled,
    /// What we would say is not durable yet; it goes out once it is.
    NotDurableYet,
    /// The view's log is chosen; a later DoViewChange changes nothing.
    AlreadyChosen,
    /// Nothing asked for is held.
    NothingToServe,
    /// The journal has no free slot: none is reused before a checkpoint.
    JournalFull {
        /// The slots.
        slots: u32,
    },
    /// Our checkpoint contains the op.
    Contained {
        /// The op.
        op: Op,
        /// The checkpoint.
        checkpoint: Op,
    },
    /// We asked for no such state, or have it.
    StateUnasked,
    /// The part is not what was offered.
    OtherPart {
        /// Which part.
        index: u32,
    },
    /// The state asked for is not here any more.
    TargetGone,
}

/// Why a client's request is not prepared now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "because", rename_all = "kebab-case")]
pub enum RequestDropped {
    /// We do not lead, or not yet.
    NotPrimary {
        /// Who leads, as far as we know.
        primary: ReplicaId,
        /// Our status.
        status: Status,
    },
    /// Too many prepares wait for a quorum.
    PipelineFull {
        /// How many.
        waiting: u32,
    },
    /// The journal has no free slot: none is reused before a checkpoint.
    JournalFull {
        /// The slots.
        slots: u32,
    },
    /// The same request is prepared and waits for a quorum.
    InFlight {
        /// Where it stands.
        op: Op,
    },
    /// Names an epoch we have not executed yet.
    SessionAhead,
    /// A replica is being handed a state: half as many prepares may wait, so that it can catch up.
    PipelineHalved {
        /// How many wait.
        waiting: u32,
        /// The replica.
        peer: ReplicaId,
    },
}

/// Why a view change cannot choose a log yet, or how it chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum MergeOutcome {
    /// Fewer than vc DoViewChanges.
    AwaitingVotes {
        /// How many there are.
        have: u8,
        /// How many it takes.
        need: u8,
    },
    /// An op has neither enough nacks nor a copy, and some replica has not answered.
    AwaitingCopy {
        /// The op.
        op: Op,
        /// Nacks so far.
        nacks: u8,
        /// Nacks that would let it go.
        need: u8,
    },
    /// The same, and all have answered: the only right answer is to stop.
    Undecidable {
        /// The op.
        op: Op,
    },
    /// A log was chosen.
    Chosen {
        /// Its head.
        head: Op,
        /// The largest op known committed.
        commit_max: Op,
    },
    /// Too many of those who answered restarted in a group that acknowledges from memory, and some
    /// replica has not answered (protocol section 9).
    AwaitingTrust {
        /// How many answered that lost nothing.
        trusted: u8,
        /// How many it takes.
        need: u8,
    },
    /// All have answered, and too few of them lost nothing: the longest log was chosen, and what was
    /// acknowledged above its head is lost.
    ChosenAtRisk {
        /// Its head.
        head: Op,
        /// The largest op known committed.
        commit_max: Op,
    },
}

/// Why a replica votes to leave its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum LeaveCause {
    /// Nothing came from the primary.
    PrimarySilent {
        /// For how long.
        ticks: u32,
    },
    /// The view change took too long.
    ViewChangeTooLong {
        /// How long.
        ticks: u32,
    },
    /// The primary of the view itself asks who leads: it restarted.
    PrimaryRestarted,
    /// We lead, and what we prepared finds no quorum: we have stopped our heartbeats.
    NothingCommits {
        /// For how long.
        ticks: u32,
    },
    /// Nobody answered our probes.
    ProbesUnanswered {
        /// How many.
        attempts: u32,
    },
}

/// How a replica came into a view change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum EnterCause {
    /// A quorum of votes to leave.
    Votes {
        /// Votes counted.
        have: u8,
        /// Votes it takes.
        need: u8,
    },
    /// A vote or a log of a higher view.
    Pulled {
        /// Whose.
        by: ReplicaId,
        /// Which message.
        kind: MessageKind,
    },
    /// We were the next primary, a checkpoint behind.
    Forfeit,
}

/// Why a replica needs a state from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum TransferCause {
    /// What is missing here has left a peer's ring.
    Evicted {
        /// The peer.
        by: ReplicaId,
        /// The op.
        op: Op,
    },
    /// The view's log lies beyond what our ring can hold before we have a newer checkpoint.
    LogAhead {
        /// Its head.
        head: Op,
        /// The checkpoint it begins above.
        checkpoint: Op,
    },
    /// Our own snapshot cannot be read.
    Unreadable,
}

/// Why a state is not fetched any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferEnd {
    /// Nobody has it any more.
    TargetGone,
    /// Its parts do not make what was offered.
    OtherContent,
    /// We got there without it.
    Unneeded,
}
