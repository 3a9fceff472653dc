//! The simulator: assembles the world and drives it, tick by tick, in the order of the design's
//! section 5, able to stop after any event. Must never decide anything for a replica.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::{
    ClientId, GROUP_METADATA, GROUP_PARTITION_0, GroupId, Incarnation, Op, ReplicaId, TICK_MICROS,
    Tick, View, formatted_groups,
};
use crate::machine::Genesis;
use crate::oracle::{MemberView, Oracles};
use crate::prng::Seeds;
use crate::scenario::{GroupName, Run, TimedAct};
use crate::shard::boot::Boot;
use crate::shard::{Group, Host, Mesh, Room};
use crate::sim::acts::{Agenda, FaultMask, Warming};
use crate::sim::client::Client;
use crate::sim::damage::DiskTroubles;
use crate::sim::disk::DiskOptions;
use crate::sim::executor::{ChoiceSource, Livelock, Turn};
use crate::sim::lane::LaneEffect;
use crate::sim::network::Network;
use crate::sim::observe::oracle_roster;
use crate::sim::packet::Payload;
use crate::sim::record::Record;
use crate::sim::settle::Settle;
use crate::sim::story::StoryLane;
use crate::sim::timer::ReplicaClock;
use crate::sim::world::{Outgoing, SimBus, World};
use crate::trace::Recorder;
use crate::vsr::message::{Frame, Message, MessageKind};
use crate::workload::{AuditorOptions, Auditors, Generator, Load};

/// Frames that fit the inbox of a shard; more are dropped, and counted.
pub const INBOX_FRAMES_MAX: usize = 8_192;

/// A frame as the network carries it, with its checksum computed once.
#[derive(Clone)]
pub struct Parcel {
    /// The frame.
    pub frame: Rc<Frame>,
    pub(super) checksum: u64,
}

impl Payload for Parcel {
    fn kind(&self) -> MessageKind {
        self.frame.message.kind()
    }

    fn checksum(&self) -> u64 {
        self.checksum
    }

    fn group(&self) -> GroupId {
        self.frame.group
    }
}

/// One replica's place in the world, running or not.
pub struct Place {
    /// Whether it runs.
    pub up: bool,
    /// Whether it is paused.
    pub paused: bool,
    /// Since when it is what it is: up or down.
    pub since: Tick,
    /// Its life.
    pub incarnation: Incarnation,
    /// What is known of it in each group, whatever becomes of its memory.
    pub(super) known: BTreeMap<GroupId, Known>,
    pub(super) troubles: DiskTroubles,
    pub(super) mesh: Rc<Mesh>,
    /// What it has in this life, where it runs.
    pub(super) boot: Option<Rc<Boot<SimBus>>>,
    pub(super) host: Rc<Host<SimBus>>,
    pub(super) clock: ReplicaClock,
}

/// What outlives the memory of a replica in one group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// The highest view it ever sent a DoViewChange for, over all its lives.
    pub voted: View,
    /// The life that its disk holds, while it is down or boots.
    pub incarnation: Incarnation,
    /// The view that its disk holds, while it is down or boots.
    pub view: View,
    /// The log_view that its disk holds, while it is down or boots.
    pub log_view: View,
    /// The checkpoint that its disk holds, while it is down or boots.
    pub checkpoint: Op,
}

/// Where inside a tick the simulator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Between ticks.
    Begin,
    /// Story, acts, nemesis and workload act.
    Act,
    /// Time moves; due timers fire.
    Time,
    /// Pumps run until nothing is ready.
    PumpAfterTime,
    /// Packets due now are delivered.
    Deliver,
    /// Pumps run until nothing is ready.
    PumpAfterDelivery,
    /// Outboxes drain, oracles look.
    End,
}

/// What makes [`Simulator::advance`] stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// The end of the tick.
    Tick,
    /// The next event, or the end of the tick.
    Event,
}

