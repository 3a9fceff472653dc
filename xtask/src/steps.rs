//! The steps of `test`, in order: what each needs, and how it runs and counts.
//!
//! A step must never depend on what another left behind, except for the page, which the step `build` makes.

use crate::failure::Failure;
use crate::golden;
use crate::process::{run, run_reading};
use crate::project::Project;
use crate::setup::{Needs, Ready};
use crate::site::{self, Profile};
use crate::tally::Tally;
use crate::tidy;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a step did: its counts, and what went wrong if it could not be counted.
pub(crate) type Outcome = Result<Tally, Failure>;

/// One step of `test`.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Under which word its counts are shown.
    pub(crate) kind: &'static str,
    pub(crate) needs: Needs,
    /// Whether it is lost when the page was not built.
    pub(crate) needs_page: bool,
    pub(crate) run: fn(&Project, &Ready) -> Outcome,
}

/// A page that hangs must end in a report.
const NODE_TEST_TIMEOUT_MS: u32 = 180_000;

const NOTHING: Needs = Needs {
    page_tools: false,
    npm: false,
    browser: false,
};
const NPM: Needs = Needs {
    npm: true,
    ..NOTHING
};
const BROWSER: Needs = Needs {
    browser: true,
    ..NPM
};

pub(crate) const BUILD: &str = "build";

/// In the order in which a mistake is cheapest to learn of.
pub(crate) const STEPS: [Step; 9] = [
    step("format", "checks", NOTHING, format),
    step("lints", "checks", NOTHING, lints),
    step("tidy", "checks", NOTHING, tidy_rules),
    step("types", "checks", NPM, types),
    step("native", "native tests", NOTHING, native),
    step(BUILD, "checks", Needs::PAGE, build),
    step("script", "JavaScript tests", NPM, script),
    on_page(step("golden", "golden Runs", BROWSER, golden_table)),
    on_page(step("browser", "browser tests", BROWSER, browser)),
];

const fn step(
    name: &'static str,
    kind: &'static str,
    needs: Needs,
    run: fn(&Project, &Ready) -> Outcome,
) -> Step {
    Step {
        name,
        kind,
        needs,
        needs_page: false,
        run,
    }
}

const fn on_page(step: Step) -> Step {
    Step {
        needs_page: true,
        ..step
    }
}

fn format(project: &Project, _: &Ready) -> Outcome {
    run(
        "the format check",
        cargo(project).args(["fmt", "--all", "--check"]),
    )?;
    Ok(Tally::ONE_PASSED)
}

fn lints(project: &Project, _: &Ready) -> Outcome {
    let arguments = [
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run("clippy", cargo(project).args(arguments))?;
    Ok(Tally::ONE_PASSED)
}

fn tidy_rules(project: &Project, _: &Ready) -> Outcome {
    tidy::check(project)?;
    Ok(Tally::ONE_PASSED)
}

fn types(project: &Project, _: &Ready) -> Outcome {
    let mut tally = Tally::default();
    for config in ["tsconfig.json", "tsconfig.tools.json"] {
        let mut command = Command::new("node");
        command.args([
            "node_modules/typescript/bin/tsc",
            "--noEmit",
            "--project",
            config,
        ]);
        match run("the type check", command.current_dir(project.web())) {
            Ok(()) => tally += Tally::ONE_PASSED,
            Err(failure) => {
                println!("{failure}");
                tally += Tally::ONE_FAILED;
            }
        }
    }
    Ok(tally)
}

fn native(project: &Project, _: &Ready) -> Outcome {
    let mut command = cargo(project);
    command.args(["test", "--quiet", "--workspace", "--no-fail-fast"]);
    let mut tally = Tally::default();
    let outcome = run_reading("cargo test", &mut command, |line| {
        tally += Tally::of_cargo_line(line).unwrap_or_default();
    });
    judge(outcome, tally)
}

fn build(project: &Project, ready: &Ready) -> Outcome {
    site::build(project, ready, Profile::Release)?;
    Ok(Tally::ONE_PASSED)
}

fn script(project: &Project, ready: &Ready) -> Outcome {
    node_tests(project, ready, "web/test")
}

fn browser(project: &Project, ready: &Ready) -> Outcome {
    node_tests(project, ready, "web/e2e")
}

fn golden_table(project: &Project, ready: &Ready) -> Outcome {
    let verdict = golden::compare(project, ready, false)?;
    Ok(Tally {
        passed: verdict.equal,
        failed: verdict.different,
    })
}

/// Runs every `*.test.mjs` below `folder` with Node's own runner.
fn node_tests(project: &Project, ready: &Ready, folder: &str) -> Outcome {
    let files = test_files(&project.root().join(folder))?;
    if files.is_empty() {
        return Err(Failure::work(format!("no test is in {folder}")));
    }
    // A person reads the one report; the counts are read from the other.
    let counts = project
        .scratch()
        .join(format!("{}.tap", folder.replace('/', "-")));
    fs::create_dir_all(project.scratch())
        .map_err(|error| Failure::work(format!("no scratch folder: {error}")))?;
    let mut command = ready.command("node", project);
    command.args([
        "--test",
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        "--test-reporter=tap",
    ]);
    command.arg(format!("--test-reporter-destination={}", counts.display()));
    command.arg(format!("--test-timeout={NODE_TEST_TIMEOUT_MS}"));
    command.args(files);
    let outcome = run(&format!("the tests in {folder}"), &mut command);
    let mut tally = Tally::default();
    for line in fs::read_to_string(&counts).unwrap_or_default().lines() {
        tally += Tally::of_node_line(line).unwrap_or_default();
    }
    judge(outcome, tally)
}

/// A run that failed must show in its counts, and a run that counted nothing has tested nothing.
fn judge(outcome: Result<(), Failure>, tally: Tally) -> Outcome {
    match outcome {
        Err(failure) if tally.failed == 0 => Err(failure),
        Ok(()) if tally == Tally::default() => Err(Failure::work("no test ran")),
        Ok(()) | Err(_) => Ok(tally),
    }
}

fn test_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::work(format!("cannot read {}: {error}", folder.display()));
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            files.extend(test_files(&path)?);
        } else if path.to_string_lossy().ends_with(".test.mjs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn cargo(project: &Project) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(project.root());
    command
}

#[cfg(test)]
mod tests {
    use super::{Failure, STEPS, Tally, judge};

    #[test]
    fn a_failed_run_without_a_failed_test_is_a_failure() {
        let crashed = judge(Err(Failure::work("it crashed")), Tally::ONE_PASSED);
        assert_eq!(crashed, Err(Failure::work("it crashed")));
        let counted = judge(Err(Failure::work("exit code 1")), Tally::ONE_FAILED);
        assert_eq!(counted, Ok(Tally::ONE_FAILED));
    }

    #[test]
    fn a_run_of_no_test_is_a_failure() {
        assert!(judge(Ok(()), Tally::default()).is_err());
    }

    #[test]
    fn what_needs_the_page_comes_after_it_is_built() {
        let built = STEPS.iter().position(|step| step.name == super::BUILD);
        let first_on_page = STEPS.iter().position(|step| step.needs_page);
        assert!(built < first_on_page);
    }
}
