//! What can be done to the world: every verb of the script, and why it cannot be done now. Must never
//! do anything to a replica that power, a disk, a wire or a client could not.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use crate::ids::{ClientId, GROUP_METADATA, GroupId, Process, ReplicaId, Tick};
use crate::machine::metadata::{Command, TopicPath};
use crate::prng::{Purpose, Rng};
use crate::scenario::{Action, Awaited, ClockFaults, GroupName, Setting, Skew, TimedAct, Verb};
use crate::sim::nemesis::{Decision, NemesisOptions, ReplicaView};
use crate::sim::network::NetworkFault;
use crate::sim::network_verbs::NetworkRefusal;
use crate::sim::simulator::{Simulator, load_of};
use crate::trace::{Act, Actor, EventKind, Skipped};
use crate::vsr::io::Status;
use crate::vsr::quorum::Quorums;

/// What is still to be done in the tick under way.
#[derive(Debug, Default)]
pub struct Agenda {
    injections: VecDeque<Injection>,
    has_rolled: bool,
}

/// What the dice do in a tick.
#[derive(Clone, Copy, Debug)]
enum Injection {
    Network(NetworkFault),
    /// Of disks or power.
    Action(Action),
}

/// The faults that the dice may inject: tick and text of each.
pub type FaultMask = BTreeSet<(Tick, String)>;

/// Writes that warm a cluster up: so many of each client, then all replicas execute them.
#[derive(Clone, Debug)]
pub struct Warming {
    group: GroupId,
    left: Vec<u32>,
}

impl Injection {
    /// The act that does the same.
    fn text(&self) -> String {
        match self {
            Self::Network(fault) => fault.act_text().unwrap_or_default(),
            Self::Action(action) => action.to_string(),
        }
    }
}

impl Simulator {
    pub(super) fn plan_acts(&mut self) {
        self.agenda = Agenda::default();
        let tick = self.tick;
        while self
            .run
            .acts
            .get(self.acts_done)
            .is_some_and(|act| act.tick < tick)
        {
            self.acts_done += 1;
        }
    }

    /// Does the next thing that is due in this tick: story, then acts, then nemesis. Whether there
    /// was one.
    pub(super) fn act_next(&mut self) -> bool {
        if self.story_next() {
            return true;
        }
        if let Some(act) = self.run.acts.get(self.acts_done)
            && act.tick == self.tick
        {
            let action = act.action;
            self.acts_done += 1;
            self.act(action, Actor::Person);
            return true;
        }
        if !self.agenda.has_rolled {
            self.agenda.has_rolled = true;
            self.agenda.injections = self.roll_injections();
        }
        while let Some(injection) = self.agenda.injections.pop_front() {
            match injection {
                Injection::Network(fault) => self.inject_network_fault(&fault),
                Injection::Action(action) if !self.may_dice_do(action) => continue,
                Injection::Action(action) => self.act(action, Actor::Nemesis),
            }
            return true;
        }
        false
    }

    /// Rolls for this tick: partitions and clogs, then restarts and crashes, without those that are
    /// masked. They come after a person's acts, where a script that says the same would add them.
    fn roll_injections(&mut self) -> VecDeque<Injection> {
        let before = self.tick.0 - 1;
        self.network.end_clogs(before);
        let network = self.network.roll_faults(before);
        let disks = self.roll_disks();
        let power = self
            .roll_nemesis()
            .into_iter()
            .map(|decision| match decision {
                Decision::Crash(replica) => Verb::Crash(replica),
                Decision::Restart(replica) => Verb::Restart(replica),
            });
        let clocks = self.draw_clocks();
        let verbs = power.chain(clocks).map(Action::of);
        let actions = disks.into_iter().chain(verbs).map(Injection::Action);
        let network = network.into_iter().map(Injection::Network);
        let mut injections: VecDeque<Injection> = network.chain(actions).collect();
        if let Some(mask) = &self.fault_mask {
            injections.retain(|injection| mask.contains(&(self.tick, injection.text())));
        }
        injections
    }

    /// How wrong clocks are is drawn once, in the first tick: it is a fault like any other, which a
    /// script can name and a hunt can leave out.
    fn draw_clocks(&self) -> Vec<Verb> {
        let faults = self.run.faults.clock;
        if self.tick != Tick(1) || faults == ClockFaults::default() {
            return Vec::new();
        }
        let drawn = self
            .replica_ids()
            .map(|replica| (replica, faults.draw(self.seeds.clock, replica)));
        drawn
            .filter(|&(_, skew)| skew != Skew::default())
            .map(|(replica, skew)| Verb::Skew(replica, skew))
            .collect()
    }