/// The simulator.
pub struct Simulator {
    /// Values in force now: what acts set is written here.
    pub(super) run: Run,
    pub(super) seeds: Seeds,
    pub(super) world: Rc<World>,
    pub(super) network: Network<Parcel>,
    pub(super) places: Vec<Place>,
    pub(super) clients: Vec<Client>,
    pub(super) generator: Generator,
    pub(super) story: StoryLane,
    pub(super) settle: Option<Settle>,
    /// The groups there are, ascending: metadata first.
    pub(super) groups: Vec<GroupId>,
    /// The metadata op up to which they are known.
    catalogued: Op,
    /// Group by group, replicas ascending within.
    pub(super) members: Vec<MemberView>,
    pub(super) tick: Tick,
    /// Acts of the run that were performed.
    pub(super) acts_done: usize,
    pub(super) agenda: Agenda,
    /// Where given, the only faults that the dice may inject.
    pub(super) fault_mask: Option<FaultMask>,
    pub(super) warming: Option<Warming>,
    choices: ChoiceSource,
    phase: Phase,
    pub(super) client_outbox: Vec<Outgoing>,
    pub(super) client_effects: Vec<LaneEffect>,
    livelock: Option<Livelock>,
}

impl Simulator {
    /// A cluster at tick 0 of a run, formatted and started.
    #[must_use]
    pub fn new(run: Run, recorder: Recorder) -> Self {
        let seeds = Seeds::derive(run.seed);
        let count = run.cluster.replicas;
        let groups: Vec<GroupId> = formatted_groups(run.cluster.partitions).collect();
        let auditors = Auditors::new(AuditorOptions {
            sessions_max: run.knobs.sessions_max,
            retention: run.workload.retention,
            genesis: genesis_of(&run),
        });
        let record = Record::new(recorder, Oracles::new(oracle_roster(&run)), auditors);
        let world = Rc::new(World::new(
            count,
            seeds.disk,
            DiskOptions::default(),
            record,
        ));
        let network = Network::new(
            seeds.network,
            count,
            run.cluster.clients,
            run.faults.network,
        );
        let clients = (0..run.cluster.clients)
            .map(|client| {
                let mut client = Client::new(ClientId(client), count, run.workload.retry_ticks);
                client.open(GROUP_PARTITION_0);
                client
            })
            .collect();
        let places = (0..count).map(|_| Place::empty(&world, &run)).collect();
        let mut simulator = Self {
            generator: Generator::new(seeds.workload, load_of(&run)),
            story: StoryLane::default(),
            settle: None,
            groups,
            catalogued: Op(0),
            members: Vec::new(),
            tick: Tick(0),
            acts_done: 0,
            agenda: Agenda::default(),
            fault_mask: None,
            warming: None,
            choices: ChoiceSource::new(seeds.executor),
            phase: Phase::Begin,
            client_outbox: Vec::new(),
            client_effects: Vec::new(),
            livelock: None,
            run,
            seeds,
            world,
            network,
            places,
            clients,
        };
        for replica in (0..count).map(ReplicaId) {
            simulator.format_and_start(replica);
        }
        simulator.set_disk_dice();
        simulator.refresh_members();
        simulator
    }

    /// A replica's part in a group, where it runs and has booted that.
    #[must_use]
    pub fn group(&self, replica: ReplicaId, group: GroupId) -> Option<Rc<RefCell<Group>>> {
        let handle = self.places[usize::from(replica.0)].host.get(group)?;
        Some(Rc::clone(handle.group()))
    }

    /// The groups of the cluster, ascending: metadata first.
    #[must_use]
    pub fn group_ids(&self) -> &[GroupId] {
        &self.groups
    }

    /// The group that a script means by a name, where there is one now.
    #[must_use]
    pub fn group_named(&self, name: GroupName) -> Option<GroupId> {
        match name {
            GroupName::Metadata => Some(GROUP_METADATA),
            GroupName::Partition(place) => {
                let partitions = self.groups.get(1..).unwrap_or_default();
                partitions.get(usize::from(place)).copied()
            }
        }
    }

    /// The name that a script has for a group now.
    #[must_use]
    pub fn name_of(&self, group: GroupId) -> Option<GroupName> {
        let place = self.groups.binary_search(&group).ok()?;
        Some(match place.checked_sub(1) {
            None => GroupName::Metadata,
            Some(place) => GroupName::Partition(u16::try_from(place).ok()?),
        })
    }

