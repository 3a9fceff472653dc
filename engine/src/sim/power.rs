//! Power: formatting and starting replicas at tick 0, crashing them, booting them from their disks.
//! Must never touch what a power switch could not.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ids::{GROUP_METADATA, GroupId, Incarnation, ReplicaId};
use crate::journal::{self, Block, COPIES, Zone};
use crate::machine::Machine;
use crate::shard::boot::{Boot, boot_and_run, jitter};
use crate::shard::{Group, GroupHandle, Mailbox, Shard};
use crate::sim::simulator::{INBOX_FRAMES_MAX, Simulator, genesis_of};
use crate::sim::world::SimBus;
use crate::trace::EventKind;
use crate::vsr::mutation::Rules;
use crate::vsr::{Context, Replica, Roster};

impl Simulator {
    fn roster(&self, replica: ReplicaId, group: GroupId) -> Roster {
        Roster {
            replica,
            replica_count: self.run.cluster.replicas,
            group,
        }
    }

    fn rules(&self) -> Rules {
        Rules {
            knobs: self.run.knobs.clone(),
            mutations: self.run.mutations,
        }
    }

    fn bus(&self, replica: ReplicaId) -> SimBus {
        let clock = self.places[usize::from(replica.0)].clock.clone();
        SimBus::new(Rc::clone(&self.world), replica, clock)
    }

    /// Formats a replica's disk for every group and starts the replica.
    pub(super) fn format_and_start(&mut self, replica: ReplicaId) {
        let bus = self.bus(replica);
        for group in self.groups.clone() {
            self.format_group(self.roster(replica, group), &bus);
        }
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        let shard = Shard::new(bus, Rc::clone(&place.mailbox), Rc::clone(&place.host));
        self.world
            .executor
            .spawn(u16::from(replica.0), shard.pump());
    }

    fn format_group(&mut self, roster: Roster, bus: &SimBus) {
        let superblock = Replica::format(roster);
        {
            let disk = self.world.disk(roster.replica);
            let shared = Rc::new(superblock.clone());
            for copy in 0..COPIES {
                let address = journal::address(roster.group, Zone::Superblock, copy);
                disk.format(address, Block::Superblock(Rc::clone(&shared)));
            }
        }
        let life = superblock.incarnation;
        let jitter = jitter(self.seeds.jitter, roster, life);
        let mut machine = Machine::new(
            roster.group,
            &genesis_of(&self.run),
            self.run.workload.retention,
        );
        let mut effects = Vec::new();
        let mut context = Context {
            now_micros: self.world.clock.realtime_micros(),
            machine: &mut machine,
            effects: &mut effects,
        };
        let rules = self.rules();
        let core = Replica::start(roster, rules, superblock, jitter, &mut context);
        let group = Rc::new(RefCell::new(Group::new(core, machine, effects)));
        let place = &mut self.places[usize::from(roster.replica.0)];
        place.incarnation = life;
        place.known.entry(roster.group).or_default().incarnation = life;
        let mailbox = Rc::clone(&place.mailbox);
        place
            .host
            .add(GroupHandle::new(group, mailbox, bus.clone()));
    }

    /// Powers a replica off: tasks, memory, unsynced writes, inbox and outbox are gone.
    pub(super) fn crash(&mut self, replica: ReplicaId) {
        self.world.executor.abort_owner(u16::from(replica.0));
        self.world.executor.pause(u16::from(replica.0), false);
        let (writes_lost, writes_torn) = self.cut_power_of_disk(replica);
        drop(self.world.take_outgoing(replica));
        for group in self.groups.clone() {
            self.remember_disk(replica, group);
        }
        let tick = self.tick;
        let place = &mut self.places[usize::from(replica.0)];
        place.up = false;
        place.paused = false;
        place.since = tick;
        place.mailbox = Rc::new(Mailbox::new(INBOX_FRAMES_MAX));
        place.host = Rc::default();
        self.world.push(EventKind::Crashed {
            replica,
            writes_lost,
            writes_torn,
        });
    }

    /// Keeps what a replica's disk vouches for in a group until it has booted that.
    fn remember_disk(&mut self, replica: ReplicaId, group: GroupId) {
        let Some(superblock) = self.superblock_of(replica, group) else {
            return;
        };
        let place = &mut self.places[usize::from(replica.0)];
        let known = place.known.entry(group).or_default();
        known.incarnation = superblock.incarnation;
        known.view = superblock.view;
        known.log_view = superblock.log_view;
    }

    /// Boots a replica from its disk.
    pub(super) fn restart(&mut self, replica: ReplicaId) {
        let next_life = Incarnation(self.places[usize::from(replica.0)].incarnation.0 + 1);
        let roster = self.roster(replica, GROUP_METADATA);
        let bus = self.bus(replica);
        let (rules, genesis) = (self.rules(), genesis_of(&self.run));
        let tick = self.tick;
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        place.since = tick;
        place.incarnation = next_life;
        let boot = Boot {
            roster,
            rules,
            jitter_seed: self.seeds.jitter,
            life: next_life,
            genesis,
            retention: self.run.workload.retention,
            mailbox: Rc::clone(&place.mailbox),
            host: Rc::clone(&place.host),
        };
        self.world.push(EventKind::Restarted {
            replica,
            incarnation: next_life,
        });
        self.world
            .executor
            .spawn(u16::from(replica.0), boot_and_run(bus, boot));
    }
}
