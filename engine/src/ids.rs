//! Names of things: replicas, clients, groups, views, ops. Sized integers, so that native and wasm
//! builds agree. Must never know what the things do.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A replica's place on the ring, 0 to n − 1.
    ReplicaId(u8)
);
id!(
    /// A client, 0 to 7.
    ClientId(u8)
);
id!(
    /// A shard of a replica, 0 to 3.
    ShardId(u8)
);
id!(
    /// A replicated log. The id is the metadata op that made the group, eight bits up, and the place
    /// among the groups that this op made; it is never used again. Formatting a cluster counts as
    /// op 0.
    GroupId(u64)
);
id!(
    /// A view of one group; its primary is `view mod n`.
    View(u32)
);
id!(
    /// A position in a group's log. Real ops count from 1; 0 is the root before the first.
    Op(u64)
);
id!(
    /// Simulated time in ticks of 10 ms.
    Tick(u64)
);
id!(
    /// The number a client gives to a request within its session; it only rises.
    RequestNumber(u64)
);
id!(
    /// How often a replica has booted from its disk; it tells one life from the next.
    Incarnation(u32)
);

id!(
    /// A stream: a name over topics.
    StreamId(u32)
);
id!(
    /// A topic: a name over partitions.
    TopicId(u32)
);
id!(
    /// A user of the cluster.
    UserId(u32)
);
id!(
    /// A consumer group: clients that share the partitions of a topic.
    ConsumerGroupId(u32)
);

/// A 64-bit checksum. Shown and serialised as 16 hex digits, since JavaScript holds only 53 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checksum(pub u64);

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Checksum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The group that knows which others there are.
pub const GROUP_METADATA: GroupId = GroupId(0);
/// The first partition that a cluster is formatted with.
pub const GROUP_PARTITION_0: GroupId = GroupId(1);

/// Length of a tick in microseconds of virtual time.
pub const TICK_MICROS: u64 = 10_000;

/// The groups that a cluster of so many partitions is formatted with, metadata first.
pub fn formatted_groups(partitions: u8) -> impl Iterator<Item = GroupId> {
    (0..=u64::from(partitions)).map(GroupId)
}

impl GroupId {
    /// The metadata op that made the group; formatting counts as op 0.
    #[must_use]
    pub fn made_by(self) -> Op {
        Op(self.0 >> 8)
    }
}

impl Op {
    /// The next position.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The position before; the root has none and answers itself.
    #[must_use]
    pub fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl View {
    /// The primary of this view among `replica_count` replicas.
    #[must_use]
    pub fn primary(self, replica_count: u8) -> ReplicaId {
        let place = self.0 % u32::from(replica_count);
        ReplicaId(u8::try_from(place).expect("a remainder of a u8 fits a u8"))
    }

    /// The next view.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One end of a link: a replica or a client. Ordered replicas first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Process {
    /// A replica.
    Replica(ReplicaId),
    /// A client.
    Client(ClientId),
}

/// Most replicas in a cluster.
pub const REPLICAS_MAX: u8 = 9;
/// Most clients of a cluster.
pub const CLIENTS_MAX: u8 = 8;
/// Most shards of a replica.
pub const SHARDS_MAX: u8 = 4;
/// Most partitions that a cluster is formatted with.
pub const PARTITIONS_MAX: u8 = 8;

impl Process {
    /// A dense number, replicas first: 0..9 for replicas, 9..17 for clients. For tables and keys.
    #[must_use]
    pub fn index(self) -> u8 {
        match self {
            Self::Replica(ReplicaId(r)) => r,
            Self::Client(ClientId(c)) => REPLICAS_MAX + c,
        }
    }

    /// The process of a dense number, or nothing where there is none.
    #[must_use]
    pub fn from_index(index: u8) -> Option<Self> {
        if index < REPLICAS_MAX {
            Some(Self::Replica(ReplicaId(index)))
        } else if index < REPLICAS_MAX + CLIENTS_MAX {
            Some(Self::Client(ClientId(index - REPLICAS_MAX)))
        } else {
            None
        }
    }
}

/// `0` for a replica, `c0` for a client, as in scripts and links.
impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replica(r) => write!(f, "{r}"),
            Self::Client(c) => write!(f, "c{c}"),
        }
    }
}
