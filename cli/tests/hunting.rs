//! The commands that hunt, as a person uses them: sweeps that are taken up again, shrinking, traces,
//! printed tests.

#![expect(
    clippy::unwrap_used,
    reason = "a test says more by failing where it stands"
)]

use std::path::PathBuf;
use std::process::{Command, Output};

use engine::scenario::Setting;
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

/// A file of this test run alone.
fn file(name: &str) -> PathBuf {
    let name = format!("workload-fuzz-{}-{name}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn totals(output: &Output) -> Value {
    let text = stdout(output);
    let last = text
        .lines()
        .last()
        .unwrap_or_else(|| panic!("{}", stderr(output)));
    serde_json::from_str(last).unwrap()
}

const SWEEP: &str = "--faults swarm --ticks 500 --no-settle --json";

#[test]
fn swarm_prints_every_value_it_drew_and_a_short_link() {
    let text = stdout(&fuzz("--seed 211 --faults swarm --ticks 200 --no-settle"));
    let drawn = engine::scenario::decode("v=1&seed=211&faults=swarm").unwrap();
    let sizes = [
        format!("replicas {}", drawn.cluster.replicas),
        format!("clients {}", drawn.cluster.clients),
    ];
    let values = Setting::ALL.map(|setting| {
        let value = setting.text_for_link(setting.read(&drawn));
        format!("{} {value}", setting.name())
    });
    for value in sizes.iter().chain(&values) {
        assert!(text.contains(value), "{value} in:\n{text}");
    }
    assert!(text.contains("v=1&seed=211&faults=swarm&at=200"), "{text}");
    let given = stdout(&fuzz(
        "--seed 211 --faults swarm --replicas 3 --min-survivors 2 --one-way-delay-min 30 --ticks 9 --no-settle",
    ));
    for value in ["replicas 3", &sizes[1], "delay-min 30", "delay-mean 30"] {
        assert!(given.contains(value), "{value} in:\n{given}");
    }
}

#[test]
fn an_interrupted_sweep_loses_nothing_and_plays_no_seed_twice() {
    let path = file("resume.jsonl");
    let name = path.display();
    let whole = totals(&fuzz(&format!("sweep --seeds 1..=12 {SWEEP}")));
    let first = totals(&fuzz(&format!(
        "sweep --seeds 1..=5 {SWEEP} --resume {name}"
    )));
    assert_eq!((&first["seeds"], &first["resumed"]), (&5.into(), &0.into()));
    // The interruption tears the last line.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    let second = totals(&fuzz(&format!(
        "sweep --seeds 1..=12 {SWEEP} --resume {name}"
    )));
    assert_eq!(
        (&second["seeds"], &second["resumed"]),
        (&12.into(), &4.into())
    );
    assert_eq!(second["totals"], whole["totals"]);
    let third = totals(&fuzz(&format!(
        "sweep --seeds 1..=12 {SWEEP} --resume {name}"
    )));
    assert_eq!(third["resumed"], 12);
    assert_eq!(third["totals"], whole["totals"]);
    let other = fuzz(&format!("sweep --seeds 1..=12 --ticks 500 --resume {name}"));
    assert_eq!(other.status.code(), Some(2));
    assert!(
        stderr(&other).contains("another sweep"),
        "{}",
        stderr(&other)
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn shards_share_the_seeds_and_their_files_add_up() {
    let all = file("all.jsonl");
    let mut joined = String::new();
    for index in 0..3 {
        let shard = file(&format!("shard-{index}.jsonl"));
        let flags = format!(
            "--shard-index {index} --shard-count 3 --resume {}",
            shard.display()
        );
        let part = totals(&fuzz(&format!("sweep --seeds 10..20 {SWEEP} {flags}")));
        assert_eq!(part["seeds"], if index == 0 { 4 } else { 3 });
        joined += &std::fs::read_to_string(&shard).unwrap();
        std::fs::remove_file(shard).unwrap();
    }
    std::fs::write(&all, joined).unwrap();
    let sum = totals(&fuzz(&format!(
        "sweep --seeds 10..20 {SWEEP} --resume {}",
        all.display()
    )));
    assert_eq!((&sum["seeds"], &sum["resumed"]), (&10.into(), &10.into()));
    assert_eq!(
        sum["totals"],
        totals(&fuzz(&format!("sweep --seeds 10..20 {SWEEP}")))["totals"]
    );
    std::fs::remove_file(all).unwrap();
}

const HEAVY: &str = "v=1&seed=1&faults=heavy&crash=0.01&restart=0.02&crash-primary=yes&replicas=5";

#[test]
fn shrink_prints_the_few_acts_and_a_link_that_replays() {
    let output = fuzz(&format!(
        "shrink --link {HEAVY} --until r2-primary-v2 --json"
    ));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("masking faults"),
        "{}",
        stderr(&output)
    );
    let shrunk: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(shrunk["faults"].as_u64().unwrap() > 50, "{shrunk}");
    assert!(shrunk["acts"].as_array().unwrap().len() <= 10, "{shrunk}");
    assert_eq!(shrunk["exact"], true);
    let link = shrunk["link"].as_str().unwrap();
    let again = stdout(&fuzz(&format!("replay --link {link}")));
    assert!(again.contains("hash              verified"), "{again}");
}

