//! The pump: one loop a shard, with a biased select of tick, then disk, then frames, one item a
//! poll, so that the scheduler may run another task between any two. Must never hold a group across
//! an await.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::ids::TICK_MICROS;
use crate::shard::bus::{MessageBus, Step};
use crate::shard::group::GroupHandle;
use crate::shard::mailbox::{Completion, Item, Mailbox};
use crate::vsr::io::Input;

/// A shard of a replica: its mailbox and the groups it owns.
pub struct Shard<B: MessageBus> {
    bus: B,
    mailbox: Rc<Mailbox>,
    groups: Vec<GroupHandle<B>>,
}

enum Work {
    Tick,
    Item(Item),
}

impl<B: MessageBus> Shard<B> {
    /// A shard that owns these groups.
    #[must_use]
    pub fn new(bus: B, mailbox: Rc<Mailbox>, groups: Vec<GroupHandle<B>>) -> Self {
        Self {
            bus,
            mailbox,
            groups,
        }
    }

    /// Runs until the replica crashes.
    pub async fn pump(self) {
        let mut sleep = self.bus.sleep(TICK_MICROS);
        loop {
            let next = Next {
                sleep: &mut sleep,
                mailbox: &self.mailbox,
            };
            match next.await {
                Work::Tick => {
                    sleep = self.bus.sleep(TICK_MICROS);
                    self.on_tick();
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

    fn group(&self, id: crate::ids::GroupId) -> Option<&GroupHandle<B>> {
        self.groups.iter().find(|group| group.id() == id)
    }

    fn on_tick(&self) {
        for group in &self.groups {
            if group.handle(Input::Tick) {
                self.bus.step(Step::Timer);
            }
        }
    }

    fn on_completion(&self, completion: Completion) {
        let (group, number) = match completion {
            Completion::Prepare { group, op, .. } => (group, op.0),
            Completion::Superblock { group, sequence } => (group, sequence),
            Completion::Snapshot { group, op, .. } => (group, op.0),
        };
        if let Some(group) = self.group(group) {
            group.complete(completion);
        }
        self.bus.step(Step::Disk { number });
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
