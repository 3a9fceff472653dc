//! Handing over a state (protocol section 7): whoever has a checkpoint offers it, and keeps what it
//! offered for as long as the asker goes on asking, so that the finish line stands. Must never offer
//! a state that is not durable here.

use std::rc::Rc;

use crate::ids::{Checksum, Op, ReplicaId};
use crate::vsr::message::{Message, MessageKind};
use crate::vsr::note::{Ignored, StateNote};
use crate::vsr::replica::{Context, Replica, Sender};
use crate::vsr::snapshot::Snapshot;

/// Askers that were not heard for so many retries have what they wanted, or are gone.
const SILENT_RETRIES: u32 = 4;

/// What each asker was offered, and until when it counts as asking.
#[derive(Debug)]
pub(super) struct StateServer {
    askers: Vec<Option<Asker>>,
}

#[derive(Debug)]
struct Asker {
    /// Nothing where we had nothing to offer.
    pinned: Option<Rc<Snapshot>>,
    until: u64,
}

impl StateServer {
    pub(super) fn new(replica_count: u8) -> Self {
        Self {
            askers: (0..replica_count).map(|_| None).collect(),
        }
    }

    pub(super) fn forget_silent(&mut self, now: u64) {
        for asker in &mut self.askers {
            if asker.as_ref().is_some_and(|asker| asker.until <= now) {
                *asker = None;
            }
        }
    }

    fn asker(&mut self, replica: ReplicaId) -> Option<&mut Option<Asker>> {
        self.askers.get_mut(usize::from(replica.0))
    }

    fn find(&self, checksum: Checksum) -> Option<&Rc<Snapshot>> {
        let pinned = self.askers.iter().flatten();
        let mut pinned = pinned.filter_map(|asker| asker.pinned.as_ref());
        pinned.find(|pinned| pinned.checksum == checksum)
    }
}

impl Replica {
    /// A replica that is being handed a state, as far as we hear.
    #[must_use]
    pub fn peer_in_transfer(&self) -> Option<ReplicaId> {
        let now = self.timers.now();
        let askers = (0_u8..).map(ReplicaId).zip(&self.state_server.askers);
        let mut asking = askers.filter(|(_, asker)| {
            let until = asker.as_ref().map(|asker| asker.until);
            until.is_some_and(|until| now < until)
        });
        asking.next().map(|(replica, _)| replica)
    }

    fn find_snapshot(&self, checksum: Checksum) -> Option<Rc<Snapshot>> {
        let kept = self.snapshots.find(checksum);
        kept.or_else(|| self.state_server.find(checksum)).cloned()
    }

    fn remember_asker(&mut self, replica: ReplicaId, pinned: Option<Rc<Snapshot>>) {
        let retries = SILENT_RETRIES * self.knobs.repair_retry_ticks;
        let until = self.timers.now() + u64::from(retries);
        if let Some(asker) = self.state_server.asker(replica) {
            *asker = Some(Asker { pinned, until });
        }
    }

    pub(super) fn on_request_state_transfer(
        &mut self,
        sender: Sender,
        wanted: Op,
        pinned: Option<Checksum>,
        ctx: &mut Context<'_>,
    ) {
        let same = pinned.and_then(|checksum| self.find_snapshot(checksum));
        let newest = self.snapshots.newest().cloned();
        let offered = same.or(newest).filter(|snapshot| snapshot.op() >= wanted);
        self.remember_asker(sender.replica, offered.clone());
        match offered {
            Some(snapshot) => self.offer(sender.replica, &snapshot, ctx),
            None => {
                let kind = MessageKind::RequestStateTransfer;
                self.ignore(kind, Some(sender.replica), Ignored::NothingToServe, ctx);
            }
        }
    }

    fn offer(&mut self, to: ReplicaId, snapshot: &Snapshot, ctx: &mut Context<'_>) {
        ctx.note_state(StateNote::TransferServed {
            to,
            op: snapshot.op(),
            first: 0,
            count: 0,
        });
        let target = Rc::new(snapshot.target(self.knobs.state_chunk_bytes));
        self.send(to, Message::StateTransferTarget(target), ctx);
    }

    /// Sends parts of what was offered. Where that is gone, what there is now is offered instead.
    pub(super) fn on_request_state_chunk(
        &mut self,
        sender: Sender,
        checksum: Checksum,
        (chunk_bytes, first, count): (u32, u32, u32),
        ctx: &mut Context<'_>,
    ) {
        let to = sender.replica;
        let Some(snapshot) = self.find_snapshot(checksum) else {
            let kind = MessageKind::RequestStateChunk;
            self.ignore(kind, Some(to), Ignored::TargetGone, ctx);
            let newest = self.snapshots.newest().cloned();
            self.remember_asker(to, newest.clone());
            if let Some(newest) = newest {
                self.offer(to, &newest, ctx);
            }
            return;
        };
        self.remember_asker(to, Some(Rc::clone(&snapshot)));
        let last = first.saturating_add(count.min(self.knobs.repair_chunk_max));
        let parts = (first..last).map_while(|index| {
            let bytes = snapshot.chunk(chunk_bytes, index)?;
            Some((index, bytes))
        });
        let parts: Vec<_> = parts.collect();
        ctx.note_state(StateNote::TransferServed {
            to,
            op: snapshot.op(),
            first,
            count: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        });
        for (index, bytes) in parts {
            let message = Message::StateChunk {
                snapshot: checksum,
                index,
                bytes,
            };
            self.send(to, message, ctx);
        }
    }
}
