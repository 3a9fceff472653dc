//! `workload-fuzz`: runs the simulated cluster from the command line. It turns flags into a Run,
//! hands it to the engine and prints what came of it. Must never know how a run works inside: a run
//! is played by `play`, or by the engine's `hunt` for those who take one apart.

mod args;
mod args_gates;
mod args_hunt;
mod bench;
mod golden;
mod ledger;
mod mutants;
mod out;
mod play;
mod replay;
mod report;
mod shrink;
mod single;
mod sweep;
mod target;
mod test;
mod trace;

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
        Some(Command::Shrink(shrink)) => shrink::run(&shrink),
        Some(Command::Trace(trace)) => trace::run(&trace),
        Some(Command::Test(test)) => test::run(&test),
        Some(Command::Mutants(table)) => mutants::run(&table),
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
