//! Checkpoints (protocol section 7): a snapshot of the state at fixed ops, then a superblock that
//! names it, then the slots of what it contains are free. Must never know how a snapshot is written,
//! nor free a slot before the superblock is durable.

use std::rc::Rc;

use crate::ids::{Checksum, Op};
use crate::vsr::io::{Checkpoint, Effect, SNAPSHOT_PLACES};
use crate::vsr::message::Header;
use crate::vsr::note::{StateNote, TransferCause, TransferEnd};
use crate::vsr::replica::{Context, Replica};
use crate::vsr::snapshot::Snapshot;

/// The snapshots of a replica: on disk, on their way there, and waiting for it.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    /// Those that a durable superblock named, older first: they can be handed over.
    kept: Vec<Rc<Snapshot>>,
    /// Being written, or written and not yet named by a durable superblock. Only then is the other
    /// place free.
    writing: Option<Rc<Snapshot>>,
    /// Taken meanwhile; a newer one takes its turn.
    next: Option<Rc<Snapshot>>,
}

impl Snapshots {
    pub(super) fn newest(&self) -> Option<&Rc<Snapshot>> {
        self.kept.last()
    }

    pub(super) fn find(&self, checksum: Checksum) -> Option<&Rc<Snapshot>> {
        self.kept.iter().find(|kept| kept.checksum == checksum)
    }

    /// Whether a state beyond what is executed here waits to be durable.
    pub(super) fn awaits_beyond(&self, executed: Op) -> bool {
        let mut waiting = self.writing.iter().chain(&self.next);
        waiting.any(|snapshot| snapshot.op() > executed)
    }

    fn keep(&mut self, snapshot: Rc<Snapshot>) {
        if self.kept.len() >= SNAPSHOT_PLACES as usize {
            self.kept.remove(0);
        }
        self.kept.push(snapshot);
    }
}

impl Replica {
    // Limits.

    /// The highest op that has a slot: the ring holds what the durable checkpoint does not.
    #[must_use]
    pub fn journal_limit(&self) -> Op {
        Op(self.checkpoint().0 + u64::from(self.knobs.journal_slots))
    }

    /// The op of the checkpoint after the durable one.
    pub(super) fn next_checkpoint(&self) -> Op {
        Op(self.checkpoint().0 + self.knobs.checkpoint_interval())
    }

    /// The highest op that may be acked before the next checkpoint is durable: whatever commits
    /// above it proves that a quorum has that checkpoint.
    pub(super) fn ack_limit(&self) -> Op {
        Op(self.next_checkpoint().0 + u64::from(self.knobs.pipeline_max))
    }

    /// Whether the state of the durable checkpoint is here.
    #[must_use]
    pub fn has_state(&self) -> bool {
        self.commit_min >= self.checkpoint()
    }

    /// The newest checkpoint whose state can be handed over.
    pub(super) fn servable_checkpoint(&self) -> Op {
        self.snapshots
            .newest()
            .map_or(Op(0), |snapshot| snapshot.op())
    }

    // Taking and writing.

    /// Takes a snapshot if the op just executed is one of those at which all replicas do.
    pub(super) fn snapshot_if_due(&mut self, header: &Rc<Header>, ctx: &mut Context<'_>) {
        if !header.op.0.is_multiple_of(self.knobs.checkpoint_interval()) {
            return;
        }
        let snapshot = Snapshot::new(
            Rc::clone(header),
            ctx.machine.snapshot(),
            self.sessions.encode(),
        );
        ctx.note_state(StateNote::SnapshotTaken {
            op: snapshot.op(),
            checksum: snapshot.checksum,
            bytes: snapshot.bytes(),
        });
        self.write_snapshot(Rc::new(snapshot), ctx);
    }

    /// Writes a snapshot into the place that the durable superblock does not name, or after the one
    /// under way.
    pub(super) fn write_snapshot(&mut self, snapshot: Rc<Snapshot>, ctx: &mut Context<'_>) {
        if self.snapshots.writing.is_some() {
            self.snapshots.next = Some(snapshot);
            return;
        }
        self.snapshots.writing = Some(Rc::clone(&snapshot));
        let place = self.free_place();
        ctx.effects.push(Effect::WriteSnapshot { place, snapshot });
    }

