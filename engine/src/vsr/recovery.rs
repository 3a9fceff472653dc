//! Formatting, booting from disk, and asking who leads (protocol section 6). Must never execute or
//! drop what nothing vouches for.

use std::rc::Rc;

use crate::ids::{Incarnation, Op, ReplicaId, View};
use crate::prng::Rng;
use crate::vsr::io::{Checkpoint, Durability, Status, Superblock, Timer};
use crate::vsr::message::{Header, Message, MessageKind, Prepare};
use crate::vsr::mutation::{Mutation, Rules};
use crate::vsr::note::{Ignored, LeaveCause, Note, TransferCause};
use crate::vsr::replica::{Context, Replica, Roster, Sender};
use crate::vsr::snapshot::Snapshot;

/// What a disk gave back at boot.
#[derive(Debug)]
pub struct Recovered {
    /// The superblock.
    pub superblock: Superblock,
    /// Every readable prepare of the rings, ascending by op.
    pub prepares: Vec<Rc<Prepare>>,
    /// Slots that cannot be read, ascending by op.
    pub damaged: Vec<DamagedSlot>,
    /// The snapshot in the place that the superblock names, where one can be read.
    pub snapshot: Option<Rc<Snapshot>>,
}

/// A slot whose prepare cannot be read.
#[derive(Clone, Debug)]
pub struct DamagedSlot {
    /// The op that belongs there.
    pub op: Op,
    /// The header of what was there, where the header ring still tells.
    pub header: Option<Rc<Header>>,
}

impl Replica {
    /// The superblock that formatting writes at the start of a run: view 0, an empty log, acknowledged
    /// once it is on disk.
    #[must_use]
    pub fn format(roster: Roster) -> Superblock {
        Superblock {
            sequence: 1,
            replica: roster.replica,
            replica_count: roster.replica_count,
            group: roster.group,
            durability: Durability::Persisted,
            incarnation: Incarnation(1),
            view: View(0),
            log_view: View(0),
            commit_max: Op(0),
            checkpoint: Checkpoint::root(roster.group),
            suffix: Rc::from([]),
        }
    }

    /// Starts on a disk just formatted: normal in view 0, since there is nothing to recover.
    pub fn start(
        roster: Roster,
        rules: impl Into<Rules>,
        superblock: Superblock,
        jitter: Rng,
        ctx: &mut Context<'_>,
    ) -> Self {
        let mut replica = Self::new(roster, rules.into(), superblock, jitter);
        replica.status = Status::Normal;
        ctx.note(Note::BecameNormal {
            view: View(0),
            head: Op(0),
            primary: replica.is_primary(),
        });
        if replica.is_primary() {
            replica
                .timers
                .start(Timer::Heartbeat, replica.knobs.heartbeat_ticks);
        } else {
            replica
                .timers
                .start(Timer::HeartbeatWait, replica.knobs.heartbeat_wait_ticks);
        }
        replica
    }

    /// Boots from what the disk holds: a new life, recovering, with the proven and committed part
    /// executed. The new incarnation becomes durable before anything is asked.
    pub fn boot(
        roster: Roster,
        rules: impl Into<Rules>,
        recovered: Recovered,
        jitter: Rng,
        ctx: &mut Context<'_>,
    ) -> Self {
        let found = &recovered.superblock;
        let is_ours = found.replica == roster.replica
            && found.replica_count == roster.replica_count
            && found.group == roster.group;
        let incarnation = Incarnation(found.incarnation.0 + 1);
        let mut replica = Self::new(roster, rules.into(), recovered.superblock, jitter);
        replica.incarnation = incarnation;
        // What it acknowledged from memory is gone, and it cannot tell how much that was.
        replica.is_trusted = !replica.acks_from_memory();
        if !is_ours {
            replica.break_rule(
                "a disk belongs to this replica, roster and group",
                Op(0),
                ctx,
            );
            return replica;
        }
        if replica.load(&recovered.prepares, &recovered.damaged) {
            replica.skips(Mutation::M56, ctx);
        }
        let lowest = replica.log.floor().0 + 1;
        let unproven = replica.log.proven_from().0.saturating_sub(lowest);
        ctx.note(Note::Booted {
            incarnation,
            view: replica.view,
            log_view: replica.log_view,
            head: replica.log.head(),
            unproven: u32::try_from(unproven).unwrap_or(u32::MAX),
        });
        replica.restore_own(recovered.snapshot, ctx);
        if replica.needs_state() {
            let (head, checkpoint) = (replica.log.head(), replica.log.floor());
            let wanted = Op(head
                .0
                .saturating_sub(u64::from(replica.knobs.journal_slots)));
            replica.want_state(wanted, TransferCause::LogAhead { head, checkpoint }, ctx);
        }
        replica.execute(ctx);
        replica.write_superblock(ctx);
        replica
    }