    /// From here on the dice inject none but these faults.
    pub fn mask_faults(&mut self, kept: &[TimedAct]) {
        let kept = kept.iter().map(|act| (act.tick, act.action.to_string()));
        self.fault_mask = Some(kept.collect());
    }

    fn roll_nemesis(&self) -> Vec<Decision> {
        let faults = &self.run.faults;
        if faults.crash_per_million == 0 && faults.restart_per_million == 0 {
            return Vec::new();
        }
        let quorums = Quorums::of(self.run.cluster.replicas);
        let options = NemesisOptions {
            crash_per_million: faults.crash_per_million,
            restart_per_million: faults.restart_per_million,
            crash_primary: faults.crash_primary,
            ..NemesisOptions::none(faults.min_survivors.unwrap_or(quorums.view_change))
        };
        let views: Vec<ReplicaView> = self.replica_ids().map(|r| self.nemesis_view(r)).collect();
        options.decide(self.seeds.faults, self.tick.0, &views)
    }

    /// A replica counts as a voter where it may vote in every group, and as a primary where it leads
    /// one.
    fn nemesis_view(&self, replica: ReplicaId) -> ReplicaView {
        let place = &self.places[usize::from(replica.0)];
        let mut view = ReplicaView {
            up: place.up,
            can_vote: !place.paused,
            is_primary: false,
            since_tick: (place.since > Tick(0)).then_some(place.since.0),
        };
        for &group in &self.groups {
            let group = self.group(replica, group);
            let group = group.as_ref().map(|group| group.borrow());
            let core = group.as_ref().map(|group| &group.replica);
            view.can_vote &= core.is_some_and(|core| core.can_vote());
            view.is_primary |=
                core.is_some_and(|core| core.is_primary() && core.status() == Status::Normal);
        }
        view
    }

    /// Does one action, or records why it cannot be done.
    pub(super) fn act(&mut self, action: Action, by: Actor) {
        let act = Act {
            text: Rc::from(action.to_string()),
            by,
        };
        let group = self.group_or_first(action.group);
        let refused = match (group, action.group) {
            (None, name) => {
                let name = name.unwrap_or(GroupName::Partition(0));
                Some(format!("there is no group {name} now"))
            }
            (Some(group), name) => self.refusal(action, group).or_else(|| {
                let refused = self.change_links(action.verb, name.map(|_| group)).err();
                refused.map(|refusal| refusal.to_string())
            }),
        };
        if let Some(because) = refused {
            self.world.push(EventKind::Skipped(Skipped {
                act,
                because: Rc::from(because),
            }));
        } else {
            self.world.push(EventKind::Acted(act));
            if let Some(group) = group {
                self.perform(action.verb, group);
            }
        }
        self.world.count_step();
    }

    /// Why an action cannot be done now, where the network has no say.
    fn refusal(&self, action: Action, group: GroupId) -> Option<String> {
        let verb = action.verb;
        let place = |replica: ReplicaId| &self.places[usize::from(replica.0)];
        match verb {
            Verb::Crash(r) if !place(r).up => Some(format!("replica {r} is down already")),
            Verb::Restart(r) if place(r).up => Some(format!("replica {r} runs already")),
            Verb::Pause(r) if !place(r).up => Some(format!("replica {r} is down")),
            Verb::Pause(r) if place(r).paused => Some(format!("replica {r} is paused already")),
            Verb::Resume(r) if !place(r).paused => Some(format!("replica {r} is not paused")),
            Verb::Write(client, _) | Verb::Read(client, _) => self.refusal_to_ask(client, group),
            Verb::Create(client) | Verb::Delete(client) => {
                self.refusal_to_ask(client, GROUP_METADATA)
            }
            Verb::Mutate(mutation, on) if self.run.mutations.contains(mutation) == on => {
                let state = if on { "on" } else { "off" };
                Some(format!("{} is {state} already", mutation.name()))
            }
            Verb::Settle if self.settle.is_some() => Some("the end phase has begun".into()),
            Verb::Expect(condition, _) => {
                let awaited = Awaited {
                    condition,
                    group: action.group,
                };
                let holds = awaited.holds(self, self.story.baseline());
                (!holds).then(|| format!("{awaited} does not hold"))
            }
            _ => self.refusal_to_damage(verb, group),
        }
    }

    fn refusal_to_ask(&self, client: ClientId, group: GroupId) -> Option<String> {
        let asker = self.clients.get(usize::from(client.0))?.lane(group)?;
        if asker.is_ready() {
            return None;
        }
        Some(if asker.session().0 == 0 {
            format!("client {client} has no session yet")
        } else {
            let request = asker.request();
            format!("client {client} still waits for the answer to request {request}")
        })
    }

