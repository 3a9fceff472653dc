//! Fetching a state (protocol section 7): where the bodies that are missing have left the rings of
//! others, or a view's log lies beyond our own ring, the state of a checkpoint is pulled in parts.
//! The target is pinned; if it leaves, the newest is next, and parts equal to those that came are
//! kept. Must never drop an entry before the state that replaces it is durable.

use std::rc::Rc;

use crate::digest::checksum_bytes;
use crate::ids::{Checksum, Op, ReplicaId};
use crate::vsr::io::{Status, Timer};
use crate::vsr::message::{Header, Message, MessageKind};
use crate::vsr::note::{Ignored, Note, StateNote, TransferCause, TransferEnd};
use crate::vsr::replica::{Context, Replica, Sender};
use crate::vsr::snapshot::{Snapshot, StateTarget};

/// How long the last parts of an answer may trail behind the others: packets overtake each other.
const TRAILING_TICKS: u32 = 20;

/// What is fetched, from whom, and what else was offered.
#[derive(Debug, Default)]
pub(super) struct Transfer {
    /// A state at least as new is needed; nothing where it is not above what is executed.
    wanted: Op,
    pinned: Option<Pinned>,
    source: Option<ReplicaId>,
    /// A source that gave nothing when it was last asked: others come first.
    avoided: Option<ReplicaId>,
    /// It has the pinned state all the same.
    is_avoided_willing: bool,
    /// The newest of the other offers, for when the pinned one is gone.
    offer: Option<(ReplicaId, Rc<StateTarget>)>,
    asked: Option<Asked>,
    /// When all were last told that we need a state.
    told: u64,
}

/// The state that is being fetched.
#[derive(Debug)]
struct Pinned {
    target: Rc<StateTarget>,
    parts: Vec<Option<Rc<[u8]>>>,
    have: u32,
}

/// Parts asked for and not all there.
#[derive(Clone, Copy, Debug)]
struct Asked {
    first: u32,
    count: u32,
    has_gained: bool,
}

impl Pinned {
    /// Begins with the parts that an earlier target had as well.
    fn new(target: Rc<StateTarget>, before: Option<Self>) -> Self {
        let kept: Vec<(Checksum, Rc<[u8]>)> = before.map(Self::into_parts).unwrap_or_default();
        let find = |checksum: &Checksum| {
            let same = kept.iter().find(|(known, _)| known == checksum);
            same.map(|(_, bytes)| Rc::clone(bytes))
        };
        let parts: Vec<_> = target.chunks.iter().map(find).collect();
        let have = parts.iter().flatten().count();
        Self {
            have: u32::try_from(have).unwrap_or(u32::MAX),
            target,
            parts,
        }
    }

    fn into_parts(self) -> Vec<(Checksum, Rc<[u8]>)> {
        let checksums = self.target.chunks.iter().copied();
        let parts = checksums.zip(self.parts);
        parts
            .filter_map(|(checksum, part)| Some((checksum, part?)))
            .collect()
    }

    fn is_complete(&self) -> bool {
        self.have == self.target.len()
    }

    fn has(&self, index: u32) -> bool {
        let part = usize::try_from(index)
            .ok()
            .and_then(|at| self.parts.get(at));
        part.is_none_or(Option::is_some)
    }

    /// The lowest run of parts that are missing, at most `most` of them.
    fn lowest_gap(&self, most: u32) -> (u32, u32) {
        let missing = |index: &u32| !self.has(*index);
        let first = (0..self.target.len()).find(missing).unwrap_or_default();
        let run = (first..self.target.len()).take_while(missing).count();
        let count = u32::try_from(run).unwrap_or(u32::MAX).min(most);
        (first, count)
    }
}

impl Transfer {
    pub(super) fn is_active(&self) -> bool {
        self.pinned.is_some() || self.offer.is_some()
    }

    /// The checkpoint being fetched, parts so far, and parts it takes.
    pub(super) fn progress(&self) -> Option<(Op, u32, u32)> {
        let pinned = self.pinned.as_ref()?;
        Some((pinned.target.op(), pinned.have, pinned.target.len()))
    }
}

impl Replica {
    // Whether a state is needed.

    /// Whether what is missing here can be had only with a state.
    #[must_use]
    pub fn needs_state(&self) -> bool {
        self.commit_min < self.transfer.wanted || self.commit_min < self.log.floor()
    }

    /// The state being fetched, if one is: its op, parts so far, and parts it takes.
    #[must_use]
    pub fn transfer_progress(&self) -> Option<(Op, u32, u32)> {
        self.transfer.progress()
    }

