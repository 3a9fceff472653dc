//! A link, played again.

use engine::error::InputError;
use engine::run::VerdictKind;
use engine::scenario::{EPOCH, Run};

use crate::args::{self, ReplayArgs};
use crate::out;
use crate::play::{self, Storm, exit_code};
use crate::report;

/// Plays it, prints it, compares its hash, gives the exit code.
pub(crate) fn run(arguments: &ReplayArgs) -> Result<u8, InputError> {
    let run = args::link(&arguments.link)?;
    let ticks = args::ticks(&arguments.ticks)?;
    if run.epoch != EPOCH {
        eprintln!(
            "this link is of epoch {}, this build plays epoch {EPOCH}: the run may differ",
            run.epoch
        );
    }
    let storm = Storm {
        ticks: length(&run, ticks),
        settle: true,
        ..Storm::default()
    };
    if !arguments.json {
        out::text(&report::header(&run, storm.ticks));
        out::text("\n");
    }
    let played = play::caught(|| match run.at {
        Some(at) => play::play_to(run.clone(), at),
        None => play::play(run.clone(), storm),
    });
    let outcome = match played {
        Ok(outcome) => outcome?,
        Err(message) => {
            eprint!("{}", report::fault(&run, storm, &message));
            return Ok(exit_code(VerdictKind::EngineFault));
        }
    };
    let repeats = run.expected_hash.map(|expected| expected == outcome.hash);
    if arguments.json {
        let mut value = report::outcome_json(&run, storm.ticks, &outcome);
        value["verified"] = repeats.into();
        out::line(value);
    } else {
        out::text(&report::outcome(&outcome));
        match (repeats, run.expected_hash) {
            (Some(true), _) => out::line("hash              verified"),
            (Some(false), Some(expected)) => out::line(format_args!(
                "hash              differs: the link says {}, this run has {}",
                report::hex(expected),
                report::hex(outcome.hash)
            )),
            _ => {}
        }
    }
    if repeats == Some(false) && run.epoch == EPOCH {
        return Ok(exit_code(VerdictKind::EngineFault));
    }
    Ok(exit_code(outcome.verdict))
}

/// How many ticks to play. Without a place to stop at, a storm ends no sooner than its last act,
/// which may be the one that begins the end phase.
fn length(run: &Run, ticks: u32) -> u32 {
    let last_act = run.acts.last().map(|act| act.tick.0);
    let named = run.at.map(|at| at.tick.0);
    let given = u64::from(ticks).max(last_act.unwrap_or(0));
    u32::try_from(named.unwrap_or(given)).unwrap_or(u32::MAX)
}
