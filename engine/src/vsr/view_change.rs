//! Leaving a view by votes, bringing logs to the next primary, starting a view and adopting it
//! (protocol sections 4 and 5). Must never choose a log itself; that is `dvc_merge`.

use std::rc::Rc;

use crate::ids::{Incarnation, Op, ReplicaId, View};
use crate::vsr::commit::AcksOwed;
use crate::vsr::dvc_merge::Merge;
use crate::vsr::io::{Status, Timer};
use crate::vsr::log::SlotState;
use crate::vsr::message::{DoViewChange, DvcEntry, Header, Message, MessageKind, StartView, Vote};
use crate::vsr::mutation::Mutation;
use crate::vsr::note::{EnterCause, Ignored, LeaveCause, MergeOutcome, Note};
use crate::vsr::replica::{Context, Replica, ReplicaSet, Sender};

/// The view-change wait doubles at most this often: 16×.
const WAIT_DOUBLINGS_MAX: u32 = 4;

/// Votes to leave the current view: when each sender was last heard casting one.
#[derive(Debug, Default)]
pub(super) struct LeaveVotes {
    heard: [Option<u64>; crate::ids::REPLICAS_MAX as usize],
}

impl LeaveVotes {
    /// Senders whose vote is younger than the expiry.
    pub(super) fn counting(&self, now: u64, expiry_ticks: u32) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        for (replica, heard) in (0_u8..).map(ReplicaId).zip(self.heard) {
            if heard.is_some_and(|heard| now < heard + u64::from(expiry_ticks)) {
                set.insert(replica);
            }
        }
        set
    }

    fn record(&mut self, from: ReplicaId, now: u64) {
        self.heard[usize::from(from.0)] = Some(now);
    }

    pub(super) fn withdraw(&mut self, from: ReplicaId) {
        self.heard[usize::from(from.0)] = None;
    }

    fn clear(&mut self) {
        self.heard = Default::default();
    }
}

impl Replica {
    // Leaving.

    pub(super) fn on_primary_silent(&mut self, ctx: &mut Context<'_>) {
        if self.status == Status::Normal && !self.is_primary() {
            let ticks = self.knobs.heartbeat_wait_ticks;
            self.vote_to_leave(LeaveCause::PrimarySilent { ticks }, ctx);
        }
    }

    pub(super) fn on_view_change_too_long(&mut self, ctx: &mut Context<'_>) {
        if self.status == Status::ViewChange {
            let ticks = self.view_change_wait();
            self.vote_to_leave(LeaveCause::ViewChangeTooLong { ticks }, ctx);
        }
    }

    /// 500 ticks × 2^⌊failed views / n⌋, at most 16×: every replica gets its turn before it doubles.
    /// How long a view change may take here, back-off included.
    #[must_use]
    pub fn view_change_wait(&self) -> u32 {
        let rounds = self.failed_views / u32::from(self.roster.replica_count);
        self.knobs.view_change_wait_ticks << rounds.min(WAIT_DOUBLINGS_MAX)
    }

    pub(super) fn vote_to_leave(&mut self, cause: LeaveCause, ctx: &mut Context<'_>) {
        if self.has_voted {
            return;
        }
        self.has_voted = true;
        ctx.note(Note::LeaveVoted {
            view: self.view,
            cause,
        });
        self.send_leave_vote(ctx);
        self.leave_if_quorum(ctx);
    }

    pub(super) fn withdraw_vote(&mut self, ctx: &mut Context<'_>) {
        if self.has_voted {
            self.has_voted = false;
            self.leave.withdraw(self.roster.replica);
            self.timers.stop(Timer::StartViewChangeResend);
            ctx.note(Note::VoteWithdrawn { view: self.view });
        }
    }

    /// Sends the vote, now and again every 50 ticks while it holds. It speaks for a durable view
    /// only, and promises nothing.
    pub(super) fn send_leave_vote(&mut self, ctx: &mut Context<'_>) {
        if !self.has_voted {
            return;
        }
        self.leave.record(self.roster.replica, self.timers.now());
        self.timers
            .start(Timer::StartViewChangeResend, self.knobs.vote_resend_ticks);
        if self.durable.view == self.view {
            self.broadcast(&Message::StartViewChange, ctx);
        }
    }

