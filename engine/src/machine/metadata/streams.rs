//! Streams, topics and partitions: making, renaming, deleting, reading them. A partition is known here
//! by its group alone. Must never know users, nor who shares a topic's partitions.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::answer::{Answer, Refusal, StreamView, TopicView};
use super::command::TopicPath;
use super::consumer_groups::ConsumerGroup;
use super::{Entry, GroupChange, Metadata, PartitionGroup};
use crate::ids::{ConsumerGroupId, GroupId, Op, StreamId, TopicId};
use crate::vsr::io::Durability;

/// Most streams.
pub const STREAMS_MAX: usize = 8;
/// Most topics of one stream.
pub const TOPICS_OF_STREAM_MAX: usize = 4;
/// Most partitions of one topic.
pub const PARTITIONS_OF_TOPIC_MAX: usize = 8;
/// Most partitions of all topics: each is a group that every replica hosts.
pub const PARTITIONS_ALIVE_MAX: usize = 12;
/// Most consumer groups of one topic.
pub const CONSUMER_GROUPS_OF_TOPIC_MAX: usize = 4;

/// A stream.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) name: Rc<str>,
    pub(super) topics: BTreeMap<TopicId, Topic>,
}

/// A topic.
#[derive(Clone, Debug)]
pub(super) struct Topic {
    pub(super) name: Rc<str>,
    pub(super) durability: Durability,
    /// In order of their numbers.
    pub(super) partitions: Vec<GroupId>,
    pub(super) consumer_groups: BTreeMap<ConsumerGroupId, ConsumerGroup>,
}

impl Stream {
    /// The stream that every cluster is formatted with.
    pub(super) fn genesis(durability: Durability, partitions: Vec<GroupId>) -> Self {
        let topic = Topic {
            name: Rc::from("topic-1"),
            durability,
            partitions,
            consumer_groups: BTreeMap::new(),
        };
        Self {
            name: Rc::from("stream-1"),
            topics: BTreeMap::from([(TopicId(1), topic)]),
        }
    }

    pub(super) fn groups(&self, stream: StreamId) -> impl Iterator<Item = PartitionGroup> {
        let topics = self.topics.iter();
        topics.flat_map(move |(&topic, of)| of.groups(TopicPath { stream, topic }))
    }

    pub(super) fn view(&self, stream: StreamId) -> StreamView {
        let topics = self.topics.iter().map(|(&id, topic)| topic.view(id));
        StreamView {
            stream,
            name: self.name.to_string(),
            topics: topics.collect(),
        }
    }
}

impl Topic {
    fn groups(&self, path: TopicPath) -> impl Iterator<Item = PartitionGroup> {
        let numbered = (0_u8..).zip(&self.partitions);
        numbered.map(move |(partition, &group)| PartitionGroup {
            group,
            durability: self.durability,
            stream: path.stream,
            topic: path.topic,
            partition,
        })
    }

    fn view(&self, topic: TopicId) -> TopicView {
        let count = self.partitions.len();
        let consumer_groups = self.consumer_groups.iter();
        TopicView {
            topic,
            name: self.name.to_string(),
            durability: self.durability,
            partitions: self.partitions.clone(),
            consumer_groups: consumer_groups
                .map(|(&id, group)| group.view(id, count))
                .collect(),
        }
    }

    /// Members' shares are another's from now on.
    fn share_anew(&mut self) {
        for group in self.consumer_groups.values_mut() {
            group.generation += 1;
        }
    }
}

impl Metadata {
    pub(super) fn stream_mut(&mut self, stream: StreamId) -> Result<&mut Stream, Refusal> {
        self.streams.get_mut(&stream).ok_or(Refusal::StreamNotFound)
    }

    pub(super) fn topic_mut(&mut self, of: TopicPath) -> Result<&mut Topic, Refusal> {
        let topics = &mut self.stream_mut(of.stream)?.topics;
        topics.get_mut(&of.topic).ok_or(Refusal::TopicNotFound)
    }

    pub(super) fn create_stream(&mut self, name: &str) -> Result<Answer, Refusal> {
        if self.streams.values().any(|stream| *stream.name == *name) {
            return Err(Refusal::NameTaken);
        }
        if self.streams.len() >= STREAMS_MAX {
            return Err(Refusal::StreamsFull);
        }
        self.last.stream.0 += 1;
        let stream = Stream {
            name: Rc::from(name),
            topics: BTreeMap::new(),
        };
        self.streams.insert(self.last.stream, stream);
        Ok(Answer::StreamCreated(self.last.stream))
    }

    pub(super) fn update_stream(&mut self, id: StreamId, name: &str) -> Result<Answer, Refusal> {
        let mut others = self.streams.iter().filter(|(other, _)| **other != id);
        let is_taken = others.any(|(_, stream)| *stream.name == *name);
        let stream = self.stream_mut(id)?;
        if is_taken {
            return Err(Refusal::NameTaken);
        }
        stream.name = Rc::from(name);
        Ok(Answer::Done)
    }

