//! `bench`: ticks a second natively and in Chromium, and what the page weighs.
//!
//! The native binary names the cases and times its own; `web/bench.mjs` repeats them in the browser and weighs `dist/`.
//! A figure is never a test: this must not fail because something is slow.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::golden::native_output;
use crate::process;
use crate::project::Project;
use crate::setup::{self, Needs};
use crate::site::{self, Profile};

pub(crate) const HELP: &str = "\
cargo xtask bench [--json]

Times the same Runs natively and in Chromium, and prints the size of the page after gzip.

  --json     print one JSON object a line instead of a table, and nothing else on standard output";

pub(crate) fn run(project: &Project, mut arguments: Arguments) -> Result<(), Failure> {
    let is_json = arguments.flag("--json");
    arguments.finish()?;
    let ready = setup::prepare(project, Needs::PAGE_AND_BROWSER)?;
    site::build(project, &ready, Profile::Release)?;
    let native = native_output(project, "bench")?;
    let mut command = ready.command("node", project);
    command.arg("web/bench.mjs").arg(native);
    if is_json {
        command.arg("--json");
    }
    process::run("the benchmark", &mut command)
}
