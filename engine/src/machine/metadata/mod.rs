//! The metadata group: which streams, topics, partitions, users, access tokens and consumer groups
//! there are. What it makes and deletes among the partitions is told to its host, who hosts a group
//! for each. Must never know a partition's contents, nor anything but the entries executed so far.

use std::collections::BTreeMap;
use std::rc::Rc;

pub mod answer;
pub mod command;
mod consumer_groups;
mod snapshot;
mod streams;
mod users;
mod words;

pub use answer::{Answer, Catalogue, ConsumerGroupView, Refusal, StreamView, TopicView, UserView};
pub use command::{
    Command, ConsumerGroupPath, PARTITIONS_AT_ONCE_MAX, Password, SECRET_BYTES_MAX, TopicPath,
};
pub use consumer_groups::MEMBERS_MAX;
pub use streams::{
    CONSUMER_GROUPS_OF_TOPIC_MAX, PARTITIONS_ALIVE_MAX, PARTITIONS_OF_TOPIC_MAX, STREAMS_MAX,
    TOPICS_OF_STREAM_MAX,
};
pub use users::{StoredPassword, TOKENS_MAX, Token, USERS_MAX, User};
pub use words::{describe, describe_answer};

use self::streams::Stream;
use crate::digest::{checksum_bytes, mix};
use crate::ids::{
    Checksum, ClientId, ConsumerGroupId, GroupId, Op, PARTITIONS_MAX, StreamId, TopicId, UserId,
};
use crate::vsr::io::{Durability, Malformed, StateMachine};
use crate::vsr::message::{Operation, Prepare};

/// The state of the metadata group.
#[derive(Clone, Debug)]
pub struct Metadata {
    streams: BTreeMap<StreamId, Stream>,
    users: BTreeMap<UserId, User>,
    last: LastIds,
    digest: u64,
    /// Not part of the state: what the host has not taken yet.
    changes: Vec<GroupChange>,
}

/// The last id of each kind; none is ever given out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LastIds {
    stream: StreamId,
    topic: TopicId,
    user: UserId,
    consumer_group: ConsumerGroupId,
}

/// What the log begins with: a stream with one topic, and the user `root`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// Partitions of the topic, 1 to 8.
    pub partitions: u8,
    /// Their durability.
    pub durability: Durability,
    /// The password of the user `root`.
    pub root_password: StoredPassword,
}

impl Default for Genesis {
    fn default() -> Self {
        Self {
            partitions: 1,
            durability: Durability::default(),
            root_password: StoredPassword::default(),
        }
    }
}

/// A group that is to be hosted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionGroup {
    /// The group.
    pub group: GroupId,
    /// Its topic's durability.
    pub durability: Durability,
    /// In which stream.
    pub stream: StreamId,
    /// Of which topic.
    pub topic: TopicId,
    /// Its number in the topic, from 0.
    pub partition: u8,
}

/// What a command did to the groups that are to be hosted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// There is one more.
    Created(PartitionGroup),
    /// It is gone for good; its id is never used again.
    Deleted {
        /// Which.
        group: GroupId,
    },
}

/// What an entry brings beside its body.
#[derive(Clone, Copy)]
struct Entry {
    op: Op,
    client: ClientId,
    now_micros: u64,
}

/// What a command may have changed, for the digest.
#[derive(Clone, Copy)]
enum Touched {
    Nothing,
    Stream(StreamId),
    User(UserId),
}

impl Default for Metadata {
    fn default() -> Self {
        Self::new(&Genesis::default())
    }
}

impl StateMachine for Metadata {
    fn apply(&mut self, prepare: &Prepare) -> Rc<[u8]> {
        let header = &prepare.header;
        if header.operation != Operation::Machine {
            // Sessions are opened by the layer above; they leave no trace here.
            return Rc::from([]);
        }
        let entry = Entry {
            op: header.op,
            client: header.client,
            now_micros: header.timestamp_micros,
        };
        let (answer, touched) = match Command::decode(&prepare.body) {
            Ok(command) => match self.execute(command, entry) {
                Ok(answer) => {
                    let touched = Touched::by(command, &answer);
                    (answer, touched)
                }
                Err(refusal) => (Answer::Refused(refusal), Touched::Nothing),
            },
            Err(Malformed) => (Answer::Refused(Refusal::Undecodable), Touched::Nothing),
        };
        let result = answer.encode();
        self.fold(header.checksum);
        self.fold(checksum_bytes(&result));
        self.fold_touched(touched);
        result
    }

    fn digest(&self) -> Checksum {
        Checksum(self.digest)
    }

    fn snapshot(&self) -> Rc<[u8]> {
        snapshot::write(self)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = snapshot::read(bytes)?;
        Ok(())
    }
}

