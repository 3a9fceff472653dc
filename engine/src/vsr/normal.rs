//! Normal operation (protocol section 3): a request becomes an op, a quorum holds it, it commits and
//! is executed. Must never decide who leads.

use std::rc::Rc;

use crate::ids::{Checksum, Op, ReplicaId};
use crate::vsr::io::{Effect, Status, Timer};
use crate::vsr::log::{SlotState, Unfilled};
use crate::vsr::message::{Header, Message, MessageKind, Prepare, Rejection, Reply, Request};
use crate::vsr::mutation::Mutation;
use crate::vsr::note::{Ignored, LeaveCause, Note, RequestDropped};
use crate::vsr::replica::{Context, Replica, ReplicaSet, Sender};
use crate::vsr::sessions::Verdict;

/// Longest interval of resent prepares, as a multiple of the first: 2 to the fourth.
const RESEND_DOUBLINGS_MAX: u32 = 4;

impl Replica {
    // At the primary.

    pub(super) fn on_request(&mut self, request: &Rc<Request>, ctx: &mut Context<'_>) {
        if self.status != Status::Normal || !self.is_primary() || !self.is_durable() {
            let reason = RequestDropped::NotPrimary {
                primary: self.primary(),
                status: self.status,
            };
            return Self::drop_request(request, reason, ctx);
        }
        match self.judge(request, ctx) {
            Verdict::New => match self.reason_to_wait(request) {
                None => self.prepare(request, ctx),
                Some(reason) => Self::drop_request(request, reason, ctx),
            },
            Verdict::Ahead => Self::drop_request(request, RequestDropped::SessionAhead, ctx),
            Verdict::Duplicate(reply) => self.repeat_reply(reply, ctx),
            Verdict::Rejected(rejection) => self.reject(request, rejection, ctx),
        }
    }

    fn judge(&self, request: &Request, ctx: &mut Context<'_>) -> Verdict {
        use Rejection::{NumberReused, RequestTooOld};
        match self.sessions.judge(request, self.commit_min) {
            Verdict::Duplicate(_) | Verdict::Rejected(RequestTooOld | NumberReused)
                if self.skips(Mutation::M23, ctx) =>
            {
                Verdict::New
            }
            verdict => verdict,
        }
    }

    fn drop_request(request: &Request, reason: RequestDropped, ctx: &mut Context<'_>) {
        ctx.note(Note::RequestDropped {
            client: request.client,
            request: request.request,
            reason,
        });
    }

    fn repeat_reply(&mut self, reply: Rc<Reply>, ctx: &mut Context<'_>) {
        ctx.note(Note::ReplyRepeated {
            client: reply.client,
            request: reply.request,
            op: reply.op,
        });
        ctx.effects.push(Effect::SendClient {
            to: reply.client,
            view: self.view,
            message: Message::Reply(reply),
        });
    }

    fn reject(&mut self, request: &Request, rejection: Rejection, ctx: &mut Context<'_>) {
        ctx.note(Note::RequestRejected {
            client: request.client,
            request: request.request,
            rejection,
        });
        ctx.effects.push(Effect::SendClient {
            to: request.client,
            view: self.view,
            message: Message::Eviction {
                session: request.session,
                request: request.request,
                rejection,
            },
        });
    }

    fn reason_to_wait(&self, request: &Request) -> Option<RequestDropped> {
        // What is known committed but not executed yet may hold this very request.
        let pending = (self.commit_min.0 + 1..=self.log.head().0).map(Op);
        let same = |header: &Rc<Header>| {
            header.client == request.client
                && header.session == request.session
                && header.request == request.request
        };
        if let Some(op) = pending
            .clone()
            .find(|&op| self.log.header(op).is_some_and(same))
        {
            return Some(RequestDropped::InFlight { op });
        }
        let waiting = u32::try_from(pending.count()).unwrap_or(u32::MAX);
        if waiting >= self.knobs.pipeline_max {
            return Some(RequestDropped::PipelineFull { waiting });
        }
        if waiting >= self.knobs.pipeline_max.div_ceil(2)
            && let Some(peer) = self.peer_in_transfer()
        {
            return Some(RequestDropped::PipelineHalved { waiting, peer });
        }
        if self.log.head() >= self.journal_limit() {
            return Some(RequestDropped::JournalFull {
                slots: self.knobs.journal_slots,
            });
        }
        None
    }

