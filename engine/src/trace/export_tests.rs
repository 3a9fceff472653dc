//! The exports of a short run, and what must hold of those of a real one. Blessed by
//! `UPDATE_EXPECT=1`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use expect_test::{Expect, expect};
use serde_json::Value;

use super::text::tests::{CHECKSUM, sent};
use super::*;
use crate::ids::{
    ClientId, GROUP_PARTITION_0, Incarnation, Op, Process, ReplicaId, RequestNumber, Tick,
};
use crate::run::Session;
use crate::scenario::decode;
use crate::vsr::message::{Message, MessageKind};

const REPLICA_0: Process = Process::Replica(ReplicaId(0));
const REPLICA_1: Process = Process::Replica(ReplicaId(1));

fn ended(packet: u64, fate: Fate) -> EventKind {
    EventKind::Ended {
        group: crate::ids::GROUP_PARTITION_0,
        from: REPLICA_0,
        to: REPLICA_1,
        packet,
        kind: MessageKind::RequestStartView,
        fate,
    }
}

/// Two packets, of which one arrives, a crash by hand, a restart, a violation.
fn short_run() -> Recorder {
    let mut recorder = Recorder::default();
    let message = || Message::RequestStartView { recovering: false };
    recorder.at(Tick(1), 1);
    recorder.push(EventKind::Requested {
        group: crate::ids::GROUP_PARTITION_0,
        client: ClientId(0),
        to: ReplicaId(0),
        session: Op(1),
        request: RequestNumber(3),
        attempts: 0,
        body_checksum: CHECKSUM,
    });
    recorder.push(sent(REPLICA_0, REPLICA_1, 1, message()));
    recorder.push(sent(REPLICA_0, REPLICA_1, 2, message()));
    recorder.at(Tick(4), 1);
    recorder.push(ended(1, Fate::Delivered));
    recorder.at(Tick(5), 1);
    recorder.push(ended(2, Fate::Lost));
    recorder.push(EventKind::Acted(Act {
        text: Rc::from("crash.1"),
        by: Actor::Person,
    }));
    recorder.push(EventKind::Crashed {
        replica: ReplicaId(1),
        writes_lost: 0,
        writes_torn: 0,
    });
    recorder.at(Tick(9), 1);
    recorder.push(EventKind::Restarted {
        replica: ReplicaId(1),
        incarnation: Incarnation(2),
    });
    recorder.push(EventKind::Violated(Violated {
        property: "I4",
        name: "Durability",
        group: GROUP_PARTITION_0,
        replica: Some(ReplicaId(1)),
        op: Some(Op(3)),
        text: Rc::from("op 3 is gone"),
    }));
    recorder
}

fn check(found: &[String], expected: &Expect) {
    expected.assert_eq(&(found.join("\n") + "\n"));
}

fn pairs(recorder: &Recorder) -> Vec<(Event, Row)> {
    let rows = recorder.rows(0, usize::MAX, 3);
    recorder.events().iter().cloned().zip(rows).collect()
}

