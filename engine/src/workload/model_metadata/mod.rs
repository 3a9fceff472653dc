//! The reference that the metadata group's answers are held against, written again in the plainest
//! way: flat tables of rows, every question a search through all of them. The generator aims by the
//! same tables. Must never share code with the metadata group beyond the form of bodies and results,
//! and its limits.

mod consumer_groups;
mod streams;
mod users;

use crate::ids::{ClientId, ConsumerGroupId, GroupId, StreamId, TopicId, UserId};
use crate::machine::Genesis;
use crate::machine::metadata::{
    Answer, Catalogue, Command, ConsumerGroupPath, ConsumerGroupView, Refusal, StreamView,
    TopicPath, TopicView, UserView,
};
use crate::vsr::io::Durability;
use crate::vsr::message::Header;

/// Everything there is. Rows of a table stand in the order in which they were made.
#[derive(Debug)]
pub(super) struct MetadataModel {
    pub(super) streams: Vec<StreamRow>,
    pub(super) topics: Vec<TopicRow>,
    pub(super) partitions: Vec<PartitionRow>,
    pub(super) users: Vec<UserRow>,
    pub(super) tokens: Vec<TokenRow>,
    pub(super) consumer_groups: Vec<ConsumerGroupRow>,
    pub(super) members: Vec<(ConsumerGroupId, ClientId)>,
    /// Streams, topics, users and consumer groups ever made.
    pub(super) made: Made,
    /// The time of the last entry.
    pub(super) now_micros: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) streams: u32,
    pub(super) topics: u32,
    pub(super) users: u32,
    pub(super) consumer_groups: u32,
}

#[derive(Debug)]
pub(super) struct StreamRow {
    pub(super) id: StreamId,
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) struct TopicRow {
    pub(super) path: TopicPath,
    pub(super) name: String,
    pub(super) durability: Durability,
}

#[derive(Debug)]
pub(super) struct PartitionRow {
    pub(super) of: TopicPath,
    pub(super) group: GroupId,
}

#[derive(Debug)]
pub(super) struct UserRow {
    pub(super) id: UserId,
    pub(super) name: String,
    pub(super) hash: Vec<u8>,
    pub(super) permissions: u8,
}

#[derive(Debug)]
pub(super) struct TokenRow {
    pub(super) of: UserId,
    pub(super) name: String,
    pub(super) hash: Vec<u8>,
    pub(super) expiry_micros: Option<u64>,
}

#[derive(Debug)]
pub(super) struct ConsumerGroupRow {
    pub(super) path: ConsumerGroupPath,
    pub(super) name: String,
    pub(super) generation: u32,
}

const ROOT: UserId = UserId(1);

impl MetadataModel {
    pub(super) fn new(genesis: &Genesis) -> Self {
        let path = TopicPath {
            stream: StreamId(1),
            topic: TopicId(1),
        };
        let partition = |n: u8| PartitionRow {
            of: path,
            group: GroupId(u64::from(n)),
        };
        Self {
            streams: vec![StreamRow {
                id: path.stream,
                name: "stream-1".to_owned(),
            }],
            topics: vec![TopicRow {
                path,
                name: "topic-1".to_owned(),
                durability: genesis.durability,
            }],
            partitions: (1..=genesis.partitions).map(partition).collect(),
            users: vec![UserRow {
                id: ROOT,
                name: "root".to_owned(),
                hash: genesis.root_password.hash.to_vec(),
                permissions: 255,
            }],
            tokens: Vec::new(),
            consumer_groups: Vec::new(),
            members: Vec::new(),
            made: Made {
                streams: 1,
                topics: 1,
                users: 1,
                consumer_groups: 0,
            },
            now_micros: 0,
        }
    }

