//! `tidy`: the rules of the source that no compiler checks, each with its reason.
//!
//! The rules are pure functions over a path and a text (`rules.rs`). Only this file reads the repo, and nothing here
//! may ever write.

mod imports;
mod rules;
#[cfg(test)]
mod tests;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::project::Project;
use rules::Source;
use std::fmt;
use std::fs;
use std::process::Command;

pub(crate) const HELP: &str = "\
cargo xtask tidy

Checks every file that git tracks or would track. It changes nothing. A line it prints names the
file, the line, the rule, and the reason for the rule.";

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// Counted from 1; 0 where the file as a whole is meant.
    line: usize,
    rule: &'static str,
    detail: String,
    reason: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path)?;
        if self.line > 0 {
            write!(formatter, ":{}", self.line)?;
        }
        write!(
            formatter,
            ": {}: {} ({})",
            self.rule, self.detail, self.reason
        )
    }
}

pub(crate) fn run(project: &Project, arguments: Arguments) -> Result<(), Failure> {
    arguments.finish()?;
    let files = check(project)?;
    println!("tidy: {files} files, nothing to say");
    Ok(())
}

/// Checks the whole repo and returns how many files it looked at.
pub(crate) fn check(project: &Project) -> Result<usize, Failure> {
    let paths = listed(project)?;
    let mut findings = Vec::new();
    for path in &paths {
        let bytes = match fs::read(project.root().join(path)) {
            Ok(bytes) => bytes,
            // Deleted, and git was not told yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::work(format!("cannot read {path}: {error}"))),
        };
        findings.extend(rules::check_size(path, bytes.len()));
        if let Ok(text) = String::from_utf8(bytes) {
            findings.extend(rules::check_text(&Source { path, text: &text }));
        }
    }
    if findings.is_empty() {
        return Ok(paths.len());
    }
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Err(Failure::work(format!(
        "tidy has {} findings\n{}",
        lines.len(),
        lines.join("\n")
    )))
}

/// The files that git tracks, and those that it would if asked to add everything.
fn listed(project: &Project) -> Result<Vec<String>, Failure> {
    let mut command = Command::new("git");
    command.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
    ]);
    let output = command
        .current_dir(project.root())
        .output()
        .map_err(|error| {
            Failure::work(format!(
                "tidy asks git for the files, and git does not start: {error}"
            ))
        })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::work(format!(
            "tidy asks git for the files: {message}"
        )));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}