    fn prepare(&mut self, request: &Rc<Request>, ctx: &mut Context<'_>) {
        let head = self.log.head();
        let Some(parent) = self.log.header(head).map(Rc::clone) else {
            return self.break_rule("a normal primary knows its head", head, ctx);
        };
        let header = Header {
            group: self.roster.group,
            op: head.next(),
            parent: parent.checksum,
            view: self.view,
            commit: self.commit_max,
            timestamp_micros: ctx.now_micros.max(parent.timestamp_micros + 1),
            client: request.client,
            session: request.session,
            request: request.request,
            operation: request.operation,
            body_checksum: request.body_checksum,
            checksum: Checksum(0),
        }
        .sealed();
        let prepare = Rc::new(Prepare {
            header: Rc::new(header),
            body: Rc::clone(&request.body),
        });
        ctx.note(Note::Prepared {
            op: prepare.header.op,
            checksum: prepare.header.checksum,
            client: request.client,
        });
        self.acks.push_back(ReplicaSet::default());
        if !self.append_and_write(&prepare, ctx) {
            return;
        }
        self.broadcast(
            &Message::Prepare {
                prepare,
                commit_max: self.commit_max,
            },
            ctx,
        );
        self.arm_resend();
        self.timers
            .ensure(Timer::Abdicate, self.knobs.abdicate_ticks);
    }

    pub(super) fn on_prepare_ok(
        &mut self,
        sender: Sender,
        op: Op,
        checksum: Checksum,
        ctx: &mut Context<'_>,
    ) {
        let kind = MessageKind::PrepareOk;
        let from = Some(sender.replica);
        let counts_anything = self.mutations.contains(Mutation::M05);
        if sender.view < self.view && !counts_anything {
            let reason = Ignored::OlderView {
                view: sender.view,
                ours: self.view,
            };
            return self.ignore(kind, from, reason, ctx);
        }
        if sender.view > self.view {
            return self.ask_newer(kind, sender, ctx);
        }
        if !self.is_primary() || self.log_view != self.view {
            let primary = self.primary();
            return self.ignore(kind, from, Ignored::NotPrimary { primary }, ctx);
        }
        let is_waiting = op > self.commit_max && op <= self.log.head();
        let names_it = sender.view == self.view && self.log.identity(op) == Some(checksum);
        if !is_waiting || (!names_it && !self.skips(Mutation::M05, ctx)) {
            return self.ignore(kind, from, Ignored::StaleAck { op }, ctx);
        }
        self.count_ack(op, sender.replica, ctx);
        self.advance_commit(ctx);
    }

    pub(super) fn count_ack(&mut self, op: Op, from: ReplicaId, ctx: &mut Context<'_>) {
        let place = usize::try_from(op.0 - self.commit_max.0 - 1).unwrap_or(usize::MAX);
        let Some(holders) = self.acks.get_mut(place) else {
            return;
        };
        if holders.insert(from) {
            ctx.note(Note::AckCounted {
                op,
                from,
                have: holders.len(),
                need: self.quorums.replication,
            });
        }
    }

    /// Commits while the next op, and so every earlier one, is held by a replication quorum.
    pub(super) fn advance_commit(&mut self, ctx: &mut Context<'_>) {
        let before = self.commit_max;
        while let Some(holders) = self.acks.front()
            && holders.len() >= self.quorums.replication
        {
            self.acks.pop_front();
            self.commit_max = self.commit_max.next();
        }
        if self.commit_max == before {
            return;
        }
        ctx.note(Note::CommitAdvanced {
            commit_max: self.commit_max,
        });
        if self.has_abdicated {
            self.has_abdicated = false;
            self.withdraw_vote(ctx);
        }
        self.resend_attempts = 0;
        if self.acks.is_empty() {
            self.timers.stop(Timer::PrepareResend);
            self.timers.stop(Timer::Abdicate);
        } else {
            self.timers
                .start(Timer::Abdicate, self.knobs.abdicate_ticks);
            // It stopped if this primary had abdicated.
            self.arm_resend();
        }
        self.execute(ctx);
        self.finish_view_start(ctx);
    }

    pub(super) fn arm_resend(&mut self) {
        if !self.timers.is_running(Timer::PrepareResend) {
            let doublings = self.resend_attempts.min(RESEND_DOUBLINGS_MAX);
            let wait = self.knobs.prepare_resend_ticks << doublings;
            let jitter = self.jitter.between(0, wait);
            self.timers.start(Timer::PrepareResend, wait + jitter);
        }
    }

