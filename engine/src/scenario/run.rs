//! The Run: all that decides what happens, as data. Everything the engine does is a function of a
//! Run and the tick. Must never know how it is executed.

use serde::Serialize;

use super::faults::{Faults, Profile};
use super::problem::Problem;
use super::script::{StoryAction, TimedAct};
use super::setting::Setting;
use super::swarm;
use crate::error::InputError;
use crate::ids::{CLIENTS_MAX, PARTITIONS_MAX, REPLICAS_MAX, Tick};
use crate::machine::RETENTION_DEFAULT;
use crate::sim::network_options::PartitionMode;
use crate::vsr::knobs::{Knobs, SLOTS_PER_PIPELINE};
use crate::vsr::mutation::Mutations;
use crate::workload::Plane;

/// The behaviour of this build. It rises whenever a golden run hash moves; links carry it, so that a
/// link of another build is told from a wrong one.
pub const EPOCH: u32 = 1;

/// The last tick that a Run can name: 115 days of virtual time. It keeps sums of ticks from
/// overflowing and inside what JavaScript holds exactly.
pub const TICK_MAX: u64 = 1_000_000_000;

/// How large the cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// Replicas, 1 to 9.
    pub replicas: u8,
    /// Clients, 1 to 8.
    pub clients: u8,
    /// Partitions that it is formatted with, 1 to 8; each is a group beside the metadata group.
    pub partitions: u8,
}

/// What clients do on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Chance per tick that an idle client asks.
    pub load_per_million: u32,
    /// How long a client waits for a reply before it asks the next replica.
    pub retry_ticks: u32,
    /// What clients ask for.
    pub plane: Plane,
    /// Share of topics whose acknowledged messages are on the disks of a quorum; those of the others
    /// are in a quorum's memory.
    pub ack_quorum_ratio_per_million: u32,
    /// Whether requests pass the request shell: login, session binding, access tokens. Without effect yet.
    pub shell: bool,
    /// Messages that a partition keeps.
    pub retention: u32,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            load_per_million: 20_000,
            retry_ticks: 200,
            plane: Plane::default(),
            ack_quorum_ratio_per_million: 500_000,
            shell: false,
            retention: RETENTION_DEFAULT,
        }
    }
}

/// How a replica's groups are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shards {
    /// Shards of each replica, 1 to 4.
    pub count: u8,
    /// Frames that may wait for one shard in the channel from the others.
    pub channel_frames_max: u32,
}

impl Default for Shards {
    fn default() -> Self {
        Self {
            count: 1,
            channel_frames_max: 1_024,
        }
    }
}

/// A place in a run: after the n-th event of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cursor {
    /// The tick.
    pub tick: Tick,
    /// The event inside the tick after this one; zero is the end of the tick.
    pub step: u32,
}

/// The prepared part of a script: a built-in story by name, or one's own. The actions of a built-in
/// story cannot be changed apart from its name, since the link carries only the name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    name: Option<&'static str>,
    actions: Vec<StoryAction>,
}

impl Story {
    /// A story of one's own; without actions it is no story.
    #[must_use]
    pub fn own(actions: Vec<StoryAction>) -> Self {
        Self {
            name: None,
            actions,
        }
    }

    pub(super) fn built_in(name: &'static str, actions: Vec<StoryAction>) -> Self {
        Self {
            name: Some(name),
            actions,
        }
    }

    /// The name of a built-in story.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// What happens, in order; each action waits for the one before.
    #[must_use]
    pub fn actions(&self) -> &[StoryAction] {
        &self.actions
    }
}

/// A run as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The epoch of the build that made it; another one may play it differently.
    pub epoch: u32,
    /// All randomness comes from here.
    pub seed: u64,
    /// Sizes.
    pub cluster: Cluster,
    /// How each replica's groups are shared out.
    pub shards: Shards,
    /// What clients do on their own.
    pub workload: Workload,
    /// What goes wrong on its own.
    pub faults: Faults,
    /// Timers and limits of the protocol.
    pub knobs: Knobs,
    /// Rules of the protocol that are off.
    pub mutations: Mutations,
    /// The prepared script.
    pub story: Story,
    /// What the person did, by tick; of one tick in the order it was done.
    pub acts: Vec<TimedAct>,
    /// Where to go on opening.
    pub at: Option<Cursor>,
    /// The run hash at `at`, as its author saw it.
    pub expected_hash: Option<u64>,
}