    /// The verbs of the network; the others change no link.
    fn change_links(&mut self, verb: Verb, group: Option<GroupId>) -> Result<(), NetworkRefusal> {
        let now = self.tick.0;
        match verb {
            Verb::Cut(links) => self.network.cut(links.from, links.to),
            Verb::Mute(links) => self.network.mute(links.from, links.to),
            Verb::Join(links) => self.network.join(links.from, links.to),
            Verb::Clog(links, ticks) => links
                .iter()
                .try_for_each(|(from, to)| self.network.clog(now, from, to, u64::from(ticks))),
            Verb::Delay(links, ticks) => links
                .iter()
                .try_for_each(|(from, to)| self.network.delay(from, to, ticks)),
            Verb::Filter(links, kinds) => links
                .iter()
                .try_for_each(|(from, to)| self.network.filter(from, to, kinds, group)),
            Verb::Hold(links, kinds) => links
                .iter()
                .try_for_each(|(from, to)| self.network.hold(from, to, kinds, group)),
            Verb::Release(links) => links
                .iter()
                .try_for_each(|(from, to)| self.network.release(from, to)),
            Verb::Drop(name) => self.drop_packet(name.from, name.to, name.number),
            Verb::Dup(name) => self.duplicate_packet(name.from, name.to, name.number),
            Verb::Deliver(name) => {
                self.network
                    .deliver_packet(now, name.from, name.to, name.number)
            }
            Verb::Heal => {
                self.network.heal(now);
                Ok(())
            }
            Verb::Crash(_)
            | Verb::Restart(_)
            | Verb::Pause(_)
            | Verb::Resume(_)
            | Verb::Corrupt(..)
            | Verb::Punch(..)
            | Verb::Misdirect(..)
            | Verb::Tear(_)
            | Verb::Lie(..)
            | Verb::Slow(..)
            | Verb::Skew(..)
            | Verb::Write(..)
            | Verb::Read(..)
            | Verb::Warm(_)
            | Verb::Load(_)
            | Verb::Set(..)
            | Verb::Profile(_)
            | Verb::Settle
            | Verb::Expect(..)
            | Verb::Mutate(..)
            | Verb::Create(_)
            | Verb::Delete(_) => Ok(()),
        }
    }

    /// The verbs that are not the network's, once nothing stands against them.
    fn perform(&mut self, verb: Verb, group: GroupId) {
        match verb {
            Verb::Crash(replica) => self.crash(replica),
            Verb::Restart(replica) => self.restart(replica),
            Verb::Pause(replica) => self.set_paused(replica, true),
            Verb::Resume(replica) => self.set_paused(replica, false),
            Verb::Corrupt(..)
            | Verb::Punch(..)
            | Verb::Misdirect(..)
            | Verb::Tear(_)
            | Verb::Lie(..)
            | Verb::Slow(..) => self.damage(verb, group),
            Verb::Skew(replica, skew) => {
                self.places[usize::from(replica.0)].clock.set_skew(skew);
            }
            Verb::Create(client) => self.ask_for_partition(client, true),
            Verb::Delete(client) => self.ask_for_partition(client, false),
            Verb::Write(client, target) => self.ask((client, group), target, true),
            Verb::Read(client, target) => self.ask((client, group), target, false),
            Verb::Warm(writes) => {
                self.warming = Some(Warming {
                    group,
                    left: vec![writes; self.clients.len()],
                });
            }
            Verb::Load(rate) => self.set(Setting::Load, rate),
            Verb::Set(setting, value) => self.set(setting, value),
            Verb::Profile(profile) => {
                self.run.faults.profile = profile;
                self.run.faults.network = profile.network(self.run.seed);
                self.apply_values();
            }
            Verb::Settle => self.begin_settling(),
            Verb::Mutate(mutation, on) => {
                self.run.mutations = self.run.mutations.with(mutation, on);
                self.apply_values();
            }
            Verb::Cut(_)
            | Verb::Mute(_)
            | Verb::Join(_)
            | Verb::Clog(..)
            | Verb::Delay(..)
            | Verb::Filter(..)
            | Verb::Hold(..)
            | Verb::Release(_)
            | Verb::Drop(_)
            | Verb::Dup(_)
            | Verb::Deliver(_)
            | Verb::Heal
            | Verb::Expect(..) => {}
        }
    }

    pub(super) fn set_paused(&mut self, replica: ReplicaId, paused: bool) {
        self.world.executor.pause(u16::from(replica.0), paused);
        self.places[usize::from(replica.0)].paused = paused;
    }

