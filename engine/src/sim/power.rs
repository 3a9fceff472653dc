//! Power: formatting and starting replicas at tick 0, crashing them, booting them from their disks.
//! Must never touch what a power switch could not.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ids::{GROUP_PARTITION_0, Incarnation, ReplicaId};
use crate::journal::{self, Block, COPIES, Zone};
use crate::machine::Partition;
use crate::prng::{Purpose, Rng};
use crate::shard::boot::{Boot, Booted, boot_and_run};
use crate::shard::{Group, GroupHandle, Mailbox, Shard};
use crate::sim::simulator::{INBOX_FRAMES_MAX, Simulator};
use crate::sim::world::SimBus;
use crate::trace::EventKind;
use crate::vsr::mutation::Rules;
use crate::vsr::{Context, Replica, Roster};

impl Simulator {
    fn roster(&self, replica: ReplicaId) -> Roster {
        Roster {
            replica,
            replica_count: self.run.cluster.replicas,
            group: GROUP_PARTITION_0,
        }
    }

    fn rules(&self) -> Rules {
        Rules {
            knobs: self.run.knobs.clone(),
            mutations: self.run.mutations,
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

    pub(super) fn format_and_start(&mut self, replica: ReplicaId) {
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
        let rules = self.rules();
        let core = Replica::start(roster, rules, superblock, jitter, &mut context);
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
        let (writes_lost, writes_torn) = self.cut_power_of_disk(replica);
        drop(self.world.take_outgoing(replica));
        let superblock = self.superblock_of(replica);
        let place = &mut self.places[usize::from(replica.0)];
        if let Some(superblock) = superblock {
            place.durable_views = (superblock.view, superblock.log_view);
        }
        place.up = false;
        place.paused = false;
        place.since = self.tick;
        place.mailbox = Rc::new(Mailbox::new(INBOX_FRAMES_MAX));
        place.booted = Booted::default();
        self.world.push(EventKind::Crashed {
            replica,
            writes_lost,
            writes_torn,
        });
    }

    /// Boots a replica from its disk.
    pub(super) fn restart(&mut self, replica: ReplicaId) {
        let next_life = Incarnation(self.places[usize::from(replica.0)].incarnation.0 + 1);
        let roster = self.roster(replica);
        let jitter = self.jitter(replica, next_life);
        let bus = self.bus(replica);
        let rules = self.rules();
        let tick = self.tick;
        let place = &mut self.places[usize::from(replica.0)];
        place.up = true;
        place.since = tick;
        place.incarnation = next_life;
        let boot = Boot {
            roster,
            rules,
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
}
