//! The auditors of all groups: both planes compared, groups that come late and go, bounded memory.

use std::rc::Rc;

use super::*;
use crate::ids::{ClientId, GROUP_PARTITION_0, StreamId, TopicId};
use crate::machine::codec::{Answer, Command, send_messages};
use crate::machine::metadata::{self, TopicPath};
use crate::vsr::io::Durability;
use crate::vsr::message::Reply;
use crate::workload::testing::Honest;
use crate::workload::{Generator, Load, Plane};

const C0: ClientId = ClientId(0);
const C1: ClientId = ClientId(1);

fn create_stream(name: &str) -> Rc<[u8]> {
    metadata::Command::CreateStream { name }.encode()
}

fn create_topic(name: &str) -> Rc<[u8]> {
    let command = metadata::Command::CreateTopic {
        stream: StreamId(1),
        name,
        durability: Durability::Replicated,
        partitions: 1,
    };
    command.encode()
}

fn delete_topic(topic: u32) -> Rc<[u8]> {
    let of = TopicPath {
        stream: StreamId(1),
        topic: TopicId(topic),
    };
    metadata::Command::DeleteTopic { of }.encode()
}

fn send(text: &str) -> Rc<[u8]> {
    send_messages(&[text.as_bytes()])
}

fn found(honest: &mut Honest) -> Vec<(GroupId, AuditProperty)> {
    let findings = honest.auditors.take_findings();
    let found = findings.into_iter();
    found.map(|(group, of)| (group, of.property)).collect()
}

fn with_result(reply: &Reply, result: Rc<[u8]>) -> Reply {
    Reply { result, ..*reply }
}

#[test]
fn an_honest_cluster_gives_no_finding() {
    let mut honest = Honest::new(2, 32);
    let load = Load {
        per_million: 0,
        plane: Plane::Mixed,
        ack_quorum_ratio_per_million: 500_000,
    };
    let mut generator = Generator::new(3, load);
    for n in 0..10_000_u32 {
        let client = ClientId(u8::try_from(n % 3).unwrap());
        let groups = honest.groups();
        if let Some(drawn) = generator.next(client, &groups, &honest.auditors) {
            honest.ask(client, drawn.group, &drawn.body);
        }
        if n % 100 == 0 {
            let group = groups[n as usize / 100 % groups.len()];
            honest.ask(client, group, &Rc::from(&n.to_le_bytes()[..]));
        }
    }
    assert_eq!(honest.auditors.take_findings(), []);
    assert!(honest.auditors.answers_compared() > 10_000);
    assert_eq!(honest.auditors.unaudited(), 0);
    for (group, machine) in honest.machines {
        let executed = honest.auditors.executed(group);
        honest
            .auditors
            .check_machine(group, ReplicaId(1), executed, &machine);
    }
    assert_eq!(honest.auditors.take_findings(), []);
}

#[test]
fn requests_of_several_clients_in_several_groups_are_under_way_at_once() {
    let mut honest = Honest::new(2, 32);
    let (g0, g1) = (GROUP_PARTITION_0, GroupId(2));
    let stream = create_stream("s");
    let asks = [
        (C0, g0, send("a")),
        (C0, g1, send("b")),
        (C0, GROUP_METADATA, stream.clone()),
        (C1, g0, send("c")),
        (C1, GROUP_METADATA, stream),
    ];
    for (client, group, body) in &asks {
        honest.request(*client, *group, body);
    }
    let mut replies: Vec<_> = asks
        .iter()
        .map(|(client, group, body)| (*group, honest.execute(*client, *group, body)))
        .collect();
    replies.reverse();
    for (group, reply) in &replies {
        honest.accept(*group, reply);
    }
    assert_eq!(honest.auditors.take_findings(), []);
    assert_eq!(honest.auditors.known(g0).next_offset, 2);
    assert_eq!(honest.auditors.known(g1).next_offset, 1);
}

#[test]
fn a_wrong_answer_of_the_metadata_group_is_found() {
    let honest_answers = [
        create_stream("s"),
        create_stream("stream-1"),
        metadata::Command::GetCatalogue.encode(),
    ];
    let lies = [
        metadata::Answer::Done.encode(),
        metadata::Answer::StreamCreated(StreamId(9)).encode(),
        metadata::Answer::Refused(metadata::Refusal::StreamsFull).encode(),
        metadata::Answer::Catalogue(metadata::Catalogue::default()).encode(),
        Answer::Stored.encode(),
        Rc::from([]),
    ];
    for body in &honest_answers {
        for lie in &lies {
            let mut honest = Honest::new(1, 32);
            honest.request(C0, GROUP_METADATA, body);
            let reply = honest.execute(C0, GROUP_METADATA, body);
            honest.accept(GROUP_METADATA, &with_result(&reply, Rc::clone(lie)));
            assert_eq!(
                found(&mut honest),
                [(GROUP_METADATA, AuditProperty::I6)],
                "{lie:?}"
            );
        }
    }
}

#[test]
fn an_answer_that_differs_in_one_name_alone_says_where() {
    let mut honest = Honest::new(1, 32);
    let body = metadata::Command::GetCatalogue.encode();
    honest.request(C0, GROUP_METADATA, &body);
    let reply = honest.execute(C0, GROUP_METADATA, &body);
    let Ok(metadata::Answer::Catalogue(mut all)) = metadata::Answer::decode(&reply.result) else {
        panic!("no catalogue");
    };
    "topic-2".clone_into(&mut all.streams[0].topics[0].name);
    let altered = metadata::Answer::Catalogue(all).encode();
    honest.accept(GROUP_METADATA, &with_result(&reply, altered));
    let findings = honest.auditors.take_findings();
    let [(_, finding)] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    assert!(finding.text.contains("topic-2"), "{}", finding.text);
}

