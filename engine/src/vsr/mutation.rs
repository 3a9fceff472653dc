//! Mutations: rules of the protocol that can be switched off one by one, to see an oracle fire and to
//! let people see what each rule is for (protocol section 10). The switches stand where the rules
//! are. Must never be on unless asked for.

use std::rc::Rc;

use serde::Serialize;

use crate::ids::Op;
use crate::vsr::dvc_merge::{self, Canonical, Conflict, Merge};
use crate::vsr::knobs::Knobs;
use crate::vsr::message::{DoViewChange, Header};
use crate::vsr::note::Note;
use crate::vsr::quorum::Quorums;
use crate::vsr::replica::{Context, Replica};

/// A rule that can be replaced by a weaker one. The numbers are those of the scenario page, section
/// B; they name mutations in links for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is described by what `rule` says of it")]
pub enum Mutation {
    M02 = 2,
    M03 = 3,
    M05 = 5,
    M06 = 6,
    M08 = 8,
    M09 = 9,
    M15 = 15,
    M16 = 16,
    M17 = 17,
    M22 = 22,
    M23 = 23,
    M52 = 52,
    M56 = 56,
}

/// What is said of a mutation.
struct Words {
    name: &'static str,
    rule: &'static str,
    instead: &'static str,
    oracles: &'static [&'static str],
}

impl Mutation {
    /// All mutations of this release, in order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::M02,
        Self::M03,
        Self::M05,
        Self::M06,
        Self::M08,
        Self::M09,
        Self::M15,
        Self::M16,
        Self::M17,
        Self::M22,
        Self::M23,
        Self::M52,
        Self::M56,
    ];

    /// `M03`: the name, as links and scripts spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().name
    }

    /// The rule, in one sentence.
    #[must_use]
    pub fn rule(self) -> &'static str {
        self.words().rule
    }

    /// What a replica does instead.
    #[must_use]
    pub fn instead(self) -> &'static str {
        self.words().instead
    }

    /// The properties that it may break first, by their ids; others follow. `I0` always may be one: a
    /// weaker rule may leave a replica with a state that another rule excludes.
    #[must_use]
    pub fn oracles(self) -> &'static [&'static str] {
        self.words().oracles
    }

    /// The mutation of a name, or nothing.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|mutation| mutation.name() == name)
    }

    /// Its place in [`Self::ALL`].
    #[must_use]
    pub fn place(self) -> usize {
        Self::ALL.iter().take_while(|&&other| other < self).count()
    }

    fn words(self) -> Words {
        let (name, rule, instead, oracles): (_, _, _, &[&str]) = match self {
            Self::M02 => (
                "M02",
                "To leave a view takes the votes of a view-change quorum, to start one its logs.",
                "Half of the others are enough, and they need not meet those who committed.",
                &["I4", "I8", "I1"],
            ),
            Self::M03 => (
                "M03",
                "A new view drops an op only if a nack quorum never journaled it.",
                "One replica that never journaled it is enough.",
                &["I4", "I1"],
            ),
            Self::M05 => (
                "M05",
                "An ack counts for the very entry and view that it names.",
                "An ack of an older view or another entry counts for whatever stands at its op.",
                &["I4", "I1"],
            ),
            Self::M06 => (
                "M06",
                "Of the logs brought to a new view those with the highest log_view count.",
                "The longest one counts.",
                &["I4", "I1", "I3"],
            ),
            Self::M08 => (
                "M08",
                "A new primary starts with what all the logs brought to it have together.",
                "It starts with its own log.",
                &["I4", "I1", "I3"],
            ),
            Self::M09 => (
                "M09",
                "A replica that cannot read a slot abstains: rot is not absence.",
                "It says that it never had the entry.",
                &["I4", "I1", "I17"],
            ),
            Self::M15 => (
                "M15",
                "A replica brings its log to a view once its disk knows that view.",
                "It brings it before its disk knows, and a crash makes it forget.",
                &["I7", "I4"],
            ),
            Self::M16 => (
                "M16",
                "A replica acts on a view's log once its disk knows which log it has.",
                "Its disk learns of the log with the next view.",
                &["I4", "I1"],
            ),
            Self::M17 => (
                "M17",
                "An entry is acknowledged once it is on disk.",
                "It is acknowledged when its write begins.",
                &["I4", "I11"],
            ),
            Self::M22 => (
                "M22",
                "A committed op is executed once its entry is proven to link to the head.",
                "Whatever entry stands there is executed.",
                &["I1", "I2", "I9"],
            ),
            Self::M23 => (
                "M23",
                "A request that was executed gets its reply again and is not executed twice.",
                "It is executed each time it comes.",
                &["I5"],
            ),
            Self::M52 => (
                "M52",
                "Acks leave in the order of ops.",
                "Each op is acknowledged as soon as it is on disk itself.",
                &["I4"],
            ),
            Self::M56 => (
                "M56",
                "A replica that boots keeps what its disk holds beyond a missing entry.",
                "Its log ends before the first missing entry.",
                &["I4"],
            ),
        };
        Words {
            name,
            rule,
            instead,
            oracles,
        }
    }
}

