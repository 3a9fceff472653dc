//! `test`: every check and every test, with a whole report at the end whatever failed on the way.
//!
//! It must never know how a step works; `steps.rs` lists them.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::process::seconds;
use crate::project::Project;
use crate::setup::{self, Needs, Ready};
use crate::steps::{BUILD, STEPS, Step};
use crate::tally::Tally;
use std::time::{Duration, Instant};

pub(crate) const HELP: &str = "\
cargo xtask test [STEP...]

Sets up what is missing (Chromium too, through apt where that is there), then runs every step:

  format   cargo fmt --check              build    the page and its wasm module
  lints    clippy without a warning       script   JavaScript tests under Node
  tidy     the rules of the source        golden   the golden table on every platform
  types    tsc over the JSDoc types       browser  the page in Chromium
  native   cargo test

With names of steps it sets up for those and runs only those. golden and browser test the page
that is in dist/: name build before them after a change. A step that fails does not stop the next.
The last line is `N passed, N failed`.";

/// How one step ended.
struct Entry {
    step: &'static Step,
    tally: Tally,
    took: Duration,
    failure: Option<Failure>,
}

impl Entry {
    fn is_good(&self) -> bool {
        self.tally.failed == 0
    }
}

pub(crate) fn run(project: &Project, mut arguments: Arguments) -> Result<(), Failure> {
    let names = arguments.plain_words();
    let steps = chosen(&names, &arguments)?;
    arguments.finish()?;
    let needs = steps
        .iter()
        .fold(Needs::default(), |needs, step| needs.and(step.needs));
    let ready = setup::prepare(project, needs)?;

    let mut entries: Vec<Entry> = Vec::new();
    for step in steps {
        let is_page_lost = entries
            .iter()
            .any(|entry| entry.step.name == BUILD && !entry.is_good());
        let entry = if step.needs_page && is_page_lost {
            lost(step)
        } else {
            take(step, project, &ready)
        };
        if let Some(failure) = &entry.failure {
            println!("{failure}");
        }
        entries.push(entry);
    }
    report(&entries, &ready)
}

fn chosen(names: &[String], arguments: &Arguments) -> Result<Vec<&'static Step>, Failure> {
    for name in names {
        if !STEPS.iter().any(|step| step.name == name) {
            return Err(arguments.refusal(&format!("unknown step `{name}`")));
        }
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_chosen).collect())
}

fn take(step: &'static Step, project: &Project, ready: &Ready) -> Entry {
    println!("\n== {}", step.name);
    let started = Instant::now();
    let (tally, failure) = match (step.run)(project, ready) {
        Ok(tally) => (tally, None),
        Err(failure) => (Tally::ONE_FAILED, Some(failure)),
    };
    Entry {
        step,
        tally,
        took: started.elapsed(),
        failure,
    }
}

fn lost(step: &'static Step) -> Entry {
    println!("\n== {}", step.name);
    Entry {
        step,
        tally: Tally::ONE_FAILED,
        took: Duration::ZERO,
        failure: Some(Failure::work("not run: the page was not built")),
    }
}

fn report(entries: &[Entry], ready: &Ready) -> Result<(), Failure> {
    println!(
        "\n== report\n{:<10} {:>12}",
        "set-up",
        seconds(ready.took())
    );
    for entry in entries {
        let mark = if entry.is_good() { "" } else { "  FAILED" };
        println!("{:<10} {:>12}{mark}", entry.step.name, seconds(entry.took));
    }
    println!("\n{:<18} {:>8} {:>8}", "", "passed", "failed");
    let mut total = Tally::default();
    for (kind, tally) in by_kind(entries) {
        println!("{kind:<18} {:>8} {:>8}", tally.passed, tally.failed);
        total += tally;
    }
    println!();
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 {
        return Ok(());
    }
    let failed: Vec<&str> = entries
        .iter()
        .filter(|entry| !entry.is_good())
        .map(|entry| entry.step.name)
        .collect();
    Err(Failure::work(format!("failed: {}", failed.join(", "))))
}

fn by_kind(entries: &[Entry]) -> Vec<(&'static str, Tally)> {
    let mut kinds: Vec<(&'static str, Tally)> = Vec::new();
    for entry in entries {
        match kinds.iter_mut().find(|(kind, _)| *kind == entry.step.kind) {
            Some((_, tally)) => *tally += entry.tally,
            None => kinds.push((entry.step.kind, entry.tally)),
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: usize, tally: Tally) -> Entry {
        Entry {
            step: &STEPS[at],
            tally,
            took: Duration::ZERO,
            failure: None,
        }
    }

    #[test]
    fn counts_are_kept_by_kind() {
        let entries = [
            entry(0, Tally::ONE_PASSED),
            entry(
                4,
                Tally {
                    passed: 9,
                    failed: 0,
                },
            ),
            entry(1, Tally::ONE_FAILED),
        ];
        let expected = [
            (
                "checks",
                Tally {
                    passed: 1,
                    failed: 1,
                },
            ),
            (
                "native tests",
                Tally {
                    passed: 9,
                    failed: 0,
                },
            ),
        ];
        assert_eq!(by_kind(&entries), expected);
    }

    #[test]
    fn one_failure_fails_the_report() {
        let entries = [entry(0, Tally::ONE_PASSED), entry(1, Tally::ONE_FAILED)];
        let failure = report(&entries, &Ready::default()).expect_err("lints failed");
        assert_eq!(failure.to_string(), "failed: lints");
    }

    #[test]
    fn steps_run_in_their_own_order_and_unknown_ones_are_refused() {
        let arguments = Arguments::new("test", Vec::new());
        let names = ["browser".to_owned(), "format".to_owned()];
        let steps = chosen(&names, &arguments).expect("both are steps");
        assert_eq!(
            steps.iter().map(|step| step.name).collect::<Vec<_>>(),
            ["format", "browser"]
        );
        assert!(chosen(&["brwoser".to_owned()], &arguments).is_err());
    }
}
