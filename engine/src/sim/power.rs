//! Power: formatting and starting replicas at tick 0, crashing them, booting them from their disks.
//! Must never touch what a power switch could not.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ids::{GROUP_METADATA, GroupId, Incarnation, ReplicaId};
use crate::journal::{self, Block, COPIES, Zone};
use crate::shard::boot::{Boot, boot_and_run, start_group, start_pumps};
use crate::sim::simulator::{Simulator, genesis_of, mesh_of};
use crate::sim::world::SimBus;
use crate::trace::EventKind;
use crate::vsr::mutation::Rules;
use crate::vsr::{Replica, Roster};

impl Simulator {
    fn roster(&self, replica: ReplicaId, group: GroupId) -> Roster {
        Roster {
            replica,
            replica_count: self.run.cluster.replicas,
            group,
        }
    }

    pub(super) fn rules(&self) -> Rules {
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
        let life = Replica::format(self.roster(replica, GROUP_METADATA)).incarnation;
        let boot = self.boot(replica, life);
        for group in self.groups.clone() {
            self.format_group(self.roster(replica, group), &bus, &boot);
        }
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        place.incarnation = life;
        start_pumps(&bus, &boot);
    }

    fn format_group(&mut self, roster: Roster, bus: &SimBus, boot: &Boot<SimBus>) {
        let superblock = Replica::format(roster);
        let shared = Rc::new(superblock.clone());
        for copy in 0..COPIES {
            let address = journal::address(roster.group, Zone::Superblock, copy);
            let disk = self.world.disk(roster.replica);
            disk.format(address, Block::Superblock(Rc::clone(&shared)));
        }
        let place = &mut self.places[usize::from(roster.replica.0)];
        place.known.entry(roster.group).or_default().incarnation = superblock.incarnation;
        start_group(bus, boot, roster, superblock);
    }

    /// What a replica has in one life.
    fn boot(&mut self, replica: ReplicaId, life: Incarnation) -> Rc<Boot<SimBus>> {
        let place = &self.places[usize::from(replica.0)];
        let boot = Rc::new(Boot {
            roster: self.roster(replica, GROUP_METADATA),
            rules: RefCell::new(self.rules()),
            jitter_seed: self.seeds.jitter,
            life,
            genesis: genesis_of(&self.run),
            retention: self.run.workload.retention,
            mesh: Rc::clone(&place.mesh),
            host: Rc::clone(&place.host),
        });
        self.places[usize::from(replica.0)].boot = Some(Rc::clone(&boot));
        boot
    }

    /// Powers a replica off: the tasks of all shards, memory, unsynced writes, what waits in inboxes,
    /// channels and outbox are gone.
    pub(super) fn crash(&mut self, replica: ReplicaId) {
        self.world.executor.abort_owner(u16::from(replica.0));
        self.world.executor.pause(u16::from(replica.0), false);
        self.record_memory_lost(replica);
        let (writes_lost, writes_torn) = self.cut_power_of_disk(replica);
        drop(self.world.take_outgoing(replica));
        for group in self.groups.clone() {
            self.remember_disk(replica, group);
        }
        let (tick, mesh) = (self.tick, mesh_of(&self.run));
        let place = &mut self.places[usize::from(replica.0)];
        place.up = false;
        place.paused = false;
        place.since = tick;
        place.mesh = mesh;
        place.host = Rc::default();
        place.boot = None;
        self.world.push(EventKind::Crashed {
            replica,
            writes_lost,
            writes_torn,
        });
    }

    /// Where a group acknowledges from memory, what a crash takes of it is a fault of the world (scenarios
    /// section C, I11).
    fn record_memory_lost(&self, replica: ReplicaId) {
        for group in self.places[usize::from(replica.0)].host.all() {
            let lost = group.group().borrow().replica.acked_in_memory();
            let record = &mut *self.world.record.borrow_mut();
            for op in lost {
                record.oracles.fault(replica, group.id(), op);
            }
        }
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
        known.checkpoint = superblock.checkpoint.op();
    }

    /// Boots a replica from its disk.
    pub(super) fn restart(&mut self, replica: ReplicaId) {
        let next_life = Incarnation(self.places[usize::from(replica.0)].incarnation.0 + 1);
        let bus = self.bus(replica);
        let tick = self.tick;
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        place.since = tick;
        place.incarnation = next_life;
        let boot = self.boot(replica, next_life);
        self.world.push(EventKind::Restarted {
            replica,
            incarnation: next_life,
        });
        self.world
            .executor
            .spawn(u16::from(replica.0), boot_and_run(bus, boot));
    }
}
