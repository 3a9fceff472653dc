//! Bodies for consumer groups. Must never delete what others made.

use std::rc::Rc;

use super::{Aim, is_own, pick};
use crate::ids::ConsumerGroupId;
use crate::machine::metadata::{
    CONSUMER_GROUPS_OF_TOPIC_MAX, Command, ConsumerGroupPath, MEMBERS_MAX, TopicPath,
};
use crate::prng::Rng;
use crate::workload::outcome::Outcome;

impl Aim<'_> {
    pub(super) fn create_consumer_group(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let fits = |of: &TopicPath| {
            let count = self.names_of(*of).len();
            match at {
                Outcome::Success => count < CONSUMER_GROUPS_OF_TOPIC_MAX,
                Outcome::ConsumerGroupsFull => count >= CONSUMER_GROUPS_OF_TOPIC_MAX,
                _ => count > 0,
            }
        };
        let fitting: Vec<TopicPath> = self.topics().into_iter().filter(fits).collect();
        let of = match at {
            Outcome::StreamNotFound | Outcome::TopicNotFound => self.missing_topic(at, rng)?,
            _ => pick(&fitting, rng)?,
        };
        let name = match at {
            Outcome::NameTaken => pick(&self.names_of(of), rng)?,
            _ => self.fresh.as_str(),
        };
        Some(Command::CreateConsumerGroup { of, name }.encode())
    }

    pub(super) fn delete_consumer_group(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let own = self
            .known
            .consumer_groups
            .iter()
            .filter(|row| is_own(&row.name));
        let own: Vec<ConsumerGroupPath> = own.map(|row| row.path).collect();
        let path = match at {
            Outcome::Success => pick(&own, rng)?,
            _ => self.missing_consumer_group(at, rng)?,
        };
        Some(Command::DeleteConsumerGroup { path }.encode())
    }

    pub(super) fn join(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let has_room = |members, is_in: bool| !is_in && members < MEMBERS_MAX;
        let is_full = |members, is_in: bool| !is_in && members >= MEMBERS_MAX;
        let path = match at {
            Outcome::Success => self.fullest_or_any(self.consumer_groups_where(has_room), rng)?,
            Outcome::AlreadyMember => pick(&self.consumer_groups_where(|_, is_in| is_in), rng)?,
            Outcome::MembersFull => pick(&self.consumer_groups_where(is_full), rng)?,
            _ => self.missing_consumer_group(at, rng)?,
        };
        Some(Command::JoinConsumerGroup { path }.encode())
    }

    /// Of those with room every other time the fullest, so that one gets full now and then.
    fn fullest_or_any(
        &self,
        groups: Vec<ConsumerGroupPath>,
        rng: &mut Rng,
    ) -> Option<ConsumerGroupPath> {
        if rng.below(2) == 0 {
            return pick(&groups, rng);
        }
        let members = |path: &ConsumerGroupPath| self.known.members_of(path.consumer_group).len();
        groups.into_iter().max_by_key(members)
    }

    pub(super) fn leave(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let path = match at {
            Outcome::Success => pick(&self.consumer_groups_where(|_, is_in| is_in), rng)?,
            Outcome::NotAMember => pick(&self.consumer_groups_where(|_, is_in| !is_in), rng)?,
            _ => self.missing_consumer_group(at, rng)?,
        };
        Some(Command::LeaveConsumerGroup { path }.encode())
    }

    /// Those that fit by their number of members, and by whether this client is among them.
    fn consumer_groups_where(&self, fits: impl Fn(usize, bool) -> bool) -> Vec<ConsumerGroupPath> {
        let rows = self.known.consumer_groups.iter().filter(|row| {
            let members = self.known.members_of(row.path.consumer_group);
            fits(members.len(), members.contains(&self.client))
        });
        rows.map(|row| row.path).collect()
    }

    fn missing_consumer_group(&self, at: Outcome, rng: &mut Rng) -> Option<ConsumerGroupPath> {
        let rows = &self.known.consumer_groups;
        let of = match at {
            Outcome::ConsumerGroupNotFound => pick(&self.topics(), rng)?,
            _ => self.missing_topic(at, rng)?,
        };
        let there: Vec<u32> = rows
            .iter()
            .filter(|row| row.path.of == of)
            .map(|row| row.path.consumer_group.0)
            .collect();
        let made = self.known.made.consumer_groups;
        let consumer_group = ConsumerGroupId(super::missing(made, &there, rng));
        Some(ConsumerGroupPath { of, consumer_group })
    }

    fn names_of(&self, of: TopicPath) -> Vec<&str> {
        let rows = self.known.consumer_groups.iter();
        rows.filter(|row| row.path.of == of)
            .map(|row| row.name.as_str())
            .collect()
    }
}