    pub(super) fn on_start_view_change(&mut self, sender: Sender, ctx: &mut Context<'_>) {
        if !self.follows_into_view(MessageKind::StartViewChange, sender, ctx) {
            return;
        }
        let before = self.leave_votes();
        self.leave.record(sender.replica, self.timers.now());
        let have = self.leave_votes();
        if have != before {
            ctx.note(Note::LeaveCounted {
                view: self.view,
                from: sender.replica,
                have: have.len(),
                need: self.quorums_in_force().view_change,
            });
        }
        self.leave_if_quorum(ctx);
    }

    /// Nobody raises a number alone: it takes votes of vc distinct senders, its own not required.
    fn leave_if_quorum(&mut self, ctx: &mut Context<'_>) {
        let have = self.leave_votes().len();
        let need = self.quorums_in_force().view_change;
        if have >= need && (have >= self.quorums.view_change || self.skips(Mutation::M02, ctx)) {
            let next = self.view.next();
            self.enter_view(next, EnterCause::Votes { have, need }, ctx);
        }
    }

    /// A StartViewChange or DoViewChange of a higher view pulls its receiver into that view, never
    /// beyond it; whether the message now speaks of our view.
    fn follows_into_view(
        &mut self,
        kind: MessageKind,
        sender: Sender,
        ctx: &mut Context<'_>,
    ) -> bool {
        if !self.can_vote() {
            self.ignore(
                kind,
                Some(sender.replica),
                Ignored::RecoveringNotPulled,
                ctx,
            );
            return false;
        }
        if sender.view < self.view {
            let reason = Ignored::OlderView {
                view: sender.view,
                ours: self.view,
            };
            self.ignore(kind, Some(sender.replica), reason, ctx);
            return false;
        }
        if sender.view > self.view {
            let by = sender.replica;
            self.enter_view(sender.view, EnterCause::Pulled { by, kind }, ctx);
        }
        true
    }

    pub(super) fn enter_view(&mut self, view: View, cause: EnterCause, ctx: &mut Context<'_>) {
        ctx.note(Note::ViewEntered {
            from: self.view,
            view,
            cause,
        });
        if self.status == Status::ViewChange {
            self.failed_views = self.failed_views.saturating_add(1);
        }
        self.status = Status::ViewChange;
        self.view = view;
        self.reset_phase();
        self.timers
            .start(Timer::ViewChangeWait, self.view_change_wait());
        self.timers
            .start(Timer::DoViewChangeResend, self.knobs.vote_resend_ticks);
        if !self.is_primary() {
            self.timers.start(Timer::Probe, self.knobs.probe_ticks);
        }
        self.write_superblock(ctx);
        if self.mutations.contains(Mutation::M15) {
            self.send_do_view_change(ctx);
        }
    }

    /// Forgets everything that belongs to one view or status alone.
    fn reset_phase(&mut self) {
        for timer in [
            Timer::Heartbeat,
            Timer::HeartbeatWait,
            Timer::ViewChangeWait,
            Timer::StartViewChangeResend,
            Timer::DoViewChangeResend,
            Timer::PrepareResend,
            Timer::Abdicate,
            Timer::Probe,
        ] {
            self.timers.stop(timer);
        }
        self.cancel_repair();
        self.pause_transfer();
        self.has_voted = false;
        self.leave.clear();
        self.brought.fill(None);
        self.is_chosen = false;
        self.is_announced = false;
        self.probe_attempts = 0;
        self.behind_of = Op(0);
        self.acks.clear();
        self.acks_owed = None;
        self.resend_attempts = 0;
        self.has_abdicated = false;
    }

    // Bringing the log.

