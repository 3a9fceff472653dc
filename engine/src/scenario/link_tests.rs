//! The link, both ways: what must survive, and what must be refused with which words.

use super::super::{BUILT_IN, Verb};
use super::*;

fn error_of(text: &str) -> String {
    match decode(text) {
        Ok(run) => panic!("{text} was taken as {run:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_link_by_hand_needs_its_form_alone() {
    assert_eq!(decode("v=1").unwrap(), Run::default());
    assert_eq!(decode("#v=1").unwrap(), Run::default());
}

#[test]
fn the_example_of_the_design_means_what_it_says() {
    let run = decode(
        "#v=1&seed=211&replicas=3&faults=heavy&crash=0.02&story=a15&act=731.heal&at=1234&epoch=7\
         &hash=9f3ac01277aa01de",
    )
    .unwrap();
    assert_eq!(run.seed, 211);
    assert_eq!(run.faults.profile, Profile::Heavy);
    assert_eq!(run.faults.crash_per_million, 20_000);
    assert_eq!(run.story.name(), Some("a15"));
    assert_eq!(run.acts.len(), 1);
    assert_eq!(run.acts[0].action.verb, Verb::Heal);
    let place = run.at.unwrap();
    assert_eq!((place.tick, place.step), (Tick(1_234), 0));
    assert_eq!(run.epoch, 7);
    assert_eq!(run.expected_hash, Some(0x9f3a_c012_77aa_01de));
}

#[test]
fn defaults_are_left_out_and_keys_keep_their_order() {
    assert_eq!(encode(&Run::default()), "v=1&seed=211&epoch=1");
    let run = decode(
        "act=9.heal&hash=00000000000000ff&at=12.7&loss=0.5&delay-mean=3&clients=2&v=1&faults=light\
         &sessions=64&crash-primary=yes&min-survivors=2&epoch=1",
    )
    .unwrap();
    assert_eq!(
        encode(&run),
        "v=1&seed=211&clients=2&faults=light&crash-primary=yes&min-survivors=2&loss=0.5\
         &act=9.heal&at=12.7&epoch=1&hash=00000000000000ff"
    );
}

#[test]
fn a_value_beside_a_story_overrides_its_setup_even_back_to_the_default() {
    let run = decode("v=1&story=a1&clients=5&load=0.02&retry=200").unwrap();
    assert_eq!(run.cluster.clients, 5);
    assert_eq!(run.workload, Run::default().workload);
    assert_eq!(decode(&encode(&run)).unwrap(), run);
}

#[test]
fn acts_are_kept_by_tick_and_in_the_order_given_within_one() {
    let run = decode("v=1&act=20.heal_10.crash.1_20.crash.2_10.restart.1").unwrap();
    let acts: Vec<String> = run.acts.iter().map(ToString::to_string).collect();
    assert_eq!(
        acts,
        ["10.crash.1", "10.restart.1", "20.heal", "20.crash.2"]
    );
}

#[test]
fn mutations_stand_before_the_story_in_order_of_their_numbers() {
    let run = decode("v=1&story=a3&act=9.mutate.M52_10.mutate.M52.off&mutations=M08-M03").unwrap();
    assert_eq!(
        encode(&run),
        "v=1&seed=211&mutations=M03-M08&story=a3&act=9.mutate.M52_10.mutate.M52.off&epoch=1"
    );
}

#[test]
fn a_partition_rate_alone_means_partitions_of_any_size() {
    let run = decode("v=1&partition=0.01").unwrap();
    assert!(encode(&run).contains("&partition=0.01&partition-mode=uniform-size&"));
}

/// Each kind of mistake, the key that the message must name, what it must say was expected.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("", "v: missing", "v=1"),
    ("seed=1", "v: missing", "v=1"),
    ("v=2", "v: 2", "v=1"),
    ("v=", "link: '='", "a letter or digit"),
    (
        "v=1&colour=red",
        "colour: no key",
        "one of v, seed, replicas",
    ),
    ("v=1&=red", "nothing: no key", "one of v, seed"),
    ("v=1&seed", "link: seed", "a key, =, and a value"),
    ("v=1&&seed=1", "link: nothing", "a key, =, and a value"),
    ("v=1&seed=1&seed=2", "seed: given twice", "each key once"),
    ("v=1&v=1", "v: given twice", "each key once"),
    (
        "v=1&seed=18446744073709551616",
        "seed: 18446744073709551616",
        "2^64 - 1",
    ),
    ("v=1&seed=-1", "seed: -1", "a whole number from 0"),
    ("v=1&seed=1.5", "seed: 1.5", "a whole number from 0"),
    (
        "v=1&seed=&clients=1",
        "seed: nothing",
        "a whole number from 0",
    ),
    ("v=1&replicas=0", "replicas: 0", "from 1 to 9"),
    ("v=1&replicas=10", "replicas: 10", "from 1 to 9"),
    ("v=1&clients=9", "clients: 9", "from 1 to 8"),
    (
        "v=1&faults=storm",
        "faults: storm",
        "none, light, heavy or swarm",
    ),
    ("v=1&crash=1.5", "crash: 1.5", "a probability from 0 to 1"),
    ("v=1&restart=2", "restart: 2", "a probability from 0 to 1"),
    ("v=1&loss=0.1234567", "loss: 0.1234567", "six decimals"),
    ("v=1&crash-primary=1", "crash-primary: 1", "no, yes"),
    ("v=1&min-survivors=12", "min-survivors: 12", "quorum, 0, 1"),
    ("v=1&min-survivors=4", "min-survivors: 4", "from 0 to 3"),
    ("v=1&delay-min=0", "delay-min: 0", "from 1 to 10000"),
    ("v=1&delay-min=9", "delay-mean: 3", "at least delay-min, 9"),
    ("v=1&capacity=0", "capacity: 0", "from 1 to 1024"),
    (
        "v=1&partition-mode=half",
        "partition-mode: half",
        "isolate-single",
    ),
    (
        "v=1&partition=0.1&partition-mode=none",
        "partition-mode: none beside",
        "partition=0",
    ),
    ("v=1&heartbeat=0", "heartbeat: 0", "from 1 to 100000"),
    (
        "v=1&heartbeat=500",
        "heartbeat-wait: 500",
        "more than heartbeat, 500",
    ),
    ("v=1&slots=1", "slots: 1", "from 16 to"),
    (
        "v=1&mutations=M01",
        "mutations: M01",
        "a mutation: M02, M03",
    ),
    (
        "v=1&mutations=&seed=1",
        "mutations: nothing",
        "a mutation: M02",
    ),
    (
        "v=1&mutations=M03-M03",
        "mutations: M03 twice",
        "each mutation once",
    ),
    (
        "v=1&act=9.mutate",
        "mutate alone",
        "mutate.M03 or mutate.M03.off",
    ),
    ("v=1&act=9.mutate.m3", "m3", "a mutation: M02"),
    ("v=1&story=a99", "story: a99", "one of opening, a1"),
    (
        "v=1&story=a1&do=1.heal",
        "do: given beside story",
        "one of them",
    ),
    (
        "v=1&do=&seed=1",
        "do, action 1 (nothing)",
        "a trigger, a dot, a verb",
    ),
    (
        "v=1&do=heal",
        "do, action 1 (heal)",
        "a trigger, a dot, a verb",
    ),
    (
        "v=1&do=soon.heal",
        "do, action 1 (soon.heal)",
        "a trigger: a tick (120)",
    ),
    (
        "v=1&do=a.heal",
        "do, action 1 (a.heal)",
        "a delay after the action before",
    ),
    (
        "v=1&do=when-happy.heal",
        "when-happy.heal",
        "a condition: primary",
    ),
    (
        "v=1&do=when-r9-up.heal",
        "when-r9-up.heal",
        "a condition: primary",
    ),
    (
        "v=1&do=1.heal_2.heel",
        "do, action 2 (2.heel): heel",
        "a verb: crash",
    ),
    (
        "v=1&do=1.heal_2.crash.3",
        "do, action 2.crash.3: replica 3",
        "from 0 to 2",
    ),
    (
        "v=1&do=when-r5-up.heal",
        "do, action when-r5-up.heal: replica 5",
        "from 0 to 2",
    ),
    ("v=1&story=a9&replicas=3", "story, action", "from 0 to 2"),
    (
        "v=1&act=0.heal",
        "act, action 1 (0.heal): 0",
        "a tick from 1",
    ),
    (
        "v=1&act=a5.heal",
        "act, action 1 (a5.heal): a5",
        "a tick from 1",
    ),
    ("v=1&act=9.crash", "crash alone", "one replica: crash.2"),
    (
        "v=1&act=9.crash.9",
        "act, action 1 (9.crash.9): 9",
        "a replica, 0 to 8",
    ),
    (
        "v=1&act=9.crash.7",
        "act, action 9.crash.7: replica 7",
        "from 0 to 2",
    ),
    (
        "v=1&replicas=1&act=9.crash.1",
        "replica 1",
        "replica 0, the only one",
    ),
    (
        "v=1&act=9.write.c1",
        "act, action 9.write.c1: client c1",
        "client c0",
    ),
    (
        "v=1&act=9.write.0",
        "act, action 1 (9.write.0): 0",
        "a client, c0 to c7",
    ),
    (
        "v=1&act=9.write.c0.1",
        "act, action 1",
        "the replica to ask, to1",
    ),
    (
        "v=1&act=9.wipe.1",
        "wipe, a verb that this release does not have",
        "a verb: crash",
    ),
    (
        "v=1&act=9.cut.01-12",
        "01-12",
        "two sides without a common member",
    ),
    ("v=1&act=9.cut.012", "012", "two sides"),
    ("v=1&act=9.cut.00-1", "00-1", "two sides"),
    (
        "v=1&act=9.clog.0to0.5",
        "0to0",
        "a link between two processes",
    ),
    ("v=1&act=9.clog.0to1", "clog.0to1", "links and ticks"),
    ("v=1&act=9.delay.0to1.x", "x", "a whole number from 0"),
    (
        "v=1&act=9.filter.0to1.Ping",
        "Ping",
        "message types joined by -",
    ),
    ("v=1&act=9.hold.0to1.none", "none", "release.0to1"),
    ("v=1&act=9.drop.0to12.5", "0to12", "one link alone"),
    ("v=1&act=9.drop.0to1.0", "0", "a whole number from 1"),
    ("v=1&act=9.warm.0", "0", "a whole number from 1"),
    ("v=1&act=9.load.0.5", "load.0.5", "a rate per million"),
    ("v=1&act=9.load.1000001", "1000001", "a rate per million"),
    (
        "v=1&act=9.set.slots.64",
        "slots",
        "may change while the run goes on",
    ),
    ("v=1&act=9.set.colour.1", "colour", "a setting: crash"),
    (
        "v=1&act=9.set.loss.0.5",
        "set.loss.0.5",
        "a setting and its value",
    ),
    (
        "v=1&act=9.profile.storm",
        "storm",
        "none, light, heavy or swarm",
    ),
    ("v=1&act=9.heal.1", "heal.1", "nothing behind it"),
    ("v=1&rot=2", "rot: 2", "a probability from 0 to 1"),
    ("v=1&atlas=maybe", "atlas: maybe", "no, yes"),
    (
        "v=1&act=9.corrupt.1.op5",
        "corrupt.1.op5",
        "prepare, header or both",
    ),
    (
        "v=1&act=9.corrupt.1.5.both",
        "(9.corrupt.1.5.both): 5",
        "an op from 1 on, op5",
    ),
    (
        "v=1&act=9.corrupt.1.op5.body",
        "body",
        "prepare, header or both",
    ),
    (
        "v=1&act=9.corrupt.3.op5.both",
        "replica 3",
        "a replica from 0 to 2",
    ),
    ("v=1&act=9.punch.1.op0", "op0", "an op from 1 on"),
    ("v=1&act=9.punch.1", "punch.1", "a replica and an op"),
    (
        "v=1&act=9.misdirect.1.op5",
        "misdirect.1.op5",
        "the op whose place it took",
    ),
    (
        "v=1&act=9.misdirect.1.op5.op5",
        "op5",
        "another op, whose place",
    ),
    ("v=1&act=9.tear", "tear alone", "one replica: tear.1"),
    ("v=1&act=9.lie.1.on", "lie.1.on", "lie.1 or lie.1.off"),
    ("v=1&act=9.slow.1", "slow.1", "how many times as long"),
    ("v=1&act=9.slow.1.0", "0", "a whole number from 1 to 1000"),
    (
        "v=1&act=9.skew.1",
        "skew.1",
        "skew.1.m500 or skew.1.500.d20",
    ),
    ("v=1&act=9.skew.1.-5", "-5", "with m before it if negative"),
    (
        "v=1&act=9.skew.1.5.20",
        "20",
        "a drift in millionths: d20 or dm20",
    ),
    ("v=1&act=9.skew.7.5", "replica 7", "from 0 to 2"),
    ("v=1&act=9.tear.1.g0", "group g0", "tear.1 alone"),
    ("v=1&act=9.crash.1.g0", "group g0", "crash.1 alone"),
    ("v=1&act=9.crash.1.meta", "group meta", "crash.1 alone"),
    ("v=1&act=9.write.c0.g1000", "g1000", "the replica to ask"),
    ("v=1&do=when-primary.meta", "when-primary.meta", "a trigger"),
    ("v=1&partitions=9", "partitions: 9", "from 1 to 8"),
    ("v=1&act=9.expect-reply.1.2", "1.2", "a number of ticks"),
    ("v=1&at=x", "at: x", "1234 or 1234.7"),
    ("v=1&at=99999999999", "at: 99999999999", "a tick up to"),
    ("v=1&epoch=0", "epoch: 0", "from 1"),
    ("v=1&at=5&hash=12", "hash: 12", "16 hex digits"),
    (
        "v=1&at=5&hash=9F3AC01277AA01DE",
        "hash: 9F3AC",
        "0 to 9 and a to f",
    ),
    (
        "v=1&hash=9f3ac01277aa01de",
        "hash: given without at",
        "at=TICK",
    ),
    (
        "v=1&seed=1.",
        "link: '.' at its end",
        "may have been cut off",
    ),
    (
        "v=1&seed=%31",
        "link: the character '%' at place 10",
        "letters, digits",
    ),
    ("v=1 ", "link: the character ' '", "letters, digits"),
    ("##v=1", "link: the character '#'", "letters, digits"),
    (
        "v=1&seed=\u{0661}",
        "link: the character",
        "letters, digits",
    ),
];

#[test]
fn each_mistake_is_named_with_what_was_expected() {
    for (text, named, expected) in MISTAKES {
        let message = error_of(text);
        assert!(
            message.contains(named),
            "{text}\n  said: {message}\n  without: {named}"
        );
        let said = message.split("; expected ").nth(1);
        let said = said.unwrap_or_else(|| panic!("{text}\n  said: {message}"));
        assert!(
            said.contains(expected),
            "{text}\n  said: {message}\n  without: {expected}"
        );
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_link_over_the_limit_is_refused_before_it_is_read() {
    let text = format!("v=1&act={}", "9.heal_".repeat(3_000));
    let message = error_of(&text);
    assert_eq!(
        message,
        format!("link: {} bytes; expected at most 16384", text.len())
    );
}

#[test]
fn a_link_cut_anywhere_is_taken_or_refused_in_words() {
    let whole = encode(&BUILT_IN[1].run()) + "&hash=9f3ac01277aa01de";
    for end in 0..whole.len() {
        if let Err(error) = decode(&whole[..end]) {
            assert!(error.to_string().contains("; expected "), "{error}");
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::super::{script, strategies};
    use super::*;

    proptest! {
        #[test]
        fn decoding_what_was_encoded_gives_the_run_back(run in strategies::run()) {
            let link = encode(&run);
            prop_assert!(link.ends_with(|last: char| last.is_ascii_alphanumeric()), "{}", link);
            let decoded = decode(&link);
            prop_assert_eq!(decoded.as_ref(), Ok(&run), "{}", link);
            prop_assert_eq!(encode(&decoded.unwrap()), link);
        }

        #[test]
        fn scripts_round_trip(actions in vec(strategies::story_action(), 1..20)) {
            let text = script::write_story(&actions);
            prop_assert_eq!(script::parse_story("do", &text), Ok(actions), "{}", text);
        }

        #[test]
        fn conditions_round_trip(awaited in strategies::awaited()) {
            let text = awaited.to_string();
            prop_assert_eq!(super::super::super::Awaited::from_text(&text), Ok(awaited));
        }

        #[test]
        fn arbitrary_bytes_are_refused_without_a_panic(bytes in vec(any::<u8>(), 0..300)) {
            let text = String::from_utf8_lossy(&bytes);
            let _ = decode(&text);
            let _ = script::parse_story("do", &text);
            let _ = script::parse_acts("act", &text);
        }

        #[test]
        fn text_of_our_alphabet_is_refused_without_a_panic(
            text in vec(prop::sample::select(ALPHABET), 0..120),
        ) {
            let text: String = text.concat();
            let _ = decode(&format!("v=1&act={text}"));
            let _ = decode(&format!("v=1&do={text}"));
            let _ = decode(&text);
        }
    }

    const ALPHABET: &[&str] = &[
        "v=1",
        "&",
        "=",
        ".",
        "_",
        "-",
        "0",
        "1",
        "9",
        "c",
        "c0",
        "to",
        "a",
        "a10",
        "r1",
        "when-",
        "expect-",
        "primary",
        "same-log",
        "crash",
        "cut",
        "filter",
        "Prepare",
        "set",
        "loss",
        "write",
        "g0",
        "meta",
        "do=",
        "act=",
        "story=",
        "hash=",
        "99999999999999999999",
    ];
}

/// What clicks on the page append, at ticks of a run of several minutes.
fn typical_acts(count: usize) -> Run {
    let acts = [
        "crash.0",
        "restart.0",
        "cut.01-2",
        "heal",
        "clog.0to2.200",
        "write.c0",
        "filter.0to1.Prepare-Commit",
        "set.loss.20000",
    ];
    let text: Vec<String> = (0..count)
        .map(|place| format!("{}.{}", 120 + place * 97, acts[place % acts.len()]))
        .collect();
    let mut run = Run {
        acts: parse_acts("act", &text.join("_")).unwrap(),
        ..Run::default()
    };
    run.at = Some(Cursor {
        tick: Tick(30_000),
        step: 3,
    });
    run.expected_hash = Some(u64::MAX);
    run
}

#[test]
fn links_keep_within_their_length_budget() {
    for (acts, budget) in [(20, 450), (100, 1_900), (250, 4_800)] {
        let length = encode(&typical_acts(acts)).len();
        assert!(length <= budget, "{acts} acts make {length} characters");
    }
}
