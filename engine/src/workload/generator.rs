//! Draws the next request of each client: first the action, by the preset, then the outcome to
//! provoke, then the inputs that should give it. Must never draw from a stream that another client or
//! a click also draws from.

use std::rc::Rc;

use super::action::Action;
use super::aim::{self, Aim, Known};
use super::auditors::Auditors;
use super::outcome::Outcome;
use super::plane::Plane;
use crate::ids::{CLIENTS_MAX, ClientId, GROUP_METADATA, GroupId, StreamId, Tick};
use crate::machine::metadata::{Command, PARTITIONS_AT_ONCE_MAX};
use crate::prng::{Purpose, Rng};
use crate::vsr::io::Durability;

/// What clients do on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The chance that a client asks in a tick, in millionths.
    pub per_million: u32,
    /// What for.
    pub plane: Plane,
    /// Share of the topics made that are `persisted`, in millionths.
    pub ack_quorum_ratio_per_million: u32,
}

/// A drawn request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Where it goes.
    pub group: GroupId,
    /// What it does.
    pub action: Action,
    /// What it was aimed at; others may come between.
    pub aimed_at: Outcome,
    /// Its body.
    pub body: Rc<[u8]>,
}

/// The requests of all clients.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    load: Load,
    /// Requests drawn for the load, by client.
    drawn: [u64; CLIENTS_MAX as usize],
    /// Requests a person or a story asked for, by client. Counted apart, so that a click leaves the
    /// load what it would have been.
    asked: [u64; CLIENTS_MAX as usize],
}

/// Whether the load or a person asks; separates their streams and the names of their messages.
#[derive(Clone, Copy)]
enum Origin {
    Load,
    Asked,
}

/// Marks the stream of what was asked for, beyond any count of drawn requests.
const ASKED: u64 = 1 << 63;
/// Marks the streams that decide whether a client asks in a tick, beyond any client's number.
const ROLL: u64 = 1 << 32;

impl Generator {
    /// `seed` is the Run's workload seed.
    #[must_use]
    pub fn new(seed: u64, load: Load) -> Self {
        Self {
            seed,
            load,
            drawn: [0; CLIENTS_MAX as usize],
            asked: [0; CLIENTS_MAX as usize],
        }
    }

    /// What clients do on their own.
    #[must_use]
    pub fn load(&self) -> Load {
        self.load
    }

    /// Changes that. A chance of zero stops the load and draws nothing.
    pub fn set_load(&mut self, load: Load) {
        self.load = load;
    }

    /// Whether a client asks in this tick.
    #[must_use]
    pub fn wants(&self, tick: Tick, client: ClientId) -> bool {
        match self.load.per_million {
            0 => false,
            1_000_000.. => true,
            chance => self
                .rng([ROLL | u64::from(client.0), tick.0])
                .chance(chance),
        }
    }

    /// The client's next request under load, to one of the groups in which it is `free` to ask. None,
    /// where it is not free in any group of the drawn plane; the draw is spent all the same, so that
    /// shares stay those of the preset.
    pub fn next(&mut self, client: ClientId, free: &[GroupId], known: &Auditors) -> Option<Drawn> {
        let (n, mut rng) = self.step(client, Origin::Load);
        let action = self.load.plane.draw(&mut rng);
        let group = draw_group(action, free, known, &mut rng)?;
        let wanted = aim::draw_outcome(action, &mut rng);
        let aimed = if action == Action::SendMessages {
            let body = aim::send(client, Origin::Load.mark(), n, &mut rng);
            Some((wanted, body))
        } else if action.is_of_partition() {
            let of_group = known.known(group);
            aim::first_that_can(action, wanted, |outcome| {
                aim::aim_at_partition(action, outcome, of_group, &mut rng)
            })
        } else {
            let aim = Aim {
                known: known.metadata_model()?,
                client,
                fresh: aim::fresh_name(client, Origin::Load.mark(), n),
                ack_quorum_ratio_per_million: self.load.ack_quorum_ratio_per_million,
            };
            aim::first_that_can(action, wanted, |outcome| {
                aim.body(action, outcome, &mut rng)
            })
        };
        let (aimed_at, body) = aimed?;
        Some(Drawn {
            group,
            action,
            aimed_at,
            body,
        })
    }

    /// The body of a write that a person or a story asks for, to a partition.
    pub fn next_send(&mut self, client: ClientId) -> Rc<[u8]> {
        let (n, mut rng) = self.step(client, Origin::Asked);
        aim::send(client, Origin::Asked.mark(), n, &mut rng)
    }

    /// The body of a read that a person or a story asks for, to a partition.
    pub fn next_poll(&mut self, client: ClientId, known: Known) -> Rc<[u8]> {
        let (_, mut rng) = self.step(client, Origin::Asked);
        aim::poll(known, &mut rng)
    }

    /// The body that makes a topic, in the stream that every cluster begins with, as a person or a
    /// story asks for. The load reads it and writes to it, and never deletes it.
    pub fn next_create_topic(
        &mut self,
        client: ClientId,
        durability: Durability,
        partitions: u8,
    ) -> Rc<[u8]> {
        let (n, _) = self.step(client, Origin::Asked);
        let command = Command::CreateTopic {
            stream: StreamId(1),
            name: &format!("c{client}-{}{n}", Origin::Asked.mark()),
            durability,
            partitions: partitions.min(PARTITIONS_AT_ONCE_MAX),
        };
        command.encode()
    }

    /// The number of the client's next request of this origin, from 1, and its stream.
    fn step(&mut self, client: ClientId, origin: Origin) -> (u64, Rng) {
        let (counts, mark) = match origin {
            Origin::Load => (&mut self.drawn, 0),
            Origin::Asked => (&mut self.asked, ASKED),
        };
        let count = &mut counts[usize::from(client.0)];
        *count += 1;
        let n = *count;
        (n, self.rng([u64::from(client.0), mark | n]))
    }

    fn rng(&self, key: [u64; 2]) -> Rng {
        Rng::keyed(self.seed, Purpose::Workload, key)
    }
}

impl Origin {
    fn mark(self) -> &'static str {
        match self {
            Self::Load => "",
            Self::Asked => "w",
        }
    }
}

/// One of the free groups that take this action.
fn draw_group(
    action: Action,
    free: &[GroupId],
    known: &Auditors,
    rng: &mut Rng,
) -> Option<GroupId> {
    if !action.is_of_partition() {
        return free.contains(&GROUP_METADATA).then_some(GROUP_METADATA);
    }
    let is_fit = |group: &GroupId| *group != GROUP_METADATA && known.is_alive(*group);
    let fitting: Vec<GroupId> = free.iter().copied().filter(is_fit).collect();
    aim::pick(&fitting, rng)
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
