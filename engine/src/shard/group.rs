//! One group on a shard: the protocol core with its state machine, and the tasks that perform its
//! effects. It decides nothing but the order of writes: one at a time into a slot, and none while a
//! superblock is under way, so that no entry of a new log overwrites one of the old before the disk
//! knows the new log's view.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ids::{Checksum, GroupId, Incarnation, Op, Process, ReplicaId, View};
use crate::journal::{self, Block, COPIES, Sector, Zone};
use crate::machine::Machine;
use crate::shard::bus::MessageBus;
use crate::shard::mailbox::{Completion, Mailbox};
use crate::vsr::io::{Effect, Input, Superblock};
use crate::vsr::message::{Frame, Message, Prepare};
use crate::vsr::snapshot::Snapshot;
use crate::vsr::{Context, Replica};

/// The state of a group. Borrowed for the length of one input, never across an await.
pub struct Group {
    /// The protocol core.
    pub replica: Replica,
    /// The state machine.
    pub machine: Machine,
    /// Whether anything may have changed since somebody last looked.
    has_changed: bool,
    writes: Writes,
    superblock_order: [u32; COPIES as usize],
    effects: Vec<Effect>,
}

/// Prepare writes under way and waiting.
#[derive(Default)]
struct Writes {
    /// By slot: under way, and what waits for the same slot.
    slots: BTreeMap<u32, Option<Rc<Prepare>>>,
    /// Snapshots under way.
    snapshots: u32,
    /// Superblocks under way.
    superblocks: u32,
    /// Prepares that wait for a superblock.
    waiting: Vec<Rc<Prepare>>,
}

/// A group shared between the pump and those who look at it.
pub struct GroupHandle<B: MessageBus> {
    id: GroupId,
    group: Rc<RefCell<Group>>,
    mailbox: Rc<Mailbox>,
    bus: B,
    leases: Rc<Cell<u32>>,
}

/// Held by a task that comes back to a group after an await. While there is one the group stays.
pub struct Lease {
    leases: Rc<Cell<u32>>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.set(self.leases.get() - 1);
    }
}

impl Group {
    /// A group around a replica that was just started or booted, whose first effects wait.
    #[must_use]
    pub fn new(replica: Replica, machine: Machine, effects: Vec<Effect>) -> Self {
        Self {
            replica,
            machine,
            has_changed: true,
            writes: Writes::default(),
            superblock_order: [0, 1, 2, 3],
            effects,
        }
    }

    /// The order in which copies of the superblock are written, half by half.
    #[must_use]
    pub fn with_superblock_order(mut self, order: [u32; COPIES as usize]) -> Self {
        self.superblock_order = order;
        self
    }

    /// Whether anything may have changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Writes under way or waiting.
    #[must_use]
    pub fn writes_pending(&self) -> usize {
        let writes = &self.writes;
        let others = writes.superblocks + writes.snapshots;
        writes.slots.len() + writes.waiting.len() + others as usize
    }
}

