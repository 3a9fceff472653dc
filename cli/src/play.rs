//! The only door to the engine: plays a Run and gathers what came of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use engine::error::InputError;
use engine::run::{Gates, MutationState, Session, VerdictKind};
use engine::scenario::{Cursor, Run};
use engine::sim::record::Totals;
use engine::trace::Recorder;
use engine::vsr::message::MessageKind;

use crate::args::{self, ShapeArgs};

/// How long the faults last, what comes after them, and what all of it must show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Storm {
    pub(crate) ticks: u32,
    /// Whether convergence is demanded afterwards.
    pub(crate) settle: bool,
    /// Whether everything is healed before.
    pub(crate) heal: bool,
    pub(crate) gates: Gates,
}

impl Storm {
    /// What the flags say.
    pub(crate) fn of(shape: &ShapeArgs) -> Result<Self, InputError> {
        Ok(Self {
            ticks: args::ticks(&shape.ticks)?,
            settle: !shape.no_settle,
            heal: shape.heal_before_quiesce,
            gates: shape.gates.gates()?,
        })
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Where it ended.
    pub(crate) tick: u64,
    pub(crate) hash: u64,
    pub(crate) schedule_hash: u64,
    pub(crate) totals: Totals,
    /// Messages delivered, by type.
    pub(crate) delivered: Vec<(&'static str, u64)>,
    /// How often each property was put to the test.
    pub(crate) checks: Vec<(&'static str, u64)>,
    /// Those that are on, or mattered.
    pub(crate) mutations: Vec<MutationState>,
    pub(crate) verdict: VerdictKind,
    /// Why, in one sentence; empty while a run goes on.
    pub(crate) explanation: String,
    pub(crate) violations: Vec<String>,
    /// The complete link that plays this again, to here.
    pub(crate) link: String,
    pub(crate) wall: Duration,
}

/// The exit code of a verdict.
pub(crate) fn exit_code(verdict: VerdictKind) -> u8 {
    match verdict {
        VerdictKind::Running | VerdictKind::Converged => 0,
        VerdictKind::Vacuous => 3,
        VerdictKind::Stuck => 4,
        VerdictKind::Excused => 5,
        VerdictKind::StoryStuck => 6,
        VerdictKind::EngineFault => 70,
        VerdictKind::Violation => 101,
    }
}

/// Plays a Run for the length of a storm and, if asked, through the end phase.
pub(crate) fn play(run: Run, storm: Storm) -> Result<Outcome, InputError> {
    let began = Instant::now();
    let mut session = Session::new(run, Recorder::default())?;
    session.set_gates(storm.gates);
    session.keep_histories();
    session.advance_ticks(storm.ticks);
    if storm.heal {
        heal(&mut session)?;
    }
    if storm.settle {
        session.settle();
    }
    session.search_histories();
    Ok(outcome(&session, began))
}

/// Heals all links and starts all replicas, as acts: the link carries them.
fn heal(session: &mut Session) -> Result<(), InputError> {
    let places = session.simulator().places();
    let mut verbs = vec!["heal".to_owned()];
    for (replica, place) in places.iter().enumerate() {
        if !place.up {
            verbs.push(format!("restart.{replica}"));
        } else if place.paused {
            verbs.push(format!("resume.{replica}"));
        }
    }
    verbs.push("settle".to_owned());
    for verb in verbs {
        session.act(&verb)?;
    }
    Ok(())
}

/// Plays a Run for its speed or its hash alone: nothing is kept for a search.
pub(crate) fn play_bare(run: Run, ticks: u32) -> Result<Outcome, InputError> {
    let began = Instant::now();
    let mut session = Session::new(run, Recorder::default())?;
    session.advance_ticks(ticks);
    Ok(outcome(&session, began))
}

/// Plays a Run to a place in it.
pub(crate) fn play_to(run: Run, at: Cursor) -> Result<Outcome, InputError> {
    let began = Instant::now();
    let mut session = Session::new(run, Recorder::default())?;
    session.keep_histories();
    session.advance_to(at);
    session.search_histories();
    Ok(outcome(&session, began))
}

fn outcome(session: &Session, began: Instant) -> Outcome {
    let wall = began.elapsed();
    let verdict = session.verdict();
    let mut mutations = session.mutations();
    mutations.retain(|mutation| mutation.on || mutation.hits > 0);
    let violations = session.violations();
    Outcome {
        tick: session.cursor().tick.0,
        hash: session.hash(),
        schedule_hash: session.schedule_hash(),
        totals: session.totals(),
        delivered: MessageKind::ALL
            .into_iter()
            .zip(session.delivered())
            .map(|(kind, count)| (kind.name(), count))
            .collect(),
        checks: session
            .checks()
            .iter()
            .map(|check| (check.id, check.compared))
            .collect(),
        mutations,
        verdict: verdict.kind,
        explanation: verdict.text,
        violations: violations
            .iter()
            .map(|violation| {
                let id = violation.property.id();
                format!("{id} at tick {}: {}", violation.tick, violation.text)
            })
            .collect(),
        link: session.link(),
        wall,
    }
}

/// Runs something of the engine and turns a panic, a bug of ours, into its message.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("a panic without a message").to_owned()
    })
}

/// Keeps panics that are caught from printing over the progress of a sweep.
pub(crate) fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}
