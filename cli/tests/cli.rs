//! The binary as a person uses it: what it prints, what it refuses, how it ends.

#![expect(
    clippy::unwrap_used,
    reason = "a test says more by failing where it stands"
)]

use std::process::{Command, Output};

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

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The value behind a word at the start of a line.
fn value(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in:\n{text}"));
    line.trim().to_owned()
}

const SHORT: &str = "--seed 211 --ticks 1000 --crash-prob 0.005 --restart-prob 0.02";

#[test]
fn a_run_prints_its_seed_every_value_and_a_link() {
    let output = fuzz(SHORT);
    let text = stdout(&output);
    assert!(text.starts_with("seed 211 "), "{text}");
    for name in [
        "replicas 3",
        "clients 1",
        "crash 0.005",
        "loss 0",
        "heartbeat-wait 500",
    ] {
        assert!(text.contains(name), "{name} in:\n{text}");
    }
    for name in [
        "crashes",
        "restarts",
        "views started",
        "replicas compared",
        "faults injected",
        "commits",
        "replies",
        "ops compared",
        "run hash",
        "schedule hash",
        "verdict",
        "wall time",
    ] {
        assert!(!value(&text, name).is_empty());
    }
    assert!(value(&text, "link").starts_with("v=1&seed=211&crash=0.005&restart=0.02"));
}

#[test]
fn the_same_flags_give_the_same_hashes() {
    let (first, second) = (stdout(&fuzz(SHORT)), stdout(&fuzz(SHORT)));
    for name in ["run hash", "schedule hash", "link"] {
        assert_eq!(value(&first, name), value(&second, name));
    }
}

#[test]
fn without_a_seed_one_is_drawn_and_printed() {
    let text = stdout(&fuzz("--ticks 10 --no-settle"));
    let seed = text.split_whitespace().nth(1).unwrap();
    assert!(seed.parse::<u64>().is_ok(), "{text}");
    assert!(
        value(&text, "link").contains(&format!("&seed={seed}&")),
        "{text}"
    );
}

#[test]
fn json_is_one_object_with_seed_hash_and_link() {
    let output = fuzz("--seed 18446744073709551615 --ticks 300 --json");
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["seed"], "18446744073709551615");
    assert_eq!(object["hash"].as_str().unwrap().len(), 16);
    assert_eq!(object["settings"]["load"], "0.02");
    assert!(object["totals"]["replies"].is_u64());
    assert!(object["link"].as_str().unwrap().starts_with("v=1&seed="));
}

#[test]
fn flags_and_names_of_links_change_the_same_values() {
    let flags = stdout(&fuzz(
        "--seed 5 --ticks 50 --no-settle --packet-loss-prob 0.1",
    ));
    let names = stdout(&fuzz("--seed 5 --ticks 50 --no-settle --set loss=0.1"));
    assert_eq!(value(&flags, "link"), value(&names, "link"));
    assert!(value(&flags, "link").contains("&loss=0.1&"));
}

#[test]
fn a_printed_link_replays_to_the_same_hash_and_ending() {
    let first = fuzz(SHORT);
    let link = value(&stdout(&first), "link");
    for given in [link.clone(), format!("http://127.0.0.1:8080/#{link}")] {
        let again = Command::new(env!("CARGO_BIN_EXE_workload-fuzz"))
            .args(["replay", "--link", &given])
            .output()
            .unwrap();
        let text = stdout(&again);
        assert_eq!(value(&text, "hash"), "verified", "{text}");
        assert_eq!(again.status.code(), first.status.code(), "{text}");
        assert_eq!(value(&text, "link"), link);
    }
}