    /// Sends our log to all, once the view is durable, and again every 50 ticks until it starts.
    pub(super) fn send_do_view_change(&mut self, ctx: &mut Context<'_>) {
        if self.status != Status::ViewChange || self.is_chosen {
            return;
        }
        self.timers
            .start(Timer::DoViewChangeResend, self.knobs.vote_resend_ticks);
        if !self.is_durable() && !self.skips(Mutation::M15, ctx) {
            return;
        }
        let dvc = Rc::new(self.do_view_change());
        let denies_damage =
            |entry: &DvcEntry| entry.vote == Vote::Nack && self.log.is_damaged(entry.op);
        if dvc.entries.iter().any(denies_damage) {
            self.skips(Mutation::M09, ctx);
        }
        self.broadcast(&Message::DoViewChange(Rc::clone(&dvc)), ctx);
        if self.is_primary() {
            self.collect(self.roster.replica, self.incarnation, dvc, ctx);
        }
    }

    /// Our log above the commit point: what the durable suffix vouches for and what this log view
    /// prepared itself, which is all that boot and adoption let stand there.
    fn do_view_change(&self) -> DoViewChange {
        let head = self.log.head();
        let commit_max = self.vouched_commit();
        let first = commit_max.0.max(1);
        // Above an uncertain head every slot up to the last damaged one is spoken for.
        let last = match self.log.damaged_max() {
            Some(damaged) if self.is_head_uncertain => damaged.max(head),
            _ => head,
        };
        let entries = (first..=last.0).map(Op).map(|op| DvcEntry {
            op,
            header: self.log.header(op).map(Rc::clone),
            vote: self.vote_on(op),
        });
        DoViewChange {
            log_view: self.log_view,
            commit_max,
            head,
            entries: entries.collect(),
            uncertain: self.is_head_uncertain,
            trusted: self.is_trusted,
            checkpoint: self.servable_checkpoint(),
        }
    }

    /// What we say of our own slot: who cannot read it abstains, since rot is not absence (A21).
    fn vote_on(&self, op: Op) -> Vote {
        match self.log.state(op) {
            SlotState::Held { .. } | SlotState::Contained => Vote::Present,
            SlotState::Known | SlotState::Missing
                if self.log.is_damaged(op) && !self.mutations.contains(Mutation::M09) =>
            {
                Vote::Abstain
            }
            // The slot is readable and this body was never journaled.
            SlotState::Known | SlotState::Missing => Vote::Nack,
        }
    }

    pub(super) fn on_do_view_change(
        &mut self,
        sender: Sender,
        dvc: Rc<DoViewChange>,
        ctx: &mut Context<'_>,
    ) {
        let kind = MessageKind::DoViewChange;
        if !self.follows_into_view(kind, sender, ctx) {
            return;
        }
        let from = Some(sender.replica);
        if !self.is_primary() {
            let primary = self.primary();
            return self.ignore(kind, from, Ignored::NotPrimary { primary }, ctx);
        }
        if self.status != Status::ViewChange || self.is_chosen {
            return self.ignore(kind, from, Ignored::AlreadyChosen, ctx);
        }
        self.collect(sender.replica, sender.incarnation, dvc, ctx);
    }

    /// Keeps a log; a later one of the same sender replaces it. Merges again if it says anything new.
    fn collect(
        &mut self,
        from: ReplicaId,
        incarnation: Incarnation,
        dvc: Rc<DoViewChange>,
        ctx: &mut Context<'_>,
    ) {
        let Some(place) = self.brought.get_mut(usize::from(from.0)) else {
            return;
        };
        if let Some((life, known)) = place
            && (*life > incarnation || (*life == incarnation && **known == *dvc))
        {
            return;
        }
        let checkpoint = dvc.checkpoint;
        *place = Some((incarnation, dvc));
        if self.forfeits_to(from, checkpoint, ctx) {
            return;
        }
        let own = usize::from(self.roster.replica.0);
        if self.brought[own].is_some() {
            self.merge(ctx);
        }
    }