impl Metadata {
    /// The state before the first entry.
    #[must_use]
    pub fn new(genesis: &Genesis) -> Self {
        let partitions = genesis.partitions.clamp(1, PARTITIONS_MAX);
        let groups = (1..=u64::from(partitions)).map(GroupId);
        let stream = Stream::genesis(genesis.durability, groups.collect());
        let root = User::root(genesis.root_password.clone());
        Self {
            streams: BTreeMap::from([(StreamId(1), stream)]),
            users: BTreeMap::from([(ROOT, root)]),
            last: LastIds {
                stream: StreamId(1),
                topic: TopicId(1),
                user: ROOT,
                consumer_group: ConsumerGroupId(0),
            },
            digest: 0,
            changes: Vec::new(),
        }
    }

    fn execute(&mut self, command: Command<'_>, entry: Entry) -> Result<Answer, Refusal> {
        match command {
            Command::CreateStream { name } => self.create_stream(name),
            Command::UpdateStream { stream, name } => self.update_stream(stream, name),
            Command::DeleteStream { stream } => self.delete_stream(stream),
            Command::CreateTopic {
                stream,
                name,
                durability,
                partitions,
            } => self.create_topic(stream, name, durability, partitions, entry),
            Command::UpdateTopic { of, name } => self.update_topic(of, name),
            Command::DeleteTopic { of } => self.delete_topic(of),
            Command::CreatePartitions { of, count } => self.create_partitions(of, count, entry),
            Command::DeletePartitions { of, count } => self.delete_partitions(of, count),
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
            } => {
                let token = Token::new(hash, expiry_micros);
                self.create_token(user, name, token, entry)
            }
            Command::DeleteToken { user, name } => self.delete_token(user, name),
            Command::CreateConsumerGroup { of, name } => self.create_consumer_group(of, name),
            Command::DeleteConsumerGroup { path } => self.delete_consumer_group(path),
            Command::JoinConsumerGroup { path } => self.join(path, entry.client),
            Command::LeaveConsumerGroup { path } => self.leave(path, entry.client),
            Command::GetStream { stream } => self.get_stream(stream),
            Command::GetTopic { of } => self.get_topic(of),
            Command::GetUser { user } => self.get_user(user),
            Command::GetCatalogue => Ok(Answer::Catalogue(self.catalogue())),
        }
    }

    fn fold(&mut self, checksum: Checksum) {
        self.digest = mix(self.digest, checksum.0);
    }

    fn fold_touched(&mut self, touched: Touched) {
        match touched {
            Touched::Nothing => {}
            Touched::Stream(stream) => self.fold(snapshot::checksum_of_stream(self, stream)),
            Touched::User(user) => self.fold(snapshot::checksum_of_user(self, user)),
        }
    }

    /// What the commands since the last call did to the groups that are to be hosted, in order. After
    /// a restore there is nothing to take: compare [`Metadata::groups`] with what is hosted.
    pub fn take_changes(&mut self) -> Vec<GroupChange> {
        std::mem::take(&mut self.changes)
    }

    /// Every partition's group, by id.
    #[must_use]
    pub fn groups(&self) -> Vec<PartitionGroup> {
        let of_streams = self.streams.iter();
        let mut groups: Vec<_> = of_streams
            .flat_map(|(&stream, of)| of.groups(stream))
            .collect();
        groups.sort_unstable_by_key(|group| group.group);
        groups
    }

    /// Everything but secrets.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        let streams = self.streams.iter().map(|(&id, stream)| stream.view(id));
        let users = self.users.iter().map(|(&id, user)| user.view(id));
        Catalogue {
            streams: streams.collect(),
            users: users.collect(),
        }
    }
}

impl Touched {
    fn by(command: Command<'_>, answer: &Answer) -> Self {
        match command {
            Command::CreateStream { .. } => match answer {
                Answer::StreamCreated(stream) => Self::Stream(*stream),
                _ => Self::Nothing,
            },
            Command::CreateUser { .. } => match answer {
                Answer::UserCreated(user) => Self::User(*user),
                _ => Self::Nothing,
            },
            Command::UpdateStream { stream, .. }
            | Command::DeleteStream { stream }
            | Command::CreateTopic { stream, .. } => Self::Stream(stream),
            Command::UpdateTopic { of, .. }
            | Command::DeleteTopic { of }
            | Command::CreatePartitions { of, .. }
            | Command::DeletePartitions { of, .. }
            | Command::CreateConsumerGroup { of, .. } => Self::Stream(of.stream),
            Command::DeleteConsumerGroup { path }
            | Command::JoinConsumerGroup { path }
            | Command::LeaveConsumerGroup { path } => Self::Stream(path.of.stream),
            Command::UpdateUser { user, .. }
            | Command::ChangePassword { user, .. }
            | Command::DeleteUser { user }
            | Command::CreateToken { user, .. }
            | Command::DeleteToken { user, .. } => Self::User(user),
            Command::GetStream { .. }
            | Command::GetTopic { .. }
            | Command::GetUser { .. }
            | Command::GetCatalogue => Self::Nothing,
        }
    }
}

/// The user that is there from the start and stays.
pub const ROOT: UserId = UserId(1);

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
