//! The Chromium that the browser tests drive: one that is there, else Debian's through apt.
//!
//! It must never download a browser in any other way.

use crate::failure::Failure;
use crate::process::{answer, run_logged};
use crate::project::Project;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that names the browser, here and to the tests in `web/`.
pub(crate) const VARIABLE: &str = "VSR_CHROMIUM";

const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];
const ELSEWHERE: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The path of a Chromium, after installing one where there is none and apt can.
pub(crate) fn bring(project: &Project) -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let path = PathBuf::from(named);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Failure::work(format!(
                "{VARIABLE} names no file: {}",
                path.display()
            )))
        };
    }
    if let Some(found) = find() {
        return Ok(found);
    }
    install(project)?;
    find().ok_or_else(|| {
        Failure::work("apt installed chromium, but no program of that name is on PATH")
    })
}

fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = env::split_paths(&path).collect();
    let on_path = PROGRAMS
        .iter()
        .flat_map(|program| dirs.iter().map(move |dir| dir.join(program)));
    on_path
        .chain(ELSEWHERE.iter().map(PathBuf::from))
        .find(|candidate| candidate.is_file())
}

fn install(project: &Project) -> Result<(), Failure> {
    let advice = format!("install Chromium or Chrome, or name one in {VARIABLE}");
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(Failure::work(format!(
            "the browser tests need a Chromium, and there is no apt here: {advice}"
        )));
    }
    let is_root = answer(Command::new("id").arg("-u")).as_deref() == Some("0");
    if !is_root && answer(Command::new("sudo").args(["-n", "true"])).is_none() {
        return Err(Failure::work(format!(
            "the browser tests need a Chromium, and apt needs root or a sudo without a password: {advice}"
        )));
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if is_root { "apt-get" } else { "sudo" });
        if !is_root {
            command.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        }
        command
            .args(["-q", "-o", "DPkg::Lock::Timeout=300"])
            .args(arguments);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    let log = |name: &str| project.scratch().join(name);
    run_logged(
        "updating apt's lists",
        &mut apt(&["update"]),
        &log("apt-update.log"),
    )?;
    let mut command = apt(&[
        "install",
        "-y",
        "--no-install-recommends",
        "chromium",
        "fonts-dejavu-core",
    ]);
    run_logged(
        "installing Chromium through apt",
        &mut command,
        &log("apt-install.log"),
    )
    .map(|_| ())
}
