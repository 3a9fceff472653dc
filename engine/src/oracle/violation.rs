//! What an oracle says when a property is broken, and the book that keeps it. Must never know how a
//! property is checked.

use std::rc::Rc;

use serde::{Serialize, Serializer};

use crate::ids::{GroupId, Op, ReplicaId, Tick};
use crate::trace::Violated;

/// The properties, by the numbers of the scenario page. Closed: readers match it whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[repr(u8)]
pub enum Property {
    /// An internal rule did not hold.
    I0 = 0,
    /// Agreement.
    I1 = 1,
    /// Hash chain.
    I2 = 2,
    /// Commit monotonicity.
    I3 = 3,
    /// Durability.
    I4 = 4,
    /// Exactly once.
    I5 = 5,
    /// Linearizability.
    I6 = 6,
    /// View monotonicity.
    I7 = 7,
    /// One primary and one log per view.
    I8 = 8,
    /// Digest equality.
    I9 = 9,
    /// Contiguity.
    I10 = 10,
    /// Ack honesty.
    I11 = 11,
    /// Convergence.
    I12 = 12,
    /// Repair progress.
    I13 = 13,
    /// No lost wakeup.
    I14 = 14,
    /// Bounded queues.
    I15 = 15,
    /// Availability.
    I16 = 16,
    /// Honest stall.
    I17 = 17,
    /// Storage sanity.
    I18 = 18,
}

/// How many properties there are, checked or not.
pub const PROPERTIES: usize = 19;

impl Property {
    /// Those that this release checks, in order.
    pub const CHECKED: [Self; PROPERTIES] = [
        Self::I0,
        Self::I1,
        Self::I2,
        Self::I3,
        Self::I4,
        Self::I5,
        Self::I6,
        Self::I7,
        Self::I8,
        Self::I9,
        Self::I10,
        Self::I11,
        Self::I12,
        Self::I13,
        Self::I14,
        Self::I15,
        Self::I16,
        Self::I17,
        Self::I18,
    ];

    /// `I4`.
    #[must_use]
    pub fn id(self) -> &'static str {
        const IDS: [&str; PROPERTIES] = [
            "I0", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13",
            "I14", "I15", "I16", "I17", "I18",
        ];
        IDS[self as usize]
    }

    /// Its name, as a heading.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What it demands, in one plain sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::I0 => (
                "No broken rule",
                "No replica found one of its own rules broken.",
            ),
            Self::I1 => (
                "Agreement",
                "All replicas execute the same entry at the same op.",
            ),
            Self::I2 => (
                "Hash chain",
                "Every executed entry names the entry before it as its parent, and is stamped later.",
            ),
            Self::I3 => (
                "Commits only rise",
                "A running replica never takes a commit back, and no view starts below what a lower view committed.",
            ),
            Self::I4 => (
                "Durability",
                "Once a client has its reply, every later view that starts holds that op.",
            ),
            Self::I5 => (
                "Exactly once",
                "A request takes effect at most once, and never under a dead session.",
            ),
            Self::I6 => (
                "Linearizability",
                "Replies fit one order of all operations that respects real time.",
            ),
            Self::I7 => (
                "Views only rise",
                "A replica never speaks for a view below one it has promised, not even after a restart.",
            ),
            Self::I8 => (
                "One primary, one log",
                "View v is led by replica v mod n alone and starts with one log.",
            ),
            Self::I9 => (
                "Equal state",
                "Replicas that executed the same op have the same state.",
            ),
            Self::I10 => (
                "No gaps",
                "A replica executes every op once and in order, and keeps it.",
            ),
            Self::I11 => (
                "Honest acks",
                "What a replica acknowledged is on its disk until a later view replaces it.",
            ),
            Self::I12 => (
                "Convergence",
                "Once faults end, the replicas that are up agree on one view and one log.",
            ),
            Self::I13 => (
                "Repair progress",
                "A replica that lags and can be helped catches up.",
            ),
            Self::I14 => (
                "No lost wakeup",
                "Nothing waits in an inbox that nobody opens, or without a timer that ends the wait.",
            ),
            Self::I15 => (
                "Bounded queues",
                "Links, inboxes, pipelines and session tables stay within their limits.",
            ),
            Self::I16 => (
                "Availability",
                "A quorum free of faults answers its clients in time.",
            ),
            Self::I17 => (
                "Honest stall",
                "An op that may have been committed is never cut off, and nobody stalls who could decide.",
            ),
            Self::I18 => (
                "Sane storage",
                "An idle journal equals its disk, apart from recorded damage.",
            ),
        }
    }
}

/// A small set of replicas. Written as a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicas(u16);

impl Replicas {
    /// Nobody.
    pub const NONE: Self = Self(0);

    /// One replica.
    #[must_use]
    pub fn one(replica: ReplicaId) -> Self {
        Self(1 << replica.0)
    }

    /// This set and one more.
    #[must_use]
    pub fn with(self, replica: ReplicaId) -> Self {
        Self(self.0 | 1 << replica.0)
    }

    /// This set but for another.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Whether a replica is in it.
    #[must_use]
    pub fn contains(self, replica: ReplicaId) -> bool {
        self.0 & (1 << replica.0) != 0
    }

    /// Whether nobody is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many are in it.
    #[must_use]
    pub fn count(self) -> u8 {
        u8::try_from(self.0.count_ones()).expect("sixteen bits have at most sixteen ones")
    }