    pub(super) fn on_prepare_resend_due(&mut self, ctx: &mut Context<'_>) {
        if self.status != Status::Normal || !self.is_primary() || self.acks.is_empty() {
            return;
        }
        if self.has_abdicated {
            return;
        }
        ctx.note(Note::TimerFired {
            timer: Timer::PrepareResend,
        });
        self.resend_attempts += 1;
        self.arm_resend();
        self.send_unacked(ctx);
    }

    /// Sends every prepare that lacks a quorum to those that have not acked it.
    pub(super) fn send_unacked(&mut self, ctx: &mut Context<'_>) {
        let first = self.commit_max.0 + 1;
        let unacked: Vec<(Op, ReplicaSet)> = (first..).map(Op).zip(self.acks.clone()).collect();
        for (op, holders) in unacked {
            if holders.len() >= self.quorums.replication {
                continue;
            }
            let Some(prepare) = self.log.prepare(op).map(Rc::clone) else {
                continue;
            };
            for to in (0..self.roster.replica_count).map(ReplicaId) {
                if to != self.roster.replica && !holders.contains(to) {
                    let message = Message::Prepare {
                        prepare: Rc::clone(&prepare),
                        commit_max: self.commit_max,
                    };
                    self.send(to, message, ctx);
                }
            }
        }
    }

    pub(super) fn on_heartbeat_due(&mut self, ctx: &mut Context<'_>) {
        if self.status != Status::Normal || !self.is_primary() {
            return;
        }
        self.timers
            .start(Timer::Heartbeat, self.knobs.heartbeat_ticks);
        if self.has_abdicated || !self.is_durable() {
            return;
        }
        ctx.note(Note::TimerFired {
            timer: Timer::Heartbeat,
        });
        self.broadcast(
            &Message::Commit {
                commit_max: self.commit_max,
            },
            ctx,
        );
    }

    /// Nothing commits: a primary that hears no acks keeps everyone loyal to no use (A32).
    pub(super) fn on_abdicate_due(&mut self, ctx: &mut Context<'_>) {
        if self.status == Status::Normal && self.is_primary() && !self.acks.is_empty() {
            self.has_abdicated = true;
            ctx.note(Note::Abdicated {
                view: self.view,
                op: self.commit_max.next(),
            });
            // Its own vote may be the one that a view-change quorum lacks (n = 3 with one dead).
            let ticks = self.knobs.abdicate_ticks;
            self.vote_to_leave(LeaveCause::NothingCommits { ticks }, ctx);
        }
    }

    // At a backup.

    pub(super) fn on_prepare(
        &mut self,
        sender: Sender,
        prepare: &Rc<Prepare>,
        commit_max: Op,
        ctx: &mut Context<'_>,
    ) {
        if !self.hears_primary(MessageKind::Prepare, sender, ctx) {
            return;
        }
        let op = prepare.header.op;
        let head = self.log.head();
        if op == head.next() {
            if self.log.identity(head) == Some(prepare.header.parent) {
                self.append(sender, prepare, ctx);
            } else {
                let reason = Ignored::BrokenChain { op };
                self.ignore(MessageKind::Prepare, Some(sender.replica), reason, ctx);
            }
        } else if op > head {
            let reason = Ignored::Gap { op, head };
            self.ignore(MessageKind::Prepare, Some(sender.replica), reason, ctx);
            self.note_behind(op);
        } else {
            self.fill_or_ack_again(sender, prepare, ctx);
        }
        self.learn_commit(commit_max, ctx);
    }

    fn append(&mut self, sender: Sender, prepare: &Rc<Prepare>, ctx: &mut Context<'_>) {
        if prepare.header.op > self.journal_limit() {
            let slots = self.knobs.journal_slots;
            let reason = Ignored::JournalFull { slots };
            return self.ignore(MessageKind::Prepare, Some(sender.replica), reason, ctx);
        }
        ctx.note(Note::Appended {
            op: prepare.header.op,
            checksum: prepare.header.checksum,
        });
        self.append_and_write(prepare, ctx);
    }

    /// Puts the next entry into the log and journals it; whether it is the next one.
    fn append_and_write(&mut self, prepare: &Rc<Prepare>, ctx: &mut Context<'_>) -> bool {
        let is_next = self.log.append(Rc::clone(prepare));
        if is_next {
            self.write_prepare(prepare, ctx);
            self.on_held(prepare.header.op, ctx);
        } else {
            self.break_rule("appends are contiguous", prepare.header.op, ctx);
        }
        is_next
    }

