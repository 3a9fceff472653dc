//! What the replicas of a run share: time, tasks, disks, and the way out to network and record. The
//! bus of each replica is a view of it. Must never know what a message means.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use crate::ids::{GroupId, ReplicaId};
use crate::journal::{Block, Sector};
use crate::shard::bus::{MessageBus, Step, Task};
use crate::sim::disk::{Disk, DiskOptions};
use crate::sim::executor::Executor;
use crate::sim::promise::Promise;
use crate::sim::record::Record;
use crate::sim::timer::{Clock, ReplicaClock, Sleep};
use crate::trace::EventKind;
use crate::vsr::message::Frame;
use crate::vsr::note::Note;

/// A frame on its way to the network, and the event that made its sender send it.
pub struct Outgoing {
    /// The frame.
    pub frame: Rc<Frame>,
    /// Number of the causing event.
    pub cause: u64,
}

/// The shared world.
pub struct World {
    /// Virtual time.
    pub clock: Clock,
    /// Tasks.
    pub executor: Executor,
    /// Everything that is recorded.
    pub record: RefCell<Record>,
    disks: Vec<Disk<Block>>,
    outboxes: Vec<RefCell<Vec<Outgoing>>>,
    steps: Cell<u64>,
}

impl World {
    /// A world for so many replicas, with formatted nothing on their disks.
    #[must_use]
    pub fn new(replica_count: u8, disk_seed: u64, disk: DiskOptions, record: Record) -> Self {
        let clock = Clock::new();
        let disks = (0..replica_count)
            .map(|replica| Disk::new(clock.clone(), disk_seed, u16::from(replica), disk))
            .collect();
        Self {
            clock,
            executor: Executor::new(),
            record: RefCell::new(record),
            disks,
            outboxes: (0..replica_count).map(|_| RefCell::default()).collect(),
            steps: Cell::new(0),
        }
    }

    /// A replica's disk.
    #[must_use]
    pub fn disk(&self, replica: ReplicaId) -> &Disk<Block> {
        &self.disks[usize::from(replica.0)]
    }

    /// Frames a replica wants sent, in order; they leave its outbox.
    pub fn take_outgoing(&self, replica: ReplicaId) -> Vec<Outgoing> {
        std::mem::take(&mut *self.outboxes[usize::from(replica.0)].borrow_mut())
    }

    /// Records an event; its number.
    pub fn push(&self, kind: EventKind) -> u64 {
        self.record.borrow_mut().push(kind)
    }

    /// Counts a step: something a person can stop at.
    pub fn count_step(&self) {
        self.steps.set(self.steps.get() + 1);
        self.record.borrow_mut().next_step();
    }

    /// Steps so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }
}

/// The bus of one replica.
#[derive(Clone)]
pub struct SimBus {
    world: Rc<World>,
    replica: ReplicaId,
    clock: ReplicaClock,
}

impl SimBus {
    /// The bus of a replica, with its own idea of the time of day.
    #[must_use]
    pub fn new(world: Rc<World>, replica: ReplicaId, clock: ReplicaClock) -> Self {
        Self {
            world,
            replica,
            clock,
        }
    }

    fn send(&self, frame: Frame) {
        let outgoing = Outgoing {
            frame: Rc::new(frame),
            cause: self.world.record.borrow().last_number(),
        };
        self.world.outboxes[usize::from(self.replica.0)]
            .borrow_mut()
            .push(outgoing);
    }
}

impl MessageBus for SimBus {
    type Sleep = Sleep;
    type Done = Promise<()>;
    type Read = Promise<Vec<Sector<Block>>>;

    fn sleep(&self, duration_micros: u64) -> Sleep {
        self.world.clock.sleep(duration_micros)
    }

    fn spawn(&self, task: Task) {
        self.world.executor.spawn(u16::from(self.replica.0), task);
    }

    fn realtime_micros(&self) -> u64 {
        self.clock.realtime_micros()
    }

    fn send_to_replica(&self, frame: Frame) {
        self.send(frame);
    }

    fn send_to_client(&self, frame: Frame) {
        self.send(frame);
    }

    fn write(&self, address: u64, block: Block) -> Promise<()> {
        self.world.disk(self.replica).write(address, block)
    }

    fn sync(&self) -> Promise<()> {
        self.world.disk(self.replica).sync()
    }

    fn read(&self, addresses: Vec<u64>) -> Promise<Vec<Sector<Block>>> {
        self.world.disk(self.replica).read(addresses)
    }

    fn addresses(&self, range: Range<u64>) -> Vec<u64> {
        let found = self.world.disk(self.replica).scan(range);
        found.into_iter().map(|(address, _)| address).collect()
    }

    fn note(&self, group: GroupId, note: Note) {
        self.world.push(EventKind::Noted {
            replica: self.replica,
            group,
            note,
        });
    }

    fn hopped(&self) {
        self.world.record.borrow_mut().totals.hops += 1;
    }

    fn step(&self, step: Step) {
        if let Step::Disk { group, number } = step {
            let mut record = self.world.record.borrow_mut();
            record.fold(u64::from(self.replica.0) << 56 ^ group.0 << 40 ^ number);
        }
        self.world.count_step();
    }
}