/// The numbers are places in a [`Mutations`], and ascend.
const _: () = {
    let mut place = 0;
    while place < Mutation::ALL.len() {
        let number = Mutation::ALL[place] as u8;
        assert!(number < 64, "a set has 64 bits");
        assert!(place == 0 || (Mutation::ALL[place - 1] as u8) < number);
        place += 1;
    }
};

/// A set of mutations: the rules that are off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mutations(u64);

impl Mutations {
    /// None: the protocol as it is.
    pub const NONE: Self = Self(0);

    /// Whether a rule is off.
    #[must_use]
    pub fn contains(self, mutation: Mutation) -> bool {
        self.0 & (1 << mutation as u8) != 0
    }

    /// Whether every rule is in force.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set with a rule switched off (`on`), or back in force.
    #[must_use]
    pub fn with(self, mutation: Mutation, on: bool) -> Self {
        let bit = 1 << mutation as u8;
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }

    /// Its members, in order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Mutation> {
        Mutation::ALL
            .into_iter()
            .filter(move |&mutation| self.contains(mutation))
    }
}

impl FromIterator<Mutation> for Mutations {
    fn from_iter<I: IntoIterator<Item = Mutation>>(mutations: I) -> Self {
        mutations
            .into_iter()
            .fold(Self::NONE, |set, mutation| set.with(mutation, true))
    }
}

/// What a replica goes by: the values of its knobs, and the rules that are off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The knobs.
    pub knobs: Knobs,
    /// The rules that are off.
    pub mutations: Mutations,
}

/// All rules in force.
impl From<Knobs> for Rules {
    fn from(knobs: Knobs) -> Self {
        Self {
            knobs,
            mutations: Mutations::NONE,
        }
    }
}

/// What more than one rule needs of its switch.
impl Replica {
    /// Whether a rule is off, at a place where that makes a difference.
    pub(super) fn skips(&self, mutation: Mutation, ctx: &mut Context<'_>) -> bool {
        let is_off = self.mutations.contains(mutation);
        if is_off {
            ctx.note(Note::Mutated { mutation });
        }
        is_off
    }

    /// The quorums, with those of rules that are off.
    pub(super) fn quorums_in_force(&self) -> Quorums {
        self.quorums_by(self.mutations)
    }

    fn quorums_by(&self, mutations: Mutations) -> Quorums {
        let half_of_the_others = (self.roster.replica_count - 1) / 2;
        Quorums {
            view_change: if mutations.contains(Mutation::M02) {
                half_of_the_others.max(1)
            } else {
                self.quorums.view_change
            },
            nack: if mutations.contains(Mutation::M03) {
                1
            } else {
                self.quorums.nack
            },
            ..self.quorums
        }
    }

    /// The merge by the rules in force. One that is off is told of where it changes the outcome.
    pub(super) fn merge_logs(
        &self,
        senders: &[&DoViewChange],
        ctx: &mut Context<'_>,
    ) -> Result<Merge, Conflict> {
        let by = |mutations: Mutations| {
            let canonical = if mutations.contains(Mutation::M06) {
                Canonical::Longest
            } else {
                Canonical::HighestLogView
            };
            let count = self.roster.replica_count;
            dvc_merge::merge(senders, count, self.quorums_by(mutations), canonical)
        };
        let merged = by(self.mutations);
        for mutation in [Mutation::M02, Mutation::M03, Mutation::M06] {
            if self.mutations.contains(mutation)
                && merged != by(self.mutations.with(mutation, false))
            {
                self.skips(mutation, ctx);
            }
        }
        merged
    }

    /// Our own log up to its first hole, in the form of a merged one.
    pub(super) fn own_log(&self) -> (Vec<Rc<Header>>, Op, Op) {
        let suffix = self.suffix().to_vec();
        let head = suffix.last().map_or(self.commit_max, |header| header.op);
        (suffix, head, self.commit_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_has_its_number_for_a_name_and_two_sentences() {
        for (place, mutation) in Mutation::ALL.into_iter().enumerate() {
            assert_eq!(mutation.name(), format!("M{:02}", mutation as u8));
            assert_eq!(Mutation::from_name(mutation.name()), Some(mutation));
            assert_eq!(mutation.place(), place);
            assert!(mutation.rule().ends_with('.'), "{}", mutation.rule());
            assert!(mutation.instead().ends_with('.'), "{}", mutation.instead());
            assert!(!mutation.oracles().is_empty());
        }
        assert_eq!(Mutation::from_name("M01"), None);
        assert_eq!(Mutation::from_name("m03"), None);
    }

    #[test]
    fn a_set_is_what_was_put_in() {
        let set: Mutations = [Mutation::M09, Mutation::M02].into_iter().collect();
        assert!(set.iter().eq([Mutation::M02, Mutation::M09]));
        assert!(!set.contains(Mutation::M03));
        let one = set.with(Mutation::M09, false);
        assert!(one.iter().eq([Mutation::M02]));
        assert!(one.with(Mutation::M02, false).is_empty());
    }
}