    /// The durable suffix is the log; above it stand the entries that its log view prepared itself,
    /// below it whatever links to it. Entries below a hole stay, unproven. What the checkpoint
    /// contains is kept in mind for others alone. Whether entries beyond a hole were left out.
    fn load(&mut self, prepares: &[Rc<Prepare>], damaged: &[DamagedSlot]) -> bool {
        let suffix = Rc::clone(&self.durable.suffix);
        let suffix_first = suffix.first().map_or(Op(1), |header| header.op);
        let suffix_head = self.durable.head();
        if suffix_first > self.journal_limit().next() {
            self.log.skip_to(suffix_first.previous());
        }
        for header in suffix.iter() {
            self.log.learn(header);
        }
        let ends_at_gap = self.mutations.contains(Mutation::M56);
        let mut is_cut = false;
        for prepare in prepares {
            let header = &prepare.header;
            if header.op <= self.log.floor() {
                self.log.remember(header);
                continue;
            }
            let belongs = if header.op > suffix_head {
                let is_ours = header.view == self.log_view;
                let is_beyond = ends_at_gap && !self.follows_without_gap(header.op, damaged);
                is_cut |= is_ours && is_beyond;
                is_ours && !is_beyond
            } else if header.op >= suffix_first {
                self.log.identity(header.op) == Some(header.checksum)
            } else {
                true
            };
            if belongs {
                self.log.rejoin(Rc::clone(prepare));
            }
        }
        for slot in damaged {
            self.log.mark_damaged(slot.op);
            if let Some(header) = &slot.header
                && header.op > suffix_head
                && header.view == self.log_view
            {
                self.log.learn(header);
            }
        }
        // Damage above the head may hide entries that were acked.
        if self
            .log
            .damaged_max()
            .is_some_and(|op| op > self.log.head())
        {
            self.is_head_uncertain = true;
            self.status = Status::RecoveringHead;
        }
        self.log.set_proven_from(self.log.head());
        // What contradicts the chain is a hole from now on; boot has nobody to tell yet.
        self.log.prove(self.commit_min);
        is_cut
    }

    /// Whether the log reaches an op without a slot between that is readable and empty.
    fn follows_without_gap(&self, op: Op, damaged: &[DamagedSlot]) -> bool {
        let is_damaged = |between| damaged.iter().any(|slot| slot.op == Op(between));
        (self.log.head().0 + 1..op.0).all(is_damaged)
    }

    /// A restarted replica that has the log of a started view, whole, lacks nothing that it
    /// acknowledged: its former life could do so only in that log, or in an older one that it holds.
    pub(super) fn regain_trust(&mut self, ctx: &mut Context<'_>) {
        let has_whole_log = self.status == Status::Normal
            && !self.needs_state()
            && self.log.held_through() >= self.log.head();
        if !self.is_trusted && has_whole_log {
            self.is_trusted = true;
            let head = self.log.head();
            ctx.note(Note::TrustRegained { head });
        }
    }

    // Asking.

    pub(super) fn begin_probing(&mut self, ctx: &mut Context<'_>) {
        if self.probe_attempts > 0 {
            return;
        }
        if self.roster.replica_count == 1 {
            // Nobody could answer.
            self.probe_attempts = self.knobs.probe_attempts_max + 1;
            self.vote_to_leave(LeaveCause::ProbesUnanswered { attempts: 0 }, ctx);
            return;
        }
        self.on_probe_due(ctx);
    }

