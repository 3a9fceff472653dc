//! The record of a run: every event gets its number here, is folded into the run hash where it
//! counts, shown to oracles and auditor, and kept for whoever reads on. Must never change what
//! happens.

use std::collections::BTreeMap;

use crate::digest::{RunHash, checksum_bytes};
use crate::ids::{GROUP_METADATA, GroupId, Op, ReplicaId, Tick};
use crate::oracle::{Oracles, Property, Replicas, Violation};
use crate::trace::{EventKind, Fate, Recorder};
use crate::vsr::note::Note;
use crate::workload::{AuditProperty, Auditor};

/// What has happened, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Ops committed.
    pub commits: u64,
    /// Views started.
    pub view_changes: u64,
    /// Crashes.
    pub crashes: u64,
    /// Restarts.
    pub restarts: u64,
    /// Bodies fetched by repair.
    pub repairs: u64,
    /// Replies accepted by clients, registers not counted.
    pub replies: u64,
    /// Frames delivered.
    pub delivered: u64,
    /// Packets that ended otherwise.
    pub lost: u64,
    /// Acts and faults.
    pub acts: u64,
    /// Ops that two replicas or more executed and that were compared.
    pub ops_compared: u64,
    /// Blocks on disk that rotted, were torn, punched out, overwritten, or never kept.
    pub disk_faults: u64,
    /// Writes that a crash tore.
    pub torn_writes: u64,
}

/// What has happened in one group, counted: what conditions ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Replies accepted by clients, registers not counted.
    pub replies: u64,
    /// Views started.
    pub views_started: u64,
    /// The last op that anybody executed.
    pub executed: Op,
}

/// The record.
pub struct Record {
    recorder: Recorder,
    /// The oracles.
    pub oracles: Oracles,
    /// The auditors of what clients were told, by group.
    auditors: BTreeMap<GroupId, Auditor>,
    tallies: BTreeMap<GroupId, Tally>,
    /// Counters.
    pub totals: Totals,
    /// Replicas whose rule broke in this round: they are to be halted.
    pub halted: Vec<ReplicaId>,
    hash: RunHash,
    tick: Tick,
    step: u32,
}

impl Record {
    /// An empty record.
    #[must_use]
    pub fn new(recorder: Recorder, oracles: Oracles) -> Self {
        Self {
            recorder,
            oracles,
            auditors: BTreeMap::new(),
            tallies: BTreeMap::new(),
            totals: Totals::default(),
            halted: Vec::new(),
            hash: RunHash::default(),
            tick: Tick(0),
            step: 0,
        }
    }

    /// Begins to audit what clients are told by a group.
    pub fn audit(&mut self, group: GroupId, sessions_max: u32) {
        if group != GROUP_METADATA {
            self.auditors.insert(group, Auditor::new(sessions_max));
        }
    }

    /// The auditor of a group, where it has one.
    #[must_use]
    pub fn auditor(&self, group: GroupId) -> Option<&Auditor> {
        self.auditors.get(&group)
    }

    /// The same, to tell it something.
    pub fn auditor_mut(&mut self, group: GroupId) -> Option<&mut Auditor> {
        self.auditors.get_mut(&group)
    }

    /// What has happened in a group.
    #[must_use]
    pub fn tally(&self, group: GroupId) -> Tally {
        self.tallies.get(&group).copied().unwrap_or_default()
    }

    /// Enters a tick.
    pub fn enter_tick(&mut self, tick: Tick) {
        self.tick = tick;
        self.step = 0;
        self.recorder.at(tick, 1);
    }

    /// A step of the tick is done, and the next begins.
    pub fn next_step(&mut self) {
        self.step += 1;
        self.recorder.at(self.tick, self.step + 1);
    }

    /// No more steps come in this tick.
    pub fn end_steps(&mut self) {
        self.recorder.end_steps(self.tick, self.step);
    }