    pub(super) fn set(&mut self, setting: Setting, value: u32) {
        setting.write(value, &mut self.run);
        self.apply_values();
    }

    /// Hands the values of the run to those who use them.
    pub(super) fn apply_values(&mut self) {
        self.network.set_options(self.run.faults.network);
        self.set_disk_dice();
        self.generator.set_load(load_of(&self.run));
        for client in &mut self.clients {
            client.set_request_timeout_ticks(self.run.workload.retry_ticks);
        }
        for replica in self.replica_ids() {
            if let Some(boot) = &self.places[usize::from(replica.0)].boot {
                *boot.rules.borrow_mut() = self.rules();
            }
            for hosted in self.places[usize::from(replica.0)].host.all() {
                let replica = &mut hosted.group().borrow_mut().replica;
                replica.set_knobs(self.run.knobs.clone());
                replica.set_mutations(self.run.mutations);
            }
        }
    }

    fn ask(
        &mut self,
        (client, group): (ClientId, GroupId),
        target: Option<ReplicaId>,
        write: bool,
    ) {
        let known = self.world.record.borrow().auditors.known(group);
        let body = if write {
            self.generator.next_send(client)
        } else {
            self.generator.next_poll(client, known)
        };
        self.submit_as((client, group), body, target);
    }

    /// One partition more or less of the topic that a cluster is formatted with.
    fn ask_for_partition(&mut self, client: ClientId, more: bool) {
        let (of, count) = (TopicPath::FIRST, 1);
        let command = if more {
            Command::CreatePartitions { of, count }
        } else {
            Command::DeletePartitions { of, count }
        };
        self.submit_as((client, GROUP_METADATA), command.encode(), None);
    }

    fn submit_as(
        &mut self,
        (client, group): (ClientId, GroupId),
        body: Rc<[u8]>,
        target: Option<ReplicaId>,
    ) {
        let mut effects = Vec::new();
        let tick = self.tick;
        if let Some(asker) = self.clients.get_mut(usize::from(client.0)) {
            // Checked before: it is ready and the replica exists.
            let _ = asker.submit(tick, group, body, target, &mut effects);
        }
        self.perform_client(client, &mut effects);
    }

    /// Lets warming clients write; whether warming is over.
    pub(super) fn warm_clients(&mut self) {
        let Some(mut warming) = self.warming.take() else {
            return;
        };
        let group = warming.group;
        let mut is_done = true;
        for (place, left) in (0_u8..).zip(&mut warming.left) {
            let client = ClientId(place);
            let is_ready = self.clients[usize::from(place)].is_ready(group);
            if *left > 0 && is_ready {
                *left -= 1;
                let body = self.generator.next_send(client);
                self.submit_as((client, group), body, None);
            }
            is_done &= *left == 0 && self.clients[usize::from(place)].is_ready(group);
        }
        if !is_done || !self.have_all_executed(group) {
            self.warming = Some(warming);
        }
    }

    fn have_all_executed(&self, group: GroupId) -> bool {
        let mut heads = self
            .members
            .iter()
            .filter(|member| member.group == group && member.up && !member.paused)
            .map(|member| member.commit_min);
        let first = heads.next();
        heads.all(|head| Some(head) == first)
    }

    fn drop_packet(
        &mut self,
        from: Process,
        to: Process,
        number: u64,
    ) -> Result<(), NetworkRefusal> {
        let packet = self.network.drop_packet(from, to, number)?;
        self.push_dropped(from, to, &packet);
        Ok(())
    }

    fn duplicate_packet(
        &mut self,
        from: Process,
        to: Process,
        number: u64,
    ) -> Result<(), NetworkRefusal> {
        let now = self.tick.0;
        let cause = self.world.record.borrow().last_number();
        let report = self
            .network
            .duplicate_packet(now, from, to, number, cause)?;
        self.push_copy(from, to, report);
        Ok(())
    }

    /// Lets the profile change links, and records it as the act that would do the same.
    fn inject_network_fault(&mut self, fault: &NetworkFault) {
        if let Some(text) = fault.act_text() {
            self.world.push(EventKind::Acted(Act {
                text: Rc::from(text),
                by: Actor::Nemesis,
            }));
        }
        self.network.apply_fault(self.tick.0 - 1, fault);
        self.world.count_step();
    }

    /// A stream for picks that no feature shares.
    pub(super) fn pick_rng(&self, number: u64) -> Rng {
        Rng::keyed(self.seeds.faults, Purpose::Pick, [self.tick.0, number])
    }

    pub(super) fn replica_ids(&self) -> impl Iterator<Item = ReplicaId> + use<> {
        (0..self.run.cluster.replicas).map(ReplicaId)
    }
}
