//! The whole state of the metadata group as bytes, secrets too. Reading checks every rule that the
//! commands keep, since a state that breaks one could not have been written. Must never hold a byte
//! that two replicas could write differently.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::consumer_groups::{ConsumerGroup, MEMBERS_MAX};
use super::streams::{
    CONSUMER_GROUPS_OF_TOPIC_MAX, PARTITIONS_ALIVE_MAX, PARTITIONS_OF_TOPIC_MAX, STREAMS_MAX,
    Stream, TOPICS_OF_STREAM_MAX, Topic,
};
use super::users::{StoredPassword, TOKENS_MAX, Token, USERS_MAX, User};
use super::{LastIds, Metadata, Password, ROOT};
use crate::digest::checksum_bytes;
use crate::ids::{Checksum, ClientId, ConsumerGroupId, GroupId, StreamId, TopicId, UserId};
use crate::machine::wire::{Reader, Writer, within};
use crate::vsr::io::Malformed;

/// Marks the snapshot of the metadata group, so that no partition takes it for its own.
const METADATA: u8 = b'M';
/// No log is long enough to count so far; below it nothing that counts can overflow.
const COUNT_MAX: u32 = u32::MAX / 4;

pub(super) fn write(metadata: &Metadata) -> Rc<[u8]> {
    let last = metadata.last;
    Writer::tagged(METADATA)
        .u64(metadata.digest)
        .u32(last.stream.0)
        .u32(last.topic.0)
        .u32(last.user.0)
        .u32(last.consumer_group.0)
        .list(metadata.streams.iter(), Writer::stream_entry)
        .list(metadata.users.iter(), Writer::user_entry)
        .finish()
}

/// What is folded of a stream into the digest when a command touched it.
pub(super) fn checksum_of_stream(metadata: &Metadata, stream: StreamId) -> Checksum {
    let entry = metadata.streams.get_key_value(&stream);
    let bytes = entry.map(|entry| Writer::default().stream_entry(entry).finish());
    checksum_bytes(bytes.as_deref().unwrap_or_default())
}

/// What is folded of a user into the digest when a command touched it.
pub(super) fn checksum_of_user(metadata: &Metadata, user: UserId) -> Checksum {
    let entry = metadata.users.get_key_value(&user);
    let bytes = entry.map(|entry| Writer::default().user_entry(entry).finish());
    checksum_bytes(bytes.as_deref().unwrap_or_default())
}

pub(super) fn read(bytes: &[u8]) -> Result<Metadata, Malformed> {
    let mut from = Reader::new(bytes);
    within(from.u8()?, METADATA, METADATA)?;
    let metadata = Metadata {
        digest: from.u64()?,
        last: LastIds {
            stream: StreamId(from.counter()?),
            topic: TopicId(from.counter()?),
            user: UserId(from.counter()?),
            consumer_group: ConsumerGroupId(from.counter()?),
        },
        streams: from.rising(STREAMS_MAX, Reader::stream_entry)?,
        users: from.rising(USERS_MAX, Reader::user_entry)?,
        changes: Vec::new(),
    };
    from.finish()?;
    if metadata.keeps_its_rules() {
        Ok(metadata)
    } else {
        Err(Malformed)
    }
}

impl Metadata {
    /// The rules that reach across entities. That lists rise and stay within their limits is checked
    /// as they are read.
    fn keeps_its_rules(&self) -> bool {
        let streams = || self.streams.values();
        let topics = || streams().flat_map(|stream| &stream.topics);
        let groups = || topics().flat_map(|(_, topic)| &topic.consumer_groups);
        let partitions = || topics().flat_map(|(_, topic)| &topic.partitions);
        let tokens = || self.users.values().flat_map(|user| user.tokens.values());
        let are_ids_given = self.streams.keys().all(|id| *id <= self.last.stream)
            && topics().all(|(id, _)| *id <= self.last.topic)
            && self.users.keys().all(|id| *id <= self.last.user)
            && groups().all(|(id, _)| *id <= self.last.consumer_group);
        let are_ids_unique = are_unique(topics().map(|(id, _)| id))
            && are_unique(groups().map(|(id, _)| id))
            && are_unique(partitions())
            && are_unique(tokens().map(|token| &token.hash));
        let are_names_unique = are_unique(streams().map(|stream| &stream.name))
            && are_unique(self.users.values().map(|user| &user.name))
            && streams().all(|stream| are_unique(stream.topics.values().map(|topic| &topic.name)))
            && topics().all(|(_, topic)| {
                are_unique(topic.consumer_groups.values().map(|group| &group.name))
            });
        let is_root_there = self
            .users
            .get(&ROOT)
            .is_some_and(|root| *root.name == *"root");
        are_ids_given
            && are_ids_unique
            && are_names_unique
            && is_root_there
            && partitions().count() <= PARTITIONS_ALIVE_MAX
            && tokens().count() <= TOKENS_MAX
    }
}

