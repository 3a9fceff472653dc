//! `workload-fuzz`: runs the simulated cluster from the command line. It turns flags into a Run,
//! hands it to the engine and prints what came of it. Must never know how a run works inside: the
//! module `play` is its only door to the engine.

mod args;
mod bench;
mod golden;
mod out;
mod play;
mod replay;
mod report;
mod single;
mod sweep;

use std::process::ExitCode;

use clap::Parser as _;
use engine::error::InputError;

use args::{Arguments, Command};

/// The exit code of bad input; clap's own errors have it too.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        None => single::run(&arguments.run),
        Some(Command::Replay(replay)) => replay::run(&replay),
        Some(Command::Sweep(sweep)) => sweep::run(&sweep),
        Some(Command::Golden(table)) => golden::run(&table),
        Some(Command::Bench(bench)) => bench::run(&bench),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &InputError) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(BAD_INPUT)
}
