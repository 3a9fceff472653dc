//! The simulator: assembles the world and drives it, tick by tick, in the order of the design's
//! section 5, able to stop after any event. Must never decide anything for a replica.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ids::{
    ClientId, GROUP_PARTITION_0, GroupId, Incarnation, Process, ReplicaId, TICK_MICROS, Tick, View,
};
use crate::journal::{self, Block, COPIES, Zone};
use crate::machine::Partition;
use crate::oracle::{MemberView, Oracles};
use crate::prng::{Purpose, Rng, Seeds};
use crate::scenario::Run;
use crate::shard::boot::{Boot, Booted, boot_and_run};
use crate::shard::{Group, GroupHandle, Mailbox, Shard};
use crate::sim::acts::{Agenda, Warming};
use crate::sim::client::{Client, ClientEffect};
use crate::sim::disk::DiskOptions;
use crate::sim::executor::{ChoiceSource, Livelock, Turn};
use crate::sim::network::Network;
use crate::sim::observe::oracle_roster;
use crate::sim::packet::{Arrival, Packet, Payload, SubmitReport};
use crate::sim::record::Record;
use crate::sim::settle::Settle;
use crate::sim::story::StoryLane;
use crate::sim::timer::ReplicaClock;
use crate::sim::world::{Outgoing, SimBus, World};
use crate::trace::{EventKind, Fate, Recorder};
use crate::vsr::message::{Frame, Message, MessageKind};
use crate::vsr::{Context, Replica, Roster};
use crate::workload::{Auditor, Generator};

/// Frames that fit an inbox; more are dropped, and counted.
pub const INBOX_FRAMES_MAX: usize = 8_192;

/// A frame as the network carries it, with its checksum computed once.
#[derive(Clone)]
pub struct Parcel {
    /// The frame.
    pub frame: Rc<Frame>,
    checksum: u64,
}

impl Payload for Parcel {
    fn kind(&self) -> MessageKind {
        self.frame.message.kind()
    }

    fn checksum(&self) -> u64 {
        self.checksum
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
    /// The highest view it ever sent a DoViewChange for, over all its lives.
    pub voted: View,
    pub(super) mailbox: Rc<Mailbox>,
    pub(super) booted: Booted,
    pub(super) clock: ReplicaClock,
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
    /// Outboxes drain, partitions and clogs change, oracles look.
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
    pub(super) members: Vec<MemberView>,
    pub(super) tick: Tick,
    /// Acts of the run that were performed.
    pub(super) acts_done: usize,
    pub(super) agenda: Agenda,
    pub(super) warming: Option<Warming>,
    choices: ChoiceSource,
    phase: Phase,
    client_outbox: Vec<Outgoing>,
    client_effects: Vec<ClientEffect>,
    livelock: Option<Livelock>,
}

impl Simulator {
    /// A cluster at tick 0 of a run, formatted and started.
    #[must_use]
    pub fn new(run: Run, recorder: Recorder) -> Self {
        let seeds = Seeds::derive(run.seed);
        let count = run.cluster.replicas;
        let record = Record::new(
            recorder,
            Oracles::new(oracle_roster(&run)),
            Auditor::new(run.knobs.sessions_max),
            GROUP_PARTITION_0,
        );
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
            run.faults.network.clone(),
        );
        let clients = (0..run.cluster.clients)
            .map(|client| Client::new(ClientId(client), count, run.workload.retry_ticks))
            .collect();
        let places = (0..count).map(|_| Place::empty(&world)).collect();
        let mut simulator = Self {
            generator: Generator::new(seeds.workload, run.workload.load_per_million),
            story: StoryLane::default(),
            settle: None,
            members: Vec::new(),
            tick: Tick(0),
            acts_done: 0,
            agenda: Agenda::default(),
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
        simulator.refresh_members();
        simulator
    }

    fn roster(&self, replica: ReplicaId) -> Roster {
        Roster {
            replica,
            replica_count: self.run.cluster.replicas,
            group: GROUP_PARTITION_0,
        }
    }

    fn jitter(&self, replica: ReplicaId, life: Incarnation) -> Rng {
        let key = [
            GROUP_PARTITION_0.0 << 8 | u64::from(replica.0),
            u64::from(life.0),
        ];
        Rng::keyed(self.seeds.jitter, Purpose::Jitter, key)
    }

    fn bus(&self, replica: ReplicaId) -> SimBus {
        let clock = self.places[usize::from(replica.0)].clock.clone();
        SimBus::new(Rc::clone(&self.world), replica, clock)
    }

