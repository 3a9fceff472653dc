//! What the metadata group answers, as a result: compact, little-endian. Decoding refuses every text
//! but the one that encoding writes, and never panics. Must never know the state, nor write a secret.

use std::rc::Rc;

use super::command::TAG_MIN;
use crate::ids::{ClientId, ConsumerGroupId, GroupId, StreamId, TopicId, UserId};
use crate::machine::wire::{Reader, Writer};
use crate::vsr::io::{Durability, Malformed};

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The command was not carried out.
    Refused(Refusal),
    /// Carried out, and there is nothing to say about it.
    Done,
    /// A stream was made.
    StreamCreated(StreamId),
    /// A topic was made.
    TopicCreated {
        /// Its id.
        topic: TopicId,
        /// Its partitions.
        partitions: Vec<GroupId>,
    },
    /// A topic has more partitions.
    PartitionsCreated(Vec<GroupId>),
    /// A user was made.
    UserCreated(UserId),
    /// A consumer group was made.
    ConsumerGroupCreated(ConsumerGroupId),
    /// The client is a member.
    Joined {
        /// How often the members' shares have changed.
        generation: u32,
        /// The client's share: bit n for the topic's partition n.
        partitions: u8,
    },
    /// The client is no longer a member.
    Left {
        /// How often the members' shares have changed.
        generation: u32,
    },
    /// A stream.
    Stream(StreamView),
    /// A topic.
    Topic(TopicView),
    /// A user.
    User(UserView),
    /// Everything but secrets.
    Catalogue(Catalogue),
}

/// Why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Refusal {
    /// The body is not a command.
    Undecodable = 0,
    /// No stream has this id.
    StreamNotFound = 1,
    /// The stream has no topic of this id.
    TopicNotFound = 2,
    /// No user has this id.
    UserNotFound = 3,
    /// The user has no token of this name.
    TokenNotFound = 4,
    /// The topic has no consumer group of this id.
    ConsumerGroupNotFound = 5,
    /// Something else has this name.
    NameTaken = 6,
    /// A token with this hash is there already.
    TokenTaken = 7,
    /// There may be no more streams.
    StreamsFull = 8,
    /// The stream may have no more topics.
    TopicsFull = 9,
    /// The topic may not have so many partitions.
    TopicFull = 10,
    /// The cluster may not have so many partitions.
    PartitionsFull = 11,
    /// There may be no more users.
    UsersFull = 12,
    /// There may be no more tokens.
    TokensFull = 13,
    /// The topic may have no more consumer groups.
    ConsumerGroupsFull = 14,
    /// The consumer group may have no more members.
    MembersFull = 15,
    /// The topic has fewer partitions than are to go.
    TooFewPartitions = 16,
    /// The password so far is another.
    WrongPassword = 17,
    /// The user root stays what it is.
    RootProtected = 18,
    /// The token would be of no use: its time has passed.
    Expired = 19,
    /// The client is a member already.
    AlreadyMember = 20,
    /// The client is not a member.
    NotAMember = 21,
}

impl Refusal {
    /// All, in order of their numbers.
    pub const ALL: [Self; 22] = [
        Self::Undecodable,
        Self::StreamNotFound,
        Self::TopicNotFound,
        Self::UserNotFound,
        Self::TokenNotFound,
        Self::ConsumerGroupNotFound,
        Self::NameTaken,
        Self::TokenTaken,
        Self::StreamsFull,
        Self::TopicsFull,
        Self::TopicFull,
        Self::PartitionsFull,
        Self::UsersFull,
        Self::TokensFull,
        Self::ConsumerGroupsFull,
        Self::MembersFull,
        Self::TooFewPartitions,
        Self::WrongPassword,
        Self::RootProtected,
        Self::Expired,
        Self::AlreadyMember,
        Self::NotAMember,
    ];
}

/// What a reader sees of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// By id.
    pub streams: Vec<StreamView>,
    /// By id.
    pub users: Vec<UserView>,
}

/// What a reader sees of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamView {
    /// Its id.
    pub stream: StreamId,
    /// Its name.
    pub name: String,
    /// By id.
    pub topics: Vec<TopicView>,
}

/// What a reader sees of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicView {
    /// Its id.
    pub topic: TopicId,
    /// Its name.
    pub name: String,
    /// What an acknowledged message of it outlives.
    pub durability: Durability,
    /// Its partitions, in order of their numbers.
    pub partitions: Vec<GroupId>,
    /// By id.
    pub consumer_groups: Vec<ConsumerGroupView>,
}

/// What a reader sees of a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupView {
    /// Its id.
    pub consumer_group: ConsumerGroupId,
    /// Its name.
    pub name: String,
    /// How often the members' shares have changed.
    pub generation: u32,
    /// Its members by client, each with its share: bit n for the topic's partition n.
    pub members: Vec<(ClientId, u8)>,
}

/// What a reader sees of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserView {
    /// The id.
    pub user: UserId,
    /// The name.
    pub name: String,
    /// What the user may do, one bit each.
    pub permissions: u8,
    /// Tokens by name, each with the time from which it is no longer good.
    pub tokens: Vec<(String, Option<u64>)>,
}

const REFUSED: u8 = TAG_MIN;
const DONE: u8 = 129;
const STREAM_CREATED: u8 = 130;
const TOPIC_CREATED: u8 = 131;
const PARTITIONS_CREATED: u8 = 132;
const USER_CREATED: u8 = 133;
const CONSUMER_GROUP_CREATED: u8 = 134;
const JOINED: u8 = 135;
const LEFT: u8 = 136;
const STREAM: u8 = 137;
const TOPIC: u8 = 138;
const USER: u8 = 139;
const CATALOGUE: u8 = 140;

