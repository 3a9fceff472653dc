//! The oracles of one group, and which of them each event concerns. Must never know what an oracle
//! does with it.

use super::canon::Canon;
use super::faults::Faults;
use super::i00_broken_rule;
use super::i01_agreement::{self, Agreement};
use super::i02_hash_chain;
use super::i03_commits_rise::CommitsRise;
use super::i04_durability::Durability;
use super::i05_exactly_once::ExactlyOnce;
use super::i07_views_rise::ViewsRise;
use super::i08_one_log_per_view::OneLogPerView;
use super::i09_equal_state;
use super::i10_no_gaps::NoGaps;
use super::i11_honest_acks::HonestAcks;
use super::i13_repair_progress::RepairProgress;
use super::i14_no_lost_wakeup::NoLostWakeup;
use super::i15_bounded_queues::BoundedQueues;
use super::i16_availability::Availability;
use super::i17_honest_stall::HonestStall;
use super::i18_sane_storage::SaneStorage;
use super::view::{ClusterView, MemberView, Roster};
use super::violation::{Property, Replicas, Report};
use crate::ids::{Checksum, ClientId, GroupId, Op, ReplicaId, View};
use crate::vsr::message::{Frame, Message, MessageKind, Prepare, Reply};
use crate::vsr::note::{Ignored, MergeOutcome, Note, StateNote};
use crate::vsr::quorum::Quorums;

/// Logs chosen at risk that are remembered until their views start.
const AT_RISK_KEPT: usize = 8;

/// Everything that is remembered of one group.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: GroupId,
    pub(super) canon: Canon,
    /// Each replica's view, as its notes tell: a note does not name the view it was made in.
    views: Vec<View>,
    /// Each replica as it was when it last changed.
    seen: Vec<Option<MemberView>>,
    agreement: Agreement,
    commits_rise: CommitsRise,
    pub(super) durability: Durability,
    /// What disks suffered.
    pub(super) faults: Faults,
    exactly_once: ExactlyOnce,
    pub(super) views_rise: ViewsRise,
    one_log_per_view: OneLogPerView,
    no_gaps: NoGaps,
    honest_acks: HonestAcks,
    no_lost_wakeup: NoLostWakeup,
    bounded_queues: BoundedQueues,
    honest_stall: HonestStall,
    /// Logs that were chosen though they may lack what was acknowledged: view and head.
    at_risk: Vec<(View, Op)>,
    have_restarted: Replicas,
    replica_count: u8,
    quorums: Quorums,
    repair_progress: RepairProgress,
    pub(super) availability: Availability,
    sane_storage: SaneStorage,
}

impl Group {
    pub(super) fn new(id: GroupId, roster: &Roster) -> Self {
        let replicas = usize::from(roster.replica_count);
        Self {
            id,
            canon: Canon::new(id),
            views: vec![View(0); replicas],
            seen: vec![None; replicas],
            agreement: Agreement::default(),
            commits_rise: CommitsRise::default(),
            durability: Durability::new(roster.quorums.replication),
            faults: Faults::default(),
            exactly_once: ExactlyOnce::default(),
            views_rise: ViewsRise::default(),
            one_log_per_view: OneLogPerView::new(roster.replica_count),
            no_gaps: NoGaps::default(),
            honest_acks: HonestAcks::default(),
            no_lost_wakeup: NoLostWakeup::new(roster.replica_count),
            bounded_queues: BoundedQueues::new(roster.bounds),
            honest_stall: HonestStall::new(roster.replica_count, roster.quorums),
            at_risk: Vec::new(),
            have_restarted: Replicas::NONE,
            replica_count: roster.replica_count,
            quorums: roster.quorums,
            repair_progress: RepairProgress::new(roster.replica_count),
            availability: Availability::new(roster),
            sane_storage: SaneStorage::default(),
        }
    }

    /// A replica sent a frame.
    pub(super) fn sent(&mut self, replica: ReplicaId, frame: &Frame, report: &mut Report) {
        self.views_rise
            .sent(replica, frame.message.kind(), frame.view, report);
        if let Message::DoViewChange(vote) = &frame.message {
            self.honest_stall.voted(replica, frame.view, vote);
        }
    }

    /// A client accepted a reply.
    pub(super) fn replied(
        &mut self,
        client: ClientId,
        reply: &Reply,
        view: View,
        report: &mut Report,
    ) {
        self.durability.replied(client, reply, view, report);
        self.availability.replied(client, report.tick);
    }