impl<B: MessageBus> GroupHandle<B> {
    /// Hosts a group and performs its first effects.
    #[must_use]
    pub fn new(group: Rc<RefCell<Group>>, mailbox: Rc<Mailbox>, bus: B) -> Self {
        let id = group.borrow().replica.roster().group;
        let handle = Self {
            id,
            group,
            mailbox,
            bus,
            leases: Rc::default(),
        };
        handle.perform();
        handle
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> GroupId {
        self.id
    }

    /// Keeps the group where it is until the lease is dropped.
    #[must_use]
    pub fn lease(&self) -> Lease {
        self.leases.set(self.leases.get() + 1);
        Lease {
            leases: Rc::clone(&self.leases),
        }
    }

    /// Whether some task holds it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.leases.get() > 0
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &Rc<RefCell<Group>> {
        &self.group
    }

    /// Hands one input to the core and performs what follows; whether anything did.
    pub fn handle(&self, input: Input) -> bool {
        {
            let group = &mut *self.group.borrow_mut();
            // Most ticks find no timer due and change nothing that shows.
            let is_quiet = matches!(input, Input::Tick) && !group.replica.timers().may_fire();
            group.has_changed |= !is_quiet;
            let mut context = Context {
                now_micros: self.bus.realtime_micros(),
                machine: &mut group.machine,
                effects: &mut group.effects,
            };
            group.replica.handle(input, &mut context);
            if group.effects.is_empty() {
                return false;
            }
        }
        self.perform();
        true
    }

    /// The end of a write: what waited for it goes on, then the core hears of it.
    pub fn complete(&self, completion: Completion) {
        match completion {
            Completion::Prepare { op, checksum, .. } => {
                let next = {
                    let group = &mut *self.group.borrow_mut();
                    let place = journal::slot(op, group.replica.knobs().journal_slots);
                    group.writes.slots.remove(&place).flatten()
                };
                if let Some(next) = next {
                    self.write_prepare(next);
                }
                self.handle(Input::PrepareSynced { op, checksum });
            }
            Completion::Superblock { sequence, .. } => {
                self.group.borrow_mut().writes.superblocks -= 1;
                self.handle_superblock(sequence);
            }
            Completion::Snapshot { op, checksum, .. } => {
                self.group.borrow_mut().writes.snapshots -= 1;
                self.handle(Input::SnapshotSynced { op, checksum });
            }
        }
    }

    fn handle_superblock(&self, sequence: u64) {
        self.handle(Input::SuperblockSynced { sequence });
        let waiting = {
            let writes = &mut self.group.borrow_mut().writes;
            if writes.superblocks > 0 {
                return;
            }
            std::mem::take(&mut writes.waiting)
        };
        for prepare in waiting {
            self.write_prepare(prepare);
        }
    }

    fn perform(&self) {
        let (mut effects, incarnation, from) = {
            let group = &mut *self.group.borrow_mut();
            (
                std::mem::take(&mut group.effects),
                group.replica.incarnation(),
                group.replica.roster().replica,
            )
        };
        let sender = Sender {
            group: self.id,
            from,
            incarnation,
        };
        for effect in effects.drain(..) {
            self.perform_one(effect, sender);
        }
        // The emptied buffer goes back, so that an input allocates nothing.
        self.group.borrow_mut().effects = effects;
    }

    fn perform_one(&self, effect: Effect, sender: Sender) {
        match effect {
            Effect::Note(note) => self.bus.note(self.id, note),
            Effect::SendReplica { to, view, message } => {
                let frame = sender.frame(Process::Replica(to), view, message);
                self.bus.send_to_replica(frame);
            }
            Effect::SendClient { to, view, message } => {
                let frame = sender.frame(Process::Client(to), view, message);
                self.bus.send_to_client(frame);
            }
            Effect::WritePrepare(prepare) => self.write_prepare(prepare),
            Effect::WriteSuperblock(superblock) => self.write_superblock(superblock),
            Effect::WriteSnapshot { place, snapshot } => self.write_snapshot(place, snapshot),
            Effect::ServePrepares {
                to,
                from,
                through,
                entries,
                checkpoint,
            } => self.serve(sender, to, (from, through, checkpoint), entries),
        }
    }

    fn write_prepare(&self, prepare: Rc<Prepare>) {
        let op = prepare.header.op;
        let place = {
            let group = &mut *self.group.borrow_mut();
            if group.writes.superblocks > 0 {
                group.writes.waiting.push(prepare);
                return;
            }
            let place = journal::slot(op, group.replica.knobs().journal_slots);
            if let Some(queued) = group.writes.slots.get_mut(&place) {
                *queued = Some(prepare);
                return;
            }
            group.writes.slots.insert(place, None);
            place
        };
        let (bus, mailbox, group) = (self.bus.clone(), Rc::clone(&self.mailbox), self.id);
        self.bus.spawn(Box::pin(async move {
            let checksum = prepare.header.checksum;
            let header = Rc::clone(&prepare.header);
            let prepares = journal::address(group, Zone::Prepares, place);
            let headers = journal::address(group, Zone::Headers, place);
            bus.write(prepares, Block::Prepare(prepare)).await;
            bus.sync().await;
            bus.write(headers, Block::Header(header)).await;
            bus.sync().await;
            mailbox.push_completion(Completion::Prepare {
                group,
                op,
                checksum,
            });
        }));
    }

    fn write_snapshot(&self, place: u32, snapshot: Rc<Snapshot>) {
        self.group.borrow_mut().writes.snapshots += 1;
        let (bus, mailbox, group) = (self.bus.clone(), Rc::clone(&self.mailbox), self.id);
        self.bus.spawn(Box::pin(async move {
            let (op, checksum) = (snapshot.op(), snapshot.checksum);
            let address = journal::address(group, Zone::Snapshots, place);
            bus.write(address, Block::Snapshot(snapshot)).await;
            bus.sync().await;
            mailbox.push_completion(Completion::Snapshot {
                group,
                op,
                checksum,
            });
        }));
    }

    /// Half of the copies are synced before the others are touched: a crash may tear what is being
    /// written, and two that agree must be left.
    fn write_superblock(&self, superblock: Rc<Superblock>) {
        let order = {
            let group = &mut *self.group.borrow_mut();
            group.writes.superblocks += 1;
            group.superblock_order
        };
        let (bus, mailbox, group) = (self.bus.clone(), Rc::clone(&self.mailbox), self.id);
        self.bus.spawn(Box::pin(async move {
            let sequence = superblock.sequence;
            for half in order.chunks(order.len() / 2) {
                let write = |&copy: &u32| {
                    let address = journal::address(group, Zone::Superblock, copy);
                    bus.write(address, Block::Superblock(Rc::clone(&superblock)))
                };
                let writes: Vec<_> = half.iter().map(write).collect();
                for write in writes {
                    write.await;
                }
                bus.sync().await;
            }
            mailbox.push_completion(Completion::Superblock { group, sequence });
        }));
    }

    /// Reads what was asked for from the journal, sends what is still there, and ends the answer.
    fn serve(
        &self,
        sender: Sender,
        to: ReplicaId,
        (from, through, checkpoint): (Op, Op, Op),
        entries: Vec<(Op, Checksum)>,
    ) {
        let (view, slots) = {
            let group = self.group.borrow();
            (group.replica.view(), group.replica.knobs().journal_slots)
        };
        let (bus, group) = (self.bus.clone(), self.id);
        let lease = self.lease();
        self.bus.spawn(Box::pin(async move {
            let addresses = entries
                .iter()
                .map(|&(op, _)| journal::address(group, Zone::Prepares, journal::slot(op, slots)));
            let sectors = bus.read(addresses.collect()).await;
            let receiver = Process::Replica(to);
            let mut has_first = false;
            for sector in sectors {
                // What cannot be read is not sent: the asker turns to others.
                let Sector::Block(Block::Prepare(prepare)) = sector else {
                    continue;
                };
                // The slot may have been written again since the request came.
                let named = (prepare.header.op, prepare.header.checksum);
                if entries.contains(&named) {
                    has_first |= prepare.header.op == from;
                    let message = Message::RepairPrepare { prepare };
                    bus.send_to_replica(sender.frame(receiver, view, message));
                }
            }
            let message = Message::repair_done(from, through, checkpoint, has_first);
            bus.send_to_replica(sender.frame(receiver, view, message));
            drop(lease);
        }));
    }
}

/// Who a group's frames come from.
#[derive(Clone, Copy)]
struct Sender {
    group: GroupId,
    from: ReplicaId,
    incarnation: Incarnation,
}

impl Sender {
    fn frame(self, to: Process, view: View, message: Message) -> Frame {
        Frame {
            group: self.group,
            from: Process::Replica(self.from),
            to,
            view,
            incarnation: self.incarnation,
            message,
        }
    }
}
