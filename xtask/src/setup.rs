//! Brings what a command needs onto a machine that has only rustup and Node, and nothing that is there already.
//!
//! The long parts run beside each other. This module must never build the project itself, and never touch what is
//! outside the repo, cargo's and rustup's own folders, the user's cache folder and (for a browser, through apt) the
//! system's packages.

use crate::chromium;
use crate::failure::Failure;
use crate::npm;
use crate::process::{self, answer, seconds};
use crate::project::{Project, TRUNK_VERSION, WASM_TARGET};
use crate::tools::{self, Tool};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// What a command needs beside a toolchain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs {
    /// Trunk, wasm-bindgen, the wasm target and the crates: to build the page.
    pub(crate) page_tools: bool,
    /// The npm packages: to bundle the page and to run its tests.
    pub(crate) npm: bool,
    /// A Chromium.
    pub(crate) browser: bool,
}

impl Needs {
    pub(crate) const PAGE: Self = Self {
        page_tools: true,
        npm: true,
        browser: false,
    };
    pub(crate) const PAGE_AND_BROWSER: Self = Self {
        page_tools: true,
        npm: true,
        browser: true,
    };

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            page_tools: self.page_tools || other.page_tools,
            npm: self.npm || other.npm,
            browser: self.browser || other.browser,
        }
    }
}

/// What set-up found or made.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    tool_dirs: Vec<PathBuf>,
    chromium: Option<PathBuf>,
    took: Duration,
}

impl Ready {
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// A command that finds the project's tools before any others of their name, and the browser.
    pub(crate) fn command(&self, program: impl AsRef<Path>, project: &Project) -> Command {
        let mut command = Command::new(program.as_ref());
        let inherited = env::var_os("PATH").unwrap_or_default();
        let paths = self
            .tool_dirs
            .iter()
            .cloned()
            .chain(env::split_paths(&inherited));
        let joined = env::join_paths(paths).unwrap_or_else(|_| OsString::from(&inherited));
        command.current_dir(project.root()).env("PATH", joined);
        if let Some(chromium) = &self.chromium {
            command.env(chromium::VARIABLE, chromium);
        }
        command
    }
}

/// Brings all of `needs`, the parts beside each other, and says how long it took.
pub(crate) fn prepare(project: &Project, needs: Needs) -> Result<Ready, Failure> {
    let started = Instant::now();
    if needs.npm {
        require_node()?;
    }
    let mut ready = Ready::default();
    let mut failures = Vec::new();
    thread::scope(|scope| {
        let mut tool_jobs = Vec::new();
        let mut plain_jobs = Vec::new();
        if needs.page_tools {
            tool_jobs.push(scope.spawn(move || tools::bring(project, &trunk())));
            tool_jobs.push(scope.spawn(move || tools::bring(project, &wasm_bindgen(project)?)));
            plain_jobs.push(scope.spawn(move || bring_target_and_crates(project)));
        }
        if needs.npm {
            plain_jobs.push(scope.spawn(move || npm::bring(project)));
        }
        let browser_job = needs
            .browser
            .then(|| scope.spawn(move || chromium::bring(project)));
        for job in tool_jobs {
            match job.join() {
                Ok(Ok(dir)) => ready.tool_dirs.extend(dir),
                Ok(Err(failure)) => failures.push(failure),
                Err(_) => failures.push(Failure::work("set-up of a tool panicked")),
            }
        }
        for job in plain_jobs {
            match job.join() {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => failures.push(failure),
                Err(_) => failures.push(Failure::work("a set-up step panicked")),
            }
        }
        match browser_job.map(thread::ScopedJoinHandle::join) {
            None => {}
            Some(Ok(Ok(path))) => ready.chromium = Some(path),
            Some(Ok(Err(failure))) => failures.push(failure),
            Some(Err(_)) => failures.push(Failure::work("set-up of the browser panicked")),
        }
    });
    if !failures.is_empty() {
        let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
        return Err(Failure::work(texts.join("\n")));
    }
    ready.took = started.elapsed();
    eprintln!("set-up took {}", seconds(ready.took));
    Ok(ready)
}

fn trunk() -> Tool {
    Tool {
        name: "Trunk",
        package: "trunk",
        program: "trunk",
        version: TRUNK_VERSION.to_owned(),
        accepts_later_patches: true,
        // Its lock file is sound, so the very release that was tried is built.
        is_locked: true,
    }
}

fn wasm_bindgen(project: &Project) -> Result<Tool, Failure> {
    Ok(Tool {
        name: "wasm-bindgen",
        package: "wasm-bindgen-cli",
        program: "wasm-bindgen",
        version: project.wasm_bindgen_version()?,
        accepts_later_patches: false,
        // The lock file that 0.2.130 was published with names a crate version that is not to be had.
        is_locked: false,
    })
}

fn bring_target_and_crates(project: &Project) -> Result<(), Failure> {
    let libdir = ["--print", "target-libdir", "--target", WASM_TARGET];
    let found = answer(
        Command::new("rustc")
            .args(libdir)
            .current_dir(project.root()),
    );
    if !found.is_some_and(|dir| Path::new(&dir).is_dir()) {
        let mut command = Command::new("rustup");
        command
            .args(["target", "add", WASM_TARGET])
            .current_dir(project.root());
        let log = project.scratch().join("rustup.log");
        process::run_logged("adding the wasm target", &mut command, &log)?;
    }
    // Trunk builds with cargo kept offline.
    let mut fetch = Command::new("cargo");
    fetch
        .args(["fetch", "--locked"])
        .current_dir(project.root());
    let log = project.scratch().join("fetch.log");
    process::run_quietly("fetching the crates", &mut fetch, &log)
}

fn require_node() -> Result<(), Failure> {
    const NEEDED: u32 = 20;
    let version = answer(Command::new("node").arg("--version"));
    let major = version.as_deref().and_then(node_major);
    match (version, major) {
        (_, Some(major)) if major >= NEEDED => Ok(()),
        (Some(version), _) => Err(Failure::work(format!(
            "Node {NEEDED} or later is needed, this is {version}"
        ))),
        (None, _) => Err(Failure::work(format!(
            "Node {NEEDED} or later is needed, and no `node` is on PATH"
        ))),
    }
}

fn node_major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::node_major;

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(node_major("v20.20.2"), Some(20));
        assert_eq!(node_major("twenty"), None);
    }
}
