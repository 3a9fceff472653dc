//! One run from flags.

use engine::error::InputError;
use engine::run::VerdictKind;

use crate::args::SingleArgs;
use crate::out;
use crate::play::{self, Storm, exit_code};
use crate::report;

/// Runs it, prints it, gives the exit code.
pub(crate) fn run(arguments: &SingleArgs) -> Result<u8, InputError> {
    let run = arguments.to_run()?;
    let storm = Storm::of(&arguments.shape)?;
    let ticks = storm.ticks;
    arguments.shape.gates.say_idle();
    if !arguments.json {
        out::text(&report::header(&run, ticks));
        out::text("\n");
    }
    match play::caught(|| play::play(run.clone(), storm)) {
        Ok(outcome) => {
            let outcome = outcome?;
            if arguments.json {
                out::line(report::outcome_json(&run, ticks, &outcome));
            } else {
                out::text(&report::outcome(&outcome));
            }
            Ok(exit_code(outcome.verdict))
        }
        Err(message) => {
            eprint!("{}", report::fault(&run, storm, &message));
            Ok(exit_code(VerdictKind::EngineFault))
        }
    }
}