    fn write_prepare(&mut self, prepare: &Rc<Prepare>, ctx: &mut Context<'_>) {
        ctx.effects.push(Effect::WritePrepare(Rc::clone(prepare)));
        if self.status == Status::Normal && self.skips(Mutation::M17, ctx) {
            self.send_ack(prepare.header.op, prepare.header.checksum, ctx);
        }
    }

    fn fill_or_ack_again(&mut self, sender: Sender, prepare: &Rc<Prepare>, ctx: &mut Context<'_>) {
        let op = prepare.header.op;
        let checksum = prepare.header.checksum;
        let is_known = self.log.identity(op) == Some(checksum);
        // Only an identity known already may be filled in from a prepare: what is below the proof
        // is repair's business.
        let reason = match self.log.state(op) {
            SlotState::Contained => Ignored::Contained {
                op,
                checkpoint: self.log.floor(),
            },
            _ if !is_known => Ignored::OtherIdentity { op },
            SlotState::Held { .. } => Ignored::Duplicate { op },
            SlotState::Known | SlotState::Missing => match self.take_body(prepare, false, ctx) {
                Ok(()) => return,
                Err(reason) => reason,
            },
        };
        self.ignore(MessageKind::Prepare, Some(sender.replica), reason, ctx);
        // A checkpoint contains what was committed, which is what this view's log has there.
        if (is_known || op <= self.checkpoint()) && self.may_ack(op) {
            self.send_ack(op, checksum, ctx);
        }
    }

    /// Gives a hole its body and journals it, or says why not.
    pub(super) fn take_body(
        &mut self,
        prepare: &Rc<Prepare>,
        repair: bool,
        ctx: &mut Context<'_>,
    ) -> Result<(), Ignored> {
        let op = prepare.header.op;
        if op > self.journal_limit() {
            let slots = self.knobs.journal_slots;
            return Err(Ignored::JournalFull { slots });
        }
        self.log.fill(prepare).map_err(|unfilled| match unfilled {
            Unfilled::Duplicate => Ignored::Duplicate { op },
            Unfilled::OtherIdentity => Ignored::OtherIdentity { op },
            Unfilled::AboveHead => Ignored::Gap {
                op,
                head: self.log.head(),
            },
            Unfilled::BelowFloor => Ignored::Contained {
                op,
                checkpoint: self.log.floor(),
            },
        })?;
        ctx.note(Note::Filled {
            op,
            checksum: prepare.header.checksum,
            repair,
        });
        self.write_prepare(prepare, ctx);
        self.prove(ctx);
        self.on_held(op, ctx);
        self.execute(ctx);
        self.finish_view_start(ctx);
        Ok(())
    }

    pub(super) fn on_heartbeat(&mut self, sender: Sender, commit_max: Op, ctx: &mut Context<'_>) {
        if self.hears_primary(MessageKind::Commit, sender, ctx) {
            self.learn_commit(commit_max, ctx);
        }
    }

    /// Whether a message comes from the primary of our view and we follow it. Hearing the primary
    /// withdraws a vote to leave.
    fn hears_primary(&mut self, kind: MessageKind, sender: Sender, ctx: &mut Context<'_>) -> bool {
        let from = Some(sender.replica);
        if sender.view < self.view {
            let reason = Ignored::OlderView {
                view: sender.view,
                ours: self.view,
            };
            self.ignore(kind, from, reason, ctx);
            return false;
        }
        if sender.view > self.view {
            self.ask_newer(kind, sender, ctx);
            return false;
        }
        if sender.replica != self.primary() {
            self.ignore(kind, from, Ignored::NotFromPrimary, ctx);
            return false;
        }
        if self.status != Status::Normal {
            let reason = Ignored::WrongStatus {
                status: self.status,
            };
            self.ignore(kind, from, reason, ctx);
            return false;
        }
        self.timers
            .start(Timer::HeartbeatWait, self.knobs.heartbeat_wait_ticks);
        self.withdraw_vote(ctx);
        true
    }

    fn learn_commit(&mut self, commit_max: Op, ctx: &mut Context<'_>) {
        self.commit_max = self.commit_max.max(commit_max);
        // The entry may have come after the news that it is committed.
        self.execute(ctx);
        if commit_max > self.log.head() {
            self.note_behind(commit_max);
        }
    }
}

#[cfg(test)]
#[path = "normal_tests.rs"]
mod tests;