    fn merge(&mut self, ctx: &mut Context<'_>) {
        let brought: Vec<Rc<DoViewChange>> = self
            .brought
            .iter()
            .flatten()
            .map(|(_, dvc)| Rc::clone(dvc))
            .collect();
        let senders: Vec<&DoViewChange> = brought.iter().map(Rc::as_ref).collect();
        let merge = match self.merge_logs(&senders, ctx) {
            Ok(merge) => merge,
            Err(conflict) => {
                return self.break_rule("logs of one view agree and link", conflict.op, ctx);
            }
        };
        for decision in &merge.decisions {
            ctx.note(Note::OpDecided {
                op: decision.op,
                kept: decision.kept,
                copies: decision.copies,
                nacks: decision.nacks,
                own: self.vote_on(decision.op),
            });
        }
        ctx.note(Note::Merged {
            view: self.view,
            outcome: merge.outcome,
        });
        self.choose(&merge, ctx);
    }

    /// Makes the merged log our own: `log_view` rises with it in one superblock write.
    fn choose(&mut self, merge: &Merge, ctx: &mut Context<'_>) {
        let (MergeOutcome::Chosen { head, commit_max }
        | MergeOutcome::ChosenAtRisk { head, commit_max }) = merge.outcome
        else {
            return;
        };
        let merged = (merge.suffix.clone(), head, commit_max);
        let own = self.own_log();
        let (suffix, head, commit_max) = if own != merged && self.skips(Mutation::M08, ctx) {
            own
        } else {
            merged
        };
        self.is_chosen = true;
        self.timers.stop(Timer::DoViewChangeResend);
        let checkpoints = self.brought.iter().flatten().map(|(_, dvc)| dvc.checkpoint);
        let checkpoint = checkpoints.max().unwrap_or_default();
        self.install(&suffix, (head, commit_max), checkpoint, ctx);
        let above = head.0.saturating_sub(self.commit_max.0);
        self.acks = (0..above).map(|_| ReplicaSet::default()).collect();
        self.execute(ctx);
        self.persist_log_view(ctx);
    }

    /// The common part of choosing and adopting a log that begins above `checkpoint`.
    fn install(
        &mut self,
        suffix: &[Rc<Header>],
        (head, commit_max): (Op, Op),
        checkpoint: Op,
        ctx: &mut Context<'_>,
    ) {
        // A StartView of the view we follow may have been under way for long.
        let is_new_log = self.log_view != self.view;
        if is_new_log && self.acks_from_memory() {
            // Where a quorum's memory was lost, what was known committed may be gone with it.
            self.commit_max = self.commit_max.min(head);
        }
        if is_new_log && head < self.commit_max {
            return self.break_rule("a view's log holds every op known committed", head, ctx);
        }
        self.log_view = self.view;
        self.is_head_uncertain = false;
        self.commit_max = self.commit_max.max(commit_max);
        let contradicts = |header: &&Rc<Header>| {
            let contained = self.log.header(self.log.floor());
            contained.is_some_and(|ours| ours.op == header.op && ours.checksum != header.checksum)
        };
        if let Some(header) = suffix.iter().find(contradicts) {
            let op = header.op;
            return self.break_rule("a view's log holds what the checkpoint contains", op, ctx);
        }
        self.make_room(suffix, head, checkpoint, ctx);
        let dropped = self.log.install(suffix, head);
        let lost = dropped.iter().map(|entry| entry.header.op).min();
        Self::note_dropped(dropped, ctx);
        if let Some(op) = lost.filter(|&op| op <= self.commit_min) {
            return self.break_rule("a view's log holds every op executed here", op, ctx);
        }
        self.prove(ctx);
    }

    // Starting.

    /// The chosen log is durable: announce it, count our own copies, fetch what is missing.
    pub(super) fn announce_view(&mut self, ctx: &mut Context<'_>) {
        if !self.is_announced {
            self.is_announced = true;
            ctx.note(Note::ViewStarted {
                view: self.view,
                head: self.log.head(),
                commit_max: self.commit_max,
                suffix: self.suffix(),
            });
            let start = self.start_view(Incarnation(0));
            self.broadcast(&Message::StartView(Rc::new(start)), ctx);
        }
        self.count_own_copies(ctx);
        self.repair_step(ctx);
        self.finish_view_start(ctx);
    }

    pub(super) fn start_view(&self, answers: Incarnation) -> StartView {
        StartView {
            commit_max: self.commit_max,
            suffix: self.suffix().to_vec(),
            answers,
            checkpoint: self.servable_checkpoint(),
        }
    }

