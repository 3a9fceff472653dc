//! Small sets as bit masks: processes, message types, links. Must never know what they are used for.

use std::fmt;

use crate::ids::{CLIENTS_MAX, GroupId, Process, REPLICAS_MAX};
use crate::vsr::message::MessageKind;

/// Rows and columns of a table over all processes.
pub const PROCESSES_MAX: u8 = REPLICAS_MAX + CLIENTS_MAX;

/// A set of replicas and clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessSet(u32);

/// A set of message types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet(u32);

/// Message types, in every group or in one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupKinds {
    everywhere: KindSet,
    within: Vec<(GroupId, KindSet)>,
}

/// A set of links, by index, that finds its next member in a few instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkSet([u64; 5]);

impl ProcessSet {
    /// Whether a process is in it.
    #[must_use]
    pub fn contains(self, process: Process) -> bool {
        self.0 & (1 << process.index()) != 0
    }

    /// Puts a process in.
    pub fn insert(&mut self, process: Process) {
        self.0 |= 1 << process.index();
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many are in it.
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Its members, replicas first.
    pub fn iter(self) -> impl Iterator<Item = Process> {
        let places = (0..PROCESSES_MAX).filter_map(Process::from_index);
        places.filter(move |&process| self.contains(process))
    }
}

impl FromIterator<Process> for ProcessSet {
    fn from_iter<I: IntoIterator<Item = Process>>(processes: I) -> Self {
        let mut set = Self::default();
        for process in processes {
            set.insert(process);
        }
        set
    }
}

/// `01c0`, as scripts spell a side of a cut.
impl fmt::Display for ProcessSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|process| process.fmt(f))
    }
}

impl KindSet {
    /// Whether a type is in it.
    #[must_use]
    pub fn contains(self, kind: MessageKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Puts a type in.
    pub fn insert(&mut self, kind: MessageKind) {
        self.0 |= 1 << kind as u8;
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in this one alone.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its members, in order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = MessageKind> {
        let all = MessageKind::ALL.into_iter();
        all.filter(move |&kind| self.contains(kind))
    }
}

impl FromIterator<MessageKind> for KindSet {
    fn from_iter<I: IntoIterator<Item = MessageKind>>(kinds: I) -> Self {
        let mut set = Self::default();
        for kind in kinds {
            set.insert(kind);
        }
        set
    }
}

/// `Prepare-Commit`, as scripts spell it; `none` where it is empty.
impl fmt::Display for KindSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (place, kind) in self.iter().enumerate() {
            if place > 0 {
                f.write_str("-")?;
            }
            f.write_str(kind.name())?;
        }
        Ok(())
    }
}

impl GroupKinds {
    /// Whether a type of a group is in it.
    pub(crate) fn contains(&self, kind: MessageKind, group: GroupId) -> bool {
        self.everywhere.contains(kind) || self.within(group).contains(kind)
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.everywhere.is_empty() && self.within.is_empty()
    }

    /// The types of a group alone.
    fn within(&self, group: GroupId) -> KindSet {
        let known = self.within.iter().find(|&&(known, _)| known == group);
        known.map(|&(_, kinds)| kinds).unwrap_or_default()
    }

    /// The types that are in it in every group.
    pub(crate) fn everywhere(&self) -> KindSet {
        self.everywhere
    }

    /// The types that are in it in some group.
    pub(crate) fn somewhere(&self) -> KindSet {
        let within = self.within.iter();
        within.fold(self.everywhere, |all, &(_, kinds)| all.union(kinds))
    }

    /// Puts these types, and no others, in: in one group, or in all and nothing in one alone.
    pub(crate) fn set(&mut self, kinds: KindSet, group: Option<GroupId>) {
        match group {
            None => {
                *self = Self {
                    everywhere: kinds,
                    within: Vec::new(),
                };
            }
            Some(group) => {
                self.within.retain(|&(known, _)| known != group);
                if !kinds.is_empty() {
                    self.within.push((group, kinds));
                }
            }
        }
    }

    /// Puts these types in, too.
    pub(crate) fn add(&mut self, kinds: KindSet, group: Option<GroupId>) {
        match group {
            None => self.everywhere = self.everywhere.union(kinds),
            Some(group) => self.set(self.within(group).union(kinds), Some(group)),
        }
    }
}

impl LinkSet {
    pub(crate) fn insert(&mut self, link: usize) {
        self.0[link / 64] |= 1 << (link % 64);
    }

    pub(crate) fn remove(&mut self, link: usize) {
        self.0[link / 64] &= !(1 << (link % 64));
    }

    /// The first member at or after `from`.
    pub(crate) fn next_from(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.0.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ClientId, ReplicaId};

    #[test]
    fn sets_read_as_scripts_spell_them() {
        let side: ProcessSet = [
            Process::Client(ClientId(0)),
            Process::Replica(ReplicaId(2)),
            Process::Replica(ReplicaId(0)),
        ]
        .into_iter()
        .collect();
        assert_eq!(side.to_string(), "02c0");
        assert_eq!(side.len(), 3);
        let kinds: KindSet = [MessageKind::Commit, MessageKind::Prepare]
            .into_iter()
            .collect();
        assert_eq!(kinds.to_string(), "Prepare-Commit");
        assert_eq!(kinds.without(kinds).to_string(), "none");
    }

    #[test]
    fn types_of_one_group_leave_the_others_alone() {
        let (meta, first) = (GroupId(0), GroupId(1));
        let one = |kind| KindSet::from_iter([kind]);
        let mut set = GroupKinds::default();
        set.set(one(MessageKind::Commit), Some(meta));
        set.add(one(MessageKind::Prepare), Some(meta));
        assert!(set.contains(MessageKind::Commit, meta));
        assert!(!set.contains(MessageKind::Commit, first));
        set.add(one(MessageKind::Reply), None);
        assert!(set.contains(MessageKind::Reply, first));
        assert_eq!(set.somewhere().to_string(), "Prepare-Reply-Commit");
        assert_eq!(set.everywhere().to_string(), "Reply");
        set.set(KindSet::default(), Some(meta));
        assert!(!set.contains(MessageKind::Commit, meta) && !set.is_empty());
        set.set(one(MessageKind::Commit), Some(meta));
        set.set(KindSet::default(), None);
        assert!(set.is_empty());
    }

    #[test]
    fn every_kind_and_link_has_its_own_bit() {
        let all: KindSet = MessageKind::ALL.into_iter().collect();
        assert!(all.iter().eq(MessageKind::ALL));
        let members = [0, 63, 64, 127, 288];
        let mut set = LinkSet::default();
        members.iter().for_each(|&link| set.insert(link));
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(link) = set.next_from(from) {
            found.push(link);
            from = link + 1;
        }
        assert_eq!(found, members);
        set.remove(64);
        assert_eq!(set.next_from(64), Some(127));
        assert_eq!(set.next_from(289), None);
        assert_eq!(set.next_from(320), None);
    }
}
