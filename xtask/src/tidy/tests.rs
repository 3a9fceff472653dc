//! The rules, each against a text that keeps it and one that breaks it.
//!
//! Nothing here may read the repo: a rule's test must not depend on what the source happens to be today.

use super::imports::{RUST_QUOTES, SCRIPT_QUOTES, rust_paths, script_imports, without_comments};
use super::rules::{Source, check_size, check_text};

/// The rules that `text` breaks at `path`, with their lines.
fn broken(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    let findings = check_text(&Source { path, text });
    findings
        .iter()
        .map(|finding| (finding.rule, finding.line))
        .collect()
}

fn core(code: &str) -> String {
    format!("//! A file of the core.\n{code}\n")
}

fn page(code: &str) -> String {
    format!("/** A module. */\n{code}\n")
}

#[test]
fn a_file_opens_with_a_comment() {
    assert_eq!(
        broken("cli/src/main.rs", "//! The program.\nfn main() {}\n"),
        []
    );
    assert_eq!(
        broken("cli/src/main.rs", "fn main() {}\n"),
        [("module comment", 1)]
    );
    assert_eq!(broken("web/app.js", "/**\n * The way in.\n */\n"), []);
    assert_eq!(
        broken("web/build.mjs", "#!/usr/bin/env node\n// Builds.\n"),
        []
    );
    assert_eq!(
        broken("web/app.js", "const a = 1;\n"),
        [("module comment", 1)]
    );
}

#[test]
fn a_file_is_short() {
    let text = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
    assert_eq!(broken("engine/src/prng.rs", &text(600)), []);
    assert_eq!(
        broken("engine/src/prng.rs", &text(601)),
        [("short files", 0)]
    );
}

#[test]
fn a_file_is_small() {
    assert!(check_size("web/picture.png", 300 * 1024).is_none());
    assert!(check_size("web/picture.png", 300 * 1024 + 1).is_some());
}

#[test]
fn the_core_uses_leaves_and_itself() {
    let path = "engine/src/vsr/repair.rs";
    assert_eq!(
        broken(
            path,
            &core("use crate::ids::{Op, View};\nuse crate::vsr::log::Log;\nuse super::io;")
        ),
        []
    );
    assert_eq!(
        broken(path, &core("use crate::journal::Ring;")),
        [("pure core", 2)]
    );
    assert_eq!(
        broken(path, &core("use crate::{digest, sim::{bus, clock}};")),
        [("pure core", 2), ("pure core", 2)]
    );
    assert_eq!(
        broken(path, &core("fn f(at: crate::machine::Partition) {}")),
        [("pure core", 2)]
    );
    assert_eq!(
        broken(
            path,
            &core("// crate::sim is not named here\nlet url = \"https://a/crate\";")
        ),
        []
    );
    assert_eq!(
        broken(
            "engine/src/shard/pump.rs",
            &core("use crate::journal::Ring;")
        ),
        []
    );
}

#[test]
fn the_core_does_not_climb_out_of_its_folder() {
    assert_eq!(
        broken("engine/src/vsr/log.rs", &core("use super::super::sim;")),
        [("pure core", 2)]
    );
    assert_eq!(
        broken("engine/src/vsr/mod.rs", &core("use super::sim;")),
        [("pure core", 2)]
    );
    assert_eq!(
        broken(
            "engine/src/vsr/dvc/merge.rs",
            &core("use super::super::log;")
        ),
        []
    );
}

#[test]
fn an_oracle_names_no_simulator() {
    let path = "engine/src/oracle/agreement.rs";
    assert_eq!(broken(path, &core("fn look(view: &View) {}")), []);
    assert_eq!(
        broken(path, &core("fn look(sim: &mut Simulator) {}")),
        [("oracles only look", 2)]
    );
    assert_eq!(
        broken(path, &core("use crate::sim::simulator::World;")),
        [("oracles only look", 2)]
    );
    assert_eq!(
        broken(path, &core("// Unlike the simulator, this only looks.")),
        []
    );
}

#[test]
fn the_engine_knows_no_world() {
    let path = "engine/src/sim/clock.rs";
    assert_eq!(
        broken(
            path,
            &core("use std::collections::BTreeMap;\nuse core::time::Duration;")
        ),
        []
    );
    assert_eq!(
        broken(path, &core("use std::{cmp, time::Instant};")),
        [("no world in engine", 2)]
    );
    assert_eq!(
        broken(path, &core("fn f() { std::thread::yield_now() }")),
        [("no world in engine", 2)]
    );
    assert_eq!(
        broken(path, &core("fn f() { println!() }")),
        [("no world in engine", 2)]
    );
    assert_eq!(
        broken("cli/src/main.rs", &core("fn f() { println!() }")),
        []
    );
}