    /// Executes one entry.
    pub(super) fn apply(&mut self, header: &Header, body: &[u8]) -> Answer {
        self.now_micros = header.timestamp_micros;
        let Ok(command) = Command::decode(body) else {
            return Answer::Refused(Refusal::Undecodable);
        };
        let answered = match command {
            Command::CreateStream { name } => self.create_stream(name),
            Command::UpdateStream { stream, name } => self.update_stream(stream, name),
            Command::DeleteStream { stream } => self.delete_stream(stream),
            Command::CreateTopic {
                stream,
                name,
                durability,
                partitions,
            } => {
                let name = name.to_owned();
                self.create_topic(stream, name, durability, partitions, header.op)
            }
            Command::UpdateTopic { of, name } => self.update_topic(of, name),
            Command::DeleteTopic { of } => self.delete_topic(of),
            Command::CreatePartitions { of, count } => self.more_partitions(of, count, header.op),
            Command::DeletePartitions { of, count } => self.fewer_partitions(of, count),
            Command::CreateUser {
                name,
                password,
                permissions,
            } => self.create_user(name, password, permissions),
            Command::UpdateUser {
                user,
                name,
                permissions,
            } => self.update_user(user, name, permissions),
            Command::ChangePassword {
                user,
                current_hash,
                password,
            } => self.change_password(user, current_hash, password),
            Command::DeleteUser { user } => self.delete_user(user),
            Command::CreateToken {
                user,
                name,
                hash,
                expiry_micros,
            } => self.create_token(TokenRow {
                of: user,
                name: name.to_owned(),
                hash: hash.to_vec(),
                expiry_micros,
            }),
            Command::DeleteToken { user, name } => self.delete_token(user, name),
            Command::CreateConsumerGroup { of, name } => self.create_consumer_group(of, name),
            Command::DeleteConsumerGroup { path } => self.delete_consumer_group(path),
            Command::JoinConsumerGroup { path } => self.join(path, header.client),
            Command::LeaveConsumerGroup { path } => self.leave(path, header.client),
            Command::GetStream { stream } => self
                .need_stream(stream)
                .map(|()| Answer::Stream(self.stream_view(stream))),
            Command::GetTopic { of } => self
                .need_topic(of)
                .map(|()| Answer::Topic(self.topic_view(of))),
            Command::GetUser { user } => self
                .need_user(user)
                .map(|()| Answer::User(self.user_view(user))),
            Command::GetCatalogue => Ok(Answer::Catalogue(self.catalogue())),
        };
        answered.unwrap_or_else(Answer::Refused)
    }

    fn need_stream(&self, id: StreamId) -> Result<(), Refusal> {
        need(self.has_stream(id), Refusal::StreamNotFound)
    }

    fn need_topic(&self, of: TopicPath) -> Result<(), Refusal> {
        self.need_stream(of.stream)?;
        let is_there = self.topics.iter().any(|row| row.path == of);
        need(is_there, Refusal::TopicNotFound)
    }

    fn need_user(&self, id: UserId) -> Result<(), Refusal> {
        need(self.has_user(id), Refusal::UserNotFound)
    }

    fn has_stream(&self, id: StreamId) -> bool {
        self.streams.iter().any(|row| row.id == id)
    }

    fn has_user(&self, id: UserId) -> bool {
        self.users.iter().any(|row| row.id == id)
    }

    /// A topic's partitions, in order of their numbers.
    pub(super) fn partitions_of(&self, of: TopicPath) -> Vec<GroupId> {
        let rows = self.partitions.iter().filter(|row| row.of == of);
        rows.map(|row| row.group).collect()
    }

    /// Whether a partition's group is there.
    pub(super) fn is_alive(&self, group: GroupId) -> bool {
        self.partitions.iter().any(|row| row.group == group)
    }

    /// Everything but secrets.
    pub(super) fn catalogue(&self) -> Catalogue {
        let streams = self.streams.iter().map(|row| self.stream_view(row.id));
        let users = self.users.iter().map(|row| self.user_view(row.id));
        Catalogue {
            streams: streams.collect(),
            users: users.collect(),
        }
    }

    fn stream_view(&self, stream: StreamId) -> StreamView {
        let row = self.streams.iter().find(|row| row.id == stream);
        let topics = self.topics.iter().filter(|row| row.path.stream == stream);
        StreamView {
            stream,
            name: row.map(|row| row.name.clone()).unwrap_or_default(),
            topics: topics.map(|row| self.topic_view(row.path)).collect(),
        }
    }

    fn topic_view(&self, of: TopicPath) -> TopicView {
        let row = self.topics.iter().find(|row| row.path == of);
        let groups = self.consumer_groups.iter();
        TopicView {
            topic: of.topic,
            name: row.map(|row| row.name.clone()).unwrap_or_default(),
            durability: row.map(|row| row.durability).unwrap_or_default(),
            partitions: self.partitions_of(of),
            consumer_groups: groups
                .filter(|row| row.path.of == of)
                .map(|row| self.consumer_group_view(row))
                .collect(),
        }
    }

    fn consumer_group_view(&self, row: &ConsumerGroupRow) -> ConsumerGroupView {
        ConsumerGroupView {
            consumer_group: row.path.consumer_group,
            name: row.name.clone(),
            generation: row.generation,
            members: self.shares(row.path),
        }
    }

    fn user_view(&self, user: UserId) -> UserView {
        let row = self.users.iter().find(|row| row.id == user);
        let rows = self.tokens.iter().filter(|row| row.of == user);
        let mut tokens: Vec<_> = rows
            .map(|row| (row.name.clone(), row.expiry_micros))
            .collect();
        tokens.sort();
        UserView {
            user,
            name: row.map(|row| row.name.clone()).unwrap_or_default(),
            permissions: row.map(|row| row.permissions).unwrap_or_default(),
            tokens,
        }
    }
}

fn need(is_so: bool, otherwise: Refusal) -> Result<(), Refusal> {
    if is_so { Ok(()) } else { Err(otherwise) }
}

#[cfg(test)]
mod tests;