    pub(super) fn delete_stream(&mut self, id: StreamId) -> Result<Answer, Refusal> {
        let stream = self.streams.remove(&id).ok_or(Refusal::StreamNotFound)?;
        for topic in stream.topics.values() {
            self.tell_deleted(&topic.partitions);
        }
        Ok(Answer::Done)
    }

    pub(super) fn create_topic(
        &mut self,
        stream: StreamId,
        name: &str,
        durability: Durability,
        partitions: u8,
        entry: Entry,
    ) -> Result<Answer, Refusal> {
        let alive = self.partitions_alive();
        let topics = &self.stream_mut(stream)?.topics;
        if topics.values().any(|topic| *topic.name == *name) {
            return Err(Refusal::NameTaken);
        }
        if topics.len() >= TOPICS_OF_STREAM_MAX {
            return Err(Refusal::TopicsFull);
        }
        if alive + usize::from(partitions) > PARTITIONS_ALIVE_MAX {
            return Err(Refusal::PartitionsFull);
        }
        self.last.topic.0 += 1;
        let topic = self.last.topic;
        let path = TopicPath { stream, topic };
        let made = groups_made_by(entry.op, partitions);
        let new = Topic {
            name: Rc::from(name),
            durability,
            partitions: made.clone(),
            consumer_groups: BTreeMap::new(),
        };
        self.changes
            .extend(new.groups(path).map(GroupChange::Created));
        self.stream_mut(stream)?.topics.insert(topic, new);
        Ok(Answer::TopicCreated {
            topic,
            partitions: made,
        })
    }

    pub(super) fn update_topic(&mut self, of: TopicPath, name: &str) -> Result<Answer, Refusal> {
        self.topic_mut(of)?;
        let topics = &mut self.stream_mut(of.stream)?.topics;
        let mut others = topics.iter().filter(|(other, _)| **other != of.topic);
        if others.any(|(_, topic)| *topic.name == *name) {
            return Err(Refusal::NameTaken);
        }
        self.topic_mut(of)?.name = Rc::from(name);
        Ok(Answer::Done)
    }

    pub(super) fn delete_topic(&mut self, of: TopicPath) -> Result<Answer, Refusal> {
        let topics = &mut self.stream_mut(of.stream)?.topics;
        let topic = topics.remove(&of.topic).ok_or(Refusal::TopicNotFound)?;
        self.tell_deleted(&topic.partitions);
        Ok(Answer::Done)
    }

    pub(super) fn create_partitions(
        &mut self,
        of: TopicPath,
        count: u8,
        entry: Entry,
    ) -> Result<Answer, Refusal> {
        let alive = self.partitions_alive();
        let topic = self.topic_mut(of)?;
        let present = topic.partitions.len();
        if present + usize::from(count) > PARTITIONS_OF_TOPIC_MAX {
            return Err(Refusal::TopicFull);
        }
        if alive + usize::from(count) > PARTITIONS_ALIVE_MAX {
            return Err(Refusal::PartitionsFull);
        }
        let made = groups_made_by(entry.op, count);
        topic.partitions.extend(&made);
        topic.share_anew();
        let changes: Vec<_> = topic.groups(of).skip(present).collect();
        self.changes
            .extend(changes.into_iter().map(GroupChange::Created));
        Ok(Answer::PartitionsCreated(made))
    }

    pub(super) fn delete_partitions(
        &mut self,
        of: TopicPath,
        count: u8,
    ) -> Result<Answer, Refusal> {
        let topic = self.topic_mut(of)?;
        let present = topic.partitions.len();
        let left = present.checked_sub(usize::from(count));
        let left = left.ok_or(Refusal::TooFewPartitions)?;
        let gone = topic.partitions.split_off(left);
        topic.share_anew();
        self.tell_deleted(&gone);
        Ok(Answer::Done)
    }

    pub(super) fn get_stream(&self, id: StreamId) -> Result<Answer, Refusal> {
        let stream = self.streams.get(&id).ok_or(Refusal::StreamNotFound)?;
        Ok(Answer::Stream(stream.view(id)))
    }

    pub(super) fn get_topic(&self, of: TopicPath) -> Result<Answer, Refusal> {
        let stream = self.streams.get(&of.stream);
        let topics = &stream.ok_or(Refusal::StreamNotFound)?.topics;
        let topic = topics.get(&of.topic).ok_or(Refusal::TopicNotFound)?;
        Ok(Answer::Topic(topic.view(of.topic)))
    }

    fn partitions_alive(&self) -> usize {
        let topics = self.streams.values().flat_map(|of| of.topics.values());
        topics.map(|topic| topic.partitions.len()).sum()
    }

    fn tell_deleted(&mut self, partitions: &[GroupId]) {
        let deleted = partitions.iter();
        self.changes
            .extend(deleted.map(|&group| GroupChange::Deleted { group }));
    }
}

/// The groups that an op makes, counted from 1: place 0 of op 0 is the metadata group.
fn groups_made_by(op: Op, count: u8) -> Vec<GroupId> {
    let places = 1..=u64::from(count);
    places.map(|place| GroupId(op.0 << 8 | place)).collect()
}