    /// Normal once every op to the head is held and the commit point is executed.
    pub(super) fn finish_view_start(&mut self, ctx: &mut Context<'_>) {
        let is_starting =
            self.status == Status::ViewChange && self.is_announced && self.is_durable();
        let has_all =
            self.log.held_through() >= self.log.head() && self.commit_min == self.commit_max;
        if !is_starting || !has_all {
            return;
        }
        self.status = Status::Normal;
        self.normal_since = self.timers.now();
        self.has_voted = false;
        self.leave.clear();
        self.timers.stop(Timer::ViewChangeWait);
        self.timers.stop(Timer::StartViewChangeResend);
        ctx.note(Note::BecameNormal {
            view: self.view,
            head: self.log.head(),
            primary: true,
        });
        self.on_heartbeat_due(ctx);
        if !self.acks.is_empty() {
            self.arm_resend();
            self.timers
                .start(Timer::Abdicate, self.knobs.abdicate_ticks);
        }
    }

    // Adopting.

    pub(super) fn on_start_view(
        &mut self,
        sender: Sender,
        start: &Rc<StartView>,
        ctx: &mut Context<'_>,
    ) {
        if let Some(reason) = self.reason_to_refuse(sender, start) {
            self.ignore(MessageKind::StartView, Some(sender.replica), reason, ctx);
            return;
        }
        self.adopt(sender.view, start, ctx);
    }

    fn reason_to_refuse(&self, sender: Sender, start: &StartView) -> Option<Ignored> {
        let ours = self.view;
        if sender.view < ours {
            let view = sender.view;
            return Some(Ignored::OlderView { view, ours });
        }
        let primary = sender.view.primary(self.roster.replica_count);
        if sender.replica != primary || primary == self.roster.replica {
            return Some(Ignored::NotFromPrimary);
        }
        match self.status {
            // A letter to a former life may not know what that life acked (A19).
            Status::Recovering => {
                let answers_us = start.answers == self.incarnation;
                let is_newer = sender.view > self.durable.view;
                (!answers_us && !is_newer).then_some(Ignored::OtherIncarnation {
                    answers: start.answers,
                    ours: self.incarnation,
                })
            }
            // Two that lost nothing to each other must be able to go on: while our log is of an
            // older view, we acked nothing in this one.
            Status::RecoveringHead => {
                let answers_us = start.answers == self.incarnation;
                let is_newer = sender.view > self.durable.view || self.log_view < sender.view;
                (!answers_us && !is_newer).then_some(Ignored::OtherIncarnation {
                    answers: start.answers,
                    ours: self.incarnation,
                })
            }
            Status::Normal if sender.view == ours => {
                let head = self.log.head();
                (start.head() <= head).then(|| Ignored::NothingNew {
                    head: start.head(),
                    ours: head,
                })
            }
            Status::Normal | Status::ViewChange => None,
        }
    }

    fn adopt(&mut self, view: View, start: &StartView, ctx: &mut Context<'_>) {
        let head_before = self.log.head();
        let was_following = self.status == Status::Normal && self.view == view;
        self.view = view;
        self.reset_phase();
        self.status = Status::Normal;
        ctx.note(Note::LogAdopted {
            view,
            head_before,
            head: start.head(),
        });
        let (suffix, commit_max) = (&start.suffix, start.commit_max);
        self.acks_owed = Some(AcksOwed::of(start));
        self.install(suffix, (start.head(), commit_max), start.checkpoint, ctx);
        if self.is_halted() {
            return;
        }
        if !was_following {
            self.normal_since = self.timers.now();
            ctx.note(Note::BecameNormal {
                view,
                head: self.log.head(),
                primary: false,
            });
        }
        self.timers
            .start(Timer::HeartbeatWait, self.knobs.heartbeat_wait_ticks);
        self.persist_log_view(ctx);
        self.execute(ctx);
        self.repair_step(ctx);
        if self.commit_max > self.log.head() {
            self.note_behind(self.commit_max);
        }
    }
}

#[cfg(test)]
#[path = "view_change_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "adopting_tests.rs"]
mod adopting_tests;
