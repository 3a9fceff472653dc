//! Runs other programs: in the open, for their answer, or long ones in the background of a log with signs of life.
//!
//! It must never know what a program is for; its caller words that.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a long step says that it is still at it.
const SIGN_OF_LIFE_SECONDS: u64 = 20;
const POLL: Duration = Duration::from_millis(100);
const LOG_TAIL_LINES: usize = 40;

/// Runs `command` with its output in the open.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), Failure> {
    let status = command
        .status()
        .map_err(|error| cannot_start(what, command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::work(format!(
            "{what} failed ({status}): {}",
            shown(command)
        )))
    }
}

/// The trimmed standard output of `command`, or nothing where it is missing or fails.
pub(crate) fn answer(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Runs `command`, prints its standard output and hands every line of it to `each` as well.
pub(crate) fn run_reading(
    what: &str,
    command: &mut Command,
    mut each: impl FnMut(&str),
) -> Result<(), Failure> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(what, command, &error))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line =
                line.map_err(|error| Failure::work(format!("{what}: unreadable output: {error}")))?;
            println!("{line}");
            each(&line);
        }
    }
    let status = child
        .wait()
        .map_err(|error| Failure::work(format!("{what} cannot be waited for: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::work(format!(
            "{what} failed ({status}): {}",
            shown(command)
        )))
    }
}

/// Runs a long `command` with its output in the file `log`, says now and then how far it is, and on failure shows the
/// end of the log.
pub(crate) fn run_logged(
    what: &str,
    command: &mut Command,
    log: &Path,
) -> Result<Duration, Failure> {
    let started = Instant::now();
    let file = create(log)?;
    let copy = duplicate(&file, log)?;
    eprintln!("{what} ...");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(copy)
        .spawn()
        .map_err(|error| cannot_start(what, command, &error))?;
    let mut signs = 0;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => thread::sleep(POLL),
            Err(error) => {
                return Err(Failure::work(format!(
                    "{what} cannot be waited for: {error}"
                )));
            }
        }
        if started.elapsed().as_secs() / SIGN_OF_LIFE_SECONDS > signs {
            signs = started.elapsed().as_secs() / SIGN_OF_LIFE_SECONDS;
            let last = tail(log, 1);
            eprintln!(
                "{what}: {} so far: {}",
                seconds(started.elapsed()),
                last.trim()
            );
        }
    };
    if status.success() {
        eprintln!("{what}: done in {}", seconds(started.elapsed()));
        return Ok(started.elapsed());
    }
    Err(failed_with_log(what, command, &status, log))
}

/// Runs `command` silently, and shows its log only when it fails.
pub(crate) fn run_quietly(what: &str, command: &mut Command, log: &Path) -> Result<(), Failure> {
    let file = create(log)?;
    let copy = duplicate(&file, log)?;
    let status = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(copy)
        .status()
        .map_err(|error| cannot_start(what, command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed_with_log(what, command, &status, log))
    }
}

/// A span of time as a person reads it.
pub(crate) fn seconds(span: Duration) -> String {
    let whole = span.as_secs();
    if whole >= 60 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{:.1} s", span.as_secs_f64())
    }
}

fn create(log: &Path) -> Result<File, Failure> {
    log.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| File::create(log))
        .map_err(|error| Failure::work(format!("cannot write {}: {error}", log.display())))
}

fn duplicate(file: &File, log: &Path) -> Result<File, Failure> {
    file.try_clone()
        .map_err(|error| Failure::work(format!("cannot write {}: {error}", log.display())))
}

fn failed_with_log(what: &str, command: &Command, status: &ExitStatus, log: &Path) -> Failure {
    Failure::work(format!(
        "{what} failed ({status}): {}\n{}\n(the whole log: {})",
        shown(command),
        tail(log, LOG_TAIL_LINES),
        log.display()
    ))
}

fn tail(log: &Path, lines: usize) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn cannot_start(what: &str, command: &Command, error: &std::io::Error) -> Failure {
    Failure::work(format!(
        "{what}: cannot start `{}`: {error}",
        command.get_program().display()
    ))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_worded_by_its_length() {
        assert_eq!(seconds(Duration::from_millis(1500)), "1.5 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }

    #[test]
    fn a_missing_program_answers_nothing() {
        assert_eq!(answer(&mut Command::new("no-such-program-anywhere")), None);
    }

    #[test]
    fn a_failure_names_the_whole_command() {
        let failure = run(
            "the step",
            Command::new("cargo")
                .arg("no-such-command")
                .stderr(Stdio::null()),
        );
        let text = failure
            .expect_err("cargo knows no such command")
            .to_string();
        assert!(text.starts_with("the step failed"), "{text}");
        assert!(text.ends_with("cargo no-such-command"), "{text}");
    }
}
