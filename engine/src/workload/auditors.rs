//! The auditors of all groups. One begins with the first event of its group, and goes on for a while
//! when the group is deleted: replicas that lag still execute, clients still get answers. Must never
//! look into a replica.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::aim::Known;
use super::auditor::{AuditFinding, AuditProperty, Auditor};
use super::model_metadata::MetadataModel;
use super::outcome::Coverage;
use crate::ids::{GROUP_METADATA, GroupId, Op, ReplicaId};
use crate::machine::metadata::Command;
use crate::machine::{Genesis, Machine};
use crate::trace::EventKind;
use crate::vsr::note::Note;

/// Deleted groups that are audited to their end. What happens in one that was deleted before them is
/// counted and not looked at.
const DELETED_MAX: usize = 16;
/// Most findings kept between two calls of [`Auditors::take_findings`].
const FINDINGS_MAX: usize = 64;

/// What auditors must know of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditorOptions {
    /// A group's limit of open sessions.
    pub sessions_max: u32,
    /// Messages that a partition keeps.
    pub retention: u32,
    /// What the metadata log begins with.
    pub genesis: Genesis,
}

/// All auditors, by group.
#[derive(Debug)]
pub struct Auditors {
    options: AuditorOptions,
    groups: BTreeMap<GroupId, Auditor>,
    /// Groups that are deleted and still audited, the last one at the end.
    deleted: VecDeque<GroupId>,
    findings: Vec<(GroupId, AuditFinding)>,
    /// Coverage of auditors that are gone.
    past: Coverage,
    answers_compared: u64,
    unaudited: u64,
}

impl Auditors {
    /// Auditors of a cluster as it is formatted.
    #[must_use]
    pub fn new(options: AuditorOptions) -> Self {
        let metadata = Auditor::of_metadata(options.sessions_max, &options.genesis);
        Self {
            options,
            groups: BTreeMap::from([(GROUP_METADATA, metadata)]),
            deleted: VecDeque::new(),
            findings: Vec::new(),
            past: Coverage::default(),
            answers_compared: 0,
            unaudited: 0,
        }
    }

    /// Takes an event of a group or of its clients; those that tell nothing are ignored.
    pub fn observe(&mut self, group: GroupId, event: &EventKind) {
        if !Auditor::is_told_by(event) {
            return;
        }
        let is_execution = matches!(
            event,
            EventKind::Noted {
                note: Note::Executed { .. },
                ..
            }
        );
        if !self.groups.contains_key(&group) && !self.begin(group, is_execution) {
            self.unaudited += 1;
            return;
        }
        let Some(auditor) = self.groups.get_mut(&group) else {
            return;
        };
        auditor.observe(event);
        if matches!(event, EventKind::Replied { .. }) {
            self.answers_compared += 1;
        }
        self.keep_findings_of(group);
        if group == GROUP_METADATA && is_execution {
            self.follow_deletions();
        }
    }

    /// Begins to audit a group, unless it was deleted long ago; whether it did.
    fn begin(&mut self, group: GroupId, is_execution: bool) -> bool {
        if !self.is_alive(group) && !self.has_lost_track_of_groups() {
            // Its id names the op that made it: a later one than any that was executed.
            let made_by = Op(group.0 >> 8);
            if made_by > self.executed(GROUP_METADATA) && is_execution {
                let text = format!("group {group} executes before op {made_by}, which makes it");
                self.keep(
                    GROUP_METADATA,
                    AuditFinding {
                        property: AuditProperty::I10,
                        op: made_by,
                        client: None,
                        text,
                    },
                );
            }
            return false;
        }
        let AuditorOptions {
            sessions_max,
            retention,
            ..
        } = self.options;
        let auditor = Auditor::of_partition(sessions_max, retention);
        self.groups.insert(group, auditor);
        true
    }

