//! Acks and execution, at any replica (protocol sections 2 and 3): what may be acknowledged, and what
//! may be executed once it is known committed. Must never decide what commits.

use std::rc::Rc;

use crate::ids::{Checksum, Op};
use crate::vsr::io::{Durability, Effect, Status};
use crate::vsr::message::{Message, Operation, Prepare, StartView};
use crate::vsr::mutation::Mutation;
use crate::vsr::note::{Note, StateNote};
use crate::vsr::replica::{Context, Replica};

/// What a replica has to ack once the log it adopted is durable: the primary may know less committed
/// than we do, and needs those acks to get there.
#[derive(Debug)]
pub(super) struct AcksOwed {
    /// The view's log above what its primary knows committed. By the time they are sent our
    /// checkpoint may contain some of them.
    named: Vec<(Op, Checksum)>,
    /// The first op after them.
    from: Op,
}

impl AcksOwed {
    pub(super) fn of(start: &StartView) -> Self {
        let named = start
            .suffix
            .iter()
            .filter(|header| header.op > start.commit_max);
        Self {
            named: named.map(|header| (header.op, header.checksum)).collect(),
            from: start.head().next(),
        }
    }
}

impl Replica {
    pub(super) fn on_prepare_synced(&mut self, op: Op, checksum: Checksum, ctx: &mut Context<'_>) {
        // The log may have dropped the entry while its write was under way.
        if !self.log.mark_synced(op, checksum) {
            return;
        }
        ctx.note(Note::Journaled { op, checksum });
        if !self.acks_from_memory() {
            self.on_safe(op, ctx);
        }
    }

    /// An entry came into the log: where the group acknowledges from memory, that is enough.
    pub(super) fn on_held(&mut self, op: Op, ctx: &mut Context<'_>) {
        if self.acks_from_memory() {
            self.on_safe(op, ctx);
        }
    }

    /// Whether acks leave before writes land (protocol section 9).
    pub(super) fn acks_from_memory(&self) -> bool {
        self.durable.durability == Durability::Replicated
    }

    /// What it may have acknowledged and a power cut would take: nothing where acks wait for the disk.
    #[must_use]
    pub fn acked_in_memory(&self) -> Vec<Op> {
        if self.acks_from_memory() {
            self.log.unsynced().collect()
        } else {
            Vec::new()
        }
    }

    /// What it may tell a view change to be committed: where acks come from memory, no more than its
    /// own log reaches, since nobody may have the rest any more.
    pub(super) fn vouched_commit(&self) -> Op {
        if self.acks_from_memory() {
            self.commit_max.min(self.log.head())
        } else {
            self.commit_max
        }
    }

    fn is_safe(&self, op: Op) -> bool {
        self.log.is_synced(op) || self.acks_from_memory() && self.log.prepare(op).is_some()
    }

    fn on_safe(&mut self, op: Op, ctx: &mut Context<'_>) {
        let before = self.safe_through;
        self.advance_safe();
        if self.is_recovering() || !self.is_durable() {
            return;
        }
        let is_out_of_order = op > self.safe_through && self.skips(Mutation::M52, ctx);
        if op <= self.durable.head() || is_out_of_order {
            self.ack_or_withhold(op, ctx);
            return;
        }
        for op in (before.0 + 1..=self.safe_through.0).map(Op) {
            self.ack_or_withhold(op, ctx);
        }
    }

    pub(super) fn advance_safe(&mut self) {
        while self.is_safe(self.safe_through.next()) {
            self.safe_through = self.safe_through.next();
        }
    }

    /// Acks go out in the order of ops: every op from the head of the durable suffix up to this one
    /// is safe: synced, or where the group acknowledges from memory, held. Without it an ack of a later
    /// op claims an earlier one that a crash can still take (A56). What the durable checkpoint contains is held for good.
    pub(super) fn may_ack(&self, op: Op) -> bool {
        if !self.is_durable() || self.log_view != self.view || op > self.ack_limit() {
            return false;
        }
        if op <= self.checkpoint() {
            return self.has_state();
        }
        if op <= self.durable.head() {
            return self.is_safe(op);
        }
        let may_jump_the_queue = self.mutations.contains(Mutation::M52);
        op <= self.safe_through || (may_jump_the_queue && self.is_safe(op))
    }

    pub(super) fn ack_if_allowed(&mut self, op: Op, ctx: &mut Context<'_>) {
        if self.may_ack(op)
            && let Some(checksum) = self.log.identity(op)
        {
            self.send_ack(op, checksum, ctx);
        }
    }

