//! Which schedule shows what each mutation breaks, and how a random run shows it: the proof that the
//! oracles see what they are for. Must never know who prints the table.

use crate::ids::Tick;
use crate::oracle::{Property, Violation};
use crate::run::{Session, Verdict, VerdictKind};
use crate::scenario::{BUILT_IN, BuiltIn, Profile, Run};
use crate::trace::{Recorder, Recording};
use crate::vsr::mutation::{Mutation, Mutations};

/// Ticks that a schedule has to its end, and a mutated one to its violations.
const SCHEDULE_TICKS: u32 = 10_000;

/// Ticks of a random run's storm.
const STORM_TICKS: u32 = 10_000;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The mutation.
    pub mutation: Mutation,
    /// What has to be off as well: another rule alone would hide it.
    pub beside: &'static [Mutation],
    /// The built-in story that shows it.
    pub story: &'static str,
    /// The properties that must break there.
    pub breaks: &'static [Property],
}

const fn mutant(mutation: Mutation, story: &'static str, breaks: &'static [Property]) -> Mutant {
    Mutant {
        mutation,
        beside: &[],
        story,
        breaks,
    }
}

/// The table. M52 needs M56 beside it: acks out of order lose nothing as long as a replica that
/// boots keeps, and speaks for, what stands beyond a missing entry. Each committed op is then held
/// by a replication quorum on its own, whatever stands below it, and a merge asks op by op.
pub const MUTANTS: &[Mutant] = &[
    mutant(Mutation::M02, "a9", &[Property::I4]),
    mutant(Mutation::M03, "m03", &[Property::I4]),
    mutant(Mutation::M05, "a38", &[Property::I4]),
    mutant(Mutation::M06, "a1", &[Property::I4, Property::I1]),
    mutant(Mutation::M08, "a3", &[Property::I4]),
    mutant(Mutation::M09, "a21", &[Property::I4]),
    mutant(Mutation::M15, "a10", &[Property::I7, Property::I4]),
    mutant(Mutation::M16, "a20", &[Property::I4, Property::I1]),
    mutant(Mutation::M17, "a25", &[Property::I4, Property::I11]),
    mutant(Mutation::M22, "a15", &[Property::I1]),
    mutant(Mutation::M23, "a45", &[Property::I5]),
    Mutant {
        beside: &[Mutation::M56],
        ..mutant(Mutation::M52, "a56", &[Property::I4])
    },
];

/// What came of a schedule without and with its mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The verdict of the protocol as it is.
    pub clean: Verdict,
    /// The first violation of each property that broke with the mutation.
    pub fired: Vec<Violation>,
    /// Decisions that were made otherwise for it.
    pub hits: u64,
    /// Whether the protocol as it is kept its promise, and the mutation broke what it must.
    pub passed: bool,
}

impl Mutant {
    /// The rules that are off.
    #[must_use]
    pub fn mutations(&self) -> Mutations {
        self.beside.iter().copied().chain([self.mutation]).collect()
    }

    /// The schedule with these rules off.
    ///
    /// # Panics
    /// If the table names no built-in story, which a test rules out.
    #[must_use]
    pub fn schedule(&self, mutations: Mutations) -> Run {
        let story = BUILT_IN.iter().find(|story| story.name == self.story);
        Run {
            mutations,
            ..story
                .map(BuiltIn::run)
                .expect("a story of the table is built in")
        }
    }

    /// Plays the schedule, off and on.
    #[must_use]
    pub fn try_schedule(&self) -> Trial {
        let clean = verdict_of(self.schedule(Mutations::NONE));
        let mut session = start(self.schedule(self.mutations()));
        let has_broken = |session: &Session, property: &Property| {
            let violations = session.violations();
            violations.iter().any(|found| found.property == *property)
        };
        let breaks_all = |session: &Session| {
            self.breaks
                .iter()
                .all(|property| has_broken(session, property))
        };
        while !breaks_all(&session) && session.cursor().tick < Tick(u64::from(SCHEDULE_TICKS)) {
            session.advance_ticks(1);
            if session.has_failed() {
                break;
            }
        }
        let hits = session.mutations()[self.mutation.place()].hits;
        Trial {
            passed: is_clean(&clean) && breaks_all(&session) && hits > 0,
            clean,
            fired: firsts(session.violations()),
            hits,
        }
    }

    /// What a random run of `swarm` breaks with the mutation and keeps without, where it does.
    #[must_use]
    pub fn try_seed(&self, seed: u64) -> Option<Violation> {
        let run = |mutations| {
            let mut run = Run {
                seed,
                ..Run::default()
            };
            run.set_profile(Profile::Swarm);
            run.mutations = mutations;
            run
        };
        let found = storm(run(self.mutations()))?;
        let is_its_work = storm(run(Mutations::NONE)).is_none();
        is_its_work.then_some(found)
    }
}

fn start(run: Run) -> Session {
    let recorder = Recorder::new(Recording::Nothing, 0);
    Session::new(run, recorder).expect("a run of the table is valid")
}

/// Plays a schedule to its end and through the end phase.
fn verdict_of(run: Run) -> Verdict {
    let mut session = start(run);
    session.advance_ticks(SCHEDULE_TICKS);
    session.settle();
    session.verdict()
}

/// Excused: the schedule ends with an honest stall.
fn is_clean(verdict: &Verdict) -> bool {
    matches!(verdict.kind, VerdictKind::Converged | VerdictKind::Excused)
}

/// The first violation of each property, in the order they were found.
fn firsts(violations: Vec<Violation>) -> Vec<Violation> {
    let mut firsts: Vec<Violation> = Vec::new();
    for violation in violations {
        if firsts
            .iter()
            .all(|first| first.property != violation.property)
        {
            firsts.push(violation);
        }
    }
    firsts
}

/// The first violation of a random run, in its storm or its end phase.
fn storm(run: Run) -> Option<Violation> {
    let mut session = start(run);
    for _ in 0..STORM_TICKS / 100 {
        session.advance_ticks(100);
        if let Some(violation) = session.violations().first() {
            return Some(violation.clone());
        }
    }
    session.settle();
    session.violations().first().cloned()
}

#[cfg(test)]
#[path = "mutants_tests.rs"]
mod tests;
