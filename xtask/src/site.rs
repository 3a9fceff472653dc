//! Builds the page and its wasm module into `dist/`, and runs the static server over it.
//!
//! It must never set anything up; it takes what set-up made ready.

use crate::failure::Failure;
use crate::process;
use crate::project::Project;
use crate::setup::Ready;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// How the page is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Optimised for speed and size, as it is hosted.
    Release,
    /// Quick to build, with source maps and Lit's warnings.
    Debug,
}

/// Builds everything into `dist/`.
pub(crate) fn build(project: &Project, ready: &Ready, profile: Profile) -> Result<(), Failure> {
    eprintln!("building the page ...");
    let mut command = trunk(project, ready, "build", profile);
    // Standard output is for a command's result.
    command.stdout(Stdio::from(io::stderr()));
    process::run("building the page", &mut command)
}

/// A Trunk command that works offline and in the same way under every environment.
pub(crate) fn trunk(project: &Project, ready: &Ready, verb: &str, profile: Profile) -> Command {
    let mut command = ready.command("trunk", project);
    command.arg(verb).args(["--log", "warn"]);
    if profile == Profile::Release {
        command.arg("--release");
    }
    // Trunk 0.21 reads this one as a Boolean and refuses to start on the customary value 1.
    command.env_remove("NO_COLOR");
    // A failing hook would bury its message under Trunk's own backtrace.
    command
        .env("RUST_BACKTRACE", "0")
        .env("TRUNK_SKIP_VERSION_CHECK", "true");
    command
}

/// A running server, which ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: String,
    notice: Option<String>,
}

impl Server {
    /// Serves `dist/` at `port`, or at the next free one.
    pub(crate) fn start(project: &Project, ready: &Ready, port: u16) -> Result<Self, Failure> {
        let mut command = ready.command("node", project);
        command.arg("web/server.mjs").arg(port.to_string());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::work(format!("cannot start the server: {error}")))?;
        let mut notice = None;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                match line.strip_prefix("serving ") {
                    Some(address) => {
                        let address = address.to_owned();
                        return Ok(Self {
                            child,
                            address,
                            notice,
                        });
                    }
                    None => notice = Some(line),
                }
            }
        }
        let _ = child.wait();
        Err(Failure::work(
            "the server did not start; its message is above",
        ))
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What the server had to say before its address: that a port was taken.
    pub(crate) fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Serves until somebody ends it.
    pub(crate) fn wait(mut self) -> Result<(), Failure> {
        // `Child::wait` closes the server's standard input, which would end it: keep that open.
        let stdin = self.child.stdin.take();
        let status = self.child.wait();
        drop(stdin);
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::work(format!("the server ended ({status})"))),
            Err(error) => Err(Failure::work(format!(
                "the server cannot be waited for: {error}"
            ))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