    /// Its members, ascending.
    pub fn iter(self) -> impl Iterator<Item = ReplicaId> {
        (0..16_u8)
            .map(ReplicaId)
            .filter(move |&replica| self.contains(replica))
    }
}

impl FromIterator<ReplicaId> for Replicas {
    fn from_iter<I: IntoIterator<Item = ReplicaId>>(replicas: I) -> Self {
        replicas.into_iter().fold(Self::NONE, Self::with)
    }
}

impl Serialize for Replicas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Reads `0`, `0 and 2`, `0, 1 and 2`.
impl std::fmt::Display for Replicas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let last = self.count().saturating_sub(1);
        for (place, replica) in (0_u8..).zip(self.iter()) {
            let glue = match place {
                0 => "",
                place if place == last => " and ",
                _ => ", ",
            };
            write!(f, "{glue}{replica}")?;
        }
        Ok(())
    }
}

/// A property that did not hold, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which property.
    pub property: Property,
    /// When it was seen.
    pub tick: Tick,
    /// In which group.
    pub group: GroupId,
    /// The op it is about, where it is about one.
    pub op: Option<Op>,
    /// The replicas concerned.
    pub replicas: Replicas,
    /// One sentence in plain words.
    pub text: String,
}

impl Violation {
    /// What the event log says of it.
    #[must_use]
    pub fn told(&self) -> Violated {
        let alone = self.replicas.count() == 1;
        Violated {
            property: self.property.id(),
            name: self.property.name(),
            group: self.group,
            replica: self.replicas.iter().next().filter(|_| alone),
            op: self.op,
            text: Rc::from(self.text.as_str()),
        }
    }
}

/// Violations kept of each property: one broken op breaks all after it, and the first ones explain.
const KEPT_PER_PROPERTY: u64 = 16;

/// All that was found: the first violations of each property in order, how many there were, and how
/// often each property was put to the test.
#[derive(Debug, Default)]
pub struct Book {
    kept: Vec<Violation>,
    found: [u64; PROPERTIES],
    compared: [u64; PROPERTIES],
}

impl Book {
    /// Writes one down.
    pub fn report(&mut self, violation: Violation) {
        let found = &mut self.found[violation.property as usize];
        *found += 1;
        if *found <= KEPT_PER_PROPERTY {
            self.kept.push(violation);
        }
    }

    /// The violations kept, in the order they were found.
    #[must_use]
    pub fn kept(&self) -> &[Violation] {
        &self.kept
    }

    /// How often a property was found broken.
    #[must_use]
    pub fn found(&self, property: Property) -> u64 {
        self.found[property as usize]
    }

    /// Writes down that a property was put to the test so often.
    pub fn count(&mut self, property: Property, times: u64) {
        self.compared[property as usize] += times;
    }

    /// How often a property was put to the test: a zero makes a green run vacuous.
    #[must_use]
    pub fn compared(&self, property: Property) -> u64 {
        self.compared[property as usize]
    }
}

/// Where an oracle writes, with the moment already filled in.
pub(super) struct Report<'a> {
    pub(super) tick: Tick,
    pub(super) group: GroupId,
    pub(super) book: &'a mut Book,
}

impl Report<'_> {
    pub(super) fn compared(&mut self, property: Property) {
        self.book.count(property, 1);
    }

    pub(super) fn violated(
        &mut self,
        property: Property,
        op: Option<Op>,
        replicas: Replicas,
        text: String,
    ) {
        self.book.report(Violation {
            property,
            tick: self.tick,
            group: self.group,
            op,
            replicas,
            text,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_replicas_read_as_people_write_them() {
        let set = |ids: &[u8]| ids.iter().copied().map(ReplicaId).collect::<Replicas>();
        let read: Vec<String> = [&[][..], &[2], &[0, 2], &[3, 0, 1]]
            .iter()
            .map(|ids| set(ids).to_string())
            .collect();
        assert_eq!(read, ["", "2", "0 and 2", "0, 1 and 3"]);
    }

    #[test]
    fn the_book_keeps_the_first_of_each_property_and_counts_the_rest() {
        let mut book = Book::default();
        for op in 0..40 {
            book.report(Violation {
                property: Property::I9,
                tick: Tick(op),
                group: GroupId(1),
                op: Some(Op(op)),
                replicas: Replicas::NONE,
                text: String::new(),
            });
        }
        assert_eq!(book.kept().len(), 16);
        assert_eq!(book.found(Property::I9), 40);
        assert_eq!(book.kept()[15].op, Some(Op(15)));
    }

    #[test]
    fn an_event_names_the_replica_where_it_is_one_alone() {
        let mut violation = Violation {
            property: Property::I4,
            tick: Tick(731),
            group: GroupId(1),
            op: Some(Op(7)),
            replicas: Replicas::one(ReplicaId(2)),
            text: "op 7 is gone".to_string(),
        };
        let told = violation.told();
        assert_eq!((told.property, told.name), ("I4", "Durability"));
        assert_eq!(told.replica, Some(ReplicaId(2)));
        violation.replicas = violation.replicas.with(ReplicaId(0));
        assert_eq!(violation.told().replica, None);
    }

    #[test]
    fn every_property_has_its_number_for_a_name() {
        for property in Property::CHECKED {
            assert_eq!(property.id(), format!("I{}", property as u8));
            assert!(property.meaning().ends_with('.'));
        }
    }
}