#[test]
fn a_link_is_read_from_a_file_too() {
    let file = std::env::temp_dir().join(format!("workload-fuzz-{}.link", std::process::id()));
    std::fs::write(&file, "v=1&seed=3&at=100\n").unwrap();
    let output = fuzz(&format!("replay --link {}", file.display()));
    std::fs::remove_file(&file).unwrap();
    assert!(
        stdout(&output).starts_with("seed 3 "),
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_hash_that_does_not_come_again_is_an_engine_fault() {
    let output = fuzz("replay --link v=1&seed=3&at=100&hash=0123456789abcdef");
    assert!(value(&stdout(&output), "hash").starts_with("differs"));
    assert_eq!(output.status.code(), Some(70));
}

#[test]
fn a_link_of_another_epoch_is_played_with_a_warning() {
    let output = fuzz("replay --link v=1&seed=3&at=100&epoch=9&hash=0123456789abcdef");
    assert!(stderr(&output).contains("epoch 9"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
}

/// What is refused, what the message must name, what it must say was expected.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "--seed 18446744073709551616",
        "--seed: 18446744073709551616",
        "2^64 - 1",
    ),
    ("--seed -1", "--seed: -1", "a whole number"),
    ("--seed x", "--seed: x", "a whole number"),
    ("--ticks 0", "--ticks: 0", "from 1"),
    ("--ticks 1e3", "--ticks: 1e3", "from 1"),
    ("--replicas 10", "--replicas: 10", "from 1 to 9"),
    ("--replicas -3", "--replicas: -3", "from 1 to 9"),
    ("--clients 0", "--clients: 0", "from 1 to 8"),
    (
        "--faults awful",
        "--faults: awful",
        "none, light, heavy or swarm",
    ),
    (
        "--crash-prob 1.5",
        "--crash-prob: 1.5",
        "a probability from 0 to 1",
    ),
    (
        "--restart-prob -0.1",
        "--restart-prob: -0.1",
        "a probability from 0 to 1",
    ),
    (
        "--packet-loss-prob nan",
        "--packet-loss-prob: nan",
        "a probability",
    ),
    ("--min-survivors 5", "min-survivors: 5", "from 0 to 3"),
    (
        "--one-way-delay-min 9",
        "delay-mean: 3",
        "at least delay-min",
    ),
    (
        "--partition-mode half",
        "--partition-mode: half",
        "isolate-single",
    ),
    ("--story a99", "--story: a99", "opening, a1"),
    ("--story a9 --replicas 3", "story, action", "from 0 to 2"),
    ("--set colour=red", "--set: colour=red", "NAME=VALUE"),
    ("--set heartbeat=0", "--set heartbeat: 0", "from 1"),
    ("--plane astral", "--plane: astral", "mixed, uniform"),
    (
        "--ack-quorum-ratio 2",
        "--ack-quorum-ratio: 2",
        "a probability from 0 to 1",
    ),
    ("--journal-slots 3", "--journal-slots: 3", "from 16"),
    (
        "--min-commits some",
        "--min-commits: some",
        "a whole number",
    ),
    (
        "--replicas 1 --min-ops-compared 5",
        "--min-ops-compared: 5 with one replica",
        "two replicas to compare",
    ),
    (
        "--require-faults",
        "--require-faults: given without a fault",
        "--faults light",
    ),
    (
        "--packet-loss-prob 0.1 --set loss=0.2",
        "--set: loss=0.2, given beside --packet-loss-prob",
        "each value once",
    ),
    (
        "--set loss=0.2 --set loss=0.2",
        "--set: loss=0.2",
        "each value once",
    ),
    (
        "--shell --set shell=0",
        "given beside --shell",
        "each value once",
    ),
    (
        "--clock-offset-max 1h",
        "--clock-offset-max: 1h",
        "from 0 to",
    ),
    ("sweep --seeds 5..1", "--seeds: 5..1", "1..=2000"),
    ("sweep --seeds 5", "--seeds: 5", "1..=2000"),
    (
        "sweep --seeds 1..3 --replicas 0",
        "--replicas: 0",
        "from 1 to 9",
    ),
    ("replay --link v=2", "v: 2", "v=1"),
    ("replay --link v=1&crash=2", "crash: 2", "a probability"),
    (
        "replay --link v=1&act=5.crash.7",
        "replica 7",
        "from 0 to 2",
    ),
    (
        "replay --link v=1&colour=red",
        "colour: no key",
        "one of v, seed",
    ),
    (
        "replay --link /no/such/file",
        "--link: /no/such/file",
        "the name of a file",
    ),
];

#[test]
fn bad_input_ends_with_2_and_one_message() {
    for (arguments, named, expected) in REFUSED {
        let output = fuzz(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
        assert!(message.contains(named), "{arguments}: {message}");
        assert!(message.contains(expected), "{arguments}: {message}");
        assert!(output.stdout.is_empty(), "{arguments}: {}", stdout(&output));
    }
}

/// Flags of other simulators are all taken, each does what it says, and the link carries what is part
/// of the run.
#[test]
fn every_flag_of_iggys_fuzzer_is_taken() {
    let output = fuzz(
        "--seed 3 --ticks 400 --clients 2 --replicas 3 --plane mixed --ack-quorum-ratio 0.25 --shell \
         --faults light --crash-prob 0.001 --restart-prob 0.02 --crash-primary --min-survivors 2 \
         --packet-loss-prob 0.01 --replay-prob 0.01 --one-way-delay-min 1 --one-way-delay-mean 2 \
         --link-capacity 32 --partition-mode isolate-single --partition-symmetry symmetric \
         --partition-prob 0.001 --unpartition-prob 0.1 --partition-stability 5 \
         --unpartition-stability 5 --clog-prob 0.001 --clog-duration-mean 5 --journal-slots 80 \
         --data-dir /tmp/x --reuse-data-dir --heal-before-quiesce --min-commits 1 \
         --min-ops-compared 1 --require-entity-oracle --require-faults",
    );
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    let link = value(&text, "link");
    for part in [
        "&plane=mixed&ack-quorum-ratio=0.25&shell=1",
        "&slots=80",
        "act=401.heal",
    ] {
        assert!(link.contains(part), "{part} in {link}");
    }
    assert!(stderr(&output).contains("nothing is written there"));
    assert!(stderr(&output).contains("nothing is read there"));
    let short = fuzz("--seed 3 --ticks 20 --no-quiesce");
    assert_eq!(value(&stdout(&short), "verdict"), "running");
}

#[test]
fn coverage_is_printed_by_type_and_by_property() {
    let text = stdout(&fuzz(SHORT));
    for part in [
        "delivered by type\n  Request ",
        "compared\n  I0 ",
        "   I18 ",
    ] {
        assert!(text.contains(part), "{part:?} in:\n{text}");
    }
    let json = stdout(&fuzz(&format!("{SHORT} --json")));
    let object: Value = serde_json::from_str(&json).unwrap();
    assert!(object["delivered_by_type"]["Prepare"].as_u64().unwrap() > 0);
    assert!(object["checks"]["I6"].as_u64().unwrap() > 0);
    assert_eq!(object["totals"]["histories"], 1);
}

/// What makes a run vacuous, and what its explanation must say.
const VACUOUS: &[(&str, &str)] = &[
    ("--min-commits 100000", "ops committed"),
    ("--min-ops-compared 100000", "ops compared"),
    (
        "--require-faults --clog-prob 0.000001",
        "no fault was injected",
    ),
    ("--load 0", "too little"),
    ("--no-quiesce --min-commits 100000", "ops committed"),
];

#[test]
fn a_run_that_shows_less_than_asked_for_is_vacuous() {
    for (flags, expected) in VACUOUS {
        let output = fuzz(&format!("--seed 211 --ticks 300 {flags}"));
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(3), "{flags}: {text}");
        assert!(text.contains(expected), "{flags}: {text}");
    }
    let nothing = fuzz("--seed 211 --ticks 300 --load 0 --min-commits 0 --min-ops-compared 0");
    assert_eq!(nothing.status.code(), Some(0), "{}", stdout(&nothing));
}

#[test]
fn healing_before_the_end_phase_starts_every_replica() {
    let flags = "--seed 5 --ticks 600 --replicas 5 --crash-prob 0.01 --faults heavy";
    let output = fuzz(&format!("{flags} --heal-before-quiesce --json"));
    let object: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(object["verdict"], "converged", "{object}");
    assert_eq!(object["totals"]["crashes"], object["totals"]["restarts"]);
    assert!(object["totals"]["crashes"].as_u64().unwrap() > 0);
    let link = object["link"].as_str().unwrap();
    let again = fuzz(&format!("replay --link {link}"));
    assert_eq!(value(&stdout(&again), "hash"), "verified");
}

#[test]
fn an_unknown_flag_ends_with_2_and_is_named() {
    let output = fuzz("--sed 4");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--sed"));
}

#[test]
fn flags_that_exclude_each_other_end_with_2_and_are_named() {
    for (arguments, named) in [
        (
            "--no-quiesce --heal-before-quiesce",
            "--heal-before-quiesce",
        ),
        (
            "--no-settle --require-entity-oracle",
            "--require-entity-oracle",
        ),
        ("--reuse-data-dir", "--data-dir"),
    ] {
        let output = fuzz(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(stderr(&output).contains(named), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_teaches_with_examples_and_says_how_runs_end() {
    let text = stdout(&fuzz("--help"));
    for part in [
        "Examples:",
        "Exit codes:",
        "101",
        "--crash-primary",
        "replay --link",
        "sweep",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
}

#[test]
fn a_sweep_counts_verdicts_and_adds_up() {
    let output = fuzz("sweep --seeds 1..=4 --ticks 500 --json");
    let text = stdout(&output);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["seeds"], 4);
    let verdicts = last["verdicts"].as_object().unwrap();
    let counted: u64 = verdicts.values().filter_map(Value::as_u64).sum();
    assert_eq!(counted, 4);
    assert!(last["totals"]["replies"].as_u64().unwrap() > 0, "{text}");
    let plain = stdout(&fuzz("sweep --seeds 1..5 --ticks 500"));
    assert!(plain.contains("4 seeds in"), "{plain}");
    assert!(plain.contains("ops compared"), "{plain}");
}

#[test]
fn the_golden_table_is_printed_a_run_a_line() {
    let output = fuzz("golden --json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.lines().count() >= 12);
    for line in text.lines() {
        let run: Value = serde_json::from_str(line).unwrap();
        assert!(run["link"].as_str().unwrap().starts_with("v=1&"), "{line}");
        assert_eq!(run["hash"].as_str().unwrap().len(), 16, "{line}");
        assert!(run["name"].is_string() && run["ticks"].is_u64(), "{line}");
    }
}