    /// A replica went down or begins to boot.
    pub(super) fn booting(&mut self, replica: ReplicaId) {
        self.honest_acks.booting(replica);
        self.commits_rise.booting(replica);
        self.repair_progress.renewed(replica);
    }

    fn in_view(&mut self, replica: ReplicaId, view: View) {
        if let Some(known) = self.views.get_mut(usize::from(replica.0)) {
            *known = view;
        }
    }

    fn view_of(&self, replica: ReplicaId) -> View {
        let known = self.views.get(usize::from(replica.0));
        known.copied().unwrap_or_default()
    }

    /// A replica noted something.
    pub(super) fn noted(&mut self, replica: ReplicaId, note: &Note, report: &mut Report) {
        match note {
            Note::RuleBroken { rule, op } => i00_broken_rule::broken(replica, rule, *op, report),
            Note::Executed {
                prepare,
                effect,
                digest,
            } => self.executed(replica, prepare, *effect, *digest, report),
            Note::Filled { op, checksum, .. } => {
                self.honest_acks.placed(replica, *op, *checksum);
                self.repair_progress.came(replica, *op, true);
            }
            Note::MessageIgnored {
                kind: MessageKind::RepairPrepare,
                reason: Ignored::Duplicate { op },
                ..
            } => self.repair_progress.came(replica, *op, false),
            Note::RepairRequested { from, .. } => {
                self.repair_progress.requested(replica, *from, report);
            }
            Note::Prepared { op, checksum, .. } | Note::Appended { op, checksum } => {
                self.honest_acks.placed(replica, *op, *checksum);
            }
            Note::Journaled { op, checksum } => {
                self.honest_acks.placed(replica, *op, *checksum);
                self.faults.journaled(replica, *op);
                self.durability.held(replica, *op, *checksum);
            }
            Note::Acked { op, checksum, .. } => {
                self.honest_acks.acked(replica, *op, *checksum);
                self.durability.held(replica, *op, *checksum);
            }
            Note::State(StateNote::TransferChunk { .. }) => {
                self.repair_progress.transferred(replica);
            }
            Note::EntryDropped { op, checksum, .. } => {
                self.honest_acks.dropped(replica, *op, *checksum);
                self.repair_progress.dropped(replica, *op);
            }
            Note::CommitAdvanced { commit_max } => {
                let view = self.view_of(replica);
                self.commits_rise.committed(view, *commit_max);
            }
            Note::Merged {
                view,
                outcome: MergeOutcome::ChosenAtRisk { head, .. },
            } => {
                self.at_risk.truncate(AT_RISK_KEPT);
                self.at_risk.insert(0, (*view, *head));
            }
            Note::ViewStarted {
                view,
                head,
                commit_max,
                suffix,
            } => {
                self.in_view(replica, *view);
                let is_at_risk = self.at_risk.contains(&(*view, *head));
                if is_at_risk {
                    self.lost_above(replica, *view, *head, report);
                }
                self.one_log_per_view
                    .started(replica, *view, *head, suffix, report);
                self.commits_rise
                    .started(*view, *head, replica, &self.durability, report);
                self.durability
                    .started(*view, replica, *head, *commit_max, suffix, report);
                if !is_at_risk {
                    self.honest_stall.started(replica, *view, *head, report);
                }
                self.repair_progress.renewed(replica);
            }
            Note::BecameNormal { view, primary, .. } => {
                self.in_view(replica, *view);
                if *primary {
                    self.one_log_per_view.leads(replica, *view, report);
                }
            }
            Note::ViewEntered { view, .. } => {
                self.in_view(replica, *view);
                self.availability.entered(*view, report);
            }
            Note::LogAdopted { view, .. } => {
                self.in_view(replica, *view);
                self.repair_progress.renewed(replica);
            }
            Note::Booted { view, .. } => {
                self.in_view(replica, *view);
                self.no_gaps.booted(replica);
                self.have_restarted = self.have_restarted.with(replica);
                self.honest_acks.booted(replica);
            }
            Note::SessionEvicted { client, session } => {
                self.exactly_once.evicted(*client, *session);
            }
            Note::MessageIgnored { .. }
            | Note::RequestDropped { .. }
            | Note::RequestRejected { .. }
            | Note::ReplyRepeated { .. }
            | Note::AckCounted { .. }
            | Note::LeaveVoted { .. }
            | Note::VoteWithdrawn { .. }
            | Note::LeaveCounted { .. }
            | Note::Merged { .. }
            | Note::OpDecided { .. }
            | Note::Proven { .. }
            | Note::Probed { .. }
            | Note::ProbeAnswered { .. }
            | Note::RepairServed { .. }
            | Note::Abdicated { .. }
            | Note::SuperblockDurable { .. }
            | Note::SessionOpened { .. }
            | Note::TimerFired { .. }
            | Note::State(_)
            | Note::Forfeited { .. }
            | Note::TrustRegained { .. }
            | Note::Mutated { .. }
            | Note::Hosting(_) => {}
        }
    }

