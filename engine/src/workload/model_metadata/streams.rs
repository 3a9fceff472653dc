//! Streams, topics and partitions in the reference. Must never share code with the metadata group.

use super::{MetadataModel, PartitionRow, StreamRow, TopicRow, need};
use crate::ids::{GroupId, Op, StreamId, TopicId};
use crate::machine::metadata::{
    Answer, PARTITIONS_ALIVE_MAX, PARTITIONS_OF_TOPIC_MAX, Refusal, STREAMS_MAX,
    TOPICS_OF_STREAM_MAX, TopicPath,
};
use crate::vsr::io::Durability;

impl MetadataModel {
    pub(super) fn create_stream(&mut self, name: &str) -> Result<Answer, Refusal> {
        let is_taken = self.streams.iter().any(|row| row.name == name);
        need(!is_taken, Refusal::NameTaken)?;
        need(self.streams.len() < STREAMS_MAX, Refusal::StreamsFull)?;
        self.made.streams += 1;
        let id = StreamId(self.made.streams);
        let name = name.to_owned();
        self.streams.push(StreamRow { id, name });
        Ok(Answer::StreamCreated(id))
    }

    pub(super) fn update_stream(&mut self, id: StreamId, name: &str) -> Result<Answer, Refusal> {
        self.need_stream(id)?;
        let mut others = self.streams.iter().filter(|row| row.id != id);
        need(others.all(|row| row.name != name), Refusal::NameTaken)?;
        for row in self.streams.iter_mut().filter(|row| row.id == id) {
            row.name = name.to_owned();
        }
        Ok(Answer::Done)
    }

    pub(super) fn delete_stream(&mut self, id: StreamId) -> Result<Answer, Refusal> {
        self.need_stream(id)?;
        self.streams.retain(|row| row.id != id);
        self.drop_topics(|path| path.stream == id);
        Ok(Answer::Done)
    }

    pub(super) fn create_topic(
        &mut self,
        stream: StreamId,
        name: String,
        durability: Durability,
        partitions: u8,
        op: Op,
    ) -> Result<Answer, Refusal> {
        self.need_stream(stream)?;
        let rows = self.topics.iter().filter(|row| row.path.stream == stream);
        let names: Vec<&String> = rows.map(|row| &row.name).collect();
        need(!names.contains(&&name), Refusal::NameTaken)?;
        need(names.len() < TOPICS_OF_STREAM_MAX, Refusal::TopicsFull)?;
        self.need_room(partitions)?;
        self.made.topics += 1;
        let topic = TopicId(self.made.topics);
        let path = TopicPath { stream, topic };
        self.topics.push(TopicRow {
            path,
            name,
            durability,
        });
        let partitions = self.add_partitions(path, partitions, op);
        Ok(Answer::TopicCreated { topic, partitions })
    }

    pub(super) fn update_topic(&mut self, of: TopicPath, name: &str) -> Result<Answer, Refusal> {
        self.need_topic(of)?;
        let rows = self.topics.iter();
        let mut others = rows.filter(|row| row.path.stream == of.stream && row.path != of);
        need(others.all(|row| row.name != name), Refusal::NameTaken)?;
        for row in self.topics.iter_mut().filter(|row| row.path == of) {
            row.name = name.to_owned();
        }
        Ok(Answer::Done)
    }

    pub(super) fn delete_topic(&mut self, of: TopicPath) -> Result<Answer, Refusal> {
        self.need_topic(of)?;
        self.drop_topics(|path| path == of);
        Ok(Answer::Done)
    }

    pub(super) fn more_partitions(
        &mut self,
        of: TopicPath,
        count: u8,
        op: Op,
    ) -> Result<Answer, Refusal> {
        self.need_topic(of)?;
        let wanted = self.partitions_of(of).len() + usize::from(count);
        need(wanted <= PARTITIONS_OF_TOPIC_MAX, Refusal::TopicFull)?;
        self.need_room(count)?;
        let made = self.add_partitions(of, count, op);
        self.deal_anew(of);
        Ok(Answer::PartitionsCreated(made))
    }

    pub(super) fn fewer_partitions(&mut self, of: TopicPath, count: u8) -> Result<Answer, Refusal> {
        self.need_topic(of)?;
        let is_enough = self.partitions_of(of).len() >= usize::from(count);
        need(is_enough, Refusal::TooFewPartitions)?;
        for _ in 0..count {
            let last = self.partitions.iter().rposition(|row| row.of == of);
            last.map(|place| self.partitions.remove(place));
        }
        self.deal_anew(of);
        Ok(Answer::Done)
    }

    fn need_room(&self, partitions: u8) -> Result<(), Refusal> {
        let wanted = self.partitions.len() + usize::from(partitions);
        need(wanted <= PARTITIONS_ALIVE_MAX, Refusal::PartitionsFull)
    }

    fn add_partitions(&mut self, of: TopicPath, count: u8, op: Op) -> Vec<GroupId> {
        let mut made = Vec::new();
        for place in 1..=count {
            let group = GroupId(op.0 * 256 + u64::from(place));
            self.partitions.push(PartitionRow { of, group });
            made.push(group);
        }
        made
    }

    fn drop_topics(&mut self, is_gone: impl Fn(TopicPath) -> bool) {
        self.topics.retain(|row| !is_gone(row.path));
        self.partitions.retain(|row| !is_gone(row.of));
        let gone = self
            .consumer_groups
            .iter()
            .filter(|row| is_gone(row.path.of));
        let gone: Vec<_> = gone.map(|row| row.path).collect();
        for path in gone {
            self.drop_consumer_group(path);
        }
    }
}