    fn format_and_start(&mut self, replica: ReplicaId) {
        let roster = self.roster(replica);
        let superblock = Replica::format(roster);
        {
            let disk = self.world.disk(replica);
            let shared = Rc::new(superblock.clone());
            for copy in 0..COPIES {
                let address = journal::address(roster.group, Zone::Superblock, copy);
                disk.format(address, Block::Superblock(Rc::clone(&shared)));
            }
        }
        let life = superblock.incarnation;
        let jitter = self.jitter(replica, life);
        let bus = self.bus(replica);
        let mut machine = Partition::default();
        let mut effects = Vec::new();
        let mut context = Context {
            now_micros: self.world.clock.realtime_micros(),
            machine: &mut machine,
            effects: &mut effects,
        };
        let knobs = self.run.knobs.clone();
        let core = Replica::start(roster, knobs, superblock, jitter, &mut context);
        let group = Rc::new(RefCell::new(Group::new(core, machine, effects)));
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        place.incarnation = life;
        *place.booted.borrow_mut() = Some(Rc::clone(&group));
        let mailbox = Rc::clone(&place.mailbox);
        let handle = GroupHandle::new(group, Rc::clone(&mailbox), bus.clone());
        let shard = Shard::new(bus, mailbox, vec![handle]);
        self.world
            .executor
            .spawn(u16::from(replica.0), shard.pump());
    }

    /// Powers a replica off: tasks, memory, unsynced writes, inbox and outbox are gone.
    pub(super) fn crash(&mut self, replica: ReplicaId) {
        self.world.executor.abort_owner(u16::from(replica.0));
        self.world.executor.pause(u16::from(replica.0), false);
        let writes_lost = self.world.disk(replica).crash();
        drop(self.world.take_outgoing(replica));
        let place = &mut self.places[usize::from(replica.0)];
        place.up = false;
        place.paused = false;
        place.since = self.tick;
        place.mailbox = Rc::new(Mailbox::new(INBOX_FRAMES_MAX));
        place.booted = Booted::default();
        self.world.push(EventKind::Crashed {
            replica,
            writes_lost,
        });
    }

    /// Boots a replica from its disk.
    pub(super) fn restart(&mut self, replica: ReplicaId) {
        let next_life = Incarnation(self.places[usize::from(replica.0)].incarnation.0 + 1);
        let roster = self.roster(replica);
        let jitter = self.jitter(replica, next_life);
        let bus = self.bus(replica);
        let knobs = self.run.knobs.clone();
        let tick = self.tick;
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        place.since = tick;
        place.incarnation = next_life;
        let boot = Boot {
            roster,
            knobs,
            jitter,
            mailbox: Rc::clone(&place.mailbox),
            booted: Rc::clone(&place.booted),
        };
        self.world.push(EventKind::Restarted {
            replica,
            incarnation: next_life,
        });
        self.world
            .executor
            .spawn(u16::from(replica.0), boot_and_run(bus, boot));
    }

