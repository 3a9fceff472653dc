//! The replicated state machines: what a group's log means. A partition keeps messages and consumer
//! offsets, the metadata group knows which partitions there are. Must never know a view, a quorum, a session or which replica it runs on: equal entries
//! in equal order give equal answers and digests everywhere.

pub mod codec;
mod partition;

pub use codec::{Answer, Command, Refusal, describe, describe_answer};
pub use partition::Partition;

use std::rc::Rc;

use crate::digest::mix;
use crate::ids::{Checksum, GROUP_METADATA, GroupId};
use crate::vsr::io::StateMachine;
use crate::vsr::message::Prepare;

/// The state machine of a group.
#[derive(Clone, Debug)]
pub enum Machine {
    /// Of the metadata group.
    Metadata(Metadata),
    /// Of a partition.
    Partition(Partition),
}

/// The state of the metadata group.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    digest: u64,
}

impl Machine {
    /// The machine of a group before its first op.
    #[must_use]
    pub fn genesis(group: GroupId) -> Self {
        if group == GROUP_METADATA {
            Self::Metadata(Metadata::default())
        } else {
            Self::Partition(Partition::default())
        }
    }

    /// A partition.
    #[must_use]
    pub fn partition(&self) -> Option<&Partition> {
        match self {
            Self::Partition(partition) => Some(partition),
            Self::Metadata(_) => None,
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
}

impl StateMachine for Metadata {
    fn apply(&mut self, prepare: &Prepare) -> Rc<[u8]> {
        self.digest = mix(self.digest, prepare.header.checksum.0);
        Answer::Refused(Refusal::Undecodable).encode()
    }

    fn digest(&self) -> Checksum {
        Checksum(self.digest)
    }
}
