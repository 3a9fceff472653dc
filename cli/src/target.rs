//! What is looked for in a link's run, and how far: for the commands that take a run apart. Must never
//! print anything.

use engine::error::InputError;
use engine::hunt::{EngineFails, Goal, Limit, Reaches};
use engine::ids::Tick;
use engine::oracle::Property;
use engine::run::Session;
use engine::scenario::{Action, Condition, Run, TimedAct, Verb};
use engine::trace::{Recorder, Recording};

use crate::args;
use crate::args_hunt::{self, LinkArgs};

/// A run, and how far it is played.
pub(crate) struct Target {
    pub(crate) run: Run,
    pub(crate) limit: Limit,
}

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A violation of this property before all others.
    Broken(Property),
    /// The engine fails.
    EngineFault,
    /// Nothing.
    Nothing,
}

impl Target {
    /// The run of a link: to its place, or through an end phase.
    pub(crate) fn read(arguments: &LinkArgs) -> Result<Self, InputError> {
        let mut run = args::link(&arguments.link)?;
        let ticks = args::ticks(&arguments.ticks)?;
        if let Some(at) = run.at {
            return Ok(Self {
                run,
                limit: Limit::At(at.tick),
            });
        }
        let last = run.acts.last().map_or(Tick(0), |act| act.tick);
        let begin = Tick(u64::from(ticks).max(last.0) + 1);
        let settles = |act: &TimedAct| act.action.verb == Verb::Settle;
        if !run.acts.iter().any(settles) {
            run.add_act(TimedAct {
                tick: begin,
                action: Action {
                    verb: Verb::Settle,
                    group: None,
                },
            });
        }
        Ok(Self {
            run,
            limit: Limit::Settled(begin),
        })
    }

    /// What it shows first.
    pub(crate) fn shown(&self) -> Result<Shown, InputError> {
        let any = AnyTrouble;
        let probe = engine::hunt::play(&self.run, None, &any, self.limit)?;
        let Some(found) = probe.found else {
            return Ok(Shown::Nothing);
        };
        let recorder = Recorder::new(Recording::Nothing, 0);
        let mut session = Session::new(self.run.clone(), recorder)?;
        session.keep_histories();
        session.advance_ticks(u32::try_from(found.tick.0).unwrap_or(u32::MAX));
        session.search_histories();
        let violations = session.violations();
        Ok(match violations.first() {
            Some(violation) => Shown::Broken(violation.property),
            None => Shown::EngineFault,
        })
    }

    /// The property that was asked for, or the first that breaks.
    pub(crate) fn property(&self, asked: Option<&str>) -> Result<Shown, InputError> {
        match asked {
            Some(text) => args_hunt::property(text).map(Shown::Broken),
            None => self.shown(),
        }
    }
}

struct AnyTrouble;

impl Goal for AnyTrouble {
    fn name(&self) -> String {
        "a violation or an engine fault".into()
    }

    fn is_met(&self, session: &Session) -> bool {
        EngineFails.is_met(session) || Reaches(Condition::Violation(None).into()).is_met(session)
    }

    fn needs_histories(&self) -> bool {
        true
    }
}

/// The refusal of a run that shows nothing.
pub(crate) fn nothing_shown(what: &str) -> InputError {
    InputError::new(
        "--link",
        format!("a run that never comes to {what}"),
        "one that does, within its place or --ticks",
    )
}
