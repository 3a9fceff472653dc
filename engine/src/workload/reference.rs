//! What a group's answers are held against, whichever plane it is of: the reference that executes its
//! entries, and the right answer to each. Must never know a session, nor which replica answered.

use super::model_metadata::MetadataModel;
use super::model_partition::{self, PartitionModel};
use crate::machine::metadata::Answer;
use crate::vsr::message::Prepare;

/// A reference.
#[derive(Debug)]
pub(super) enum Reference {
    Metadata(MetadataModel),
    Partition(PartitionModel),
}

/// The right answer to an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Metadata(Answer),
    Partition(model_partition::Expected),
}

impl Reference {
    /// Executes an entry.
    pub(super) fn apply(&mut self, prepare: &Prepare) -> Expected {
        match self {
            Self::Metadata(model) => {
                Expected::Metadata(model.apply(&prepare.header, &prepare.body))
            }
            Self::Partition(model) => Expected::Partition(model.apply(&prepare.body)),
        }
    }

    pub(super) fn metadata(&self) -> Option<&MetadataModel> {
        match self {
            Self::Metadata(model) => Some(model),
            Self::Partition(_) => None,
        }
    }

    pub(super) fn partition(&self) -> Option<&PartitionModel> {
        match self {
            Self::Metadata(_) => None,
            Self::Partition(model) => Some(model),
        }
    }
}

impl Expected {
    /// What is wrong with an answer, in words, or nothing.
    pub(super) fn difference(&self, result: &[u8]) -> Option<String> {
        match self {
            Self::Partition(expected) => expected.difference(result),
            Self::Metadata(expected) => match Answer::decode(result) {
                Ok(given) if given == *expected => None,
                Ok(given) => {
                    let (given_words, words) = (given.words(), expected.words());
                    if given_words == words {
                        // The few words leave out where they differ.
                        Some(format!("{given:?}, not {expected:?}"))
                    } else {
                        Some(format!("{given_words}, not {words}"))
                    }
                }
                Err(_) => Some(format!("{} bytes that are no answer", result.len())),
            },
        }
    }

    /// The offset behind the messages that a client is told were sent.
    pub(super) fn messages_sent_up_to(&self) -> Option<u64> {
        match self {
            Self::Partition(model_partition::Expected::Sent { first, count }) => {
                Some(first + u64::from(*count))
            }
            Self::Partition(_) | Self::Metadata(_) => None,
        }
    }
}
