//! The pump: one loop a shard, with a biased select of tick, then disk, then frames, one item a
//! poll, so that the scheduler may run another task between any two. A frame for a group of another
//! shard is forwarded. It hosts those of its own groups that the metadata group's catalogue lists;
//! frames for one that is still to come wait. Must never hold a group across an await.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::ids::{GROUP_METADATA, GroupId, Op, Process, ReplicaId, ShardId, TICK_MICROS};
use crate::shard::boot::{Boot, bring_up};
use crate::shard::bus::{MessageBus, Step};
use crate::shard::group::GroupHandle;
use crate::shard::host::{Catalogue, Host, StillHeld};
use crate::shard::mailbox::{Completion, Item, Mailbox};
use crate::shard::mesh::{METADATA_SHARD, Mesh};
use crate::shard::parked::Parked;
use crate::vsr::host_note::HostNote;
use crate::vsr::io::Input;
use crate::vsr::message::Frame;
use crate::vsr::note::Note;

/// A shard of a replica: its mailbox and the groups it owns.
pub struct Shard<B: MessageBus> {
    id: ShardId,
    bus: B,
    boot: Rc<Boot<B>>,
    mesh: Rc<Mesh>,
    mailbox: Rc<Mailbox>,
    host: Rc<Host<B>>,
    /// Those of the host's groups that it owns, as they were after so many changes.
    groups: Vec<Rc<GroupHandle<B>>>,
    changes: u64,
    /// What the catalogue listed when it last looked.
    catalogue: Option<Rc<Catalogue>>,
    /// The host's changes when that was looked at; none where it is to be looked at again.
    looked_at: Option<u64>,
    parked: Parked,
}

enum Work {
    Tick,
    Item(Item),
}

impl<B: MessageBus> Shard<B> {
    /// A shard that owns its part of a host's groups, now and later.
    #[must_use]
    pub fn new(bus: B, boot: Rc<Boot<B>>, id: ShardId) -> Self {
        let (mesh, host) = (Rc::clone(&boot.mesh), Rc::clone(&boot.host));
        let mailbox = Rc::clone(mesh.mailbox(id));
        let (groups, changes) = (owned(&host, &mesh, id), host.changes());
        Self {
            id,
            bus,
            boot,
            mesh,
            mailbox,
            host,
            groups,
            changes,
            catalogue: None,
            looked_at: None,
            parked: Parked::default(),
        }
    }

    /// Runs until the replica crashes.
    pub async fn pump(mut self) {
        let mut sleep = self.bus.sleep(TICK_MICROS);
        loop {
            let next = Next {
                sleep: &mut sleep,
                mailbox: &self.mailbox,
            };
            let work = next.await;
            self.follow_host();
            match work {
                Work::Tick => {
                    sleep = self.bus.sleep(TICK_MICROS);
                    self.on_tick().await;
                }
                Work::Item(Item::Completion(completion)) => self.on_completion(completion),
                Work::Item(Item::Frame(frame)) => self.on_frame(frame),
            }
            self.follow_catalogue();
            if !self.mailbox.is_empty() {
                Yield::default().await;
            }
        }
    }

    fn follow_host(&mut self) {
        if self.changes != self.host.changes() {
            self.groups = owned(&self.host, &self.mesh, self.id);
            self.changes = self.host.changes();
            for frame in self.parked.take(|id| self.host.hosts(id)) {
                let (id, kind, from) = (frame.group, frame.message.kind(), sender(&frame));
                if !self.mailbox.push_frame(frame) {
                    let note = HostNote::ParkingFull { kind, from };
                    self.bus.note(id, Note::Hosting(note));
                }
            }
        }
    }

    /// A packet lands on any shard: what is not its own goes to the owner, and is no step of a person
    /// before that has handled it.
    fn on_frame(&mut self, frame: Frame) {
        if self.mesh.owner(frame.group) != self.id {
            self.forward(frame);
            return;
        }
        match self.group(frame.group) {
            Some(group) => {
                group.handle(Input::Frame(frame));
            }
            None => self.park(frame),
        }
        self.bus.step(Step::Frame);
    }

    fn forward(&self, frame: Frame) {
        let (id, kind, from) = (frame.group, frame.message.kind(), sender(&frame));
        match self.mesh.forward(frame) {
            Ok(()) => self.bus.hopped(),
            Err(overflow) => {
                let note = HostNote::Overflow {
                    kind,
                    from,
                    entry: self.id,
                    owner: overflow.owner,
                    room: u32::try_from(overflow.room).unwrap_or(u32::MAX),
                };
                self.bus.note(id, Note::Hosting(note));
                self.bus.step(Step::Frame);
            }
        }
    }

    /// A frame of a group that is not hosted waits, unless the group was deleted.
    fn park(&mut self, frame: Frame) {
        let (id, kind, from) = (frame.group, frame.message.kind(), sender(&frame));
        let note = if self.is_gone(id) {
            HostNote::Gone { kind, from }
        } else if self.parked.park(frame) {
            HostNote::Parked { kind, from }
        } else {
            HostNote::ParkingFull { kind, from }
        };
        self.bus.note(id, Note::Hosting(note));
    }