    /// The op up to which everything is here, executed or not.
    pub(super) fn reach(&self) -> Op {
        if self.commit_min < self.log.floor() {
            return self.commit_min;
        }
        self.log.held_through()
    }

    /// The lowest checkpoint that would do: one from which our ring reaches the head of the log.
    fn lowest_useful(&self) -> Op {
        let slots = u64::from(self.knobs.journal_slots);
        let reaches = Op(self.log.head().0.saturating_sub(slots));
        let ours = self.checkpoint();
        reaches
            .max(self.transfer.wanted)
            .max(ours)
            .max(self.commit_min.next())
    }

    pub(super) fn want_state(&mut self, wanted: Op, cause: TransferCause, ctx: &mut Context<'_>) {
        let wanted = wanted.max(self.commit_min.next());
        if wanted > self.transfer.wanted {
            self.transfer.wanted = wanted;
            ctx.note_state(StateNote::TransferStarted { wanted, cause });
        }
    }

    /// The first op asked for has left a peer's ring, and its checkpoint contains it.
    pub(super) fn on_evicted(
        &mut self,
        by: ReplicaId,
        op: Op,
        checkpoint: Op,
        ctx: &mut Context<'_>,
    ) {
        if self.forfeits_to(by, checkpoint, ctx) {
            return;
        }
        self.want_state(op, TransferCause::Evicted { by, op }, ctx);
        self.repair_step(ctx);
    }

    /// Before a view's log is installed: where the gap below it is longer than rings are, only a
    /// state closes it, and our log begins where the view's does.
    pub(super) fn make_room(
        &mut self,
        suffix: &[Rc<Header>],
        head: Op,
        checkpoint: Op,
        ctx: &mut Context<'_>,
    ) {
        let Some(first) = suffix.first().map(|header| header.op) else {
            return;
        };
        self.want_state_if_out_of_reach(first, head, checkpoint, ctx);
        if self.needs_state() && first > self.journal_limit().next() {
            self.log.skip_to(first.previous());
        }
    }

    /// Wants a state where a log that is known from `first` to `head`, and whose primary has
    /// `checkpoint`, cannot be linked to ours by bodies alone: the gap has left the rings, or ours
    /// has no slots for it.
    fn want_state_if_out_of_reach(
        &mut self,
        first: Op,
        head: Op,
        checkpoint: Op,
        ctx: &mut Context<'_>,
    ) {
        let slots = u64::from(self.knobs.journal_slots);
        let reach = self.log.held_through();
        let has_gap = reach.next() < first;
        let is_far = head > self.journal_limit() || reach.0 + slots < head.0;
        // Whoever journaled the head had a checkpoint that reaches it, even if the primary has not.
        let lowest = head.0.saturating_sub(slots);
        let interval = self.knobs.checkpoint_interval();
        let checkpoint = checkpoint.max(Op(lowest.div_ceil(interval) * interval));
        if has_gap && is_far && checkpoint > self.commit_min {
            let cause = TransferCause::LogAhead { head, checkpoint };
            self.want_state(Op(lowest), cause, ctx);
        }
    }

    /// Others may have gone on while a state was under way: then it takes another.
    pub(super) fn look_whether_in_reach(&mut self, ctx: &mut Context<'_>) {
        let (first, head) = (self.log.proven_from(), self.log.head());
        if head > self.journal_limit() {
            self.want_state_if_out_of_reach(first, head, Op(0), ctx);
        }
    }

    // Fetching.

    /// What was asked for is not waited for any longer; parts that came are kept.
    pub(super) fn pause_transfer(&mut self) {
        self.transfer.asked = None;
        self.transfer.source = None;
        self.timers.stop(Timer::StateRetry);
    }

    /// Asks for the next parts, or who has a state, unless an answer is awaited.
    pub(super) fn transfer_step(&mut self, ctx: &mut Context<'_>) {
        let is_waiting = self.transfer.asked.is_some()
            || self.timers.is_running(Timer::StateRetry)
            || self.snapshots.awaits_beyond(self.commit_min);
        if is_waiting {
            return;
        }
        let lowest = self.lowest_useful();
        let is_too_old = |pinned: &Pinned| pinned.target.op() < lowest;
        if self.transfer.pinned.as_ref().is_some_and(is_too_old) {
            self.transfer.source = None;
        }
        match self.transfer.source {
            Some(source) => {
                // The primary must know for as long as it takes, whoever the source is.
                let often = u64::from(2 * self.knobs.repair_retry_ticks);
                if self.timers.now() >= self.transfer.told + often {
                    self.ask_for_state(lowest, ctx);
                }
                self.ask_for_parts(source, ctx);
            }
            None => self.ask_for_state(lowest, ctx),
        }
    }

