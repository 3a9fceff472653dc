//! Consumer groups: clients that share the partitions of a topic. Shares follow from the members and
//! the number of partitions alone, so that nothing about them is kept. Must never know a stream.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Metadata;
use super::answer::{Answer, ConsumerGroupView, Refusal};
use super::command::{ConsumerGroupPath, TopicPath};
use super::streams::{CONSUMER_GROUPS_OF_TOPIC_MAX, Topic};
use crate::ids::{ClientId, ConsumerGroupId};

/// Most members of one consumer group.
pub const MEMBERS_MAX: usize = 3;

/// A consumer group.
#[derive(Clone, Debug)]
pub(super) struct ConsumerGroup {
    pub(super) name: Rc<str>,
    /// How often the members' shares have changed.
    pub(super) generation: u32,
    pub(super) members: BTreeSet<ClientId>,
}

impl ConsumerGroup {
    pub(super) fn view(&self, id: ConsumerGroupId, partitions: usize) -> ConsumerGroupView {
        let members = self.members.iter();
        ConsumerGroupView {
            consumer_group: id,
            name: self.name.to_string(),
            generation: self.generation,
            members: members
                .map(|&client| (client, self.share(client, partitions)))
                .collect(),
        }
    }

    /// Partitions are dealt out one by one to the members in order of their numbers.
    fn share(&self, client: ClientId, partitions: usize) -> u8 {
        let dealt = (0..partitions).zip(self.members.iter().cycle());
        dealt
            .filter(|(_, member)| **member == client)
            .fold(0, |share, (partition, _)| share | 1 << partition)
    }
}

impl Topic {
    fn consumer_group_mut(&mut self, id: ConsumerGroupId) -> Result<&mut ConsumerGroup, Refusal> {
        let group = self.consumer_groups.get_mut(&id);
        group.ok_or(Refusal::ConsumerGroupNotFound)
    }
}

impl Metadata {
    pub(super) fn create_consumer_group(
        &mut self,
        of: TopicPath,
        name: &str,
    ) -> Result<Answer, Refusal> {
        let id = ConsumerGroupId(self.last.consumer_group.0 + 1);
        let groups = &mut self.topic_mut(of)?.consumer_groups;
        if groups.values().any(|group| *group.name == *name) {
            return Err(Refusal::NameTaken);
        }
        if groups.len() >= CONSUMER_GROUPS_OF_TOPIC_MAX {
            return Err(Refusal::ConsumerGroupsFull);
        }
        let group = ConsumerGroup {
            name: Rc::from(name),
            generation: 0,
            members: BTreeSet::new(),
        };
        groups.insert(id, group);
        self.last.consumer_group = id;
        Ok(Answer::ConsumerGroupCreated(id))
    }

    pub(super) fn delete_consumer_group(
        &mut self,
        path: ConsumerGroupPath,
    ) -> Result<Answer, Refusal> {
        let topic = self.topic_mut(path.of)?;
        topic.consumer_group_mut(path.consumer_group)?;
        topic.consumer_groups.remove(&path.consumer_group);
        Ok(Answer::Done)
    }

    pub(super) fn join(
        &mut self,
        path: ConsumerGroupPath,
        client: ClientId,
    ) -> Result<Answer, Refusal> {
        let topic = self.topic_mut(path.of)?;
        let partitions = topic.partitions.len();
        let group = topic.consumer_group_mut(path.consumer_group)?;
        if group.members.contains(&client) {
            return Err(Refusal::AlreadyMember);
        }
        if group.members.len() >= MEMBERS_MAX {
            return Err(Refusal::MembersFull);
        }
        group.members.insert(client);
        group.generation += 1;
        Ok(Answer::Joined {
            generation: group.generation,
            partitions: group.share(client, partitions),
        })
    }

    pub(super) fn leave(
        &mut self,
        path: ConsumerGroupPath,
        client: ClientId,
    ) -> Result<Answer, Refusal> {
        let topic = self.topic_mut(path.of)?;
        let group = topic.consumer_group_mut(path.consumer_group)?;
        if !group.members.remove(&client) {
            return Err(Refusal::NotAMember);
        }
        group.generation += 1;
        Ok(Answer::Left {
            generation: group.generation,
        })
    }
}