    /// The group of an action that may name one: by default the first partition.
    pub(super) fn group_or_first(&self, name: Option<GroupName>) -> Option<GroupId> {
        self.group_named(name.unwrap_or(GroupName::Partition(0)))
    }

    // Driving.

    /// Goes on to the next event, or to the end of the tick. Stopping never changes what happens.
    /// Whether the tick ended.
    ///
    /// # Errors
    /// Where tasks keep waking each other without end: a fault of the engine.
    pub fn advance(&mut self, stop: StopAt) -> Result<bool, Livelock> {
        if let Some(livelock) = self.livelock {
            return Err(livelock);
        }
        let steps = self.world.steps();
        loop {
            self.run_phase(stop, steps)?;
            if self.phase == Phase::Begin {
                return Ok(true);
            }
            if stop == StopAt::Event && self.world.steps() > steps {
                return Ok(false);
            }
        }
    }

    /// One phase, or as much of it as comes before a stop.
    fn run_phase(&mut self, stop: StopAt, steps: u64) -> Result<(), Livelock> {
        match self.phase {
            Phase::Begin => {
                self.tick = Tick(self.tick.0 + 1);
                self.choices.enter_tick(self.tick.0);
                self.world.record.borrow_mut().enter_tick(self.tick);
                self.plan_acts();
                self.phase = Phase::Act;
            }
            Phase::Act => {
                if self.act_next() {
                    return Ok(());
                }
                self.let_clients_act();
                self.phase = Phase::Time;
            }
            Phase::Time => {
                self.fire_timers();
                self.world.executor.begin_round();
                self.phase = Phase::PumpAfterTime;
            }
            Phase::PumpAfterTime => {
                if self.run_pumps(stop, steps)? {
                    self.phase = Phase::Deliver;
                }
            }
            Phase::Deliver => {
                if self.deliver(stop, steps) {
                    self.world.executor.begin_round();
                    self.phase = Phase::PumpAfterDelivery;
                }
            }
            Phase::PumpAfterDelivery => {
                if self.run_pumps(stop, steps)? {
                    self.phase = Phase::End;
                }
            }
            Phase::End => {
                self.end_tick();
                self.phase = Phase::Begin;
            }
        }
        Ok(())
    }

    fn fire_timers(&mut self) {
        self.world.clock.advance(TICK_MICROS);
        while let Some(fired) = self.world.clock.fire_next() {
            self.world.executor.note_timer(fired.sequence);
            if let Some(alarm) = fired.alarm {
                let replica = ReplicaId(u8::try_from(alarm.owner).unwrap_or(u8::MAX));
                self.world.disk(replica).complete(alarm.number);
            }
        }
    }

    /// Polls until nothing is ready; whether it came that far.
    fn run_pumps(&mut self, stop: StopAt, steps: u64) -> Result<bool, Livelock> {
        loop {
            match self.world.executor.poll_one(&mut self.choices) {
                Ok(Turn::Idle) => {
                    self.halt_broken();
                    return Ok(true);
                }
                Ok(Turn::Polled { .. }) => {}
                Err(livelock) => {
                    self.livelock = Some(livelock);
                    return Err(livelock);
                }
            }
            if stop == StopAt::Event && self.world.steps() > steps {
                self.halt_broken();
                return Ok(false);
            }
        }
    }

    /// A replica whose rule broke halts as crashed.
    fn halt_broken(&mut self) {
        let halted = std::mem::take(&mut self.world.record.borrow_mut().halted);
        for replica in halted {
            if self.places[usize::from(replica.0)].up {
                self.crash(replica);
            }
        }
    }

    // The end of a tick.

    fn end_tick(&mut self) {
        self.world.record.borrow_mut().end_steps();
        for replica in (0..self.run.cluster.replicas).map(ReplicaId) {
            for outgoing in self.world.take_outgoing(replica) {
                if matches!(outgoing.frame.message, Message::DoViewChange(_)) {
                    let place = &mut self.places[usize::from(replica.0)];
                    let known = place.known.entry(outgoing.frame.group).or_default();
                    known.voted = known.voted.max(outgoing.frame.view);
                }
                self.submit(outgoing);
            }
        }
        for outgoing in std::mem::take(&mut self.client_outbox) {
            self.submit(outgoing);
        }
        self.look();
    }

