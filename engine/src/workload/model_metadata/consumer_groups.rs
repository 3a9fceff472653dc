//! Consumer groups in the reference. Must never share code with the metadata group.

use super::{ConsumerGroupRow, MetadataModel, need};
use crate::ids::{ClientId, ConsumerGroupId};
use crate::machine::metadata::{
    Answer, CONSUMER_GROUPS_OF_TOPIC_MAX, ConsumerGroupPath, MEMBERS_MAX, Refusal, TopicPath,
};

impl MetadataModel {
    pub(super) fn create_consumer_group(
        &mut self,
        of: TopicPath,
        name: &str,
    ) -> Result<Answer, Refusal> {
        self.need_topic(of)?;
        let rows = self.consumer_groups.iter().filter(|row| row.path.of == of);
        let names: Vec<&str> = rows.map(|row| row.name.as_str()).collect();
        need(!names.contains(&name), Refusal::NameTaken)?;
        let has_room = names.len() < CONSUMER_GROUPS_OF_TOPIC_MAX;
        need(has_room, Refusal::ConsumerGroupsFull)?;
        self.made.consumer_groups += 1;
        let consumer_group = ConsumerGroupId(self.made.consumer_groups);
        self.consumer_groups.push(ConsumerGroupRow {
            path: ConsumerGroupPath { of, consumer_group },
            name: name.to_owned(),
            generation: 0,
        });
        Ok(Answer::ConsumerGroupCreated(consumer_group))
    }

    pub(super) fn delete_consumer_group(
        &mut self,
        path: ConsumerGroupPath,
    ) -> Result<Answer, Refusal> {
        self.need_consumer_group(path)?;
        self.drop_consumer_group(path);
        Ok(Answer::Done)
    }

    pub(super) fn join(
        &mut self,
        path: ConsumerGroupPath,
        client: ClientId,
    ) -> Result<Answer, Refusal> {
        self.need_consumer_group(path)?;
        let members = self.members_of(path.consumer_group);
        need(!members.contains(&client), Refusal::AlreadyMember)?;
        need(members.len() < MEMBERS_MAX, Refusal::MembersFull)?;
        self.members.push((path.consumer_group, client));
        let generation = self.raise_generation(path);
        let shares = self.shares(path);
        let own = shares.into_iter().find(|(member, _)| *member == client);
        Ok(Answer::Joined {
            generation,
            partitions: own.map_or(0, |(_, share)| share),
        })
    }

    pub(super) fn leave(
        &mut self,
        path: ConsumerGroupPath,
        client: ClientId,
    ) -> Result<Answer, Refusal> {
        self.need_consumer_group(path)?;
        let membership = (path.consumer_group, client);
        need(self.members.contains(&membership), Refusal::NotAMember)?;
        self.members.retain(|row| *row != membership);
        let generation = self.raise_generation(path);
        Ok(Answer::Left { generation })
    }

    fn need_consumer_group(&self, path: ConsumerGroupPath) -> Result<(), Refusal> {
        self.need_topic(path.of)?;
        let is_there = self.consumer_groups.iter().any(|row| row.path == path);
        need(is_there, Refusal::ConsumerGroupNotFound)
    }

    /// By number.
    pub(in crate::workload) fn members_of(&self, group: ConsumerGroupId) -> Vec<ClientId> {
        let rows = self.members.iter().filter(|(of, _)| *of == group);
        let mut members: Vec<ClientId> = rows.map(|(_, client)| *client).collect();
        members.sort();
        members
    }

    /// Partition `p` of the topic is the member's at place `p` modulo the number of members.
    pub(super) fn shares(&self, path: ConsumerGroupPath) -> Vec<(ClientId, u8)> {
        let partitions = self.partitions_of(path.of).len();
        let members = self.members_of(path.consumer_group);
        let mut shares = Vec::new();
        for (place, member) in members.iter().enumerate() {
            let mut share = 0;
            for partition in 0..partitions {
                if partition % members.len() == place {
                    share += 1_u8 << partition;
                }
            }
            shares.push((*member, share));
        }
        shares
    }

    /// A topic has other partitions than before.
    pub(super) fn deal_anew(&mut self, of: TopicPath) {
        for row in &mut self.consumer_groups {
            if row.path.of == of {
                row.generation += 1;
            }
        }
    }

    fn raise_generation(&mut self, path: ConsumerGroupPath) -> u32 {
        let row = self.consumer_groups.iter_mut().find(|row| row.path == path);
        row.map_or(0, |row| {
            row.generation += 1;
            row.generation
        })
    }

    pub(super) fn drop_consumer_group(&mut self, path: ConsumerGroupPath) {
        self.consumer_groups.retain(|row| row.path != path);
        self.members.retain(|(of, _)| *of != path.consumer_group);
    }
}