fn are_unique<T: Ord>(items: impl Iterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    let mut items = items;
    items.all(|item| seen.insert(item))
}

impl Writer {
    fn stream_entry(self, (id, stream): (&StreamId, &Stream)) -> Self {
        self.u32(id.0)
            .name(&stream.name)
            .list(stream.topics.iter(), Writer::topic_entry)
    }

    fn topic_entry(self, (id, topic): (&TopicId, &Topic)) -> Self {
        self.u32(id.0)
            .name(&topic.name)
            .durability(topic.durability)
            .groups(&topic.partitions)
            .list(topic.consumer_groups.iter(), Writer::consumer_group_entry)
    }

    fn consumer_group_entry(self, (id, group): (&ConsumerGroupId, &ConsumerGroup)) -> Self {
        self.u32(id.0)
            .name(&group.name)
            .u32(group.generation)
            .list(group.members.iter(), |out, member| out.u8(member.0))
    }

    fn user_entry(self, (id, user): (&UserId, &User)) -> Self {
        let password = Password {
            hash: &user.password.hash,
            salt: &user.password.salt,
        };
        self.u32(id.0)
            .name(&user.name)
            .password(password)
            .u8(user.permissions)
            .list(user.tokens.iter(), |out, (name, token)| {
                out.name(name)
                    .counted(&token.hash)
                    .optional_u64(token.expiry_micros)
            })
    }
}

impl Reader<'_> {
    fn counter(&mut self) -> Result<u32, Malformed> {
        within(self.u32()?, 0, COUNT_MAX)
    }

    /// A list with rising keys, which a map writes in this order alone.
    fn rising<K: Ord, V>(
        &mut self,
        most: usize,
        read: impl FnMut(&mut Self) -> Result<(K, V), Malformed>,
    ) -> Result<BTreeMap<K, V>, Malformed> {
        let entries = self.list(read)?;
        let does_rise = entries.is_sorted_by(|(one, _), (next, _)| one < next);
        if does_rise && entries.len() <= most {
            Ok(entries.into_iter().collect())
        } else {
            Err(Malformed)
        }
    }

    fn stream_entry(&mut self) -> Result<(StreamId, Stream), Malformed> {
        let id = self.stream()?;
        let stream = Stream {
            name: Rc::from(self.name()?),
            topics: self.rising(TOPICS_OF_STREAM_MAX, Reader::topic_entry)?,
        };
        Ok((id, stream))
    }

    fn topic_entry(&mut self) -> Result<(TopicId, Topic), Malformed> {
        let id = self.topic()?;
        let topic = Topic {
            name: Rc::from(self.name()?),
            durability: self.durability()?,
            partitions: self.partitions()?,
            consumer_groups: self
                .rising(CONSUMER_GROUPS_OF_TOPIC_MAX, Reader::consumer_group_entry)?,
        };
        Ok((id, topic))
    }

    /// Later ops make later groups, and a topic's newest come last.
    fn partitions(&mut self) -> Result<Vec<GroupId>, Malformed> {
        let partitions = self.groups()?;
        let are_made = partitions.iter().all(|group| group.0 & 0xff > 0);
        if are_made
            && partitions.len() <= PARTITIONS_OF_TOPIC_MAX
            && partitions.is_sorted_by(|one, next| one < next)
        {
            Ok(partitions)
        } else {
            Err(Malformed)
        }
    }

    fn consumer_group_entry(&mut self) -> Result<(ConsumerGroupId, ConsumerGroup), Malformed> {
        let id = self.consumer_group()?;
        let name = Rc::from(self.name()?);
        let generation = self.counter()?;
        let members = self.rising(MEMBERS_MAX, |from| Ok((ClientId(from.u8()?), ())))?;
        let group = ConsumerGroup {
            name,
            generation,
            members: members.into_keys().collect(),
        };
        Ok((id, group))
    }

    fn user_entry(&mut self) -> Result<(UserId, User), Malformed> {
        let id = self.user()?;
        let user = User {
            name: Rc::from(self.name()?),
            password: StoredPassword::from(self.password()?),
            permissions: self.u8()?,
            tokens: self.rising(TOKENS_MAX, |from| {
                let name = Rc::from(from.name()?);
                let token = Token::new(from.secret()?, from.optional_u64()?);
                Ok((name, token))
            })?,
        };
        Ok((id, user))
    }
}