    /// A view starts with a log that may lack what a quorum acknowledged from memory. That is allowed
    /// where so many restarted that no view-change quorum can speak for all acks.
    fn lost_above(&mut self, by: ReplicaId, view: View, head: Op, report: &mut Report) {
        let restarted = self.have_restarted.count();
        report.compared(Property::I4);
        if self.replica_count - restarted >= self.quorums.view_change {
            let text = format!(
                "{by} started view {view} as if acknowledged ops might be lost, though only {restarted} ever restarted"
            );
            report.violated(Property::I4, Some(head), Replicas::one(by), text);
            return;
        }
        if !self.durability.cut_above(view, head) {
            return;
        }
        self.commits_rise.cut_above(head);
        if self.canon.cut_above(head) {
            self.exactly_once.lose_track();
        }
    }

    fn executed(
        &mut self,
        replica: ReplicaId,
        prepare: &Prepare,
        effect: bool,
        digest: Checksum,
        report: &mut Report,
    ) {
        let header = &prepare.header;
        self.no_gaps.executed(replica, header.op, report);
        self.honest_acks.executed(replica, header.op);
        if self.canon.is_folded(header.op) {
            return;
        }
        let Some(record) = self.canon.get(header.op) else {
            i02_hash_chain::appended(header, replica, &self.canon, report);
            self.exactly_once.appended(header, effect, replica, report);
            self.canon.append(header, digest, replica);
            return;
        };
        if i01_agreement::executed(record, header, replica, report)
            && i09_equal_state::executed(record, header.op, digest, replica, report)
        {
            self.canon.confirm(header.op, replica);
        }
    }

    /// A tick ends. Only what changed is looked at, and one op in rotation.
    pub(super) fn end_of_tick(
        &mut self,
        members: &[MemberView],
        view: &ClusterView,
        report: &mut Report,
    ) {
        self.no_gaps.settle(members, report);
        self.faults.settle(members, view.logs);
        self.honest_acks
            .settle(members, &self.faults, view.logs, report);
        let mut checkpoint_moved = false;
        for member in members {
            let Some(seen) = self.seen.get_mut(usize::from(member.replica.0)) else {
                continue;
            };
            if seen.as_ref() == Some(member) {
                continue;
            }
            let before = seen.replace(*member);
            checkpoint_moved |= before.map(|before| before.checkpoint) != Some(member.checkpoint);
            let executed = before.map(|before| before.commit_min) != Some(member.commit_min);
            self.moved(member, executed, view, report);
        }
        self.agreement.walk(members, &self.canon, view.logs, report);
        self.no_gaps.walk(members, &self.faults, view.logs, report);
        self.repair_progress
            .look(members, &self.canon, view, report);
        self.availability.look(members, view, report);
        self.sane_storage
            .walk(members, &self.faults, view.logs, report);
        if checkpoint_moved {
            self.fold(members);
        }
    }

    fn moved(
        &mut self,
        member: &MemberView,
        executed: bool,
        view: &ClusterView,
        report: &mut Report,
    ) {
        self.views_rise.moved(member, report);
        self.no_lost_wakeup.moved(member, report);
        self.bounded_queues.moved(member, report);
        if member.up {
            self.commits_rise.moved(member, report);
            if executed {
                Agreement::moved(member, &self.canon, view.logs, report);
                NoGaps::moved(member, &self.faults, view.logs, report);
            }
        }
    }

    /// Forgets what every disk has in a checkpoint. The checkpoint's own record stays: the next op
    /// names it as its parent.
    fn fold(&mut self, members: &[MemberView]) {
        let lowest = members.iter().map(|member| member.checkpoint).min();
        let lowest = lowest.unwrap_or_default();
        self.canon.fold_below(lowest);
        self.durability.fold_below(lowest);
    }

    /// The cluster is at rest and has one log.
    pub(super) fn at_rest(
        &mut self,
        members: &[MemberView],
        view: &ClusterView,
        replica_count: u8,
        report: &mut Report,
    ) {
        self.durability
            .at_rest(members, view, replica_count, report);
        self.sane_storage
            .at_rest(members, &self.faults, view.logs, report);
    }
}
