//! What a client asks of the metadata group, as a body: compact, little-endian. Decoding borrows,
//! refuses every text but the one that encoding writes, and never panics. Must never know the state.

use std::rc::Rc;

use crate::ids::{ConsumerGroupId, StreamId, TopicId, UserId};
use crate::machine::wire::{Reader, Writer, within};
use crate::vsr::io::{Durability, Malformed};

/// Most partitions made or deleted by one command.
pub const PARTITIONS_AT_ONCE_MAX: u8 = 4;
/// Most bytes of a hash or a salt.
pub const SECRET_BYTES_MAX: usize = 64;
/// Bodies and results of the metadata group begin with this byte or a higher one, those of a
/// partition with a lower one: neither is taken for the other.
pub(in crate::machine) const TAG_MIN: u8 = 128;

/// Where a topic stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicPath {
    /// In which stream.
    pub stream: StreamId,
    /// Which.
    pub topic: TopicId,
}

impl TopicPath {
    /// The topic that a cluster is formatted with.
    pub const FIRST: Self = Self {
        stream: StreamId(1),
        topic: TopicId(1),
    };
}

/// Where a consumer group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConsumerGroupPath {
    /// Over which topic.
    pub of: TopicPath,
    /// Which.
    pub consumer_group: ConsumerGroupId,
}

/// What is kept of a password. The metadata group compares it and never looks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Password<'a> {
    /// The password's hash.
    pub hash: &'a [u8],
    /// What it was salted with.
    pub salt: &'a [u8],
}

/// A command. Each names the refusals it may meet, in the order in which they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `NameTaken`; `StreamsFull`.
    CreateStream {
        /// Its name, unlike that of any other stream.
        name: &'a str,
    },
    /// `StreamNotFound`; `NameTaken` by another.
    UpdateStream {
        /// Which.
        stream: StreamId,
        /// Its new name.
        name: &'a str,
    },
    /// `StreamNotFound`. Its topics and their partitions go with it.
    DeleteStream {
        /// Which.
        stream: StreamId,
    },
    /// `StreamNotFound`; `NameTaken` in the stream; `TopicsFull`; `PartitionsFull`.
    CreateTopic {
        /// In which stream.
        stream: StreamId,
        /// Its name, unlike that of any other topic of the stream.
        name: &'a str,
        /// What an acknowledged message of it outlives.
        durability: Durability,
        /// Partitions to begin with, 0 to [`PARTITIONS_AT_ONCE_MAX`].
        partitions: u8,
    },
    /// `StreamNotFound`; `TopicNotFound`; `NameTaken` by another.
    UpdateTopic {
        /// Which.
        of: TopicPath,
        /// Its new name.
        name: &'a str,
    },
    /// `StreamNotFound`; `TopicNotFound`. Its partitions go with it.
    DeleteTopic {
        /// Which.
        of: TopicPath,
    },
    /// `StreamNotFound`; `TopicNotFound`; `TopicFull`; `PartitionsFull`.
    CreatePartitions {
        /// Of which topic.
        of: TopicPath,
        /// How many, 1 to [`PARTITIONS_AT_ONCE_MAX`].
        count: u8,
    },
    /// `StreamNotFound`; `TopicNotFound`; `TooFewPartitions`. The last ones go.
    DeletePartitions {
        /// Of which topic.
        of: TopicPath,
        /// How many, 1 to [`PARTITIONS_AT_ONCE_MAX`].
        count: u8,
    },
    /// `NameTaken`; `UsersFull`.
    CreateUser {
        /// The name, unlike that of any other user.
        name: &'a str,
        /// The password.
        password: Password<'a>,
        /// What the user may do, one bit each.
        permissions: u8,
    },
    /// `UserNotFound`; `RootProtected`; `NameTaken` by another.
    UpdateUser {
        /// Which.
        user: UserId,
        /// The new name.
        name: &'a str,
        /// The new permissions.
        permissions: u8,
    },
    /// `UserNotFound`; `WrongPassword`.
    ChangePassword {
        /// Whose.
        user: UserId,
        /// The hash of the password so far.
        current_hash: &'a [u8],
        /// The new one.
        password: Password<'a>,
    },
    /// `UserNotFound`; `RootProtected`. The user's tokens go with it.
    DeleteUser {
        /// Which.
        user: UserId,
    },
    /// `UserNotFound`; `NameTaken` by another of the user's; `TokenTaken`; `Expired`; `TokensFull`.
    CreateToken {
        /// For which user.
        user: UserId,
        /// Its name.
        name: &'a str,
        /// The hash of what its holder shows.
        hash: &'a [u8],
        /// Virtual time from which it is no longer good; never where there is none.
        expiry_micros: Option<u64>,
    },
    /// `UserNotFound`; `TokenNotFound`.
    DeleteToken {
        /// Of which user.
        user: UserId,
        /// Its name.
        name: &'a str,
    },
    /// `StreamNotFound`; `TopicNotFound`; `NameTaken` in the topic; `ConsumerGroupsFull`.
    CreateConsumerGroup {
        /// Over which topic.
        of: TopicPath,
        /// Its name, unlike that of any other consumer group of the topic.
        name: &'a str,
    },
    /// `StreamNotFound`; `TopicNotFound`; `ConsumerGroupNotFound`.
    DeleteConsumerGroup {
        /// Which.
        path: ConsumerGroupPath,
    },
    /// `StreamNotFound`; `TopicNotFound`; `ConsumerGroupNotFound`; `AlreadyMember`; `MembersFull`.
    /// The client that asks joins.
    JoinConsumerGroup {
        /// Which.
        path: ConsumerGroupPath,
    },
    /// `StreamNotFound`; `TopicNotFound`; `ConsumerGroupNotFound`; `NotAMember`. The client that asks
    /// leaves.
    LeaveConsumerGroup {
        /// Which.
        path: ConsumerGroupPath,
    },
    /// `StreamNotFound`.
    GetStream {
        /// Which.
        stream: StreamId,
    },
    /// `StreamNotFound`; `TopicNotFound`.
    GetTopic {
        /// Which.
        of: TopicPath,
    },
    /// `UserNotFound`.
    GetUser {
        /// Which.
        user: UserId,
    },
    /// Everything but secrets.
    GetCatalogue,
}

