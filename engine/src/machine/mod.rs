//! The replicated state machines: what a group's log means. The metadata group knows which partitions
//! there are, a partition keeps messages and consumer offsets. Must never know a view, a quorum, a
//! session or which replica it runs on: equal entries in equal order give equal answers and digests
//! everywhere.

use std::rc::Rc;

pub mod codec;
pub mod metadata;
mod partition;
mod wire;

pub use codec::{Answer, Command, Refusal};
pub use metadata::{Genesis, GroupChange, Metadata, PartitionGroup};
pub use partition::{Partition, RETENTION_DEFAULT, RETENTION_MAX};
pub use wire::NAME_BYTES_MAX;

use crate::ids::{Checksum, GROUP_METADATA, GroupId};
use crate::vsr::io::{Malformed, StateMachine};
use crate::vsr::message::Prepare;

/// The state machine of a group.
#[derive(Clone, Debug)]
pub enum Machine {
    /// The metadata group's.
    Metadata(Metadata),
    /// A partition's.
    Partition(Partition),
}

impl Machine {
    /// The machine of a group before its first op. `retention` is what a partition keeps; it holds for
    /// the whole run, on every replica.
    #[must_use]
    pub fn new(group: GroupId, genesis: &Genesis, retention: u32) -> Self {
        if group == GROUP_METADATA {
            Self::Metadata(Metadata::new(genesis))
        } else {
            Self::Partition(Partition::new(retention))
        }
    }

    /// The metadata, where it is that.
    #[must_use]
    pub fn metadata(&self) -> Option<&Metadata> {
        match self {
            Self::Metadata(metadata) => Some(metadata),
            Self::Partition(_) => None,
        }
    }

    /// The partition, where it is one.
    #[must_use]
    pub fn partition(&self) -> Option<&Partition> {
        match self {
            Self::Metadata(_) => None,
            Self::Partition(partition) => Some(partition),
        }
    }

    /// What commands since the last call did to the groups that are to be hosted; nothing, where it
    /// is a partition. After a restore compare [`Metadata::groups`] with what is hosted.
    pub fn take_changes(&mut self) -> Vec<GroupChange> {
        match self {
            Self::Metadata(metadata) => metadata.take_changes(),
            Self::Partition(_) => Vec::new(),
        }
    }
}

impl StateMachine for Machine {
    fn apply(&mut self, prepare: &Prepare) -> Rc<[u8]> {
        match self {
            Self::Metadata(metadata) => metadata.apply(prepare),
            Self::Partition(partition) => partition.apply(prepare),
        }
    }

    fn digest(&self) -> Checksum {
        match self {
            Self::Metadata(metadata) => metadata.digest(),
            Self::Partition(partition) => partition.digest(),
        }
    }

    fn snapshot(&self) -> Rc<[u8]> {
        match self {
            Self::Metadata(metadata) => metadata.snapshot(),
            Self::Partition(partition) => partition.snapshot(),
        }
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        match self {
            Self::Metadata(metadata) => metadata.restore(bytes),
            Self::Partition(partition) => partition.restore(bytes),
        }
    }
}

/// What a request's body asks, in a few words, whichever group it is for.
#[must_use]
pub fn describe(body: &[u8]) -> String {
    if is_for_metadata(body) {
        metadata::describe(body)
    } else {
        codec::describe(body)
    }
}

/// What a result says, in a few words, whichever group gave it.
#[must_use]
pub fn describe_answer(result: &[u8]) -> String {
    if is_for_metadata(result) {
        metadata::describe_answer(result)
    } else {
        codec::describe_answer(result)
    }
}

fn is_for_metadata(bytes: &[u8]) -> bool {
    let tag = bytes.first();
    tag.is_some_and(|tag| *tag >= metadata::command::TAG_MIN)
}

#[cfg(test)]
mod tests;
