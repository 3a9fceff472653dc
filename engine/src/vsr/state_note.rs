//! What a replica tells about its checkpoints, and about states on their way to it and from it, with
//! the operands of each decision. Pure data: must never know the words for it.

use crate::ids::{Checksum, Op, ReplicaId};
use crate::vsr::reason::{TransferCause, TransferEnd};

/// Everything a replica tells about states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateNote {
    /// The state after an op was copied, to be written.
    SnapshotTaken {
        /// The op.
        op: Op,
        /// The snapshot.
        checksum: Checksum,
        /// Its length.
        bytes: u64,
    },
    /// A snapshot is durable; the superblock does not name it yet.
    SnapshotWritten {
        /// The op it is of.
        op: Op,
        /// In which of the two places.
        place: u32,
    },
    /// A checkpoint is durable: the slots of what it contains are free.
    Checkpointed {
        /// Its op.
        op: Op,
        /// The highest op that has a slot now.
        limit: Op,
    },
    /// An ack has to wait, so that what commits from here on proves that a quorum has the next
    /// checkpoint.
    AckWithheld {
        /// The op.
        op: Op,
        /// The checkpoint that must be durable first.
        until: Op,
    },
    /// The snapshot that the superblock names cannot be read: the log is here, the state is not.
    StateUnreadable {
        /// The checkpoint.
        checkpoint: Op,
    },
    /// The state of a checkpoint is needed from others.
    TransferStarted {
        /// The lowest checkpoint that would do.
        wanted: Op,
        /// Why.
        cause: TransferCause,
    },
    /// A state to fetch was chosen.
    TransferPinned {
        /// The checkpoint.
        op: Op,
        /// Who offered it.
        from: ReplicaId,
        /// Its parts.
        chunks: u32,
        /// Those among them that an earlier target had as well.
        kept: u32,
    },
    /// A part of a state came.
    TransferChunk {
        /// The checkpoint.
        op: Op,
        /// Which part.
        index: u32,
        /// Parts so far.
        have: u32,
        /// Parts it takes.
        of: u32,
    },
    /// A state, or parts of it, are handed over.
    TransferServed {
        /// The asker.
        to: ReplicaId,
        /// The checkpoint.
        op: Op,
        /// The first part.
        first: u32,
        /// How many parts; none where the state was only offered.
        count: u32,
    },
    /// A target was given up.
    TransferAbandoned {
        /// The checkpoint.
        op: Op,
        /// Why.
        because: TransferEnd,
    },
    /// A state that was fetched is in force: execution goes on after it.
    TransferFinished {
        /// The checkpoint.
        op: Op,
        /// What was executed before.
        executed: Op,
    },
}

impl StateNote {
    /// The op whose state it is about, or whose ack.
    #[must_use]
    pub fn op(&self) -> Op {
        match *self {
            Self::SnapshotTaken { op, .. }
            | Self::SnapshotWritten { op, .. }
            | Self::Checkpointed { op, .. }
            | Self::AckWithheld { op, .. }
            | Self::StateUnreadable { checkpoint: op }
            | Self::TransferStarted { wanted: op, .. }
            | Self::TransferPinned { op, .. }
            | Self::TransferChunk { op, .. }
            | Self::TransferServed { op, .. }
            | Self::TransferAbandoned { op, .. }
            | Self::TransferFinished { op, .. } => op,
        }
    }
}