/// The page's default cluster: three replicas, one client asking now and then, no faults.
impl Default for Run {
    fn default() -> Self {
        Self {
            epoch: EPOCH,
            seed: 211,
            cluster: Cluster {
                replicas: 3,
                clients: 1,
                partitions: 1,
            },
            shards: Shards::default(),
            workload: Workload::default(),
            faults: Faults::none(),
            knobs: Knobs::default(),
            mutations: Mutations::NONE,
            story: Story::default(),
            acts: Vec::new(),
            at: None,
            expected_hash: None,
        }
    }
}

impl Run {
    /// Takes on a profile: its network values, or with `swarm` everything that the seed draws, so
    /// the seed and the story must be set before, and single values after.
    pub fn set_profile(&mut self, profile: Profile) {
        if profile == Profile::Swarm {
            swarm::draw_into(self);
        } else {
            self.faults.profile = profile;
            self.faults.network = profile.network(self.seed);
        }
    }

    /// With `swarm`, brings drawn values in line with those given in place of others: to be called
    /// once all are given.
    pub fn reconcile(&mut self) {
        if self.faults.profile == Profile::Swarm {
            swarm::reconcile(self);
        }
    }

    /// Adds an act behind those of the same tick.
    pub fn add_act(&mut self, act: TimedAct) {
        let place = self.acts.partition_point(|other| other.tick <= act.tick);
        self.acts.insert(place, act);
    }

    /// Checks what no single value shows: sizes, values that contradict each other, actions on
    /// processes that this cluster does not have.
    ///
    /// # Errors
    /// The first thing that is wrong, named by its key or action.
    pub fn validate(&self) -> Result<(), InputError> {
        self.validate_sizes()?;
        self.validate_values()?;
        let key = self.story.name().map_or("do", |_| "story");
        for action in self.story.actions() {
            action
                .check(self.cluster)
                .map_err(|problem| problem.at(format!("{key}, action {action}")))?;
        }
        for act in &self.acts {
            act.action
                .check(self.cluster)
                .map_err(|problem| problem.at(format!("act, action {act}")))?;
        }
        if self.expected_hash.is_some() && self.at.is_none() {
            let expected = "at=TICK beside it, the place whose hash it is";
            return Err(InputError::new("hash", "given without at", expected));
        }
        Ok(())
    }

    fn validate_sizes(&self) -> Result<(), InputError> {
        let within = |key: &str, value: u8, low: u8, high: u8| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            let expected = format!("a whole number from {low} to {high}");
            Err(InputError::new(key, value.to_string(), expected))
        };
        within("replicas", self.cluster.replicas, 1, REPLICAS_MAX)?;
        within("clients", self.cluster.clients, 1, CLIENTS_MAX)?;
        within("partitions", self.cluster.partitions, 1, PARTITIONS_MAX)?;
        match self.faults.min_survivors {
            Some(survivors) => within("min-survivors", survivors, 0, self.cluster.replicas),
            None => Ok(()),
        }
    }

    fn validate_values(&self) -> Result<(), InputError> {
        for setting in Setting::ALL {
            setting
                .check(setting.read(self))
                .map_err(|problem| problem.at(setting.name()))?;
        }
        let network = &self.faults.network;
        if network.delay_mean_ticks < network.delay_min_ticks {
            return Err(Problem::new(
                network.delay_mean_ticks.to_string(),
                format!("at least delay-min, {}", network.delay_min_ticks),
            )
            .at("delay-mean"));
        }
        if network.partition_per_million > 0 && network.partition_mode == PartitionMode::None {
            return Err(Problem::new(
                "none beside a partition rate",
                "uniform-size, uniform-partition or isolate-single, or partition=0",
            )
            .at("partition-mode"));
        }
        let slots_min = SLOTS_PER_PIPELINE * self.knobs.pipeline_max;
        if self.knobs.journal_slots < slots_min {
            return Err(Problem::new(
                self.knobs.journal_slots.to_string(),
                format!("at least three pipelines, {slots_min}"),
            )
            .at("slots"));
        }
        if self.knobs.heartbeat_wait_ticks <= self.knobs.heartbeat_ticks {
            return Err(Problem::new(
                self.knobs.heartbeat_wait_ticks.to_string(),
                format!("more than heartbeat, {}", self.knobs.heartbeat_ticks),
            )
            .at("heartbeat-wait"));
        }
        Ok(())
    }
}
