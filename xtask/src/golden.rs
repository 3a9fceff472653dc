//! `golden`: the table of Runs whose hashes are pinned, run natively, in wasm under Node and in Chromium.
//!
//! The native binary says what each Run is and what its hash became; `web/golden.mjs` does the comparing. This module
//! must never know what a Run or a hash is.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::process::run_reading;
use crate::project::Project;
use crate::setup::{self, Needs, Ready};
use crate::site::{self, Profile};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

pub(crate) const HELP: &str = "\
cargo xtask golden [--bless]

Runs every Run of golden.json natively, in wasm under Node and in Chromium, and compares the hashes.

  --bless    write what the native binary computed into golden.json. A moved hash breaks the links
             that people have shared: raise the epoch with it.";

pub(crate) fn run(project: &Project, mut arguments: Arguments) -> Result<(), Failure> {
    let is_blessing = arguments.flag("--bless");
    arguments.finish()?;
    let ready = setup::prepare(project, Needs::PAGE_AND_BROWSER)?;
    site::build(project, &ready, Profile::Release)?;
    let verdict = compare(project, &ready, is_blessing)?;
    if verdict.different == 0 {
        Ok(())
    } else {
        Err(Failure::work(format!(
            "{} golden Runs differ",
            verdict.different
        )))
    }
}

/// How many Runs have the pinned hash everywhere, and how many do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) equal: u32,
    pub(crate) different: u32,
}

/// Compares all platforms, given a built page.
pub(crate) fn compare(
    project: &Project,
    ready: &Ready,
    is_blessing: bool,
) -> Result<Verdict, Failure> {
    let native = native_output(project, "golden")?;
    let mut command = ready.command("node", project);
    command.arg("web/golden.mjs").arg(native);
    if is_blessing {
        command.arg("--bless");
    }
    let mut verdict = None;
    let outcome = run_reading("the golden table", &mut command, |line| {
        verdict = read_verdict(line).or(verdict)
    });
    match (outcome, verdict) {
        // A difference is the verdict's to tell; what has no verdict did not get that far.
        (_, Some(verdict)) => Ok(verdict),
        (Err(failure), None) => Err(failure),
        (Ok(()), None) => Err(Failure::work("web/golden.mjs gave no verdict")),
    }
}

/// Runs `workload-fuzz VERB --json` and keeps what it prints in a file.
pub(crate) fn native_output(project: &Project, verb: &str) -> Result<PathBuf, Failure> {
    let path = project.scratch().join(format!("{verb}-native.jsonl"));
    let cannot_write =
        |error: std::io::Error| Failure::work(format!("cannot write {}: {error}", path.display()));
    fs::create_dir_all(project.scratch()).map_err(cannot_write)?;
    let file = File::create(&path).map_err(cannot_write)?;
    let mut command = Command::new("cargo");
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "cli",
        "--bin",
        "workload-fuzz",
        "--",
    ]);
    command
        .args([verb, "--json"])
        .current_dir(project.root())
        .stdout(file);
    crate::process::run(&format!("workload-fuzz {verb}"), &mut command)?;
    Ok(path)
}

/// Reads `golden: 24 equal, 0 different`.
fn read_verdict(line: &str) -> Option<Verdict> {
    let (equal, different) = line.strip_prefix("golden: ")?.split_once(" equal, ")?;
    Some(Verdict {
        equal: equal.parse().ok()?,
        different: different.strip_suffix(" different")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Verdict, read_verdict};

    #[test]
    fn the_verdict_line_is_read_and_no_other() {
        let expected = Verdict {
            equal: 24,
            different: 1,
        };
        assert_eq!(
            read_verdict("golden: 24 equal, 1 different"),
            Some(expected)
        );
        assert_eq!(read_verdict("swarm-12  9f3a  9f3a  9f3a  equal"), None);
    }
}
