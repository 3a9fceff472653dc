//! A pinned tool from crates.io: taken from PATH where it fits, else from the user's cache folder, else built there once.
//!
//! It must never install into cargo's own folder: the user's tools stay as they are.

use crate::failure::Failure;
use crate::process::{answer, run_logged};
use crate::project::{Project, tools_cache};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tool runs for seconds and is built once: a build without optimisation saves most of the wait.
const FAST_PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "256"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_STRIP", "symbols"),
];

/// What a caller's environment sets for its own project and a tool's build must not take over.
const FOREIGN_VARIABLES: [&str; 5] = [
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_PROFILE_RELEASE_PANIC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
];

/// A tool and the version of it that the project needs.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    /// What a person calls it.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) program: &'static str,
    pub(crate) version: String,
    /// Whether a later patch release on PATH does as well.
    pub(crate) accepts_later_patches: bool,
    /// Whether to build it with the lock file that it was published with.
    pub(crate) is_locked: bool,
}

impl Tool {
    fn fits(&self, found: &str) -> bool {
        if !self.accepts_later_patches {
            return found == self.version;
        }
        match (split_patch(found), split_patch(&self.version)) {
            (Some((found_line, found_patch)), Some((line, patch))) => {
                found_line == line && found_patch >= patch
            }
            _ => false,
        }
    }

    /// The version that `program` says it is, if it runs at all.
    fn version_of(&self, program: &Path) -> Option<String> {
        let said = answer(Command::new(program).arg("--version"))?;
        said.split_whitespace().nth(1).map(str::to_owned)
    }
}

/// Makes `tool` available and returns the folder to put before PATH, or nothing where PATH has it already.
pub(crate) fn bring(project: &Project, tool: &Tool) -> Result<Option<PathBuf>, Failure> {
    if tool
        .version_of(Path::new(tool.program))
        .is_some_and(|found| tool.fits(&found))
    {
        return Ok(None);
    }
    let cache = tools_cache()?;
    let home = cache.join(format!("{}-{}", tool.package, tool.version));
    let bin = home.join("bin");
    let program = bin
        .join(tool.program)
        .with_extension(env::consts::EXE_EXTENSION);
    if tool.version_of(&program).as_deref() == Some(&tool.version) {
        return Ok(Some(bin));
    }
    build(project, tool, &cache, &home)?;
    match tool.version_of(&program) {
        Some(version) if version == tool.version => Ok(Some(bin)),
        Some(version) => Err(Failure::work(format!(
            "{} was built as {version}, not {}",
            tool.name, tool.version
        ))),
        None => Err(Failure::work(format!(
            "{} was built but does not run: {}",
            tool.name,
            program.display()
        ))),
    }
}

fn build(project: &Project, tool: &Tool, cache: &Path, home: &Path) -> Result<(), Failure> {
    let target = cache.join(format!("{}-build", tool.package));
    fs::create_dir_all(cache)
        .map_err(|error| Failure::work(format!("cannot make {}: {error}", cache.display())))?;
    let mut command = Command::new("cargo");
    // The repo's cargo configuration and profiles are not the tool's.
    command.current_dir(cache);
    command.args(["install", "--no-default-features", "--force", tool.package]);
    command.arg("--version").arg(format!("={}", tool.version));
    command.arg("--root").arg(home);
    if tool.is_locked {
        command.arg("--locked");
    }
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    command.envs(FAST_PROFILE).env("CARGO_TARGET_DIR", &target);
    eprintln!(
        "{} {} is not here: it is built once, into {}",
        tool.name,
        tool.version,
        home.display()
    );
    let what = format!("building {} {}", tool.name, tool.version);
    let log = project.scratch().join(format!("{}.log", tool.package));
    run_logged(&what, &mut command, &log)?;
    // Only the program is kept; a leftover would cost space and nothing else.
    let _ = fs::remove_dir_all(&target);
    Ok(())
}

fn split_patch(version: &str) -> Option<(&str, u32)> {
    let (line, patch) = version.rsplit_once('.')?;
    Some((line, patch.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::Tool;

    fn tool(accepts_later_patches: bool) -> Tool {
        Tool {
            name: "Trunk",
            package: "trunk",
            program: "trunk",
            version: "0.21.14".to_owned(),
            accepts_later_patches,
            is_locked: true,
        }
    }

    #[test]
    fn a_pinned_tool_takes_no_other_version() {
        assert!(tool(false).fits("0.21.14"));
        assert!(!tool(false).fits("0.21.15"));
    }

    #[test]
    fn a_later_patch_fits_where_the_tool_allows_it() {
        assert!(tool(true).fits("0.21.20"));
        assert!(!tool(true).fits("0.21.9"));
        assert!(!tool(true).fits("0.22.14"));
        assert!(!tool(true).fits("0.21.14-beta.1"));
    }
}
