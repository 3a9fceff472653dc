//! The npm packages of `web/`, exactly as its lock file has them.
//!
//! It must never change the lock file.

use crate::failure::Failure;
use crate::process::{answer, run_logged};
use crate::project::Project;
use std::fs;
use std::process::Command;

/// Runs `npm ci`, unless the packages there are those of this lock file and this Node.
pub(crate) fn bring(project: &Project) -> Result<(), Failure> {
    let web = project.web();
    let lock_path = web.join("package-lock.json");
    let lock = fs::read_to_string(&lock_path)
        .map_err(|error| Failure::work(format!("cannot read web/package-lock.json: {error}")))?;
    let node = answer(Command::new("node").arg("--version")).unwrap_or_default();
    let wanted = format!("{node}\n{lock}");
    let stamp = web.join("node_modules").join(".installed-from");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(program);
    command
        .args(["ci", "--no-audit", "--no-fund"])
        .current_dir(&web);
    // The browser tests use the system's browser.
    command.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    run_logged(
        "installing the npm packages",
        &mut command,
        &project.scratch().join("npm.log"),
    )?;
    fs::write(&stamp, wanted)
        .map_err(|error| Failure::work(format!("cannot write {}: {error}", stamp.display())))
}