    /// Whether the catalogue once listed a group and does so no more.
    fn is_gone(&self, id: GroupId) -> bool {
        self.catalogue
            .as_ref()
            .is_some_and(|catalogue| catalogue.is_gone(id))
    }

    /// Hosts its part of what the metadata group's catalogue lists, and nothing that it lists no more.
    fn follow_catalogue(&mut self) {
        if self.id == METADATA_SHARD {
            self.publish_catalogue();
        }
        let Some(catalogue) = self.host.catalogue() else {
            return;
        };
        let changes = Some(self.host.changes());
        let known = self.catalogue.as_ref().map(|known| known.op);
        if known == Some(catalogue.op) && self.looked_at == changes {
            return;
        }
        self.looked_at = changes;
        for (&id, &durability) in &catalogue.alive {
            if self.mesh.owner(id) != self.id || self.host.hosts(id) {
                continue;
            }
            let (bus, boot) = (self.bus.clone(), Rc::clone(&self.boot));
            self.bus.spawn(Box::pin(async move {
                bring_up(&bus, &boot, id, Some(durability)).await;
            }));
        }
        self.catalogue = Some(catalogue);
        self.remove_gone();
    }

    /// Shows all shards what the metadata group has executed, where that is more than they know.
    fn publish_catalogue(&self) {
        let Some(metadata) = self.host.get(GROUP_METADATA) else {
            return;
        };
        let group = metadata.group().borrow();
        let op = group.replica.commit_min();
        let known = self.host.catalogue();
        if known.is_some_and(|catalogue| catalogue.op == op) {
            return;
        }
        let Some(machine) = group.machine.metadata() else {
            return;
        };
        let alive = machine
            .groups()
            .iter()
            .map(|it| (it.group, it.durability))
            .collect();
        self.host.publish(Catalogue { op, alive });
    }

    /// Takes deleted groups away. Their disks stay as they are: the deletion may be executed again
    /// after a crash, and a replica must find what it promised.
    fn remove_gone(&mut self) {
        let hosted = owned(&self.host, &self.mesh, self.id);
        let gone = hosted.iter().map(|group| group.id());
        let gone: Vec<GroupId> = gone.filter(|&id| self.is_gone(id)).collect();
        if let Some(catalogue) = &self.catalogue {
            // Also for groups that came and went before they were hosted here.
            drop(self.parked.take(|id| catalogue.is_gone(id)));
        }
        for id in gone {
            if self.host.get(id).is_some_and(|group| group.is_held()) {
                // A task comes back to it: look again when the next thing is done.
                self.looked_at = None;
                continue;
            }
            match self.host.remove(id) {
                Ok(()) => self.bus.note(id, Note::Hosting(HostNote::Removed)),
                Err(StillHeld) => self.bus.note(
                    id,
                    Note::RuleBroken {
                        rule: "no group is taken away while a task holds it",
                        op: Op(0),
                    },
                ),
            }
        }
    }

    fn group(&self, id: GroupId) -> Option<&GroupHandle<B>> {
        let found = self.groups.iter().find(|group| group.id() == id);
        found.map(Rc::as_ref)
    }

    /// A poll does no more than one thing that a person can step to.
    async fn on_tick(&self) {
        let mut has_stepped = false;
        for group in &self.groups {
            if std::mem::take(&mut has_stepped) {
                Yield::default().await;
            }
            if group.handle(Input::Tick) {
                self.bus.step(Step::Timer);
                has_stepped = true;
            }
        }
    }

    fn on_completion(&self, completion: Completion) {
        let (group, number) = (completion.group(), completion.number());
        if let Some(group) = self.group(group) {
            group.complete(completion);
        }
        self.bus.step(Step::Disk { group, number });
    }
}

/// Those of a host's groups that a shard owns, ascending.
fn owned<B: MessageBus>(host: &Host<B>, mesh: &Mesh, id: ShardId) -> Vec<Rc<GroupHandle<B>>> {
    let mut groups = host.all();
    groups.retain(|group| mesh.owner(group.id()) == id);
    groups
}

fn sender(frame: &Frame) -> Option<ReplicaId> {
    match frame.from {
        Process::Replica(replica) => Some(replica),
        Process::Client(_) => None,
    }
}

/// The biased select.
struct Next<'a, S> {
    sleep: &'a mut S,
    mailbox: &'a Mailbox,
}

impl<S: Future<Output = ()> + Unpin> Future for Next<'_, S> {
    type Output = Work;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Work> {
        if Pin::new(&mut *self.sleep).poll(context).is_ready() {
            return Poll::Ready(Work::Tick);
        }
        if let Some(item) = self.mailbox.pop() {
            return Poll::Ready(Work::Item(item));
        }
        self.mailbox.set_waker(context.waker());
        Poll::Pending
    }
}

/// Lets the scheduler choose again.
#[derive(Default)]
struct Yield {
    has_yielded: bool,
}

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.has_yielded {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
