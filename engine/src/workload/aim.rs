//! Bodies that should come to a wanted outcome, from what is known of the group they go to. What others
//! ask meanwhile may still make them come out otherwise. Must never draw from a stream of its own, nor
//! delete or rename what the workload did not make.

use std::rc::Rc;

use super::action::Action;
use super::model_metadata::MetadataModel;
use super::outcome::Outcome;
use crate::ids::{ClientId, StreamId, TopicId, UserId};
use crate::machine::metadata::{Command, TopicPath};
use crate::prng::Rng;

#[path = "aim_consumer_groups.rs"]
mod consumer_groups;
#[path = "aim_partition.rs"]
mod partition;
#[path = "aim_streams.rs"]
mod streams;
#[path = "aim_users.rs"]
mod users;

pub use partition::Known;
pub(super) use partition::{CONSUMERS, aim_at_partition, poll, send};

/// Share of draws that are aimed at another outcome than success, in percent.
const UNUSUAL_PERCENT: u32 = 25;
/// How many of the last ids that are gone are asked for.
const GONE_MAX: usize = 16;
/// What the workload makes is named with this in front.
const OWN: &str = "wl-";

/// Draws the outcome to provoke.
pub(super) fn draw_outcome(action: Action, rng: &mut Rng) -> Outcome {
    let (others, bound) = match action.outcomes() {
        [_, others @ ..] => (others, u32::try_from(others.len()).unwrap_or(0)),
        [] => (&[][..], 0),
    };
    if bound > 0 && rng.below(100) < UNUSUAL_PERCENT {
        pick(others, rng).unwrap_or(Outcome::Success)
    } else {
        Outcome::Success
    }
}

/// A body that should come to `wanted`; where nothing could, one that should be carried out; where
/// that cannot be either, any other.
pub(super) fn first_that_can(
    action: Action,
    wanted: Outcome,
    mut aim: impl FnMut(Outcome) -> Option<Rc<[u8]>>,
) -> Option<(Outcome, Rc<[u8]>)> {
    let others = action.outcomes().iter().copied();
    let mut aims = std::iter::once(wanted).chain(others);
    aims.find_map(|outcome| Some((outcome, aim(outcome)?)))
}

/// Who aims, and with what.
pub(super) struct Aim<'a> {
    pub(super) known: &'a MetadataModel,
    pub(super) client: ClientId,
    /// A name that nothing has.
    pub(super) fresh: String,
    /// Share of topics made `persisted`.
    pub(super) ack_quorum_ratio_per_million: u32,
}