#[test]
fn text_has_a_row_a_line() {
    let lines: Vec<String> = pairs(&short_run())
        .iter()
        .map(|(_, row)| row.to_string())
        .collect();
    check(
        &lines,
        &expect![[r#"
            #0       1.1       c0  g0   sent request 3 to 0
            #1       1.1       r0  g0   [0to1.1] sent to 1: RequestStartView from view 1 (due in 102 ticks)
            #2       1.1       r0  g0   [0to1.2] sent to 1: RequestStartView from view 1 (due in 102 ticks)
            #3       4.1       r1  g0   [0to1.1] received from 0: RequestStartView from view 1
            #4       5.1       r0  g0   [0to1.2] did not reach 1 with RequestStartView from view 1: lost by the dice of the link
            #5       5.1       -   -    by hand: crash 1
            #6       5.1       r1  -    crashed; no write was under way
            #7       9.1       r1  -    restarts; this is its life 2
            #8       9.1       r1  g0   I4 durability: op 3 is gone
        "#]],
    );
}

#[test]
fn json_lines_have_the_operands() {
    let lines: Vec<String> = pairs(&short_run())
        .into_iter()
        .map(|(_, row)| serde_json::to_string(&Line::Event(row)).unwrap())
        .collect();
    check(
        &[&lines[1..4], &lines[8..]].concat(),
        &expect![[r#"
            {"line":"event","number":1,"tick":1,"step":1,"class":"packet","big":false,"replica":0,"client":null,"text":"sent to 1: RequestStartView from view 1 (due in 102 ticks)","packet":"0to1.1","fate":null,"from":"0","to":"1","kind":"RequestStartView","cause":0,"view":1,"op":null,"group":1}
            {"line":"event","number":2,"tick":1,"step":1,"class":"packet","big":false,"replica":0,"client":null,"text":"sent to 1: RequestStartView from view 1 (due in 102 ticks)","packet":"0to1.2","fate":null,"from":"0","to":"1","kind":"RequestStartView","cause":0,"view":1,"op":null,"group":1}
            {"line":"event","number":3,"tick":4,"step":1,"class":"packet","big":false,"replica":1,"client":null,"text":"received from 0: RequestStartView from view 1","packet":"0to1.1","fate":"delivered","from":"0","to":"1","kind":"RequestStartView","cause":0,"view":1,"op":null,"group":1}
            {"line":"event","number":8,"tick":9,"step":1,"class":"violation","big":true,"replica":1,"client":null,"text":"I4 durability: op 3 is gone","packet":null,"fate":null,"from":null,"to":null,"kind":null,"cause":null,"view":null,"op":3,"group":1}
        "#]],
    );
}

#[test]
fn perfetto_has_tracks_slices_and_arrows() {
    let mut export = Perfetto::default();
    let mut elements = Perfetto::tracks(2, 1);
    for (event, row) in pairs(&short_run()) {
        elements.extend(export.event(&event, &row));
    }
    let lines: Vec<String> = elements
        .iter()
        .map(|element| serde_json::to_string(element).unwrap())
        .collect();
    check(
        &lines,
        &expect![[r#"
            {"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"cluster"}}
            {"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"world"}}
            {"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":1,"args":{"name":"replica 0"}}
            {"name":"thread_sort_index","ph":"M","ts":0,"pid":1,"tid":1,"args":{"sort_index":1}}
            {"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":2,"args":{"name":"replica 1"}}
            {"name":"thread_sort_index","ph":"M","ts":0,"pid":1,"tid":2,"args":{"sort_index":2}}
            {"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":10,"args":{"name":"client c0"}}
            {"name":"thread_sort_index","ph":"M","ts":0,"pid":1,"tid":10,"args":{"sort_index":10}}
            {"name":"request","cat":"event","ph":"X","ts":10000,"dur":1,"pid":1,"tid":10,"args":{"at":"1.1","number":0,"text":"sent request 3 to 0"}}
            {"name":"send RequestStartView","cat":"event","ph":"X","ts":10001,"dur":1,"pid":1,"tid":1,"args":{"at":"1.1","number":1,"packet":"0to1.1","text":"sent to 1: RequestStartView from view 1 (due in 102 ticks)"}}
            {"name":"packet","cat":"packet","ph":"s","ts":10001,"pid":1,"tid":1,"id":1,"args":{}}
            {"name":"send RequestStartView","cat":"event","ph":"X","ts":10002,"dur":1,"pid":1,"tid":1,"args":{"at":"1.1","number":2,"packet":"0to1.2","text":"sent to 1: RequestStartView from view 1 (due in 102 ticks)"}}
            {"name":"packet","cat":"packet","ph":"s","ts":10002,"pid":1,"tid":1,"id":2,"args":{}}
            {"name":"receive RequestStartView","cat":"event","ph":"X","ts":40000,"dur":1,"pid":1,"tid":2,"args":{"at":"4.1","number":3,"packet":"0to1.1","text":"received from 0: RequestStartView from view 1"}}
            {"name":"packet","cat":"packet","ph":"f","ts":40000,"pid":1,"tid":2,"id":1,"bp":"e","args":{}}
            {"name":"lose RequestStartView","cat":"event","ph":"X","ts":50000,"dur":1,"pid":1,"tid":1,"args":{"at":"5.1","number":4,"packet":"0to1.2","text":"did not reach 1 with RequestStartView from view 1: lost by the dice of the link"}}
            {"name":"crash.1","cat":"event","ph":"X","ts":50001,"dur":1,"pid":1,"tid":0,"args":{"at":"5.1","number":5,"text":"by hand: crash 1"}}
            {"name":"crash","cat":"event","ph":"X","ts":50002,"dur":1,"pid":1,"tid":2,"args":{"at":"5.1","number":6,"text":"crashed; no write was under way"}}
            {"name":"down","cat":"event","ph":"B","ts":50002,"pid":1,"tid":2,"args":{}}
            {"name":"restart","cat":"event","ph":"X","ts":90000,"dur":1,"pid":1,"tid":2,"args":{"at":"9.1","number":7,"text":"restarts; this is its life 2"}}
            {"name":"down","cat":"event","ph":"E","ts":90000,"pid":1,"tid":2,"args":{}}
            {"name":"violation of I4","cat":"event","ph":"X","ts":90001,"dur":1,"pid":1,"tid":2,"args":{"at":"9.1","number":8,"text":"I4 durability: op 3 is gone"}}
        "#]],
    );
}

#[test]
fn shiviz_has_vector_clocks() {
    let mut export = ShiViz::default();
    let mut text = SHIVIZ_HEADER.to_owned();
    for (event, row) in pairs(&short_run()) {
        text += &export.entry(&event, &row).unwrap_or_default();
    }
    expect![[r#"
        (?<event>.*)\n(?<host>\S*) (?<clock>{.*})

        1.1 sent request 3 to 0
        c0 {"c0":1}
        1.1 sent to 1: RequestStartView from view 1 (due in 102 ticks)
        r0 {"r0":1}
        1.1 sent to 1: RequestStartView from view 1 (due in 102 ticks)
        r0 {"r0":2}
        4.1 received from 0: RequestStartView from view 1
        r1 {"r0":1,"r1":1}
        5.1 by hand: crash 1
        world {"world":1}
        5.1 crashed; no write was under way
        r1 {"world":1,"r0":1,"r1":2}
        9.1 restarts; this is its life 2
        r1 {"world":1,"r0":1,"r1":3}
        9.1 I4 durability: op 3 is gone
        r1 {"world":1,"r0":1,"r1":4}
    "#]]
    .assert_eq(&text);
}

/// A real run with crashes and losses.
fn real_run() -> Vec<(Event, Row)> {
    let run =
        decode("v=1&seed=3&faults=light&clients=4&crash=0.01&restart=0.05&load=1").expect("a link");
    let mut session = Session::new(run, Recorder::default()).expect("a run");
    session.advance_ticks(4_000);
    let record = session.simulator().world().record.borrow();
    pairs(record.recorder())
}

#[test]
fn every_arrow_of_perfetto_has_a_tail_and_tracks_run_forward() {
    let mut export = Perfetto::default();
    let (mut tails, mut heads) = (BTreeSet::new(), 0);
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for (event, row) in real_run() {
        for element in export.event(&event, &row) {
            let value = serde_json::to_value(&element).unwrap();
            let at = |key: &str| value[key].as_u64().unwrap();
            let before = last.insert(at("tid"), at("ts"));
            assert!(before.is_none_or(|before| before <= at("ts")), "{value}");
            match value["ph"].as_str() {
                Some("s") => assert!(tails.insert(at("id"))),
                Some("f") => {
                    assert!(tails.contains(&at("id")));
                    heads += 1;
                }
                _ => {}
            }
        }
    }
    assert!(heads > 500 && tails.len() > heads, "{heads}");
}

/// The rules of the format: a host's own time is 1 with its first event and rises by one, and no
/// clock knows more of a host than that host itself.
#[test]
fn clocks_of_shiviz_obey_its_rules() {
    let mut export = ShiViz::default();
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    let (mut entries, mut heard) = (0, 0);
    for (event, row) in real_run() {
        let Some(entry) = export.entry(&event, &row) else {
            continue;
        };
        let lines: Vec<&str> = entry.lines().collect();
        let [_, second] = lines.as_slice() else {
            panic!("two lines: {entry}");
        };
        let (host, clock) = second.split_once(' ').unwrap();
        let clock: BTreeMap<String, Value> = serde_json::from_str(clock).unwrap();
        let own = times.entry(host.to_owned()).or_default();
        *own += 1;
        assert_eq!(clock[host].as_u64(), Some(*own), "{entry}");
        for (other, time) in &clock {
            assert!(time.as_u64().unwrap() <= times[other], "{entry}");
        }
        entries += 1;
        heard += usize::from(clock.len() > 1);
    }
    assert!(entries > 2_000 && heard > 500, "{entries} {heard}");
}