    fn free_place(&self) -> u32 {
        (self.durable.checkpoint.place + 1) % SNAPSHOT_PLACES
    }

    /// A snapshot is durable: the superblock may name it. If it came from others, it is in force from
    /// now on; what it replaces stays on disk until the superblock names it.
    pub(super) fn on_snapshot_synced(&mut self, op: Op, checksum: Checksum, ctx: &mut Context<'_>) {
        let written = self.snapshots.writing.clone();
        let Some(snapshot) = written.filter(|it| it.op() == op && it.checksum == checksum) else {
            return self.break_rule("a snapshot finished that was not being written", op, ctx);
        };
        let place = self.free_place();
        ctx.note_state(StateNote::SnapshotWritten { op, place });
        if op > self.commit_min && !self.take_over(&snapshot, ctx) {
            self.snapshots.writing = None;
            self.abandon_transfer(TransferEnd::OtherContent, ctx);
            if let Some(next) = self.snapshots.next.take() {
                self.write_snapshot(next, ctx);
            }
            return self.repair_step(ctx);
        }
        self.checkpoint = Checkpoint {
            header: Rc::clone(&snapshot.header),
            snapshot: checksum,
            place,
        };
        self.write_superblock(ctx);
        self.prove(ctx);
        self.execute(ctx);
        self.repair_step(ctx);
        self.finish_view_start(ctx);
    }

    /// The superblock names a new checkpoint: slots are free, acks withheld go out, and what had no
    /// slot can be fetched.
    pub(super) fn on_checkpoint_durable(&mut self, before: Op, ctx: &mut Context<'_>) {
        let checkpoint = self.durable.checkpoint.clone();
        let written = self.snapshots.writing.take();
        match written.filter(|written| written.checksum == checkpoint.snapshot) {
            Some(written) => self.snapshots.keep(written),
            None => {
                let op = checkpoint.op();
                return self.break_rule("a superblock names the snapshot just written", op, ctx);
            }
        }
        self.log
            .rebase(Rc::clone(&checkpoint.header), self.knobs.journal_slots);
        self.state_server.forget_silent(self.timers.now());
        ctx.note_state(StateNote::Checkpointed {
            op: checkpoint.op(),
            limit: self.journal_limit(),
        });
        if let Some(next) = self.snapshots.next.take() {
            self.write_snapshot(next, ctx);
        }
        if !self.is_recovering() {
            let withheld = before.0 + self.ack_limit().0 - self.checkpoint().0 + 1;
            for op in (withheld..=self.log.head().0).map(Op) {
                self.ack_if_allowed(op, ctx);
            }
        }
        self.look_whether_in_reach(ctx);
        self.repair_step(ctx);
        self.finish_view_start(ctx);
    }

    // Loading.

    /// Loads the state of our own checkpoint at boot. Without it the log still speaks for what was
    /// acked, and the state is to be had from others.
    pub(super) fn restore_own(&mut self, found: Option<Rc<Snapshot>>, ctx: &mut Context<'_>) {
        let checkpoint = self.checkpoint();
        if checkpoint == Op(0) {
            return;
        }
        let found = found.filter(|snapshot| snapshot.is_that_of(&self.durable.checkpoint));
        if let Some(snapshot) = found
            && self.load_state(&snapshot, ctx)
        {
            self.snapshots.keep(snapshot);
            return;
        }
        self.commit_min = Op(0);
        self.restored = Op(0);
        ctx.note_state(StateNote::StateUnreadable { checkpoint });
        self.want_state(checkpoint, TransferCause::Unreadable, ctx);
    }

    /// Replaces all state by that of a snapshot; changes nothing where it cannot be read.
    pub(super) fn load_state(&mut self, snapshot: &Snapshot, ctx: &mut Context<'_>) -> bool {
        let Ok(sessions) = self.sessions.decode(&snapshot.sessions) else {
            return false;
        };
        if ctx.machine.restore(&snapshot.machine).is_err() {
            return false;
        }
        self.sessions = sessions;
        self.commit_min = snapshot.op();
        self.commit_max = self.commit_max.max(snapshot.op());
        self.restored = snapshot.op();
        true
    }
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
