//! `mutants`: each mutation of the protocol on its schedule, off and on, by the native binary.
//!
//! This module must never know what a mutation or a schedule is.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::process;
use crate::project::Project;
use std::process::Command;

pub(crate) const HELP: &str = "\
cargo xtask mutants [--sweep SEEDS] [--json]

Switches rules of the protocol off, one by one, and plays the schedule of each with the rule in force,
where nothing may break, and without it, where an oracle must see it.

  --sweep SEEDS   also tell how many random runs it takes to see it, of so many at most
  --json          print one JSON object a line";

pub(crate) fn run(project: &Project, mut arguments: Arguments) -> Result<(), Failure> {
    let sweep = arguments.number("--sweep")?;
    let is_json = arguments.flag("--json");
    arguments.finish()?;
    let mut command = Command::new("cargo");
    let build = "run --quiet --release --package cli --bin workload-fuzz -- mutants";
    command.args(build.split(' ')).current_dir(project.root());
    if let Some(seeds) = sweep {
        command.args(["--sweep", &seeds.to_string()]);
    }
    if is_json {
        command.arg("--json");
    }
    process::run("the table of mutants", &mut command)
}