    /// A replica's group, where it runs and has booted.
    #[must_use]
    pub fn group(&self, replica: ReplicaId) -> Option<Rc<RefCell<Group>>> {
        self.places[usize::from(replica.0)].booted.borrow().clone()
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

    /// Delivers packets due now; whether there are no more.
    fn deliver(&mut self, stop: StopAt, steps: u64) -> bool {
        while let Some(arrival) = self.network.next_due(self.tick.0) {
            self.arrive(arrival);
            if stop == StopAt::Event && self.world.steps() > steps {
                return false;
            }
        }
        true
    }

    fn arrive(&mut self, arrival: Arrival<Parcel>) {
        let Arrival {
            from,
            to,
            packet,
            fate,
            copy,
        } = arrival;
        let frame = Rc::clone(&packet.payload.frame);
        let fate = match (fate, to) {
            (Fate::Delivered, Process::Replica(replica)) => self.hand_over(replica, &frame),
            (fate, _) => fate,
        };
        self.push_ended(from, to, packet.number, frame.message.kind(), fate);
        if let Some(copy) = copy {
            self.push_sent(frame.clone(), copy.number, copy.due_tick, packet.cause);
            if let Some(evicted) = copy.evicted {
                let kind = evicted.payload.kind();
                self.push_ended(from, to, evicted.number, kind, Fate::Evicted);
            }
        }
        if fate != Fate::Delivered {
            return;
        }
        self.world.record.borrow_mut().fold(packet.payload.checksum);
        if let Process::Client(client) = to {
            self.give_to_client(client, &frame);
            self.world.count_step();
        }
    }

    fn hand_over(&self, replica: ReplicaId, frame: &Rc<Frame>) -> Fate {
        let place = &self.places[usize::from(replica.0)];
        if !place.up || place.booted.borrow().is_none() {
            return Fate::TargetDown;
        }
        if place.mailbox.push_frame(frame.as_ref().clone()) {
            Fate::Delivered
        } else {
            Fate::InboxFull
        }
    }

    pub(super) fn push_dropped(&self, from: Process, to: Process, packet: &Packet<Parcel>) {
        let kind = packet.payload.kind();
        self.push_ended(from, to, packet.number, kind, Fate::Dropped);
    }

    pub(super) fn push_copy(&self, from: Process, to: Process, report: SubmitReport<Parcel>) {
        // The copy carries the same frame; the network knows it by the number it gave.
        let copied = self
            .network
            .packets()
            .find(|view| view.from == from && view.to == to && view.packet.number == report.number)
            .map(|view| (Rc::clone(&view.packet.payload.frame), view.packet.cause));
        if let Some((frame, cause)) = copied {
            self.push_sent(frame, report.number, report.due_tick, cause);
        }
        if let Some(evicted) = report.evicted {
            let kind = evicted.payload.kind();
            self.push_ended(from, to, evicted.number, kind, Fate::Evicted);
        }
    }

    fn push_ended(&self, from: Process, to: Process, packet: u64, kind: MessageKind, fate: Fate) {
        self.world.push(EventKind::Ended {
            from,
            to,
            packet,
            kind,
            fate,
        });
    }

    fn push_sent(&self, frame: Rc<Frame>, packet: u64, due: u64, cause: u64) {
        self.world.push(EventKind::Sent {
            frame,
            packet,
            due: Tick(due),
            cause,
        });
    }

    // Clients.

    fn let_clients_act(&mut self) {
        self.warm_clients();
        for place in 0..self.clients.len() {
            let client = ClientId(u8::try_from(place).unwrap_or(u8::MAX));
            let mut effects = std::mem::take(&mut self.client_effects);
            self.clients[place].tick(self.tick, &mut effects);
            if self.clients[place].is_ready() && self.generator.wants(self.tick, client) {
                let known = self.world.record.borrow().auditor.known();
                let body = self.generator.next(client, known);
                // It is ready, so that nothing can stand against it.
                let _ = self.clients[place].submit(self.tick, body, None, &mut effects);
            }
            self.perform_client(client, &mut effects);
            self.client_effects = effects;
        }
    }

    fn give_to_client(&mut self, client: ClientId, frame: &Frame) {
        let mut effects = std::mem::take(&mut self.client_effects);
        if let Some(client) = self.clients.get_mut(usize::from(client.0)) {
            client.on_frame(self.tick, frame, &mut effects);
        }
        self.perform_client(client, &mut effects);
        self.client_effects = effects;
    }

    pub(super) fn perform_client(&mut self, client: ClientId, effects: &mut Vec<ClientEffect>) {
        for effect in effects.drain(..) {
            match effect {
                ClientEffect::Event(kind) => {
                    self.world.push(kind);
                }
                ClientEffect::Send { to, message } => {
                    let frame = Frame {
                        group: GROUP_PARTITION_0,
                        from: Process::Client(client),
                        to: Process::Replica(to),
                        view: View(0),
                        incarnation: Incarnation(0),
                        message,
                    };
                    let cause = self.world.record.borrow().last_number();
                    self.client_outbox.push(Outgoing {
                        frame: Rc::new(frame),
                        cause,
                    });
                }
            }
        }
    }

    // The end of a tick.

    fn end_tick(&mut self) {
        for replica in (0..self.run.cluster.replicas).map(ReplicaId) {
            for outgoing in self.world.take_outgoing(replica) {
                if matches!(outgoing.frame.message, Message::DoViewChange(_)) {
                    let place = &mut self.places[usize::from(replica.0)];
                    place.voted = place.voted.max(outgoing.frame.view);
                }
                self.submit(outgoing);
            }
        }
        for outgoing in std::mem::take(&mut self.client_outbox) {
            self.submit(outgoing);
        }
        self.change_network();
        self.look();
    }

    fn submit(&mut self, outgoing: Outgoing) {
        let frame = outgoing.frame;
        let parcel = Parcel {
            checksum: frame.checksum().0,
            frame: Rc::clone(&frame),
        };
        let (from, to) = (frame.from, frame.to);
        let report = self
            .network
            .submit(self.tick.0, from, to, parcel, outgoing.cause);
        self.push_sent(frame, report.number, report.due_tick, outgoing.cause);
        if let Some(evicted) = report.evicted {
            let kind = evicted.payload.kind();
            self.push_ended(from, to, evicted.number, kind, Fate::Evicted);
        }
    }

    /// Oracles look at the end of a tick.
    fn look(&mut self) {
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

    /// The values in force now.
    #[must_use]
    pub fn values(&self) -> &Run {
        &self.run
    }

    /// The groups of the cluster.
    #[must_use]
    pub fn group_ids(&self) -> [GroupId; 1] {
        [GROUP_PARTITION_0]
    }
}

impl Drop for Simulator {
    /// Tasks hold the world, and the world its executor.
    fn drop(&mut self) {
        self.world.executor.abort_all();
    }
}

impl Place {
    fn empty(world: &Rc<World>) -> Self {
        Self {
            up: false,
            paused: false,
            since: Tick(0),
            incarnation: Incarnation(0),
            voted: View(0),
            mailbox: Rc::new(Mailbox::new(INBOX_FRAMES_MAX)),
            booted: Booted::default(),
            clock: ReplicaClock::new(world.clock.clone()),
        }
    }
}