impl Answer {
    /// Reads a result.
    ///
    /// # Errors
    /// If the bytes are not exactly what [`Answer::encode`] writes.
    pub fn decode(result: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(result);
        let answer = match from.u8()? {
            REFUSED => Self::Refused(refusal(from.u8()?)?),
            DONE => Self::Done,
            STREAM_CREATED => Self::StreamCreated(from.stream()?),
            TOPIC_CREATED => Self::TopicCreated {
                topic: from.topic()?,
                partitions: from.groups()?,
            },
            PARTITIONS_CREATED => Self::PartitionsCreated(from.groups()?),
            USER_CREATED => Self::UserCreated(from.user()?),
            CONSUMER_GROUP_CREATED => Self::ConsumerGroupCreated(from.consumer_group()?),
            JOINED => Self::Joined {
                generation: from.u32()?,
                partitions: from.u8()?,
            },
            LEFT => Self::Left {
                generation: from.u32()?,
            },
            STREAM => Self::Stream(from.stream_view()?),
            TOPIC => Self::Topic(from.topic_view()?),
            USER => Self::User(from.user_view()?),
            CATALOGUE => Self::Catalogue(Catalogue {
                streams: from.list(Reader::stream_view)?,
                users: from.list(Reader::user_view)?,
            }),
            _ => return Err(Malformed),
        };
        from.finish()?;
        Ok(answer)
    }

    /// Writes a result.
    #[must_use]
    pub fn encode(&self) -> Rc<[u8]> {
        let tagged = Writer::tagged;
        let out = match self {
            Self::Refused(refusal) => tagged(REFUSED).u8(*refusal as u8),
            Self::Done => tagged(DONE),
            Self::StreamCreated(stream) => tagged(STREAM_CREATED).u32(stream.0),
            Self::TopicCreated { topic, partitions } => {
                tagged(TOPIC_CREATED).u32(topic.0).groups(partitions)
            }
            Self::PartitionsCreated(partitions) => tagged(PARTITIONS_CREATED).groups(partitions),
            Self::UserCreated(user) => tagged(USER_CREATED).u32(user.0),
            Self::ConsumerGroupCreated(made) => tagged(CONSUMER_GROUP_CREATED).u32(made.0),
            Self::Joined {
                generation,
                partitions,
            } => tagged(JOINED).u32(*generation).u8(*partitions),
            Self::Left { generation } => tagged(LEFT).u32(*generation),
            Self::Stream(stream) => tagged(STREAM).stream_view(stream),
            Self::Topic(topic) => tagged(TOPIC).topic_view(topic),
            Self::User(user) => tagged(USER).user_view(user),
            Self::Catalogue(catalogue) => tagged(CATALOGUE)
                .list(catalogue.streams.iter(), Writer::stream_view)
                .list(catalogue.users.iter(), Writer::user_view),
        };
        out.finish()
    }
}

fn refusal(number: u8) -> Result<Refusal, Malformed> {
    let known = Refusal::ALL.get(usize::from(number));
    known.copied().ok_or(Malformed)
}

impl Reader<'_> {
    pub(super) fn groups(&mut self) -> Result<Vec<GroupId>, Malformed> {
        self.list(|from| from.u64().map(GroupId))
    }

    fn owned_name(&mut self) -> Result<String, Malformed> {
        self.name().map(str::to_owned)
    }

    fn stream_view(&mut self) -> Result<StreamView, Malformed> {
        Ok(StreamView {
            stream: self.stream()?,
            name: self.owned_name()?,
            topics: self.list(Reader::topic_view)?,
        })
    }

    fn topic_view(&mut self) -> Result<TopicView, Malformed> {
        Ok(TopicView {
            topic: self.topic()?,
            name: self.owned_name()?,
            durability: self.durability()?,
            partitions: self.groups()?,
            consumer_groups: self.list(Reader::consumer_group_view)?,
        })
    }

    fn consumer_group_view(&mut self) -> Result<ConsumerGroupView, Malformed> {
        Ok(ConsumerGroupView {
            consumer_group: self.consumer_group()?,
            name: self.owned_name()?,
            generation: self.u32()?,
            members: self.list(|from| Ok((ClientId(from.u8()?), from.u8()?)))?,
        })
    }

    fn user_view(&mut self) -> Result<UserView, Malformed> {
        Ok(UserView {
            user: self.user()?,
            name: self.owned_name()?,
            permissions: self.u8()?,
            tokens: self.list(|from| Ok((from.owned_name()?, from.optional_u64()?)))?,
        })
    }
}

impl Writer {
    pub(super) fn groups(self, groups: &[GroupId]) -> Self {
        self.list(groups.iter(), |out, group| out.u64(group.0))
    }

    fn stream_view(self, stream: &StreamView) -> Self {
        self.u32(stream.stream.0)
            .name(&stream.name)
            .list(stream.topics.iter(), Writer::topic_view)
    }

    fn topic_view(self, topic: &TopicView) -> Self {
        self.u32(topic.topic.0)
            .name(&topic.name)
            .durability(topic.durability)
            .groups(&topic.partitions)
            .list(topic.consumer_groups.iter(), Writer::consumer_group_view)
    }

    fn consumer_group_view(self, group: &ConsumerGroupView) -> Self {
        self.u32(group.consumer_group.0)
            .name(&group.name)
            .u32(group.generation)
            .list(group.members.iter(), |out, (client, share)| {
                out.u8(client.0).u8(*share)
            })
    }

    fn user_view(self, user: &UserView) -> Self {
        self.u32(user.user.0)
            .name(&user.name)
            .u8(user.permissions)
            .list(user.tokens.iter(), |out, (name, expiry_micros)| {
                out.name(name).optional_u64(*expiry_micros)
            })
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
