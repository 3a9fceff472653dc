//! Mutations from the command line: the table, and a planted violation hunted down to a Rust test.

#![expect(
    clippy::unwrap_used,
    reason = "a test says more by failing where it stands"
)]

use std::path::Path;
use std::process::{Command, Output};

use engine::oracle::Property;
use engine::run::Session;
use engine::scenario::decode;
use engine::trace::{Recorder, Recording};
use serde_json::Value;

fn fuzz(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_workload-fuzz"))
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_table_has_twelve_rows_and_none_fails() {
    let output = fuzz("mutants --json");
    let text = stdout(&output);
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 12);
    assert!(rows.iter().all(|row| row["passed"] == true), "{text}");
    assert_eq!(output.status.code(), Some(0));
    let table = stdout(&fuzz("mutants --sweep 1"));
    assert!(table.contains("12 rows, 0 failed"), "{table}");
    assert!(
        table.contains(" of 1\n") || table.contains(" 1, I"),
        "{table}"
    );
}

#[test]
fn a_number_of_seeds_that_is_none_is_refused() {
    for wrong in ["0", "-1", "many"] {
        let output = fuzz(&format!("mutants --sweep {wrong}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_run_with_mutations_says_which_and_how_often_they_mattered() {
    let output = fuzz("--story a3 --mutations M56-M08 --seed 211");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    for line in [
        "mutation M08: It starts with its own log.",
        "mutation M56: Its log",
        "M08 hits          1\n",
        "M56 hits          0\n",
        "&mutations=M08-M56&story=a3",
    ] {
        assert!(text.contains(line), "{line} in:\n{text}");
    }
}

const HEAVY: &str = "faults=heavy&crash=0.004&restart=0.01&crash-primary=yes";

/// Random heavy runs that are looked at, and violations among them that are shrunk.
const SEEDS: u64 = 200;
const TRIES: u32 = 5;

/// A planted violation after a hundred random faults or more, shrunk to ten acts or fewer.
fn planted(mutation: &str, property: &str) -> Value {
    let mut tries = 0;
    for seed in 1..=SEEDS {
        let link = format!("v=1&seed={seed}&{HEAVY}&mutations={mutation}");
        let output = fuzz(&format!(
            "shrink --link {link} --ticks 6000 --property {property} --json"
        ));
        if output.status.code() == Some(2) {
            continue;
        }
        let shrunk: Value = serde_json::from_str(&stdout(&output)).unwrap();
        if shrunk["faults"].as_u64().unwrap() < 100 {
            continue;
        }
        assert!(shrunk["seconds"].as_f64().unwrap() < 60.0, "{shrunk}");
        if shrunk["acts"].as_array().unwrap().len() <= 10 {
            return shrunk;
        }
        tries += 1;
        assert!(
            tries < TRIES,
            "not one of {TRIES} comes to ten acts: {shrunk}"
        );
    }
    panic!("{mutation} breaks {property} in none of {SEEDS} heavy runs");
}

/// The test that is printed for a shrunk run.
fn printed(shrunk: &Value, property: &str) -> String {
    let link = shrunk["link"].as_str().unwrap();
    let output = fuzz(&format!(
        "test --link {link} --property {property} --name planted"
    ));
    assert_eq!(output.status.code(), Some(0), "{link}");
    stdout(&output)
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}

/// Does what the printed test does: whether it passes.
fn passes(test: &str, property: Property) -> bool {
    let link = between(test, "let link = \"", "\";");
    let link: String = link.split("\\\n").map(str::trim_start).collect();
    let ticks = between(test, "advance_ticks(", ")").parse().unwrap();
    let recorder = Recorder::new(Recording::Nothing, 0);
    let mut session = Session::new(decode(&link).unwrap(), recorder).unwrap();
    session.advance_ticks(ticks);
    let violations = session.violations();
    violations.iter().all(|found| found.property != property)
}

/// The rule is in force again.
fn restored(test: &str, mutation: &str) -> String {
    let planted = format!("mutations={mutation}&");
    assert!(test.contains(&planted), "{test}");
    test.replace(&planted, "")
}

#[test]
fn a_planted_violation_shrinks_to_few_acts_and_a_test_that_fails_until_the_rule_is_back() {
    let shrunk = planted("M08", "I4");
    let test = printed(&shrunk, "I4");
    assert!(test.contains("Property::I4"), "{test}");
    assert!(!passes(&test, Property::I4), "{test}");
    assert!(passes(&restored(&test, "M08"), Property::I4), "{test}");
}

#[test]
#[ignore = "builds a crate of its own and shrinks a long run: a minute or two"]
fn the_printed_test_compiles_fails_and_passes_once_the_rule_is_back() {
    let folder = std::env::temp_dir().join(format!("planted-{}", std::process::id()));
    let test = printed(&planted("M03", "I4"), "I4");
    assert!(!cargo_test(&folder, &test), "{test}");
    assert!(cargo_test(&folder, &restored(&test, "M03")), "{test}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Compiles and runs a printed test in a crate that has the engine alone.
fn cargo_test(folder: &Path, test: &str) -> bool {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let engine = workspace.join("engine");
    std::fs::create_dir_all(folder.join("tests")).unwrap();
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"planted\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [dependencies]\nengine = {{ path = {engine:?} }}\n[workspace]\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/lib.rs"), "").unwrap();
    std::fs::write(folder.join("tests/planted.rs"), test).unwrap();
    std::fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--test", "planted"])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(folder)
        .output()
        .unwrap();
    let said = stdout(&output);
    assert!(said.contains("test planted ... "), "{output:?}");
    output.status.success()
}
