//! The pump: one loop a shard, with a biased select of tick, then disk, then frames, one item a
//! poll, so that the scheduler may run another task between any two. Frames and completions of a group
//! that is not hosted go nowhere. Must never hold a group across an await.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::ids::{GroupId, TICK_MICROS};
use crate::shard::bus::{MessageBus, Step};
use crate::shard::group::GroupHandle;
use crate::shard::host::Host;
use crate::shard::mailbox::{Completion, Item, Mailbox};
use crate::vsr::io::Input;

/// A shard of a replica: its mailbox and the groups it owns.
pub struct Shard<B: MessageBus> {
    bus: B,
    mailbox: Rc<Mailbox>,
    host: Rc<Host<B>>,
    /// The host's groups as they were after so many changes.
    groups: Vec<Rc<GroupHandle<B>>>,
    changes: u64,
}

enum Work {
    Tick,
    Item(Item),
}

impl<B: MessageBus> Shard<B> {
    /// A shard that owns the groups of a host, now and later.
    #[must_use]
    pub fn new(bus: B, mailbox: Rc<Mailbox>, host: Rc<Host<B>>) -> Self {
        let (groups, changes) = (host.all(), host.changes());
        Self {
            bus,
            mailbox,
            host,
            groups,
            changes,
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
                Work::Item(Item::Frame(frame)) => {
                    if let Some(group) = self.group(frame.group) {
                        group.handle(Input::Frame(frame));
                    }
                    self.bus.step(Step::Frame);
                }
            }
            if !self.mailbox.is_empty() {
                Yield::default().await;
            }
        }
    }

    fn follow_host(&mut self) {
        if self.changes != self.host.changes() {
            self.groups = self.host.all();
            self.changes = self.host.changes();
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
