//! Bodies and results of the metadata group in a few words, for those who watch. Must never be asked
//! what anything means: it only names what stands there.

use super::answer::{Answer, Refusal};
use super::command::{Command, ConsumerGroupPath, TopicPath};
use crate::vsr::io::{Durability, Malformed};

/// What a request's body asks.
#[must_use]
pub fn describe(body: &[u8]) -> String {
    let Ok(command) = Command::decode(body) else {
        return format!("{} bytes that are no command", body.len());
    };
    match command {
        Command::CreateStream { name } => format!("create stream {name}"),
        Command::UpdateStream { stream, name } => format!("rename stream {stream} to {name}"),
        Command::DeleteStream { stream } => format!("delete stream {stream}"),
        Command::CreateTopic {
            stream,
            name,
            durability,
            partitions,
        } => {
            let durability = match durability {
                Durability::Persisted => "persisted",
                Durability::Replicated => "replicated",
            };
            let partitions = counted(partitions, "partition");
            format!("create {durability} topic {name} with {partitions} in stream {stream}")
        }
        Command::UpdateTopic { of, name } => format!("rename {} to {name}", topic(of)),
        Command::DeleteTopic { of } => format!("delete {}", topic(of)),
        Command::CreatePartitions { of, count } => {
            format!("add {} to {}", counted(count, "partition"), topic(of))
        }
        Command::DeletePartitions { of, count } => {
            format!("delete {} of {}", counted(count, "partition"), topic(of))
        }
        Command::CreateUser { name, .. } => format!("create user {name}"),
        Command::UpdateUser {
            user,
            name,
            permissions,
        } => format!("make user {user} {name} with permissions {permissions:#04x}"),
        Command::ChangePassword { user, .. } => format!("change the password of user {user}"),
        Command::DeleteUser { user } => format!("delete user {user}"),
        Command::CreateToken { user, name, .. } => format!("create token {name} of user {user}"),
        Command::DeleteToken { user, name } => format!("delete token {name} of user {user}"),
        Command::CreateConsumerGroup { of, name } => {
            format!("create consumer group {name} of {}", topic(of))
        }
        Command::DeleteConsumerGroup { path } => format!("delete {}", consumer_group(path)),
        Command::JoinConsumerGroup { path } => format!("join {}", consumer_group(path)),
        Command::LeaveConsumerGroup { path } => format!("leave {}", consumer_group(path)),
        Command::GetStream { stream } => format!("get stream {stream}"),
        Command::GetTopic { of } => format!("get {}", topic(of)),
        Command::GetUser { user } => format!("get user {user}"),
        Command::GetCatalogue => "get everything".to_owned(),
    }
}

/// What a result says.
#[must_use]
pub fn describe_answer(result: &[u8]) -> String {
    match Answer::decode(result) {
        Ok(answer) => answer.words(),
        Err(Malformed) => format!("{} bytes that are no answer", result.len()),
    }
}

impl Answer {
    /// The answer in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Refused(refusal) => format!("refused: {}", refusal.words()),
            Self::Done => "done".to_owned(),
            Self::StreamCreated(stream) => format!("stream {stream}"),
            Self::TopicCreated { topic, partitions } => {
                format!(
                    "topic {topic} with {}",
                    listed(partitions.len(), "partition")
                )
            }
            Self::PartitionsCreated(partitions) => {
                format!("{} more", listed(partitions.len(), "partition"))
            }
            Self::UserCreated(user) => format!("user {user}"),
            Self::ConsumerGroupCreated(made) => format!("consumer group {made}"),
            Self::Joined {
                generation,
                partitions,
            } => format!("joined as generation {generation} with share {partitions:#010b}"),
            Self::Left { generation } => format!("left, generation {generation}"),
            Self::Stream(stream) => {
                let topics = listed(stream.topics.len(), "topic");
                format!(
                    "stream {} named {} with {topics}",
                    stream.stream, stream.name
                )
            }
            Self::Topic(topic) => {
                let partitions = listed(topic.partitions.len(), "partition");
                format!(
                    "topic {} named {} with {partitions}",
                    topic.topic, topic.name
                )
            }
            Self::User(user) => {
                let tokens = listed(user.tokens.len(), "token");
                format!("user {} named {} with {tokens}", user.user, user.name)
            }
            Self::Catalogue(all) => {
                let streams = listed(all.streams.len(), "stream");
                format!("{streams}, {}", listed(all.users.len(), "user"))
            }
        }
    }
}

impl Refusal {
    /// Why, in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Undecodable => "not a command",
            Self::StreamNotFound => "there is no such stream",
            Self::TopicNotFound => "there is no such topic",
            Self::UserNotFound => "there is no such user",
            Self::TokenNotFound => "there is no such token",
            Self::ConsumerGroupNotFound => "there is no such consumer group",
            Self::NameTaken => "the name is taken",
            Self::TokenTaken => "the token is there already",
            Self::StreamsFull => "there may be no more streams",
            Self::TopicsFull => "the stream may have no more topics",
            Self::TopicFull => "the topic may not have so many partitions",
            Self::PartitionsFull => "the cluster may not have so many partitions",
            Self::UsersFull => "there may be no more users",
            Self::TokensFull => "there may be no more tokens",
            Self::ConsumerGroupsFull => "the topic may have no more consumer groups",
            Self::MembersFull => "the consumer group may have no more members",
            Self::TooFewPartitions => "the topic has fewer partitions",
            Self::WrongPassword => "the password is another",
            Self::RootProtected => "the user root stays what it is",
            Self::Expired => "the token's time has passed",
            Self::AlreadyMember => "the client is a member already",
            Self::NotAMember => "the client is not a member",
        }
    }
}

fn topic(of: TopicPath) -> String {
    format!("topic {} of stream {}", of.topic, of.stream)
}

fn consumer_group(path: ConsumerGroupPath) -> String {
    format!(
        "consumer group {} of {}",
        path.consumer_group,
        topic(path.of)
    )
}

fn counted(count: u8, of: &str) -> String {
    listed(usize::from(count), of)
}

fn listed(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}