    fn start_retry(&mut self) {
        let wait = self.knobs.repair_retry_ticks;
        let jitter = self.jitter.between(0, wait);
        self.timers.start(Timer::StateRetry, wait + jitter);
    }

    fn ask_for_state(&mut self, wanted: Op, ctx: &mut Context<'_>) {
        self.start_retry();
        self.transfer.told = self.timers.now();
        let pinned = self.transfer.pinned.as_ref();
        let pinned = pinned.filter(|pinned| pinned.target.op() >= wanted);
        let pinned = pinned.map(|pinned| pinned.target.checksum);
        self.broadcast(&Message::RequestStateTransfer { wanted, pinned }, ctx);
    }

    fn ask_for_parts(&mut self, to: ReplicaId, ctx: &mut Context<'_>) {
        let Some(pinned) = &self.transfer.pinned else {
            return;
        };
        let (first, count) = pinned.lowest_gap(self.knobs.repair_chunk_max);
        let message = Message::RequestStateChunk {
            snapshot: pinned.target.checksum,
            chunk_bytes: pinned.target.chunk_bytes,
            first,
            count,
        };
        self.transfer.asked = Some(Asked {
            first,
            count,
            has_gained: false,
        });
        self.start_retry();
        self.send(to, message, ctx);
    }

    pub(super) fn on_state_retry_due(&mut self, ctx: &mut Context<'_>) {
        if !self.may_repair() || !self.needs_state() {
            return;
        }
        ctx.note(Note::TimerFired {
            timer: Timer::StateRetry,
        });
        match self.transfer.asked.take() {
            Some(asked) if asked.has_gained => {}
            Some(_) => {
                self.transfer.avoided = self.transfer.source.take();
                self.transfer.is_avoided_willing = false;
            }
            // Nobody else has what was pinned, or nobody said so.
            None => {
                if let Some((from, target)) = self.transfer.offer.take() {
                    return self.pin(from, target, ctx);
                }
                let avoided = self.transfer.avoided.take();
                self.transfer.source = avoided.filter(|_| self.transfer.is_avoided_willing);
            }
        }
        self.transfer_step(ctx);
    }

    pub(super) fn on_state_target(
        &mut self,
        sender: Sender,
        target: Rc<StateTarget>,
        ctx: &mut Context<'_>,
    ) {
        let kind = MessageKind::StateTransferTarget;
        let from = Some(sender.replica);
        let is_awaited = self.may_repair()
            && self.needs_state()
            && !self.snapshots.awaits_beyond(self.commit_min);
        if !is_awaited {
            return self.ignore(kind, from, Ignored::StateUnasked, ctx);
        }
        let (head, ours) = (target.op(), self.lowest_useful());
        if head < ours {
            return self.ignore(kind, from, Ignored::NothingNew { head, ours }, ctx);
        }
        if self.forfeits_to(sender.replica, head, ctx) {
            return;
        }
        let pinned = self.transfer.pinned.as_ref();
        let useful = pinned.filter(|pinned| pinned.target.op() >= ours);
        match useful.map(|pinned| pinned.target.checksum == target.checksum) {
            None => self.pin(sender.replica, target, ctx),
            Some(true) if self.transfer.source.is_none() => {
                if self.transfer.avoided == from {
                    self.transfer.is_avoided_willing = true;
                    return;
                }
                self.transfer.source = from;
                self.timers.stop(Timer::StateRetry);
                self.transfer_step(ctx);
            }
            Some(true) => self.ignore(kind, from, Ignored::StateUnasked, ctx),
            Some(false) => self.consider(sender.replica, target, ctx),
        }
    }

    /// Another state than the pinned one is offered. If by whom we pull from, ours is gone there.
    fn consider(&mut self, from: ReplicaId, target: Rc<StateTarget>, ctx: &mut Context<'_>) {
        let newest = self.transfer.offer.as_ref();
        if newest.is_none_or(|(_, newest)| newest.op() < target.op()) {
            self.transfer.offer = Some((from, target));
        }
        if self.transfer.source == Some(from) {
            self.pause_transfer();
            self.transfer_step(ctx);
        }
    }