const CREATE_STREAM: u8 = TAG_MIN;
const UPDATE_STREAM: u8 = 129;
const DELETE_STREAM: u8 = 130;
const CREATE_TOPIC: u8 = 131;
const UPDATE_TOPIC: u8 = 132;
const DELETE_TOPIC: u8 = 133;
const CREATE_PARTITIONS: u8 = 134;
const DELETE_PARTITIONS: u8 = 135;
const CREATE_USER: u8 = 136;
const UPDATE_USER: u8 = 137;
const CHANGE_PASSWORD: u8 = 138;
const DELETE_USER: u8 = 139;
const CREATE_TOKEN: u8 = 140;
const DELETE_TOKEN: u8 = 141;
const CREATE_CONSUMER_GROUP: u8 = 142;
const DELETE_CONSUMER_GROUP: u8 = 143;
const JOIN_CONSUMER_GROUP: u8 = 144;
const LEAVE_CONSUMER_GROUP: u8 = 145;
const GET_STREAM: u8 = 146;
const GET_TOPIC: u8 = 147;
const GET_USER: u8 = 148;
const GET_CATALOGUE: u8 = 149;

impl<'a> Command<'a> {
    /// Reads a request's body.
    ///
    /// # Errors
    /// If the bytes are not exactly what [`Command::encode`] writes.
    pub fn decode(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let command = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(command)
    }

