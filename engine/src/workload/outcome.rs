//! What an action can come to, and how often each is aimed at. Must never know how an aim is taken.

use serde::Serialize;

use super::action::Action;
use crate::machine::codec::{
    Answer as PartitionAnswer, Command as PartitionCommand, Refusal as PartitionRefusal,
};
use crate::machine::metadata::{Answer as MetadataAnswer, Refusal as MetadataRefusal};

/// What an action came to, or is aimed at. Append only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Outcome {
    /// Carried out.
    Success = 0,
    /// Nothing stands there: a poll at the end, an offset that is not stored.
    Nothing = 1,
    /// A poll from an offset that the partition let go, answered from the first one kept.
    Trimmed = 2,
    /// The offset names no message.
    OutOfRange = 3,
    /// No offset is stored for the consumer.
    UnknownConsumer = 4,
    /// There is no such stream.
    StreamNotFound = 5,
    /// There is no such topic.
    TopicNotFound = 6,
    /// There is no such user.
    UserNotFound = 7,
    /// There is no such token.
    TokenNotFound = 8,
    /// There is no such consumer group.
    ConsumerGroupNotFound = 9,
    /// The name is taken.
    NameTaken = 10,
    /// The token is there already.
    TokenTaken = 11,
    /// There may be no more streams.
    StreamsFull = 12,
    /// There may be no more topics.
    TopicsFull = 13,
    /// The topic may not have so many partitions.
    TopicFull = 14,
    /// The cluster may not have so many partitions.
    PartitionsFull = 15,
    /// There may be no more users.
    UsersFull = 16,
    /// There may be no more tokens.
    TokensFull = 17,
    /// There may be no more consumer groups.
    ConsumerGroupsFull = 18,
    /// There may be no more members.
    MembersFull = 19,
    /// The topic has fewer partitions.
    TooFewPartitions = 20,
    /// The password is another.
    WrongPassword = 21,
    /// The user root stays what it is.
    RootProtected = 22,
    /// The token's time has passed.
    Expired = 23,
    /// The client is a member already.
    AlreadyMember = 24,
    /// The client is not a member.
    NotAMember = 25,
    /// The body is no command.
    Undecodable = 26,
}

impl Outcome {
    /// How many there are.
    pub const COUNT: usize = Self::Undecodable as usize + 1;

    /// Its number.
    #[must_use]
    pub const fn place(self) -> usize {
        self as usize
    }

    /// What an action came to, by the body that asked and the result; nothing, where either is not
    /// what its group reads and writes.
    #[must_use]
    pub fn of(body: &[u8], result: &[u8]) -> Option<(Action, Self)> {
        let action = Action::of(body)?;
        let outcome = if action.is_of_partition() {
            Self::of_partition(body, &PartitionAnswer::decode(result).ok()?)
        } else {
            Self::of_metadata(&MetadataAnswer::decode(result).ok()?)
        };
        Some((action, outcome))
    }

    fn of_partition(body: &[u8], answer: &PartitionAnswer<'_>) -> Self {
        match answer {
            PartitionAnswer::Refused(PartitionRefusal::Undecodable) => Self::Undecodable,
            PartitionAnswer::Refused(PartitionRefusal::OutOfRange { .. }) => Self::OutOfRange,
            PartitionAnswer::Refused(PartitionRefusal::UnknownConsumer) => Self::UnknownConsumer,
            PartitionAnswer::Messages { payloads, .. } if payloads.count() == 0 => Self::Nothing,
            PartitionAnswer::Messages { first, .. } => match PartitionCommand::decode(body) {
                Ok(PartitionCommand::Poll { from, .. }) if from < *first => Self::Trimmed,
                _ => Self::Success,
            },
            PartitionAnswer::Offset(None) => Self::Nothing,
            PartitionAnswer::Offset(Some(_))
            | PartitionAnswer::Sent { .. }
            | PartitionAnswer::Stored
            | PartitionAnswer::Deleted => Self::Success,
        }
    }

