//! Plays a Run until it shows what is looked for, and writes down which faults the dice injected on
//! the way. Must never judge whether what it found is worth keeping.

use crate::error::InputError;
use crate::hunt::Goal;
use crate::ids::Tick;
use crate::run::Session;
use crate::scenario::{Action, Run, TimedAct};
use crate::trace::{Actor, EventKind, Recorder, Recording};

/// How far a Run is played at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// To the end of this tick.
    At(Tick),
    /// Until its end phase is over; that must begin by this tick.
    Settled(Tick),
}

/// Where a Run showed what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// At the end of this tick for the first time.
    pub tick: Tick,
    /// The run hash there.
    pub hash: u64,
}

/// What came of playing a Run.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Where it showed what is looked for; nothing where it never did.
    pub found: Option<Found>,
    /// The faults that the dice injected up to there, as the acts that do the same.
    pub injected: Vec<TimedAct>,
}

/// Events of one tick that are kept; a tick has some thousands at most.
const EVENTS_KEPT: usize = 1 << 16;

/// Plays a Run until the goal is met, at most to the limit. With `kept`, dice inject nothing but
/// these faults.
///
/// # Errors
/// If the Run contradicts itself.
pub fn play(
    run: &Run,
    kept: Option<&[TimedAct]>,
    goal: &dyn Goal,
    limit: Limit,
) -> Result<Probe, InputError> {
    let recorder = Recorder::new(Recording::ActsOnly, EVENTS_KEPT);
    let mut session = Session::new(run.clone(), recorder)?;
    if let Some(kept) = kept {
        session.mask_faults(kept);
    }
    if goal.needs_histories() {
        session.keep_histories();
    }
    let mut injected = Vec::new();
    let mut next = 0;
    let mut is_met = false;
    while !is_met && !is_over(&session, limit) {
        session.advance_ticks(1);
        next = gather(&session, next, &mut injected);
        is_met = goal.is_met(&session);
    }
    if !is_met {
        session.search_histories();
        is_met = goal.is_met(&session);
    }
    let found = is_met.then(|| Found {
        tick: session.cursor().tick,
        hash: session.hash(),
    });
    Ok(Probe { found, injected })
}

fn is_over(session: &Session, limit: Limit) -> bool {
    let tick = session.cursor().tick;
    session.has_failed()
        || match limit {
            Limit::At(last) => tick >= last,
            Limit::Settled(last) => match session.simulator().settling() {
                Some(settle) => settle.outcome.is_some(),
                None => tick >= last,
            },
        }
}

/// Takes over the faults among the events from a number on; the number to go on from.
fn gather(session: &Session, next: u64, injected: &mut Vec<TimedAct>) -> u64 {
    let record = session.simulator().world().record.borrow();
    let recorder = record.recorder();
    let events = recorder.events();
    let first = events.partition_point(|event| event.number < next);
    for event in events.range(first..) {
        let EventKind::Acted(act) = &event.kind else {
            continue;
        };
        if act.by != Actor::Nemesis {
            continue;
        }
        let action = Action::from_text(&act.text);
        injected.push(TimedAct {
            tick: event.tick,
            action: action.expect("what the nemesis does is written as a script spells it"),
        });
    }
    recorder.next_number()
}