#[test]
fn traces_are_cut_to_their_ticks_and_programs_can_read_them() {
    let trace = |rest: &str| stdout(&fuzz(&format!("trace --link v=1&seed=3 {rest}")));
    let text = trace("--from 3 --to 9");
    assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
    assert!(!text.contains(" 1.0 ") && text.contains(" 3.0 "), "{text}");
    for line in trace("--to 30 --format jsonl").lines() {
        let _: Value = serde_json::from_str(line).unwrap();
    }
    let perfetto: Value = serde_json::from_str(&trace("--to 30 --format perfetto")).unwrap();
    assert!(perfetto["traceEvents"].as_array().unwrap().len() > 50);
    assert!(trace("--to 30 --format shiviz").starts_with("(?<event>"));
}

#[test]
fn the_printed_test_is_the_one_that_is_compiled_and_run_in_the_engine() {
    let link = "v=1&seed=211&replicas=5&clients=2&faults=heavy&crash=0.01&restart=0.05&load=0.1\
                &act=100.crash.0_700.cut.1-2_800.restart.0_1400.heal";
    let output = fuzz(&format!("test --link {link}&at=3000 --property I4"));
    let kept = include_str!("../../engine/tests/printed_by_workload_fuzz.rs");
    assert_eq!(stdout(&output), kept, "{}", stderr(&output));
}

/// What is refused, and what the message must name.
const REFUSED: &[(&str, &str)] = &[
    (
        "sweep --seeds 1..3 --shard-index 3 --shard-count 3",
        "--shard-index: 3",
    ),
    (
        "sweep --seeds 1..3 --shard-index 0 --shard-count 0",
        "--shard-count: 0",
    ),
    (
        "sweep --seeds 1..3 --shard-index -1 --shard-count 2",
        "--shard-index: -1",
    ),
    (
        "sweep --seeds 1..3 --resume /no/such/folder/x",
        "--resume: /no/such/folder/x",
    ),
    ("shrink --link v=1&at=100", "never comes to a violation"),
    ("shrink --link v=1&at=100 --property I99", "--property: I99"),
    ("shrink --link v=1&at=100 --until never", "--until: never"),
    (
        "shrink --link v=1&at=100 --until r1-primary-v3",
        "never comes to r1-primary-v3",
    ),
    ("trace --link v=1 --from 9 --to 3", "--from: 9"),
    ("trace --link v=1 --to x", "--to: x"),
    ("test --link v=1&at=100", "never comes to a violation"),
    (
        "test --link v=1&at=100 --property I4 --name 4x",
        "--name: 4x",
    ),
];

#[test]
fn bad_input_ends_with_2_and_one_message() {
    for (arguments, named) in REFUSED {
        let output = fuzz(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
        assert!(message.contains(named), "{arguments}: {message}");
        assert!(output.stdout.is_empty(), "{arguments}: {}", stdout(&output));
    }
}
