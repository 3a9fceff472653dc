//! A set of replicas. Must never know what they have in common.

use crate::ids::ReplicaId;

/// A set of replicas as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaSet(u16);

impl ReplicaSet {
    /// Adds a member; whether it is new.
    pub fn insert(&mut self, replica: ReplicaId) -> bool {
        let bit = 1 << replica.0;
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }

    /// Whether it is a member.
    #[must_use]
    pub fn contains(self, replica: ReplicaId) -> bool {
        self.0 & (1 << replica.0) != 0
    }

    /// How many members it has.
    #[must_use]
    pub fn len(self) -> u8 {
        u8::try_from(self.0.count_ones()).expect("16 bits at most")
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, ascending.
    pub fn iter(self) -> impl Iterator<Item = ReplicaId> {
        (0..16).map(ReplicaId).filter(move |&r| self.contains(r))
    }
}
