//! The record of a run: every event gets its number here, is folded into the run hash where it
//! counts, shown to oracles and auditor, and kept for whoever reads on. Must never change what
//! happens.

use std::collections::BTreeMap;

use crate::digest::{RunHash, checksum_bytes};
use crate::ids::{GroupId, Op, ReplicaId, Tick};
use crate::oracle::{Oracles, Property, Replicas, Searched, Violation};
use crate::trace::{Actor, EventKind, Fate, Recorder};
use crate::vsr::host_note::HostNote;
use crate::vsr::message::MessageKind;
use crate::vsr::mutation::Mutation;
use crate::vsr::note::{Note, StateNote};
use crate::workload::{AuditProperty, Auditors, Histories};

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
    /// Checkpoints that became durable.
    pub checkpoints: u64,
    /// States that a replica took over from others.
    pub transfers: u64,
    /// Faults that the profile injected, losses of packets aside.
    pub injected: u64,
    /// Packets lost by the dice of their links.
    pub dice_lost: u64,
    /// Replicas whose contents were compared with what clients were told.
    pub replicas_compared: u64,
    /// Histories of clients that were searched for an order, one a group.
    pub histories: u64,
    /// Operations in them.
    pub history_ops: u64,
    /// Operations in the longest.
    pub history_longest: u64,
    /// Searches that gave up.
    pub histories_given_up: u64,
    /// Histories not searched, since lies or wipes allow what clients were told to be lost.
    pub histories_excused: u64,
    /// Decisions that a rule which is off would have made otherwise.
    pub mutated: u64,
    /// Frames that went from the shard where they landed to the one that owns their group.
    pub hops: u64,
    /// Frames dropped because the channel between two shards was full.
    pub overflows: u64,
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
    /// The auditors of what clients were told.
    pub auditors: Auditors,
    tallies: BTreeMap<GroupId, Tally>,
    /// What clients sent and were told, where somebody wants it searched.
    pub histories: Option<Histories>,
    /// Counters.
    pub totals: Totals,
    /// Messages delivered, by type.
    pub delivered: [u64; MessageKind::ALL.len()],
    /// Decisions made otherwise for each mutation, by its place in [`Mutation::ALL`].
    pub mutation_hits: [u64; Mutation::ALL.len()],
    /// Replicas whose rule broke in this round: they are to be halted.
    pub halted: Vec<ReplicaId>,
    hash: RunHash,
    /// Violations that are events by now.
    told: usize,
    last: u64,
    tick: Tick,
    step: u32,
}

impl Record {
    /// An empty record.
    #[must_use]
    pub fn new(recorder: Recorder, oracles: Oracles, auditors: Auditors) -> Self {
        Self {
            recorder,
            oracles,
            auditors,
            tallies: BTreeMap::new(),
            histories: None,
            totals: Totals::default(),
            delivered: [0; MessageKind::ALL.len()],
            mutation_hits: [0; Mutation::ALL.len()],
            halted: Vec::new(),
            hash: RunHash::default(),
            told: 0,
            last: 0,
            tick: Tick(0),
            step: 0,
        }
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

    /// The number of the last event that is part of what happened: what comes next is caused by it.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.last
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
        self.last = number;
        self.oracles.observe(&event);
        self.show_auditors(&event.kind);
        if let Some(histories) = &mut self.histories {
            histories.observe(&event);
        }
        self.recorder.keep(event);
        self.tell_violations();
        number
    }

    /// Makes an event of each violation found since the last.
    fn tell_violations(&mut self) {
        self.take_findings();
        while let Some(violation) = self.oracles.violations().get(self.told) {
            let event = self.recorder.stamp(EventKind::Violated(violation.told()));
            self.told += 1;
            self.recorder.keep(event);
        }
    }

    fn show_auditors(&mut self, kind: &EventKind) {
        let Some(group) = kind.group() else {
            return;
        };
        let before = self.auditors.answers_compared();
        self.auditors.observe(group, kind);
        let answers = self.auditors.answers_compared() - before;
        self.oracles.compared(Property::I6, answers);
    }

