//! What the host of a replica's groups says of one of them. It goes to the readers of all other notes,
//! and so in their form. Must never know how a group is hosted.

use crate::ids::{ReplicaId, ShardId};
use crate::vsr::message::MessageKind;

/// A group comes, goes, or is spoken to while it is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostNote {
    /// Its creation was executed here: the disk is formatted for it, and it starts in view 0, however
    /// late that is.
    Founded,
    /// Its deletion was executed here: it is hosted no more.
    Removed,
    /// It is not hosted yet; the frame waits for it.
    Parked {
        /// The frame's type.
        kind: MessageKind,
        /// The sender, where it is a replica.
        from: Option<ReplicaId>,
    },
    /// It is not hosted yet, and too many frames wait for it already.
    ParkingFull {
        /// The frame's type.
        kind: MessageKind,
        /// The sender, where it is a replica.
        from: Option<ReplicaId>,
    },
    /// The channel to the shard that owns it is full: the frame goes nowhere.
    Overflow {
        /// The frame's type.
        kind: MessageKind,
        /// The sender, where it is a replica.
        from: Option<ReplicaId>,
        /// The shard where the frame landed.
        entry: ShardId,
        /// The shard that owns the group.
        owner: ShardId,
        /// The most frames that may wait in the channel.
        room: u32,
    },
    /// It was deleted: the frame goes nowhere.
    Gone {
        /// The frame's type.
        kind: MessageKind,
        /// The sender, where it is a replica.
        from: Option<ReplicaId>,
    },
}
