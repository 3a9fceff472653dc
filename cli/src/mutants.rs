//! The table of mutations: each with the schedule that shows it, off and on, and how many random runs
//! it takes without one. Must never know what a mutation does.

use engine::error::InputError;
use engine::hunt::{MUTANTS, Mutant, Trial};
use engine::oracle::Violation;
use engine::scenario::write_mutations;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde_json::json;

use crate::args_hunt::MutantsArgs;
use crate::out;
use crate::report::verdict_name;

/// A row failed.
const FAILED: u8 = 1;

/// What random runs had to say of a mutation.
struct Swept {
    /// Runs allowed.
    cap: u64,
    /// The first seed that showed it, and how.
    found: Option<(u64, Violation)>,
}

/// Plays the table, prints it, gives the exit code.
pub(crate) fn run(arguments: &MutantsArgs) -> Result<u8, InputError> {
    let cap = arguments.sweep.as_deref().map(seeds).transpose()?;
    if !arguments.json {
        out::line(format_args!(
            "{:<9} {:<6} {:<11} {:>5}  {:<34} seeds",
            "mutation", "story", "without", "hits", "with"
        ));
    }
    let mut failed = 0;
    for mutant in MUTANTS {
        let trial = mutant.try_schedule();
        failed += u32::from(!trial.passed);
        let swept = cap.map(|cap| sweep(mutant, cap));
        if arguments.json {
            print_json(mutant, &trial, swept.as_ref());
        } else {
            print(mutant, &trial, swept.as_ref());
        }
    }
    let rows = MUTANTS.len();
    if !arguments.json {
        out::line(format_args!("mutants: {rows} rows, {failed} failed"));
    }
    Ok(if failed == 0 { 0 } else { FAILED })
}

fn seeds(text: &str) -> Result<u64, InputError> {
    const SEEDS_MAX: u64 = 1_000_000;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = Some(text)
        .filter(|_| digits)
        .and_then(|text| text.parse().ok());
    value
        .filter(|value| (1..=SEEDS_MAX).contains(value))
        .ok_or_else(|| {
            let expected = format!("a whole number of seeds from 1 to {SEEDS_MAX}");
            InputError::new("--sweep", text, expected)
        })
}

/// The first seed of all, whichever core is done first.
fn sweep(mutant: &Mutant, cap: u64) -> Swept {
    let seeds = (1..=cap).into_par_iter();
    let shows = |seed| mutant.try_seed(seed).map(|violation| (seed, violation));
    let found = seeds.map(shows).find_first(Option::is_some).flatten();
    Swept { cap, found }
}

fn print(mutant: &Mutant, trial: &Trial, swept: Option<&Swept>) {
    let fired: Vec<String> = trial
        .fired
        .iter()
        .map(|found| format!("{} at {}", found.property.id(), found.tick))
        .collect();
    let fired = if fired.is_empty() {
        "nothing".to_owned()
    } else {
        fired.join(", ")
    };
    let seeds = match swept {
        None => String::new(),
        Some(Swept { cap, found: None }) => format!("— of {cap}"),
        Some(Swept {
            found: Some((seed, violation)),
            ..
        }) => format!("{seed}, {}", violation.property.id()),
    };
    let failed = if trial.passed { "" } else { "  FAILED" };
    out::line(format_args!(
        "{:<9} {:<6} {:<11} {:>5}  {fired:<34} {seeds}{failed}",
        write_mutations(mutant.mutations()),
        mutant.story,
        verdict_name(trial.clean.kind),
        trial.hits,
    ));
    for mutation in mutant.mutations().iter() {
        let (rule, instead) = (mutation.rule(), mutation.instead());
        out::line(format_args!(
            "          {} {rule} Here: {instead}",
            mutation.name()
        ));
    }
}

fn print_json(mutant: &Mutant, trial: &Trial, swept: Option<&Swept>) {
    let fired: Vec<_> = trial
        .fired
        .iter()
        .map(|found| json!({"property": found.property.id(), "tick": found.tick, "text": found.text}))
        .collect();
    let found = swept.and_then(|swept| swept.found.as_ref());
    out::line(json!({
        "mutation": mutant.mutation.name(),
        "mutations": write_mutations(mutant.mutations()),
        "rule": mutant.mutation.rule(),
        "instead": mutant.mutation.instead(),
        "story": mutant.story,
        "without": verdict_name(trial.clean.kind),
        "explanation": trial.clean.text,
        "fired": fired,
        "hits": trial.hits,
        "passed": trial.passed,
        "sweep": swept.map(|swept| json!({
            "cap": swept.cap,
            "seeds": found.map(|(seed, _)| seed),
            "property": found.map(|(_, violation)| violation.property.id()),
        })),
    }));
}