    fn read(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(match from.u8()? {
            CREATE_STREAM => Self::CreateStream { name: from.name()? },
            UPDATE_STREAM => Self::UpdateStream {
                stream: from.stream()?,
                name: from.name()?,
            },
            DELETE_STREAM => Self::DeleteStream {
                stream: from.stream()?,
            },
            CREATE_TOPIC => Self::CreateTopic {
                stream: from.stream()?,
                name: from.name()?,
                durability: from.durability()?,
                partitions: within(from.u8()?, 0, PARTITIONS_AT_ONCE_MAX)?,
            },
            UPDATE_TOPIC => Self::UpdateTopic {
                of: from.topic_path()?,
                name: from.name()?,
            },
            DELETE_TOPIC => Self::DeleteTopic {
                of: from.topic_path()?,
            },
            CREATE_PARTITIONS => Self::CreatePartitions {
                of: from.topic_path()?,
                count: within(from.u8()?, 1, PARTITIONS_AT_ONCE_MAX)?,
            },
            DELETE_PARTITIONS => Self::DeletePartitions {
                of: from.topic_path()?,
                count: within(from.u8()?, 1, PARTITIONS_AT_ONCE_MAX)?,
            },
            CREATE_USER => Self::CreateUser {
                name: from.name()?,
                password: from.password()?,
                permissions: from.u8()?,
            },
            UPDATE_USER => Self::UpdateUser {
                user: from.user()?,
                name: from.name()?,
                permissions: from.u8()?,
            },
            CHANGE_PASSWORD => Self::ChangePassword {
                user: from.user()?,
                current_hash: from.secret()?,
                password: from.password()?,
            },
            DELETE_USER => Self::DeleteUser { user: from.user()? },
            CREATE_TOKEN => Self::CreateToken {
                user: from.user()?,
                name: from.name()?,
                hash: from.secret()?,
                expiry_micros: from.optional_u64()?,
            },
            DELETE_TOKEN => Self::DeleteToken {
                user: from.user()?,
                name: from.name()?,
            },
            CREATE_CONSUMER_GROUP => Self::CreateConsumerGroup {
                of: from.topic_path()?,
                name: from.name()?,
            },
            DELETE_CONSUMER_GROUP => Self::DeleteConsumerGroup {
                path: from.consumer_group_path()?,
            },
            JOIN_CONSUMER_GROUP => Self::JoinConsumerGroup {
                path: from.consumer_group_path()?,
            },
            LEAVE_CONSUMER_GROUP => Self::LeaveConsumerGroup {
                path: from.consumer_group_path()?,
            },
            GET_STREAM => Self::GetStream {
                stream: from.stream()?,
            },
            GET_TOPIC => Self::GetTopic {
                of: from.topic_path()?,
            },
            GET_USER => Self::GetUser { user: from.user()? },
            GET_CATALOGUE => Self::GetCatalogue,
            _ => return Err(Malformed),
        })
    }