    fn count(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Sent { .. }
            | EventKind::Requested { .. }
            | EventKind::SessionLost { .. }
            | EventKind::Violated(_) => {}
            EventKind::Ended { fate, kind, .. } => match fate {
                Fate::Delivered => {
                    self.totals.delivered += 1;
                    self.delivered[*kind as usize] += 1;
                }
                Fate::Lost => {
                    self.totals.lost += 1;
                    self.totals.dice_lost += 1;
                }
                Fate::Cut
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
                self.totals.injected += u64::from(act.by == Actor::Nemesis);
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
            Note::State(StateNote::Checkpointed { .. }) => self.totals.checkpoints += 1,
            Note::State(StateNote::TransferFinished { .. }) => self.totals.transfers += 1,
            Note::Hosting(HostNote::Overflow { .. }) => self.totals.overflows += 1,
            Note::RuleBroken { .. } => self.halted.push(replica),
            Note::Mutated { mutation } => {
                self.totals.mutated += 1;
                self.mutation_hits[mutation.place()] += 1;
            }
            _ => {}
        }
    }

    /// Takes over what oracles and auditor found outside events.
    pub fn collect_violations(&mut self) {
        self.tell_violations();
        self.totals.ops_compared = self.oracles.ops_compared();
    }

    /// Searches what clients saw for an order, where it was kept; nothing afterwards is.
    pub fn search_histories(&mut self) {
        let Some(mut histories) = self.histories.take() else {
            return;
        };
        for group in histories.groups() {
            if self.oracles.may_have_lost(group) && histories.excuse(group) {
                self.totals.histories_excused += 1;
            }
        }
        for finding in histories.search() {
            let operations = finding.operations as u64;
            self.totals.histories += 1;
            self.totals.history_ops += operations;
            self.totals.history_longest = self.totals.history_longest.max(operations);
            match finding.searched {
                Searched::GaveUp { .. } => self.totals.histories_given_up += 1,
                Searched::Fits | Searched::FitsNot { .. } => {
                    self.oracles.compared(Property::I6, 1);
                }
            }
            if let Some(text) = finding.text {
                self.oracles.report(Violation {
                    property: Property::I6,
                    tick: self.tick,
                    group: finding.group,
                    op: None,
                    replicas: Replicas::NONE,
                    text,
                });
            }
        }
        self.tell_violations();
    }

    fn take_findings(&mut self) {
        for (group, finding) in self.auditors.take_findings() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::GROUP_PARTITION_0;
    use crate::machine::Genesis;
    use crate::oracle::{Bounds, Roster};
    use crate::trace::Class;
    use crate::vsr::quorum::Quorums;
    use crate::workload::AuditorOptions;

    fn record() -> Record {
        let roster = Roster {
            replica_count: 3,
            quorums: Quorums::of(3),
            bounds: Bounds {
                link: 64,
                inbox: 64,
                channel: 64,
                pipeline: 8,
                sessions: 8,
            },
        };
        let auditors = Auditors::new(AuditorOptions {
            sessions_max: 8,
            retention: 128,
            genesis: Genesis::default(),
        });
        Record::new(Recorder::default(), Oracles::new(roster), auditors)
    }

    fn broken() -> EventKind {
        EventKind::Noted {
            replica: ReplicaId(1),
            group: GROUP_PARTITION_0,
            note: Note::RuleBroken {
                rule: "commits are contiguous",
                op: Op(7),
            },
        }
    }

    #[test]
    fn a_violation_is_an_event_right_behind_the_one_that_showed_it() {
        let mut record = record();
        record.enter_tick(Tick(9));
        record.push(broken());
        record.push(EventKind::SessionLost {
            group: GROUP_PARTITION_0,
            client: crate::ids::ClientId(0),
        });
        let rows = record.recorder().rows(0, 10, 3);
        let read: Vec<(Class, u64)> = rows.iter().map(|row| (row.class, row.number)).collect();
        assert_eq!(
            read,
            [
                (Class::Violation, 0),
                (Class::Violation, 1),
                (Class::Client, 2)
            ]
        );
        assert!(
            rows[1].text.starts_with("I0 no broken rule: "),
            "{}",
            rows[1].text
        );
        assert!(rows[1].big && rows[1].tick == Tick(9));
        assert_eq!(record.recorder().marks(0, 10, 3).len(), 2);
    }

    #[test]
    fn a_violation_is_no_cause_and_in_no_hash() {
        let mut record = record();
        let number = record.push(broken());
        assert_eq!(record.last_number(), number);
        assert_eq!(record.hash(), RunHash::default().value());
    }

    #[test]
    fn what_is_found_outside_events_is_told_when_the_tick_is_over() {
        let mut record = record();
        record.oracles.report(Violation {
            property: Property::I12,
            tick: Tick(0),
            group: GROUP_PARTITION_0,
            op: None,
            replicas: Replicas::NONE,
            text: "it did not converge".to_owned(),
        });
        assert_eq!(record.recorder().next_number(), 0);
        record.collect_violations();
        record.collect_violations();
        assert_eq!(record.recorder().next_number(), 1);
    }
}
