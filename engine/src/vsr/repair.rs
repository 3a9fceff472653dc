//! Fetching bodies (protocol section 7): one planner whose cursor is the lowest op not held, executed
//! or not. Requests never wait for proof or commit. Must never judge whether an op is committed.

use std::rc::Rc;

use crate::ids::{Op, ReplicaId};
use crate::vsr::io::{Effect, Timer};
use crate::vsr::message::{Message, MessageKind, Prepare};
use crate::vsr::note::{Ignored, Note, TransferEnd};
use crate::vsr::replica::{Context, Replica, Sender};

/// How long the last bodies of an answer may trail behind its end: packets overtake each other.
const TRAILING_TICKS: u32 = 20;

/// The one request under way, and whose turn it is to be asked.
#[derive(Debug, Default)]
pub(super) struct Repair {
    asked: Option<Asked>,
    turns: u8,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    to: ReplicaId,
    from: Op,
    through: Op,
    has_gained: bool,
}

impl Replica {
    pub(super) fn cancel_repair(&mut self) {
        self.repair.asked = None;
        self.timers.stop(Timer::RepairRetry);
    }

    /// Asks for the lowest run of ops not held, unless an answer is awaited.
    pub(super) fn repair_step(&mut self, ctx: &mut Context<'_>) {
        if !self.may_repair() {
            return;
        }
        if self.needs_state() {
            self.cancel_repair();
            return self.transfer_step(ctx);
        }
        if self.transfer.is_active() {
            self.abandon_transfer(TransferEnd::Unneeded, ctx);
        }
        if self.repair.asked.is_some() {
            return;
        }
        let Some((from, through)) = self.lowest_hole() else {
            self.timers.stop(Timer::RepairRetry);
            return;
        };
        let Some(to) = self.repair_peer() else {
            return;
        };
        self.repair.asked = Some(Asked {
            to,
            from,
            through,
            has_gained: false,
        });
        let wait = self.knobs.repair_retry_ticks;
        let jitter = self.jitter.between(0, wait);
        self.timers.start(Timer::RepairRetry, wait + jitter);
        ctx.note(Note::RepairRequested { to, from, through });
        self.send(to, Message::RequestPrepares { from, to: through }, ctx);
    }

    /// Bodies and states are asked for once the log of the view is known.
    pub(super) fn may_repair(&self) -> bool {
        self.log_view == self.view && !self.is_recovering()
    }

    /// Whether an op that has a slot lacks its body.
    #[must_use]
    pub fn lacks_bodies(&self) -> bool {
        self.lowest_hole().is_some()
    }

    /// The lowest op in (checkpoint, head] whose body is not held, with those after it, at most a
    /// chunk. What has no slot before the next checkpoint waits for it.
    fn lowest_hole(&self) -> Option<(Op, Op)> {
        let from = self.log.held_through().next();
        let end = self.log.head().min(self.journal_limit());
        if from > end {
            return None;
        }
        let last = Op(from.0 + u64::from(self.knobs.repair_chunk_max) - 1).min(end);
        let mut through = from;
        while through < last && self.log.prepare(through.next()).is_none() {
            through = through.next();
        }
        Some((from, through))
    }

    /// The primary first, then each other replica in turn.
    fn repair_peer(&self) -> Option<ReplicaId> {
        let count = self.roster.replica_count;
        let first = self.primary().0 + self.repair.turns;
        (0..count)
            .map(|step| ReplicaId((first + step) % count))
            .find(|&peer| peer != self.roster.replica)
    }

    fn next_peer(&mut self) {
        self.repair.turns = (self.repair.turns + 1) % self.roster.replica_count;
    }

    pub(super) fn on_repair_retry_due(&mut self, ctx: &mut Context<'_>) {
        if let Some(asked) = self.repair.asked.take()
            && !asked.has_gained
        {
            self.next_peer();
        }
        self.repair_step(ctx);
    }

    pub(super) fn on_repair_prepare(
        &mut self,
        sender: Sender,
        prepare: &Rc<Prepare>,
        ctx: &mut Context<'_>,
    ) {
        let kind = MessageKind::RepairPrepare;
        let from = Some(sender.replica);
        if !self.may_repair() {
            let reason = Ignored::WrongStatus {
                status: self.status,
            };
            return self.ignore(kind, from, reason, ctx);
        }
        if let Err(reason) = self.take_body(prepare, true, ctx) {
            return self.ignore(kind, from, reason, ctx);
        }
        if let Some(asked) = &mut self.repair.asked {
            asked.has_gained = true;
            if self.log.held_through() >= asked.through {
                self.repair.asked = None;
            }
        }
        self.repair_step(ctx);
    }

    pub(super) fn on_repair_done(
        &mut self,
        sender: Sender,
        (from, through): (Op, Op),
        evicted: Option<Op>,
        ctx: &mut Context<'_>,
    ) {
        let kind = MessageKind::RepairDone;
        let Some(asked) = self.repair.asked else {
            let op = through;
            return self.ignore(kind, Some(sender.replica), Ignored::Duplicate { op }, ctx);
        };
        if asked.to != sender.replica || asked.from != from {
            let op = through;
            return self.ignore(kind, Some(sender.replica), Ignored::StaleAck { op }, ctx);
        }
        if self.log.held_through() >= through {
            self.repair.asked = None;
            return self.repair_step(ctx);
        }
        self.timers.start(Timer::RepairRetry, TRAILING_TICKS);
        if let Some(checkpoint) = evicted
            && self.log.held_through() < from
        {
            let by = sender.replica;
            self.on_evicted(by, from, checkpoint, ctx);
        }
    }

    /// Whoever holds a body may serve it; the asker checks.
    pub(super) fn on_request_prepares(
        &mut self,
        sender: Sender,
        from: Op,
        to: Op,
        ctx: &mut Context<'_>,
    ) {
        let chunk = u64::from(self.knobs.repair_chunk_max);
        let last = Op(from.0.saturating_add(chunk - 1)).min(to);
        let entries: Vec<_> = (from.0..=last.0)
            .map(Op)
            .filter_map(|op| Some((op, self.log.on_disk(op)?)))
            .collect();
        if entries.is_empty() {
            self.ignore(
                MessageKind::RequestPrepares,
                Some(sender.replica),
                Ignored::NothingToServe,
                ctx,
            );
        } else {
            ctx.note(Note::RepairServed {
                to: sender.replica,
                from,
                through: last,
                held: u32::try_from(entries.len()).unwrap_or(u32::MAX),
            });
        }
        ctx.effects.push(Effect::ServePrepares {
            to: sender.replica,
            from,
            through: last,
            entries,
            checkpoint: self.servable_checkpoint(),
        });
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
