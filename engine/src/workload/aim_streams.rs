//! Bodies for streams, topics and partitions. Must never rename or delete what others made.

use std::rc::Rc;

use super::{Aim, pick};
use crate::ids::StreamId;
use crate::machine::metadata::{
    Command, PARTITIONS_ALIVE_MAX, PARTITIONS_AT_ONCE_MAX, PARTITIONS_OF_TOPIC_MAX, STREAMS_MAX,
    TOPICS_OF_STREAM_MAX, TopicPath,
};
use crate::prng::Rng;
use crate::vsr::io::Durability;
use crate::workload::outcome::Outcome;

/// Most partitions of a drawn topic: each is a group that every replica hosts.
const PARTITIONS_DRAWN_MAX: usize = 3;

impl Aim<'_> {
    pub(super) fn create_stream(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let is_full = self.known.streams.len() >= STREAMS_MAX;
        let name = match at {
            Outcome::Success if !is_full => self.fresh.as_str(),
            Outcome::StreamsFull if is_full => self.fresh.as_str(),
            Outcome::NameTaken => pick(&self.stream_names(None), rng)?,
            _ => return None,
        };
        Some(Command::CreateStream { name }.encode())
    }

    pub(super) fn update_stream(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let stream = match at {
            Outcome::StreamNotFound => self.missing_stream(rng),
            _ => pick(&self.own_streams(), rng)?,
        };
        let name = match at {
            Outcome::NameTaken => pick(&self.stream_names(Some(stream)), rng)?,
            _ => self.fresh.as_str(),
        };
        Some(Command::UpdateStream { stream, name }.encode())
    }

    pub(super) fn delete_stream(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let stream = match at {
            Outcome::StreamNotFound => self.missing_stream(rng),
            _ => pick(&self.own_streams(), rng)?,
        };
        Some(Command::DeleteStream { stream }.encode())
    }

    pub(super) fn create_topic(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let fits = |stream: &StreamId| {
            let count = self.topics_of(*stream).len();
            match at {
                Outcome::Success | Outcome::PartitionsFull => count < TOPICS_OF_STREAM_MAX,
                Outcome::TopicsFull => count >= TOPICS_OF_STREAM_MAX,
                Outcome::NameTaken => count > 0,
                _ => true,
            }
        };
        let fitting: Vec<StreamId> = self.streams().into_iter().filter(fits).collect();
        let stream = match at {
            Outcome::StreamNotFound => self.missing_stream(rng),
            _ => pick(&fitting, rng)?,
        };
        let name = match at {
            Outcome::NameTaken => pick(&self.topic_names(stream, None), rng)?,
            _ => self.fresh.as_str(),
        };
        let partitions = match at {
            Outcome::PartitionsFull => self.too_many()?,
            _ => draw_up_to(self.room().min(PARTITIONS_DRAWN_MAX), 0, rng),
        };
        let durability = self.draw_durability(rng);
        let command = Command::CreateTopic {
            stream,
            name,
            durability,
            partitions,
        };
        Some(command.encode())
    }

    pub(super) fn update_topic(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let has_sibling = |of: TopicPath| self.topics_of(of.stream).len() > 1;
        let (of, name) = match at {
            Outcome::NameTaken => {
                let of = self.own_topic_where(has_sibling, rng)?;
                (of, pick(&self.topic_names(of.stream, Some(of)), rng)?)
            }
            _ => (self.own_topic_for(at, rng)?, self.fresh.as_str()),
        };
        Some(Command::UpdateTopic { of, name }.encode())
    }

    pub(super) fn delete_topic(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let of = self.own_topic_for(at, rng)?;
        Some(Command::DeleteTopic { of }.encode())
    }

    pub(super) fn create_partitions(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let at_once = usize::from(PARTITIONS_AT_ONCE_MAX);
        let room_in = |of: TopicPath| PARTITIONS_OF_TOPIC_MAX - self.known.partitions_of(of).len();
        let (of, count) = match at {
            Outcome::Success => {
                let of = self.own_topic_where(|of| room_in(of) > 0, rng)?;
                let most = at_once.min(room_in(of)).min(self.room());
                (of, draw_up_to(most, 1, rng))
            }
            Outcome::TopicFull => {
                let of = self.own_topic_where(|of| room_in(of) < at_once, rng)?;
                (of, PARTITIONS_AT_ONCE_MAX)
            }
            Outcome::PartitionsFull => {
                let of = self.own_topic_where(|of| room_in(of) >= at_once, rng)?;
                (of, self.too_many()?)
            }
            _ => (self.missing_topic(at, rng)?, 1),
        };
        (count > 0).then(|| Command::CreatePartitions { of, count }.encode())
    }

    pub(super) fn delete_partitions(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let at_once = usize::from(PARTITIONS_AT_ONCE_MAX);
        let count_of = |of: TopicPath| self.known.partitions_of(of).len();
        let (of, count) = match at {
            Outcome::Success => {
                let of = self.own_topic_where(|of| count_of(of) > 0, rng)?;
                (of, draw_up_to(at_once.min(count_of(of)), 1, rng))
            }
            Outcome::TooFewPartitions => {
                let of = self.own_topic_where(|of| count_of(of) < at_once, rng)?;
                (of, u8::try_from(count_of(of) + 1).ok()?)
            }
            _ => (self.missing_topic(at, rng)?, 1),
        };
        Some(Command::DeletePartitions { of, count }.encode())
    }

    /// A topic of the workload's, or a path that leads nowhere, as wanted.
    fn own_topic_for(&self, at: Outcome, rng: &mut Rng) -> Option<TopicPath> {
        match at {
            Outcome::StreamNotFound | Outcome::TopicNotFound => self.missing_topic(at, rng),
            _ => pick(&self.own_topics(), rng),
        }
    }

    fn own_topic_where(
        &self,
        fits: impl Fn(TopicPath) -> bool,
        rng: &mut Rng,
    ) -> Option<TopicPath> {
        let topics = self.own_topics().into_iter();
        let fitting: Vec<TopicPath> = topics.filter(|of| fits(*of)).collect();
        pick(&fitting, rng)
    }

    fn topics_of(&self, stream: StreamId) -> Vec<TopicPath> {
        let topics = self.topics().into_iter();
        topics.filter(|of| of.stream == stream).collect()
    }

    fn stream_names(&self, but: Option<StreamId>) -> Vec<&str> {
        let rows = self.known.streams.iter();
        rows.filter(|row| Some(row.id) != but)
            .map(|row| row.name.as_str())
            .collect()
    }

    fn topic_names(&self, stream: StreamId, but: Option<TopicPath>) -> Vec<&str> {
        let rows = self.known.topics.iter();
        rows.filter(|row| row.path.stream == stream && Some(row.path) != but)
            .map(|row| row.name.as_str())
            .collect()
    }

    /// How many more partitions there may be.
    fn room(&self) -> usize {
        PARTITIONS_ALIVE_MAX.saturating_sub(self.known.partitions.len())
    }

    /// More partitions than there may be, where one command can ask for so many.
    fn too_many(&self) -> Option<u8> {
        (self.room() < usize::from(PARTITIONS_AT_ONCE_MAX)).then_some(PARTITIONS_AT_ONCE_MAX)
    }

    fn draw_durability(&self, rng: &mut Rng) -> Durability {
        let is_persisted = match self.ack_quorum_ratio_per_million {
            0 => false,
            1_000_000.. => true,
            ratio => rng.chance(ratio),
        };
        if is_persisted {
            Durability::Persisted
        } else {
            Durability::Replicated
        }
    }
}

/// A count of `least..=most`; `most`, and no draw, where it is no more than `least`.
fn draw_up_to(most: usize, least: u32, rng: &mut Rng) -> u8 {
    let most = u32::try_from(most).unwrap_or(0);
    let drawn = if most > least {
        rng.between(least, most)
    } else {
        most
    };
    u8::try_from(drawn).unwrap_or(0)
}