    pub(super) fn on_probe_due(&mut self, ctx: &mut Context<'_>) {
        match self.status {
            Status::Recovering | Status::RecoveringHead => self.probe_all(ctx),
            Status::ViewChange if !self.is_primary() => self.probe_primary(ctx),
            // Without the state, a longer log would be of no use.
            Status::Normal
                if self.behind_of > self.log.head()
                    && !self.is_primary()
                    && !self.needs_state() =>
            {
                self.probe_primary(ctx);
            }
            Status::ViewChange | Status::Normal => {}
        }
    }

    fn probe_all(&mut self, ctx: &mut Context<'_>) {
        ctx.note(Note::Probed {
            view: self.view,
            attempts: self.probe_attempts,
        });
        self.timers.start(Timer::Probe, self.knobs.probe_ticks);
        self.broadcast(&Message::RequestStartView { recovering: true }, ctx);
        self.probe_attempts += 1;
        if self.can_vote() {
            let attempts = self.probe_attempts - 1;
            self.vote_to_leave(LeaveCause::ProbesUnanswered { attempts }, ctx);
        }
    }

    fn probe_primary(&mut self, ctx: &mut Context<'_>) {
        ctx.note(Note::Probed {
            view: self.view,
            attempts: self.probe_attempts,
        });
        self.timers.start(Timer::Probe, self.knobs.probe_ticks);
        self.probe_attempts += 1;
        let primary = self.primary();
        self.send(
            primary,
            Message::RequestStartView { recovering: false },
            ctx,
        );
    }

    /// A message shows that a newer view exists. Nothing of it is adopted; its sender is asked, at
    /// most once per probe interval.
    pub(super) fn ask_newer(&mut self, kind: MessageKind, sender: Sender, ctx: &mut Context<'_>) {
        let reason = Ignored::NewerView {
            view: sender.view,
            ours: self.view,
        };
        self.ignore(kind, Some(sender.replica), reason, ctx);
        let recovering = self.is_recovering();
        let may_ask = self.may_ask_newer() && (!recovering || self.is_durable());
        if may_ask {
            self.asked_newer = Some(self.timers.now());
            self.send(
                sender.replica,
                Message::RequestStartView { recovering },
                ctx,
            );
        }
    }

    fn may_ask_newer(&self) -> bool {
        let wait = u64::from(self.knobs.probe_ticks);
        self.asked_newer
            .is_none_or(|asked| self.timers.now() >= asked + wait)
    }

    /// Remembers that the view's log reaches further than ours, and asks for it if that stays so
    /// for longer than resent prepares take.
    pub(super) fn note_behind(&mut self, op: Op) {
        self.behind_of = self.behind_of.max(op);
        self.timers
            .ensure(Timer::Probe, 2 * self.knobs.prepare_resend_ticks);
    }

    // Answering.

    pub(super) fn on_probe(&mut self, sender: Sender, recovering: bool, ctx: &mut Context<'_>) {
        let kind = MessageKind::RequestStartView;
        let from = Some(sender.replica);
        if sender.view > self.view {
            let reason = Ignored::NewerView {
                view: sender.view,
                ours: self.view,
            };
            return self.ignore(kind, from, reason, ctx);
        }
        let asker_led = sender.view == self.view && sender.replica == self.primary();
        if recovering && asker_led && self.can_vote() {
            return self.vote_to_leave(LeaveCause::PrimaryRestarted, ctx);
        }
        if !self.is_primary() {
            let primary = self.primary();
            return self.ignore(kind, from, Ignored::NotPrimary { primary }, ctx);
        }
        if self.log_view != self.view || self.is_recovering() {
            let reason = Ignored::WrongStatus {
                status: self.status,
            };
            return self.ignore(kind, from, reason, ctx);
        }
        if !self.is_durable() {
            return self.ignore(kind, from, Ignored::NotDurableYet, ctx);
        }
        self.answer_probe(sender.replica, sender.incarnation, ctx);
    }

    fn answer_probe(&mut self, to: ReplicaId, life: Incarnation, ctx: &mut Context<'_>) {
        ctx.note(Note::ProbeAnswered {
            to,
            head: self.log.head(),
        });
        let start = self.start_view(life);
        self.send(to, Message::StartView(Rc::new(start)), ctx);
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