impl Aim<'_> {
    /// The body of a metadata command, where one can come to this.
    pub(super) fn body(&self, action: Action, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        match action {
            Action::SendMessages
            | Action::Poll
            | Action::StoreOffset
            | Action::DeleteOffset
            | Action::GetOffset => None,
            Action::CreateStream => self.create_stream(at, rng),
            Action::UpdateStream => self.update_stream(at, rng),
            Action::DeleteStream => self.delete_stream(at, rng),
            Action::CreateTopic => self.create_topic(at, rng),
            Action::UpdateTopic => self.update_topic(at, rng),
            Action::DeleteTopic => self.delete_topic(at, rng),
            Action::CreatePartitions => self.create_partitions(at, rng),
            Action::DeletePartitions => self.delete_partitions(at, rng),
            Action::CreateUser => self.create_user(at, rng),
            Action::UpdateUser => self.update_user(at, rng),
            Action::ChangePassword => self.change_password(at, rng),
            Action::DeleteUser => self.delete_user(at, rng),
            Action::CreateToken => self.create_token(at, rng),
            Action::DeleteToken => self.delete_token(at, rng),
            Action::CreateConsumerGroup => self.create_consumer_group(at, rng),
            Action::DeleteConsumerGroup => self.delete_consumer_group(at, rng),
            Action::JoinConsumerGroup => self.join(at, rng),
            Action::LeaveConsumerGroup => self.leave(at, rng),
            Action::GetStream => {
                let stream = match at {
                    Outcome::StreamNotFound => self.missing_stream(rng),
                    _ => pick(&self.streams(), rng)?,
                };
                Some(Command::GetStream { stream }.encode())
            }
            Action::GetTopic => {
                let of = match at {
                    Outcome::Success => pick(&self.topics(), rng)?,
                    _ => self.missing_topic(at, rng)?,
                };
                Some(Command::GetTopic { of }.encode())
            }
            Action::GetUser => {
                let user = match at {
                    Outcome::UserNotFound => self.missing_user(rng),
                    _ => pick(&self.users(), rng)?,
                };
                Some(Command::GetUser { user }.encode())
            }
            Action::GetCatalogue => Some(Command::GetCatalogue.encode()),
        }
    }

    fn streams(&self) -> Vec<StreamId> {
        self.known.streams.iter().map(|row| row.id).collect()
    }

    fn own_streams(&self) -> Vec<StreamId> {
        let rows = self.known.streams.iter().filter(|row| is_own(&row.name));
        rows.map(|row| row.id).collect()
    }

    fn topics(&self) -> Vec<TopicPath> {
        self.known.topics.iter().map(|row| row.path).collect()
    }

    fn own_topics(&self) -> Vec<TopicPath> {
        let rows = self.known.topics.iter().filter(|row| is_own(&row.name));
        rows.map(|row| row.path).collect()
    }

    fn users(&self) -> Vec<UserId> {
        self.known.users.iter().map(|row| row.id).collect()
    }

    fn own_users(&self) -> Vec<UserId> {
        let rows = self.known.users.iter().filter(|row| is_own(&row.name));
        rows.map(|row| row.id).collect()
    }

    fn missing_stream(&self, rng: &mut Rng) -> StreamId {
        let there: Vec<u32> = self.known.streams.iter().map(|row| row.id.0).collect();
        StreamId(missing(self.known.made.streams, &there, rng))
    }

    fn missing_user(&self, rng: &mut Rng) -> UserId {
        let there: Vec<u32> = self.known.users.iter().map(|row| row.id.0).collect();
        UserId(missing(self.known.made.users, &there, rng))
    }

    /// A path that leads nowhere, in the stream or in the topic.
    fn missing_topic(&self, at: Outcome, rng: &mut Rng) -> Option<TopicPath> {
        match at {
            Outcome::StreamNotFound => Some(TopicPath {
                stream: self.missing_stream(rng),
                topic: TopicId(rng.between(1, self.known.made.topics)),
            }),
            Outcome::TopicNotFound => {
                let stream = pick(&self.streams(), rng)?;
                let rows = self.known.topics.iter();
                let there: Vec<u32> = rows
                    .filter(|row| row.path.stream == stream)
                    .map(|row| row.path.topic.0)
                    .collect();
                let topic = TopicId(missing(self.known.made.topics, &there, rng));
                Some(TopicPath { stream, topic })
            }
            _ => None,
        }
    }
}

fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

/// The name of what the client's n-th request makes.
pub(super) fn fresh_name(client: ClientId, mark: &str, n: u64) -> String {
    format!("{OWN}c{client}-{mark}{n}")
}

/// An id that something had and lost, or else one that nothing will have for long.
fn missing(made: u32, there: &[u32], rng: &mut Rng) -> u32 {
    let gone = (1..=made).rev().filter(|id| !there.contains(id));
    let recent: Vec<u32> = gone.take(GONE_MAX).collect();
    pick(&recent, rng).unwrap_or(made + 1_000)
}

/// One of some things; nothing, and no draw, where there are none.
pub(super) fn pick<T: Clone>(things: &[T], rng: &mut Rng) -> Option<T> {
    let bound = u32::try_from(things.len())
        .ok()
        .filter(|bound| *bound > 0)?;
    things.get(rng.below(bound) as usize).cloned()
}