    fn of_metadata(answer: &MetadataAnswer) -> Self {
        let MetadataAnswer::Refused(refusal) = answer else {
            return Self::Success;
        };
        match refusal {
            MetadataRefusal::Undecodable => Self::Undecodable,
            MetadataRefusal::StreamNotFound => Self::StreamNotFound,
            MetadataRefusal::TopicNotFound => Self::TopicNotFound,
            MetadataRefusal::UserNotFound => Self::UserNotFound,
            MetadataRefusal::TokenNotFound => Self::TokenNotFound,
            MetadataRefusal::ConsumerGroupNotFound => Self::ConsumerGroupNotFound,
            MetadataRefusal::NameTaken => Self::NameTaken,
            MetadataRefusal::TokenTaken => Self::TokenTaken,
            MetadataRefusal::StreamsFull => Self::StreamsFull,
            MetadataRefusal::TopicsFull => Self::TopicsFull,
            MetadataRefusal::TopicFull => Self::TopicFull,
            MetadataRefusal::PartitionsFull => Self::PartitionsFull,
            MetadataRefusal::UsersFull => Self::UsersFull,
            MetadataRefusal::TokensFull => Self::TokensFull,
            MetadataRefusal::ConsumerGroupsFull => Self::ConsumerGroupsFull,
            MetadataRefusal::MembersFull => Self::MembersFull,
            MetadataRefusal::TooFewPartitions => Self::TooFewPartitions,
            MetadataRefusal::WrongPassword => Self::WrongPassword,
            MetadataRefusal::RootProtected => Self::RootProtected,
            MetadataRefusal::Expired => Self::Expired,
            MetadataRefusal::AlreadyMember => Self::AlreadyMember,
            MetadataRefusal::NotAMember => Self::NotAMember,
        }
    }
}

impl Action {
    /// What it can come to when its body is a command, success first. Aims are drawn by their place
    /// in this list: append only.
    #[must_use]
    pub const fn outcomes(self) -> &'static [Outcome] {
        use Outcome as O;
        match self {
            Self::SendMessages | Self::GetCatalogue => &[O::Success],
            Self::Poll => &[O::Success, O::Nothing, O::Trimmed],
            Self::StoreOffset => &[O::Success, O::OutOfRange],
            Self::DeleteOffset => &[O::Success, O::UnknownConsumer],
            Self::GetOffset => &[O::Success, O::Nothing],
            Self::CreateStream => &[O::Success, O::NameTaken, O::StreamsFull],
            Self::UpdateStream => &[O::Success, O::StreamNotFound, O::NameTaken],
            Self::DeleteStream | Self::GetStream => &[O::Success, O::StreamNotFound],
            Self::CreateTopic => &[
                O::Success,
                O::StreamNotFound,
                O::NameTaken,
                O::TopicsFull,
                O::PartitionsFull,
            ],
            Self::UpdateTopic => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::NameTaken,
            ],
            Self::DeleteTopic | Self::GetTopic => {
                &[O::Success, O::StreamNotFound, O::TopicNotFound]
            }
            Self::CreatePartitions => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::TopicFull,
                O::PartitionsFull,
            ],
            Self::DeletePartitions => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::TooFewPartitions,
            ],
            Self::CreateUser => &[O::Success, O::NameTaken, O::UsersFull],
            Self::UpdateUser => &[O::Success, O::UserNotFound, O::RootProtected, O::NameTaken],
            Self::ChangePassword => &[O::Success, O::UserNotFound, O::WrongPassword],
            Self::DeleteUser => &[O::Success, O::UserNotFound, O::RootProtected],
            Self::CreateToken => &[
                O::Success,
                O::UserNotFound,
                O::NameTaken,
                O::TokenTaken,
                O::Expired,
                O::TokensFull,
            ],
            Self::DeleteToken => &[O::Success, O::UserNotFound, O::TokenNotFound],
            Self::CreateConsumerGroup => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::NameTaken,
                O::ConsumerGroupsFull,
            ],
            Self::DeleteConsumerGroup => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::ConsumerGroupNotFound,
            ],
            Self::JoinConsumerGroup => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::ConsumerGroupNotFound,
                O::AlreadyMember,
                O::MembersFull,
            ],
            Self::LeaveConsumerGroup => &[
                O::Success,
                O::StreamNotFound,
                O::TopicNotFound,
                O::ConsumerGroupNotFound,
                O::NotAMember,
            ],
            Self::GetUser => &[O::Success, O::UserNotFound],
        }
    }
}

/// How often each action came to each outcome: what a run has tried at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    counts: [[u64; Outcome::COUNT]; Action::COUNT],
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            counts: [[0; Outcome::COUNT]; Action::COUNT],
        }
    }
}

impl Coverage {
    /// Counts one.
    pub fn count(&mut self, action: Action, outcome: Outcome) {
        self.counts[action.place()][outcome.place()] += 1;
    }

    /// How often.
    #[must_use]
    pub fn of(&self, action: Action, outcome: Outcome) -> u64 {
        self.counts[action.place()][outcome.place()]
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Adds another's counts.
    pub fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.counts.iter_mut().zip(&other.counts) {
            for (count, more) in ours.iter_mut().zip(theirs) {
                *count += more;
            }
        }
    }

    /// Actions and outcomes that never came about, of those that can.
    pub fn missing(&self) -> impl Iterator<Item = (Action, Outcome)> {
        let pairs = Action::ALL.into_iter().flat_map(|action| {
            let outcomes = action.outcomes().iter();
            outcomes.map(move |outcome| (action, *outcome))
        });
        pairs.filter(|(action, outcome)| self.of(*action, *outcome) == 0)
    }
}