    fn ack_or_withhold(&mut self, op: Op, ctx: &mut Context<'_>) {
        if op > self.ack_limit() {
            let until = self.next_checkpoint();
            return ctx.note_state(StateNote::AckWithheld { op, until });
        }
        self.ack_if_allowed(op, ctx);
    }

    pub(super) fn send_ack(&mut self, op: Op, checksum: Checksum, ctx: &mut Context<'_>) {
        let is_proven = op >= self.log.proven_from() || op <= self.checkpoint();
        if self.log_view != self.view || !is_proven {
            return;
        }
        let primary = self.primary();
        if self.is_primary() {
            if op > self.commit_max {
                ctx.note(Note::Acked {
                    op,
                    checksum,
                    to: primary,
                });
                self.count_ack(op, primary, ctx);
                self.advance_commit(ctx);
            }
            return;
        }
        if self.status == Status::Normal {
            ctx.note(Note::Acked {
                op,
                checksum,
                to: primary,
            });
            self.send(primary, Message::PrepareOk { op, checksum }, ctx);
        }
    }

    /// Acks what may be acked of the log just adopted, once it is durable: every op of the suffix
    /// that is held synced or that the durable checkpoint contains. (Else nobody acks what is
    /// checkpointed, and the view starves.)
    pub(super) fn send_acks_owed(&mut self, ctx: &mut Context<'_>) {
        let Some(owed) = self.acks_owed.take() else {
            return;
        };
        for (op, checksum) in owed.named {
            if self.may_ack(op) {
                self.send_ack(op, checksum, ctx);
            }
        }
        for op in (owed.from.0..=self.log.head().0).map(Op) {
            self.ack_if_allowed(op, ctx);
        }
    }

    /// Counts the copies that a primary has of the log it has just chosen.
    pub(super) fn count_own_copies(&mut self, ctx: &mut Context<'_>) {
        for op in (self.commit_max.0 + 1..=self.log.head().0).map(Op) {
            self.ack_if_allowed(op, ctx);
        }
    }

    // Execution, at any replica.

    pub(super) fn prove(&mut self, ctx: &mut Context<'_>) {
        let before = self.log.proven_from();
        let dropped = self.log.prove(self.commit_min);
        Self::note_dropped(dropped, ctx);
        if self.log.proven_from() < before {
            ctx.note(Note::Proven {
                from: self.log.proven_from(),
            });
        }
        if !self.log.links_to(self.commit_min) {
            self.break_rule(
                "the log of a view links to what was executed",
                self.commit_min,
                ctx,
            );
        }
    }

    /// Executes while the next op is held, proven and known committed.
    pub(super) fn execute(&mut self, ctx: &mut Context<'_>) {
        let answers = self.status == Status::Normal && self.is_primary();
        while self.commit_min < self.commit_max {
            let op = self.commit_min.next();
            let Some(prepare) = self.log.prepare(op).map(Rc::clone) else {
                return;
            };
            if op < self.log.proven_from() && !self.skips(Mutation::M22, ctx) {
                return;
            }
            self.commit_min = op;
            self.execute_one(&prepare, answers, ctx);
            self.snapshot_if_due(&prepare.header, ctx);
        }
        let settled_ticks = u64::from(self.knobs.view_change_wait_ticks);
        if self.status == Status::Normal && self.timers.now() > self.normal_since + settled_ticks {
            self.failed_views = 0;
        }
    }

    fn execute_one(&mut self, prepare: &Rc<Prepare>, answers: bool, ctx: &mut Context<'_>) {
        let header = &prepare.header;
        let repeats = self.sessions.has_executed(header) && self.skips(Mutation::M23, ctx);
        let executed = self.sessions.execute(prepare, repeats, ctx.machine);
        let digest = self.digest(ctx.machine);
        ctx.note(Note::Executed {
            prepare: Rc::clone(prepare),
            effect: executed.effect,
            digest,
        });
        if let Some((client, session)) = executed.evicted {
            ctx.note(Note::SessionEvicted { client, session });
        }
        if header.operation == Operation::Register {
            ctx.note(Note::SessionOpened {
                client: header.client,
                session: header.op,
            });
        }
        if !answers {
            return;
        }
        let message = match executed.answer {
            Ok(reply) => Message::Reply(reply),
            Err(rejection) => Message::Eviction {
                session: header.session,
                request: header.request,
                rejection,
            },
        };
        ctx.effects.push(Effect::SendClient {
            to: header.client,
            view: self.view,
            message,
        });
    }
}