    /// Lets go of groups that were deleted long ago.
    fn follow_deletions(&mut self) {
        let is_gone = |group: &GroupId| {
            *group != GROUP_METADATA && !self.is_alive(*group) && !self.deleted.contains(group)
        };
        let gone: Vec<GroupId> = self.groups.keys().copied().filter(is_gone).collect();
        self.deleted.extend(gone);
        while self.deleted.len() > DELETED_MAX {
            let oldest = self.deleted.pop_front();
            let auditor = oldest.and_then(|group| self.groups.remove(&group));
            if let Some(auditor) = auditor {
                self.past.add(auditor.coverage());
            }
        }
    }

    fn keep_findings_of(&mut self, group: GroupId) {
        let found = self.groups.get_mut(&group).map(Auditor::take_findings);
        for finding in found.unwrap_or_default() {
            self.keep(group, finding);
        }
    }

    fn keep(&mut self, group: GroupId, finding: AuditFinding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push((group, finding));
        }
    }

    /// Compares what a replica holds of a group after its `executed` op; for the end of a run.
    pub fn check_machine(
        &mut self,
        group: GroupId,
        replica: ReplicaId,
        executed: Op,
        machine: &Machine,
    ) {
        if let Some(auditor) = self.groups.get_mut(&group) {
            auditor.check_machine(replica, executed, machine);
            self.keep_findings_of(group);
        }
    }

    /// The findings since the last call, each with its group.
    pub fn take_findings(&mut self) -> Vec<(GroupId, AuditFinding)> {
        std::mem::take(&mut self.findings)
    }

    /// The auditor of a group, once there was an event of it.
    #[must_use]
    pub fn of(&self, group: GroupId) -> Option<&Auditor> {
        self.groups.get(&group)
    }

    /// Whether the metadata log, as far as any replica executed it, has a partition of this group.
    #[must_use]
    pub fn is_alive(&self, group: GroupId) -> bool {
        self.metadata_model()
            .is_some_and(|model| model.is_alive(group))
    }

    /// The partitions that the metadata log has, as far as any replica executed it, by id.
    #[must_use]
    pub fn groups_alive(&self) -> Vec<GroupId> {
        let rows = self.metadata_model().map(|model| &model.partitions);
        let mut groups: Vec<GroupId> = rows.into_iter().flatten().map(|row| row.group).collect();
        groups.sort_unstable();
        groups
    }

    /// The body that deletes the topic of a partition, where the metadata log has it.
    #[must_use]
    pub fn delete_topic_of(&self, group: GroupId) -> Option<Rc<[u8]>> {
        let mut rows = self.metadata_model()?.partitions.iter();
        let of = rows.find(|row| row.group == group)?.of;
        Some(Command::DeleteTopic { of }.encode())
    }

    /// What an onlooker knows of a partition, for the generator.
    #[must_use]
    pub fn known(&self, group: GroupId) -> Known {
        self.groups
            .get(&group)
            .map(Auditor::known)
            .unwrap_or_default()
    }

    pub(super) fn metadata_model(&self) -> Option<&MetadataModel> {
        self.groups.get(&GROUP_METADATA)?.reference.metadata()
    }

    /// The last op that the reference of a group executed.
    #[must_use]
    pub fn executed(&self, group: GroupId) -> Op {
        self.groups.get(&group).map_or(Op(0), Auditor::executed)
    }

    fn has_lost_track_of_groups(&self) -> bool {
        let metadata = self.groups.get(&GROUP_METADATA);
        metadata.is_some_and(|auditor| auditor.lost_track)
    }

    /// What the accepted answers of all groups came to.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let mut all = self.past.clone();
        for auditor in self.groups.values() {
            all.add(auditor.coverage());
        }
        all
    }

    /// Answers held against a reference, so that a run in which nobody asked anything shows.
    #[must_use]
    pub fn answers_compared(&self) -> u64 {
        self.answers_compared
    }

    /// Events of groups that were deleted too long ago to be looked at.
    #[must_use]
    pub fn unaudited(&self) -> u64 {
        self.unaudited
    }
}

#[cfg(test)]
#[path = "auditors_tests.rs"]
mod tests;