    /// Groups come with the op that creates them and go with the one that deletes them, wherever it is
    /// executed first; a laggard may host a deleted one for a while.
    fn follow_catalogue(&mut self) {
        let record = self.world.record.borrow();
        let executed = record.auditors.executed(GROUP_METADATA);
        if executed == self.catalogued {
            return;
        }
        self.catalogued = executed;
        let mut groups = vec![GROUP_METADATA];
        groups.extend(record.auditors.groups_alive());
        drop(record);
        for client in &mut self.clients {
            client.keep(&groups);
        }
        self.groups = groups;
    }

    /// Oracles look at the end of a tick.
    fn look(&mut self) {
        self.follow_catalogue();
        self.refresh_members();
        let view = self.cluster_view();
        self.world.record.borrow_mut().oracles.end_of_tick(&view);
        self.world.record.borrow_mut().collect_violations();
        self.watch_settling();
    }

    // What others may read.

    /// The last tick that ended, or the one under way.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Whether it stands at the end of a tick.
    #[must_use]
    pub fn is_between_ticks(&self) -> bool {
        self.phase == Phase::Begin
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network<Parcel> {
        &self.network
    }

    /// The clients.
    #[must_use]
    pub fn clients(&self) -> &[Client] {
        &self.clients
    }

    /// The replicas' places.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The number of events done in this tick.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.world.record.borrow().step()
    }

    /// The story's action that waited too long, where one did.
    #[must_use]
    pub fn story_stuck(&self) -> Option<&str> {
        self.story.stuck()
    }

    /// How many of the story's actions are done.
    #[must_use]
    pub fn story_done(&self) -> usize {
        self.story.done()
    }

    /// Adds an act of a tick to come.
    pub fn add_act(&mut self, act: TimedAct) {
        self.run.add_act(act);
    }

    /// Replaces the list of acts; those of ticks that have passed are the same in it.
    pub fn replace_acts(&mut self, acts: &[TimedAct]) {
        self.run.acts = acts.to_vec();
    }

    /// The values in force now.
    #[must_use]
    pub fn values(&self) -> &Run {
        &self.run
    }
}

impl Drop for Simulator {
    /// Tasks hold the world, and the world its executor.
    fn drop(&mut self) {
        self.world.executor.abort_all();
    }
}

impl Place {
    /// Its clock.
    #[must_use]
    pub fn clock(&self) -> &ReplicaClock {
        &self.clock
    }

    /// The groups it hosts.
    #[must_use]
    pub fn host(&self) -> &Host<SimBus> {
        &self.host
    }

    /// Frames and completions that wait for its pumps.
    #[must_use]
    pub fn inbox(&self) -> usize {
        self.mesh.inbox_len() + self.mesh.channel_len()
    }

    fn empty(world: &Rc<World>, run: &Run) -> Self {
        Self {
            up: false,
            paused: false,
            since: Tick(0),
            incarnation: Incarnation(0),
            known: BTreeMap::new(),
            troubles: DiskTroubles::default(),
            mesh: mesh_of(run),
            boot: None,
            host: Rc::default(),
            clock: ReplicaClock::new(world.clock.clone()),
        }
    }
}

/// What the run has clients do on their own.
pub(super) fn load_of(run: &Run) -> Load {
    Load {
        per_million: run.workload.load_per_million,
        plane: run.workload.plane,
        ack_quorum_ratio_per_million: run.workload.ack_quorum_ratio_per_million,
    }
}

/// The shards of a replica in a new life, with nothing in their lanes.
pub(super) fn mesh_of(run: &Run) -> Rc<Mesh> {
    let room = Room {
        inbox_frames: INBOX_FRAMES_MAX,
        channel_frames: run.shards.channel_frames_max as usize,
    };
    Rc::new(Mesh::new(run.shards.count, room))
}

/// What the metadata group's log begins with.
pub(super) fn genesis_of(run: &Run) -> Genesis {
    Genesis {
        partitions: run.cluster.partitions,
        ..Genesis::default()
    }
}