#[test]
fn the_pages_layers_import_downwards() {
    assert_eq!(
        broken(
            "web/views/stage.js",
            &page("import { store } from '../state.js';")
        ),
        []
    );
    assert_eq!(
        broken(
            "web/views/stage.js",
            &page("import { run } from \"../sim.js\";")
        ),
        [("page layers", 2)]
    );
    assert_eq!(
        broken(
            "web/state/actions.js",
            &page("import \"../views/stage.js\";")
        ),
        [("page layers", 2)]
    );
    assert_eq!(
        broken("web/state.js", &page("import { run } from \"./sim.js\";")),
        []
    );
    assert_eq!(
        broken("web/sim.js", &page("await import('./state.js');")),
        [("page layers", 2)]
    );
    assert_eq!(
        broken("web/views/stage.js", &page("import { html } from \"lit\";")),
        []
    );
    assert_eq!(
        broken("web/text.js", &page("import { go } from \"./app.js\";")),
        [("page layers", 2)]
    );
    assert_eq!(
        broken(
            "web/app.js",
            &page("import './sim.js';\nimport './views/stage.js';")
        ),
        []
    );
}

#[test]
fn one_module_loads_wasm() {
    let text = page("const address = './sim-wasm.js?n=1';");
    assert_eq!(broken("web/sim.js", &text), []);
    assert_eq!(
        broken("web/views/hunt.js", &text),
        [("one door to wasm", 2)]
    );
    assert_eq!(broken("web/golden.mjs", &text), []);
}

#[test]
fn nothing_is_left_to_do() {
    let text = core(concat!("// TO", "DO: later"));
    assert_eq!(
        broken("cli/src/main.rs", &text),
        [("nothing left to do", 2)]
    );
    let text = core(concat!("fn f() { to", "do!() }"));
    assert_eq!(
        broken("cli/src/main.rs", &text),
        [("nothing left to do", 2)]
    );
}

#[test]
fn every_test_runs() {
    let text = page(concat!("test.on", "ly(\"a\", () => {});"));
    assert_eq!(
        broken("web/test/link.test.mjs", &text),
        [("every test runs", 2)]
    );
    let text = page(concat!("test.sk", "ip(\"a\", () => {});"));
    assert_eq!(
        broken("web/e2e/smoke.test.mjs", &text),
        [("every test runs", 2)]
    );
}

#[test]
fn the_lock_file_names_no_host() {
    assert_eq!(
        broken("web/package-lock.json", "{\n  \"resolved\": \"x\"\n}"),
        [("no registry in the lock file", 2)]
    );
    assert_eq!(
        broken("web/package-lock.json", "{\n  \"integrity\": \"x\"\n}"),
        []
    );
}

#[test]
fn a_finding_names_file_line_rule_and_reason() {
    let findings = check_text(&Source {
        path: "web/app.js",
        text: "1;\n",
    });
    let text = findings[0].to_string();
    assert!(
        text.starts_with("web/app.js:1: module comment: the file opens without one (a reader"),
        "{text}"
    );
}

#[test]
fn groups_of_rust_paths_are_unfolded() {
    let code = "use crate::{\n    a::{b, c::d},\n    e,\n};";
    let paths: Vec<String> = rust_paths(code, "crate::")
        .into_iter()
        .map(|found| found.path)
        .collect();
    assert_eq!(paths, ["crate::a::b", "crate::a::c::d", "crate::e"]);
    assert_eq!(
        rust_paths("$crate::a; mycrate::b; x::crate::c", "crate::").len(),
        1
    );
}

#[test]
fn imports_of_every_form_are_found() {
    let code = "import a from 'a';\nimport 'b';\nexport { c } from \"c\";\nawait import(\n'd');\nawait import(e);";
    let paths: Vec<String> = script_imports(code)
        .into_iter()
        .map(|found| found.path)
        .collect();
    assert_eq!(paths, ["a", "b", "c", "d"]);
}

#[test]
fn comments_are_blanked_and_strings_are_kept() {
    assert_eq!(without_comments("a // b\nc", RUST_QUOTES), "a     \nc");
    assert_eq!(
        without_comments("a /* b\n */ c", RUST_QUOTES),
        "a     \n    c"
    );
    assert_eq!(
        without_comments("f(\"//\\\"//\") // x", RUST_QUOTES),
        "f(\"//\\\"//\")     "
    );
    assert_eq!(
        without_comments("f<'a>('\"') // x", RUST_QUOTES),
        "f<'a>('\"')     "
    );
    assert_eq!(
        without_comments("`//${a}` // x", SCRIPT_QUOTES),
        "`//${a}`     "
    );
}
