//! `serve`: from a fresh machine to the page in a browser, with one command.
//!
//! It must never know how a tool is installed or how the page is built.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::project::Project;
use crate::setup::{self, Needs};
use crate::site::{self, Profile, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub(crate) const HELP: &str = "\
cargo xtask serve [--port N] [--debug] [--watch] [--check]

Sets up what is missing, builds the page and serves it until you press Ctrl+C.

  --port N   serve at port N, or at the next free one (8080 unless given)
  --debug    build fast and unoptimised, with source maps and Lit's warnings
  --watch    build again whenever a source file changes; reload the page to see it
  --check    build, fetch the page once from the running server, print OK and stop";

const PORT: u16 = 8080;
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
/// What a page that works has to load, beside its address itself.
const PARTS: [&str; 4] = ["", "app.js", "sim-wasm.js", "sim-wasm_bg.wasm"];

pub(crate) fn run(project: &Project, mut arguments: Arguments) -> Result<(), Failure> {
    let port = arguments.number("--port")?.unwrap_or(PORT);
    let profile = if arguments.flag("--debug") {
        Profile::Debug
    } else {
        Profile::Release
    };
    let is_watching = arguments.flag("--watch");
    let is_check = arguments.flag("--check");
    arguments.finish()?;

    let ready = setup::prepare(project, Needs::PAGE)?;
    site::build(project, &ready, profile)?;
    let server = Server::start(project, &ready, port)?;
    if let Some(notice) = server.notice() {
        println!("{notice}");
    }
    if is_check {
        for part in PARTS {
            fetch(server.address(), part)?;
        }
        println!("OK: {} answers", server.address());
        return Ok(());
    }
    println!(
        "\nVSR Playground is at {}\nPress Ctrl+C to stop.",
        server.address()
    );
    let watcher = if is_watching {
        let spawned = site::trunk(project, &ready, "watch", profile).spawn();
        Some(spawned.map_err(|error| Failure::work(format!("cannot watch for changes: {error}")))?)
    } else {
        None
    };
    let outcome = server.wait();
    if let Some(mut watcher) = watcher {
        let _ = watcher.kill();
        let _ = watcher.wait();
    }
    outcome
}

/// Reads `part` of the page at `address` and fails unless it is there.
fn fetch(address: &str, part: &str) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::work(format!("cannot fetch {address}{part}: {error}"))
    };
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).map_err(|error| failed(&error))?;
    stream
        .set_read_timeout(Some(FETCH_TIMEOUT))
        .map_err(|error| failed(&error))?;
    let request = format!("GET /{part} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .map_err(|error| failed(&error))?;
    let mut reply = Vec::new();
    stream
        .read_to_end(&mut reply)
        .map_err(|error| failed(&error))?;
    if reply.starts_with(b"HTTP/1.1 200 ") {
        Ok(())
    } else {
        let head = String::from_utf8_lossy(&reply);
        Err(failed(&head.lines().next().unwrap_or("no answer")))
    }
}