    /// The number of steps done in this tick.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.step
    }

    /// The number of the last event.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.recorder.next_number().saturating_sub(1)
    }

    /// The run hash.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash.value()
    }

    /// Folds a word into the run hash.
    pub fn fold(&mut self, word: u64) {
        self.hash.fold(word);
    }

    /// What is kept to be read.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Records an event; its number.
    pub fn push(&mut self, kind: EventKind) -> u64 {
        self.count(&kind);
        let event = self.recorder.stamp(kind);
        let number = event.number;
        self.oracles.observe(&event);
        self.show_auditor(&event.kind);
        self.recorder.keep(event);
        number
    }

    fn show_auditor(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Requested { group, .. }
            | EventKind::Replied { group, .. }
            | EventKind::SessionLost { group, .. }
            | EventKind::Noted {
                group,
                note: Note::Executed { .. },
                ..
            } => {
                if let Some(auditor) = self.auditors.get_mut(group) {
                    auditor.observe(kind);
                }
            }
            EventKind::Sent { .. }
            | EventKind::Ended { .. }
            | EventKind::Noted { .. }
            | EventKind::Acted(_)
            | EventKind::Skipped(_)
            | EventKind::Crashed { .. }
            | EventKind::Restarted { .. } => {}
        }
    }

    fn count(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Sent { .. }
            | EventKind::Requested { .. }
            | EventKind::SessionLost { .. } => {}
            EventKind::Ended { fate, .. } => match fate {
                Fate::Delivered => self.totals.delivered += 1,
                Fate::Lost
                | Fate::Cut
                | Fate::Partitioned
                | Fate::Filtered
                | Fate::Evicted
                | Fate::TargetDown
                | Fate::Dropped
                | Fate::InboxFull => self.totals.lost += 1,
            },
            EventKind::Noted {
                replica,
                group,
                note,
            } => self.count_note(*replica, *group, note),
            EventKind::Acted(act) => {
                self.totals.acts += 1;
                self.hash.fold(checksum_bytes(act.text.as_bytes()).0);
            }
            EventKind::Skipped(skipped) => {
                self.hash
                    .fold(checksum_bytes(skipped.act.text.as_bytes()).0);
            }
            EventKind::Crashed { .. } => self.totals.crashes += 1,
            EventKind::Restarted { .. } => self.totals.restarts += 1,
            EventKind::Replied { group, reply, .. } => {
                if reply.request.0 > 0 {
                    self.totals.replies += 1;
                    self.tallies.entry(*group).or_default().replies += 1;
                }
                self.hash.fold(reply.checksum.0);
            }
        }
    }

    fn count_note(&mut self, replica: ReplicaId, group: GroupId, note: &Note) {
        match note {
            Note::Executed { prepare, .. } => {
                let op = prepare.header.op;
                let executed = &mut self.tallies.entry(group).or_default().executed;
                self.totals.commits += op.0.saturating_sub(executed.0);
                *executed = op.max(*executed);
                self.hash
                    .fold(prepare.header.checksum.0 ^ u64::from(replica.0));
            }
            Note::ViewStarted { .. } => {
                self.totals.view_changes += 1;
                self.tallies.entry(group).or_default().views_started += 1;
            }
            Note::Filled { repair: true, .. } => self.totals.repairs += 1,
            Note::RuleBroken { .. } => self.halted.push(replica),
            _ => {}
        }
    }

    /// Takes over what oracles and auditor found.
    pub fn collect_violations(&mut self) {
        for (&group, auditor) in &mut self.auditors {
            for finding in auditor.take_findings() {
                self.oracles.report(Violation {
                    property: property_of(finding.property),
                    tick: self.tick,
                    group,
                    op: (finding.op > Op(0)).then_some(finding.op),
                    replicas: Replicas::NONE,
                    text: finding.text,
                });
            }
        }
        self.totals.ops_compared = self.oracles.ops_compared();
    }
}

fn property_of(property: AuditProperty) -> Property {
    match property {
        AuditProperty::I4 => Property::I4,
        AuditProperty::I5 => Property::I5,
        AuditProperty::I6 => Property::I6,
        AuditProperty::I9 => Property::I9,
        AuditProperty::I10 => Property::I10,
    }
}
