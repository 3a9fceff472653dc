//! What goes into the protocol core and what comes out: inputs, effects, the superblock,
//! and the trait of the state machine it runs. Pure data: must never know how an effect is performed.

use std::rc::Rc;

use serde::Serialize;

use crate::ids::{Checksum, ClientId, GroupId, Incarnation, Op, ReplicaId, View};
use crate::vsr::message::{Frame, Header, Message, Prepare};
use crate::vsr::note::Note;
use crate::vsr::snapshot::Snapshot;

/// One thing that happens to a replica's group. Handlers run to completion on it.
#[derive(Debug)]
pub enum Input {
    /// A tick of 10 ms passed.
    Tick,
    /// A message arrived.
    Frame(Frame),
    /// A prepare is synced in both rings.
    PrepareSynced {
        /// Its op.
        op: Op,
        /// Its identity.
        checksum: Checksum,
    },
    /// The superblock of this sequence is durable.
    SuperblockSynced {
        /// The sequence number that was written.
        sequence: u64,
    },
    /// A snapshot is durable in its place.
    SnapshotSynced {
        /// The op it is of.
        op: Op,
        /// Its checksum.
        checksum: Checksum,
    },
}

/// What the shell must do. Effects are performed in order.
#[derive(Debug)]
pub enum Effect {
    /// Send to a replica.
    SendReplica {
        /// The receiver.
        to: ReplicaId,
        /// The frame's view.
        view: View,
        /// The message.
        message: Message,
    },
    /// Send to a client.
    SendClient {
        /// The receiver.
        to: ClientId,
        /// The frame's view.
        view: View,
        /// The message.
        message: Message,
    },
    /// Write a prepare into both rings, sync, then answer with [`Input::PrepareSynced`].
    WritePrepare(Rc<Prepare>),
    /// Write the superblock, sync, then answer with [`Input::SuperblockSynced`].
    WriteSuperblock(Rc<Superblock>),
    /// Write a snapshot into one of the two places, sync, then answer with
    /// [`Input::SnapshotSynced`].
    WriteSnapshot {
        /// The place that does not hold the durable checkpoint.
        place: u32,
        /// What to write.
        snapshot: Rc<Snapshot>,
    },
    /// Read these prepares from the journal and send them to `to` as `RepairPrepare`s, then what
    /// [`Message::repair_done`] makes of whether the first op asked for was among them.
    ServePrepares {
        /// Who asked.
        to: ReplicaId,
        /// First op asked for.
        from: Op,
        /// Last op asked for.
        through: Op,
        /// The entries held, by op and identity.
        entries: Vec<(Op, Checksum)>,
        /// The checkpoint that we could hand over in place of what is not there any more.
        checkpoint: Op,
    },
    /// Something was decided, refused or done, with its reason. For oracles, trace and page.
    Note(Note),
}

/// What a replica makes durable about itself, one a group (protocol section 2). Its four copies are
/// the journal's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Which write this is; rises by one.
    pub sequence: u64,
    /// Whose it is.
    pub replica: ReplicaId,
    /// Of how many.
    pub replica_count: u8,
    /// Of which group.
    pub group: GroupId,
    /// What an acknowledged op of the group outlives.
    pub durability: Durability,
    /// The life that wrote it.
    pub incarnation: Incarnation,
    /// The view.
    pub view: View,
    /// The last view whose log was installed.
    pub log_view: View,
    /// The largest op known committed.
    pub commit_max: Op,
    /// The checkpoint: ops up to it are in its snapshot, and their slots are free.
    pub checkpoint: Checkpoint,
    /// Headers `commit_max ..= head` of the log that `log_view` names.
    pub suffix: Rc<[Rc<Header>]>,
}

impl Superblock {
    /// The head of the log it vouches for.
    #[must_use]
    pub fn head(&self) -> Op {
        self.suffix
            .last()
            .map_or(self.checkpoint.op(), |header| header.op)
    }
}

/// Places for snapshots on disk, used in turn.
pub const SNAPSHOT_PLACES: u32 = 2;

/// The checkpoint that a superblock names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The header at its op, the parent of what stands above it; the root before the first one.
    pub header: Rc<Header>,
    /// Checksum of its snapshot.
    pub snapshot: Checksum,
    /// Which of the two places holds the snapshot.
    pub place: u32,
}

impl Checkpoint {
    /// What a formatted disk begins with: the state before op 1, which needs no snapshot.
    #[must_use]
    pub fn root(group: GroupId) -> Self {
        Self {
            header: Rc::new(Header::root(group)),
            snapshot: Checksum(0),
            place: 0,
        }
    }

    /// The op whose state it is.
    #[must_use]
    pub fn op(&self) -> Op {
        self.header.op
    }
}

/// The replicated state machine of a group. Deterministic: equal entries in equal order give equal
/// results and digests on every replica.
pub trait StateMachine {
    /// Executes one entry and answers the client.
    fn apply(&mut self, prepare: &Prepare) -> Rc<[u8]>;
    /// A digest of all state, folded as ops execute.
    fn digest(&self) -> Checksum;
    /// The whole state, in bytes that are equal on every replica that executed the same ops.
    fn snapshot(&self) -> Rc<[u8]>;
    /// Replaces all state by that of a snapshot; [`StateMachine::digest`] is then that of the state
    /// that was written. Never panics, and changes nothing where it refuses.
    ///
    /// # Errors
    /// If the bytes are not exactly what [`StateMachine::snapshot`] writes.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), Malformed>;
}

/// Bytes that are not what encoding writes: no command, no answer, no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// What an acknowledged op of a group outlives (protocol section 9). A topic's property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// A quorum has it on disk before the client has its answer: power cuts of all replicas at once.
    #[default]
    Persisted,
    /// A quorum has it in memory: any failure that leaves a replication quorum running.
    Replicated,
}

/// The status of a replica in a group (protocol section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Takes part in its view.
    Normal,
    /// Between views, with a vote given.
    ViewChange,
    /// Restarted; asks who leads.
    Recovering,
    /// Restarted, and damage has made the head unknown; asks who leads.
    RecoveringHead,
}

/// The timers of a replica in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// Primary: send a heartbeat.
    Heartbeat,
    /// Backup: heard nothing from the primary.
    HeartbeatWait,
    /// View change: it takes too long.
    ViewChangeWait,
    /// Send StartViewChange again.
    StartViewChangeResend,
    /// Send DoViewChange again.
    DoViewChangeResend,
    /// Primary: send unacked prepares again.
    PrepareResend,
    /// Primary: no commit for too long.
    Abdicate,
    /// Ask who leads.
    Probe,
    /// Ask again for bodies.
    RepairRetry,
    /// Ask again for a state, or for parts of one.
    StateRetry,
}