    /// Writes a request's body.
    ///
    /// # Panics
    /// If a name, a hash or a salt is longer than a byte can count: the sender is ours and must not.
    #[must_use]
    pub fn encode(self) -> Rc<[u8]> {
        let tagged = Writer::tagged;
        let out = match self {
            Self::CreateStream { name } => tagged(CREATE_STREAM).name(name),
            Self::UpdateStream { stream, name } => tagged(UPDATE_STREAM).u32(stream.0).name(name),
            Self::DeleteStream { stream } => tagged(DELETE_STREAM).u32(stream.0),
            Self::CreateTopic {
                stream,
                name,
                durability,
                partitions,
            } => tagged(CREATE_TOPIC)
                .u32(stream.0)
                .name(name)
                .durability(durability)
                .u8(partitions),
            Self::UpdateTopic { of, name } => tagged(UPDATE_TOPIC).topic_path(of).name(name),
            Self::DeleteTopic { of } => tagged(DELETE_TOPIC).topic_path(of),
            Self::CreatePartitions { of, count } => {
                tagged(CREATE_PARTITIONS).topic_path(of).u8(count)
            }
            Self::DeletePartitions { of, count } => {
                tagged(DELETE_PARTITIONS).topic_path(of).u8(count)
            }
            Self::CreateUser {
                name,
                password,
                permissions,
            } => tagged(CREATE_USER)
                .name(name)
                .password(password)
                .u8(permissions),
            Self::UpdateUser {
                user,
                name,
                permissions,
            } => tagged(UPDATE_USER).u32(user.0).name(name).u8(permissions),
            Self::ChangePassword {
                user,
                current_hash,
                password,
            } => tagged(CHANGE_PASSWORD)
                .u32(user.0)
                .counted(current_hash)
                .password(password),
            Self::DeleteUser { user } => tagged(DELETE_USER).u32(user.0),
            Self::CreateToken {
                user,
                name,
                hash,
                expiry_micros,
            } => tagged(CREATE_TOKEN)
                .u32(user.0)
                .name(name)
                .counted(hash)
                .optional_u64(expiry_micros),
            Self::DeleteToken { user, name } => tagged(DELETE_TOKEN).u32(user.0).name(name),
            Self::CreateConsumerGroup { of, name } => {
                tagged(CREATE_CONSUMER_GROUP).topic_path(of).name(name)
            }
            Self::DeleteConsumerGroup { path } => {
                tagged(DELETE_CONSUMER_GROUP).consumer_group_path(path)
            }
            Self::JoinConsumerGroup { path } => {
                tagged(JOIN_CONSUMER_GROUP).consumer_group_path(path)
            }
            Self::LeaveConsumerGroup { path } => {
                tagged(LEAVE_CONSUMER_GROUP).consumer_group_path(path)
            }
            Self::GetStream { stream } => tagged(GET_STREAM).u32(stream.0),
            Self::GetTopic { of } => tagged(GET_TOPIC).topic_path(of),
            Self::GetUser { user } => tagged(GET_USER).u32(user.0),
            Self::GetCatalogue => tagged(GET_CATALOGUE),
        };
        out.finish()
    }
}

const PERSISTED: u8 = 0;
const REPLICATED: u8 = 1;

impl<'a> Reader<'a> {
    pub(super) fn stream(&mut self) -> Result<StreamId, Malformed> {
        self.u32().map(StreamId)
    }

    pub(super) fn topic(&mut self) -> Result<TopicId, Malformed> {
        self.u32().map(TopicId)
    }

    pub(super) fn user(&mut self) -> Result<UserId, Malformed> {
        self.u32().map(UserId)
    }

    pub(super) fn consumer_group(&mut self) -> Result<ConsumerGroupId, Malformed> {
        self.u32().map(ConsumerGroupId)
    }

    pub(super) fn durability(&mut self) -> Result<Durability, Malformed> {
        match self.u8()? {
            PERSISTED => Ok(Durability::Persisted),
            REPLICATED => Ok(Durability::Replicated),
            _ => Err(Malformed),
        }
    }

    pub(super) fn secret(&mut self) -> Result<&'a [u8], Malformed> {
        self.counted(SECRET_BYTES_MAX)
    }

    pub(super) fn password(&mut self) -> Result<Password<'a>, Malformed> {
        let (hash, salt) = (self.secret()?, self.secret()?);
        Ok(Password { hash, salt })
    }

    fn topic_path(&mut self) -> Result<TopicPath, Malformed> {
        let (stream, topic) = (self.stream()?, self.topic()?);
        Ok(TopicPath { stream, topic })
    }

    fn consumer_group_path(&mut self) -> Result<ConsumerGroupPath, Malformed> {
        let (of, consumer_group) = (self.topic_path()?, self.consumer_group()?);
        Ok(ConsumerGroupPath { of, consumer_group })
    }
}

impl Writer {
    pub(super) fn durability(self, durability: Durability) -> Self {
        self.u8(match durability {
            Durability::Persisted => PERSISTED,
            Durability::Replicated => REPLICATED,
        })
    }

    pub(super) fn password(self, password: Password<'_>) -> Self {
        self.counted(password.hash).counted(password.salt)
    }

    fn topic_path(self, of: TopicPath) -> Self {
        self.u32(of.stream.0).u32(of.topic.0)
    }

    fn consumer_group_path(self, path: ConsumerGroupPath) -> Self {
        self.topic_path(path.of).u32(path.consumer_group.0)
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