    fn pin(&mut self, from: ReplicaId, target: Rc<StateTarget>, ctx: &mut Context<'_>) {
        self.pause_transfer();
        let before = self.transfer.pinned.take();
        if let Some(before) = &before {
            ctx.note_state(StateNote::TransferAbandoned {
                op: before.target.op(),
                because: TransferEnd::TargetGone,
            });
        }
        let pinned = Pinned::new(target, before);
        ctx.note_state(StateNote::TransferPinned {
            op: pinned.target.op(),
            from,
            chunks: pinned.target.len(),
            kept: pinned.have,
        });
        self.transfer.offer = None;
        self.transfer.avoided = None;
        self.transfer.source = Some(from);
        let is_complete = pinned.is_complete();
        self.transfer.pinned = Some(pinned);
        if is_complete {
            self.put_together(ctx);
        } else {
            self.transfer_step(ctx);
        }
    }

    pub(super) fn on_state_chunk(
        &mut self,
        sender: Sender,
        snapshot: Checksum,
        index: u32,
        bytes: Rc<[u8]>,
        ctx: &mut Context<'_>,
    ) {
        let kind = MessageKind::StateChunk;
        let from = Some(sender.replica);
        let is_awaited = self.may_repair() && self.needs_state();
        let pinned = self.transfer.pinned.as_mut();
        let pinned = pinned.filter(|pinned| {
            is_awaited && pinned.target.checksum == snapshot && !pinned.has(index)
        });
        let Some(pinned) = pinned else {
            return self.ignore(kind, from, Ignored::StateUnasked, ctx);
        };
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        if pinned.target.chunks.get(place) != Some(&checksum_bytes(&bytes)) {
            return self.ignore(kind, from, Ignored::OtherPart { index }, ctx);
        }
        pinned.parts[place] = Some(bytes);
        pinned.have += 1;
        ctx.note_state(StateNote::TransferChunk {
            op: pinned.target.op(),
            index,
            have: pinned.have,
            of: pinned.target.len(),
        });
        if pinned.is_complete() {
            return self.put_together(ctx);
        }
        let Some(asked) = &mut self.transfer.asked else {
            return;
        };
        asked.has_gained = true;
        let mut wanted = asked.first..asked.first + asked.count;
        if wanted.all(|index| pinned.has(index)) {
            self.transfer.asked = None;
            self.timers.stop(Timer::StateRetry);
            self.transfer_step(ctx);
        } else {
            self.timers.start(Timer::StateRetry, TRAILING_TICKS);
        }
    }

    /// All parts are here: what they make is written, and in force once it is durable.
    fn put_together(&mut self, ctx: &mut Context<'_>) {
        self.pause_transfer();
        let Some(pinned) = &self.transfer.pinned else {
            return;
        };
        let parts: Vec<Rc<[u8]>> = pinned.parts.iter().flatten().cloned().collect();
        match pinned.target.assemble(&parts) {
            Some(snapshot) => self.write_snapshot(Rc::new(snapshot), ctx),
            None => {
                self.abandon_transfer(TransferEnd::OtherContent, ctx);
                self.transfer_step(ctx);
            }
        }
    }

    /// Forgets what was fetched so far.
    pub(super) fn abandon_transfer(&mut self, because: TransferEnd, ctx: &mut Context<'_>) {
        self.pause_transfer();
        self.transfer.offer = None;
        if let Some(pinned) = self.transfer.pinned.take() {
            let op = pinned.target.op();
            ctx.note_state(StateNote::TransferAbandoned { op, because });
        }
    }

    /// A state that was fetched is durable: it is in force, and the log begins above it.
    pub(super) fn take_over(&mut self, snapshot: &Snapshot, ctx: &mut Context<'_>) -> bool {
        let (executed, known) = (self.commit_min, self.commit_max);
        if !self.load_state(snapshot, ctx) {
            return false;
        }
        let op = snapshot.op();
        let header = Rc::clone(&snapshot.header);
        self.log.rebase(header, self.knobs.journal_slots);
        for _ in known.0..self.commit_max.0 {
            self.acks.pop_front();
        }
        self.pause_transfer();
        self.transfer = Transfer::default();
        ctx.note_state(StateNote::TransferFinished { op, executed });
        if self.status == Status::Normal && !self.is_primary() {
            self.behind_of = self.behind_of.max(self.commit_max);
            self.on_probe_due(ctx);
        }
        true
    }
}

#[cfg(test)]
#[path = "state_transfer_tests.rs"]
mod tests;