#[test]
fn a_group_made_late_is_audited_from_its_first_op() {
    let mut honest = Honest::new(1, 32);
    honest.ask(C0, GROUP_METADATA, &create_stream("s"));
    honest.ask(C0, GROUP_METADATA, &create_topic("t"));
    let group = *honest.auditors.groups_alive().last().unwrap();
    assert!(honest.auditors.of(group).is_none());
    assert_eq!(honest.auditors.known(group), Known::default());
    honest.ask(C0, group, &send("a"));
    let poll = Command::Poll { from: 0, count: 1 }.encode();
    honest.request(C1, group, &poll);
    let reply = honest.execute(C1, group, &poll);
    honest.accept(group, &with_result(&reply, Answer::Stored.encode()));
    assert_eq!(found(&mut honest), [(group, AuditProperty::I6)]);
    assert_eq!(honest.auditors.executed(group), Op(4));
}

#[test]
fn a_group_that_executes_before_the_op_that_makes_it_is_found() {
    let mut honest = Honest::new(1, 32);
    let group = GroupId(9 << 8 | 1);
    honest.request(C0, group, &send("a"));
    assert_eq!(found(&mut honest), [(GROUP_METADATA, AuditProperty::I10)]);
    assert_eq!(honest.auditors.unaudited(), 3);
}

#[test]
fn a_deleted_group_is_audited_on_until_others_are_deleted_after_it() {
    let mut honest = Honest::new(1, 32);
    honest.ask(C0, GROUP_METADATA, &create_topic("first"));
    let first = *honest.auditors.groups_alive().last().unwrap();
    honest.ask(C0, first, &send("a"));
    honest.ask(C0, GROUP_METADATA, &delete_topic(2));
    assert!(!honest.auditors.is_alive(first));

    // A replica that lags goes on, and lies.
    honest.request(C0, first, &send("b"));
    let reply = honest.execute(C0, first, &send("b"));
    honest.accept(first, &with_result(&reply, Answer::Stored.encode()));
    assert_eq!(found(&mut honest), [(first, AuditProperty::I6)]);

    let compared = honest.auditors.answers_compared();
    for n in 0..DELETED_MAX {
        let topic = u32::try_from(n + 3).unwrap();
        honest.ask(C0, GROUP_METADATA, &create_topic("next"));
        let group = *honest.auditors.groups_alive().last().unwrap();
        honest.ask(C0, group, &send("a"));
        honest.ask(C0, GROUP_METADATA, &delete_topic(topic));
    }
    assert!(honest.auditors.of(first).is_none());
    honest.ask(C0, first, &send("c"));
    assert!(honest.auditors.of(first).is_none());
    assert_eq!(honest.auditors.unaudited(), 3);
    assert_eq!(honest.auditors.take_findings(), []);
    // Two to metadata and, with the register, two to the group, each time.
    let expected = compared + 4 * DELETED_MAX as u64;
    assert_eq!(honest.auditors.answers_compared(), expected);
    let sends = honest.auditors.coverage().of(
        crate::workload::Action::SendMessages,
        crate::workload::Outcome::Success,
    );
    assert_eq!(sends, 1 + DELETED_MAX as u64);
}

#[test]
fn memory_does_not_grow_with_what_was_asked() {
    let mut honest = Honest::new(1, 16);
    let load = Load {
        per_million: 0,
        plane: Plane::Metadata,
        ack_quorum_ratio_per_million: 0,
    };
    let mut generator = Generator::new(9, load);
    for n in 0..6_000_u32 {
        let client = ClientId(u8::try_from(n % 8).unwrap());
        let groups = honest.groups();
        if let Some(drawn) = generator.next(client, &groups, &honest.auditors) {
            honest.ask(client, drawn.group, &drawn.body);
        }
        let group = groups[n as usize % groups.len()];
        if group != GROUP_METADATA {
            honest.ask(client, group, &send("m"));
        }
    }
    assert_eq!(honest.auditors.take_findings(), []);
    let alive = honest.auditors.groups_alive().len();
    assert!(honest.auditors.groups.len() <= 1 + alive + DELETED_MAX);
    for auditor in honest.auditors.groups.values() {
        assert!(auditor.is_small());
    }
}

#[test]
fn a_replica_that_knows_other_streams_than_the_log_made_is_found() {
    let mut honest = Honest::new(1, 32);
    honest.ask(C0, GROUP_METADATA, &create_stream("s"));
    let other = Machine::new(GROUP_METADATA, &Genesis::default(), 32);
    let ours = honest.machine(GROUP_METADATA).clone();
    let executed = honest.auditors.executed(GROUP_METADATA);
    let mut check = |executed, machine: &Machine| {
        honest
            .auditors
            .check_machine(GROUP_METADATA, ReplicaId(0), executed, machine);
        honest.auditors.take_findings().len()
    };
    assert_eq!(check(executed, &ours), 0);
    assert_eq!(check(executed, &other), 1);
    // One that lags is not compared.
    assert_eq!(check(Op(1), &other), 0);
}

#[test]
fn findings_of_all_groups_are_bounded_between_two_looks() {
    let mut honest = Honest::new(2, 32);
    for n in 0..100_u8 {
        for group in [GROUP_PARTITION_0, GroupId(2)] {
            honest.request(C0, group, &send("a"));
            honest.execute(C0, group, &send("forged"));
            let _ = n;
        }
    }
    assert_eq!(honest.auditors.take_findings().len(), FINDINGS_MAX);
    assert_eq!(honest.auditors.take_findings(), []);
}
