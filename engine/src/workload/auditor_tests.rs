//! The auditor: every wrong answer is found, right ones are not.

use std::rc::Rc;

use super::*;
use crate::ids::{GROUP_PARTITION_0, ReplicaId, View};
use crate::machine::codec::{Answer, Command, send_messages};
use crate::machine::{Partition, RETENTION_DEFAULT};
use crate::vsr::io::StateMachine;

const C0: ClientId = ClientId(0);
const C1: ClientId = ClientId(1);

/// An honest group of one, whose entries and answers a test may alter on their way to the auditor.
struct Bench {
    auditor: Auditor,
    partition: Partition,
    op: u64,
}

impl Bench {
    /// Clients 0 and 1 have sessions 1 and 2.
    fn new() -> Self {
        Self::that_keeps(RETENTION_DEFAULT)
    }

    fn that_keeps(retention: u32) -> Self {
        let mut bench = Self {
            auditor: Auditor::of_partition(8, retention),
            partition: Partition::new(retention),
            op: 0,
        };
        for client in [C0, C1] {
            let reply = bench.register(client);
            bench.auditor.on_replied(client, &reply);
        }
        bench
    }

    fn session(client: ClientId) -> u64 {
        u64::from(client.0) + 1
    }

    fn prepare(&mut self, client: ClientId, session: u64, request: u64, body: Rc<[u8]>) -> Prepare {
        self.op += 1;
        let is_register = request == 0;
        let header = Header {
            op: Op(self.op),
            view: View(0),
            client,
            session: Op(session),
            request: RequestNumber(request),
            operation: if is_register {
                Operation::Register
            } else {
                Operation::Machine
            },
            body_checksum: checksum_bytes(&body),
            ..Header::root(GROUP_PARTITION_0)
        };
        Prepare {
            header: Rc::new(header.sealed()),
            body,
        }
    }

    fn answer(prepare: &Prepare, session: Op, result: Rc<[u8]>) -> Reply {
        Reply {
            client: prepare.header.client,
            session,
            request: prepare.header.request,
            op: prepare.header.op,
            checksum: prepare.header.checksum,
            result,
        }
    }

    fn register(&mut self, client: ClientId) -> Reply {
        let prepare = self.prepare(client, 0, 0, Rc::from([]));
        self.auditor.on_committed(&prepare, true);
        Self::answer(&prepare, prepare.header.op, Rc::from([]))
    }

    fn request(&mut self, client: ClientId, request: u64, body: &[u8]) {
        let session = Op(Self::session(client));
        let request = RequestNumber(request);
        self.auditor
            .on_requested(client, session, request, checksum_bytes(body));
    }

    fn execute(&mut self, client: ClientId, request: u64, body: &Rc<[u8]>) -> Reply {
        let session = Self::session(client);
        let prepare = self.prepare(client, session, request, Rc::clone(body));
        let result = self.partition.apply(&prepare);
        self.auditor.on_committed(&prepare, true);
        Self::answer(&prepare, Op(session), result)
    }

    /// Asks, executes and gives the honest answer, which the auditor has not seen yet.
    fn answered(&mut self, client: ClientId, request: u64, body: &Rc<[u8]>) -> Reply {
        self.request(client, request, body);
        self.execute(client, request, body)
    }

    fn accept(&mut self, reply: &Reply) {
        self.auditor.on_replied(reply.client, reply);
    }

    fn contents(&mut self, executed: u64, messages: &[(u64, &[u8])]) {
        let messages = messages.iter().copied();
        self.auditor
            .check_contents(ReplicaId(2), Op(executed), messages);
    }

    fn found(&mut self) -> Vec<AuditProperty> {
        let findings = self.auditor.take_findings();
        findings.into_iter().map(|found| found.property).collect()
    }
}

fn with_result(reply: &Reply, answer: Answer<'_>) -> Reply {
    Reply {
        client: reply.client,
        session: reply.session,
        request: reply.request,
        op: reply.op,
        checksum: reply.checksum,
        result: answer.encode(),
    }
}

fn send(text: &str) -> Rc<[u8]> {
    send_messages(&[text.as_bytes()])
}

#[test]
fn a_wrong_answer_to_each_command_is_found() {
    let commands = [
        Command::StoreOffset {
            consumer: 0,
            offset: 0,
        },
        Command::GetOffset { consumer: 0 },
        Command::DeleteOffset { consumer: 0 },
        Command::Poll { from: 0, count: 4 },
    ];
    let lies = [
        Answer::Sent { first: 7, count: 1 },
        Answer::Sent { first: 0, count: 9 },
        Answer::Offset(Some(99)),
        Answer::Refused(crate::machine::Refusal::UnknownConsumer),
        Answer::Refused(crate::machine::Refusal::Undecodable),
    ];
    for command in commands {
        for lie in lies {
            let mut bench = Bench::new();
            let reply = bench.answered(C0, 1, &send("a"));
            bench.accept(&reply);
            let reply = bench.answered(C0, 2, &command.encode());
            let refused = matches!(lie, Answer::Refused(_));
            if refused && reply.result == lie.encode() {
                continue;
            }
            bench.accept(&with_result(&reply, lie));
            assert_eq!(bench.found(), [AuditProperty::I6], "{command:?} {lie:?}");
        }
    }
}

#[test]
fn an_answer_that_is_no_answer_is_found() {
    let mut bench = Bench::new();
    let mut reply = bench.answered(C0, 1, &send("a"));
    reply.result = Rc::from([250, 1]);
    bench.accept(&reply);
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn messages_read_back_are_those_that_were_sent() {
    let poll = Command::Poll { from: 0, count: 4 }.encode();
    let mut bench = Bench::new();
    for (request, text) in [(1, "a"), (2, "b")] {
        let reply = bench.answered(C0, request, &send(text));
        bench.accept(&reply);
    }
    let honest = bench.answered(C1, 1, &poll);
    let altered: Vec<u8> = honest
        .result
        .iter()
        .map(|byte| if *byte == b'b' { b'x' } else { *byte })
        .collect();
    let altered = Reply {
        result: altered.into(),
        ..honest
    };
    bench.accept(&altered);
    let findings = bench.auditor.take_findings();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].property, AuditProperty::I6);
    assert_eq!(findings[0].client, Some(C1));
    assert!(
        findings[0].text.contains("offset 1"),
        "{}",
        findings[0].text
    );
    assert!(findings[0].text.contains('x'), "{}", findings[0].text);
}

#[test]
fn a_read_that_misses_acknowledged_messages_is_found() {
    let poll = Command::Poll { from: 0, count: 4 }.encode();
    let mut bench = Bench::new();
    let before = bench.partition.clone();
    let reply = bench.answered(C0, 1, &send("a"));
    bench.accept(&reply);
    bench.partition = before;
    let stale = bench.answered(C1, 1, &poll);
    bench.accept(&stale);
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn messages_that_a_partition_let_go_are_not_missed_and_those_it_must_keep_are() {
    let poll = Command::Poll { from: 0, count: 9 }.encode();
    let mut bench = Bench::that_keeps(2);
    let early = bench.answered(C1, 1, &poll);
    for request in 1..=6 {
        let reply = bench.answered(C0, request, &send(&format!("m{request}")));
        bench.accept(&reply);
    }
    bench.accept(&early);
    let reply = bench.answered(C1, 2, &poll);
    bench.accept(&reply);
    assert_eq!(bench.found(), []);
    let executed = bench.auditor.executed();
    for (messages, expected) in [
        (&[(4, b"m5".as_slice()), (5, b"m6")][..], None),
        (&[(4, b"m5"), (5, b"other")], Some(AuditProperty::I9)),
        (&[(5, b"m6")], Some(AuditProperty::I9)),
        (
            &[(3, b"m4"), (4, b"m5"), (5, b"m6")],
            Some(AuditProperty::I9),
        ),
        (&[(3, b"m4"), (4, b"m5")], Some(AuditProperty::I4)),
    ] {
        bench.contents(executed.0, messages);
        assert_eq!(bench.found(), Vec::from_iter(expected), "{messages:?}");
    }
    // A replica that lags holds older ones; those that are forgotten here are not held against it.
    bench.contents(4, &[(2, b"m3"), (3, b"m4")]);
    bench.contents(3, &[(0, b"forgotten"), (1, b"forgotten")]);
    assert_eq!(bench.found(), []);
    bench.contents(4, &[(2, b"other"), (3, b"m4")]);
    assert_eq!(bench.found(), [AuditProperty::I9]);
}

#[test]
fn an_answer_at_an_op_acknowledged_before_the_request_was_sent_is_found() {
    let mut bench = Bench::new();
    let hollow = Reply {
        client: C1,
        session: Op(2),
        request: RequestNumber(1),
        op: Op(4),
        checksum: Checksum(0),
        result: Answer::Stored.encode(),
    };
    bench.accept(&hollow);
    assert_eq!(bench.found(), [AuditProperty::I4]);
    let reply = bench.answered(C0, 1, &send("a"));
    assert_eq!(reply.op, Op(3));
    bench.accept(&reply);
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn requests_sent_side_by_side_may_be_answered_in_any_order() {
    let mut bench = Bench::new();
    let (a, b) = (send("a"), send("b"));
    bench.request(C0, 1, &a);
    bench.request(C1, 1, &b);
    let first = bench.execute(C0, 1, &a);
    let second = bench.execute(C1, 1, &b);
    bench.accept(&second);
    bench.accept(&first);
    assert_eq!(bench.found(), []);
}

#[test]
fn an_answer_before_any_replica_executed_the_op_is_found() {
    let mut bench = Bench::new();
    let body = send("a");
    bench.request(C0, 1, &body);
    let prepare = bench.prepare(C0, 1, 1, Rc::clone(&body));
    let result = bench.partition.apply(&prepare);
    bench.accept(&Bench::answer(&prepare, Op(1), result));
    assert_eq!(bench.found(), [AuditProperty::I4]);
    bench.auditor.on_committed(&prepare, true);
    assert_eq!(bench.found(), [], "one fault is told once");
    assert!(bench.auditor.under_way.is_empty());
}

#[test]
fn an_answer_of_another_op_or_identity_is_found() {
    for other_op in [false, true] {
        let mut bench = Bench::new();
        let first = bench.answered(C0, 1, &send("a"));
        let second = bench.answered(C1, 1, &send("b"));
        let mixed = Reply {
            op: if other_op { second.op } else { first.op },
            checksum: second.checksum,
            ..first
        };
        bench.accept(&mixed);
        assert_eq!(bench.found(), [AuditProperty::I6], "{other_op}");
    }
}

#[test]
fn an_answer_nobody_asked_for_is_found() {
    let mut bench = Bench::new();
    let reply = bench.answered(C0, 1, &send("a"));
    bench.accept(&reply);
    assert_eq!(bench.found(), []);
    bench.accept(&reply);
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn a_request_executed_twice_is_found() {
    let mut bench = Bench::new();
    let body = send("pay");
    let reply = bench.answered(C0, 1, &body);
    bench.execute(C0, 1, &body);
    assert_eq!(bench.found(), [AuditProperty::I5]);
    bench.accept(&reply);
    assert_eq!(bench.found(), [], "one fault is told once");
}

#[test]
fn a_repeated_entry_without_effect_is_right() {
    let mut bench = Bench::new();
    let body = send("pay");
    let reply = bench.answered(C0, 1, &body);
    let repeated = bench.prepare(C0, 1, 1, body);
    bench.auditor.on_committed(&repeated, false);
    bench.accept(&reply);
    assert_eq!(bench.found(), []);
    assert_eq!(bench.auditor.known().next_offset, 1);
}

#[test]
fn an_effect_under_a_dead_session_is_found() {
    let mut bench = Bench::new();
    let body = send("late");
    bench.request(C0, 1, &body);
    bench.register(C0);
    bench.execute(C0, 1, &body);
    assert_eq!(bench.found(), [AuditProperty::I5]);
}

#[test]
fn a_good_request_without_effect_is_found() {
    let mut bench = Bench::new();
    let body = send("ignored");
    bench.request(C0, 1, &body);
    let prepare = bench.prepare(C0, 1, 1, body);
    bench.auditor.on_committed(&prepare, false);
    assert_eq!(bench.found(), [AuditProperty::I5]);
}

#[test]
fn a_full_table_drops_the_session_that_was_quiet_longest() {
    let mut bench = Bench::new();
    bench.auditor.sessions = Sessions::new(2);
    bench.register(C0);
    bench.register(C1);
    let (session_0, session_1) = (3, 4);
    let body = send("a");
    let checksum = checksum_bytes(&body);
    bench
        .auditor
        .on_requested(C0, Op(session_0), RequestNumber(1), checksum);
    let prepare = bench.prepare(C0, session_0, 1, Rc::clone(&body));
    bench.auditor.on_committed(&prepare, true);
    bench.register(ClientId(2));
    let late = bench.prepare(C1, session_1, 1, Rc::clone(&body));
    bench.auditor.on_committed(&late, false);
    let repeated = bench.prepare(C0, session_0, 1, body);
    bench.auditor.on_committed(&repeated, false);
    assert_eq!(bench.found(), []);
    let late = bench.prepare(C1, session_1, 2, send("b"));
    bench.auditor.on_committed(&late, true);
    assert_eq!(bench.found(), [AuditProperty::I5]);
}

#[test]
fn an_entry_nobody_asked_for_and_an_altered_body_are_found() {
    let mut bench = Bench::new();
    bench.execute(C0, 1, &send("forged"));
    assert_eq!(bench.found(), [AuditProperty::I6]);
    bench.request(C0, 2, &send("a"));
    bench.execute(C0, 2, &send("b"));
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn a_write_of_a_lost_session_may_or_may_not_have_happened() {
    for executed in [false, true] {
        let mut bench = Bench::new();
        let body = send("maybe");
        bench.request(C0, 1, &body);
        bench.auditor.on_session_lost(C0);
        if executed {
            bench.execute(C0, 1, &body);
        }
        let reply = bench.register(C0);
        bench.accept(&reply);
        assert_eq!(bench.found(), []);
        assert!(bench.auditor.under_way.is_empty());
    }
}

#[test]
fn a_session_that_no_entry_opened_is_found() {
    let mut bench = Bench::new();
    let honest = bench.register(C0);
    bench.accept(&honest);
    assert_eq!(bench.found(), []);
    let of_another = Reply {
        session: Op(2),
        op: Op(2),
        ..honest
    };
    bench.accept(&of_another);
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn the_answer_to_an_old_register_may_come_late() {
    let mut bench = Bench::new();
    let mut first = bench.register(C0);
    for _ in 0..2 * REGISTERS_MAX {
        bench.register(C0);
    }
    bench.accept(&first);
    assert_eq!(bench.found(), []);
    first.session = Op(1);
    bench.accept(&first);
    assert_eq!(bench.found(), [AuditProperty::I6]);
}

#[test]
fn a_skipped_op_is_found_and_ends_the_comparison() {
    let mut bench = Bench::new();
    bench.op += 1;
    let reply = bench.answered(C0, 1, &send("a"));
    assert_eq!(bench.found(), [AuditProperty::I10]);
    bench.accept(&with_result(&reply, Answer::Stored));
    assert_eq!(bench.found(), []);
}

#[test]
fn later_executions_of_an_op_teach_nothing_new() {
    let mut bench = Bench::new();
    let body = send("a");
    bench.request(C0, 1, &body);
    let prepare = bench.prepare(C0, 1, 1, body);
    for _ in 0..3 {
        bench.auditor.on_committed(&prepare, true);
    }
    assert_eq!(bench.found(), []);
    assert_eq!(bench.auditor.known().next_offset, 1);
}

#[test]
fn a_replica_whose_messages_differ_from_the_log_is_found() {
    let mut bench = Bench::new();
    for (request, text) in [(1, "a"), (2, "b")] {
        let reply = bench.answered(C0, request, &send(text));
        bench.accept(&reply);
    }
    bench.answered(C0, 3, &send("c"));
    let (a, b, c) = (
        (0, b"a".as_slice()),
        (1, b"b".as_slice()),
        (2, b"c".as_slice()),
    );
    bench.contents(5, &[a, b, c]);
    bench.contents(4, &[a, b]);
    bench.contents(3, &[a]);
    assert_eq!(bench.found(), []);
    bench.contents(5, &[a, b]);
    assert_eq!(bench.found(), [AuditProperty::I9]);
    bench.contents(5, &[a]);
    assert_eq!(bench.found(), [AuditProperty::I4]);
    bench.contents(5, &[a, (1, b"x"), c]);
    assert_eq!(bench.found(), [AuditProperty::I9]);
    bench.contents(5, &[]);
    assert_eq!(bench.found(), [AuditProperty::I4]);
}

#[test]
fn findings_are_bounded_between_two_looks() {
    let mut bench = Bench::new();
    for n in 0..500 {
        bench.execute(C0, n + 1, &send("forged"));
    }
    assert_eq!(bench.found().len(), FINDINGS_MAX);
    assert!(bench.found().is_empty());
}

#[test]
fn events_reach_the_auditor() {
    let mut bench = Bench::new();
    let body = send("a");
    let requested = |attempts| EventKind::Requested {
        group: crate::ids::GROUP_PARTITION_0,
        client: C0,
        to: ReplicaId(0),
        session: Op(1),
        request: RequestNumber(1),
        attempts,
        body_checksum: checksum_bytes(&body),
    };
    bench.auditor.observe(&requested(0));
    let prepare = Rc::new(bench.prepare(C0, 1, 1, Rc::clone(&body)));
    let result = bench.partition.apply(&prepare);
    bench.auditor.observe(&EventKind::Noted {
        replica: ReplicaId(1),
        group: GROUP_PARTITION_0,
        note: Note::Executed {
            prepare: Rc::clone(&prepare),
            effect: true,
            digest: Checksum(0),
        },
    });
    bench.auditor.observe(&requested(1));
    let replied = EventKind::Replied {
        group: crate::ids::GROUP_PARTITION_0,
        client: C0,
        reply: Rc::new(Bench::answer(&prepare, Op(1), result)),
        view: View(0),
        latency_ticks: 3,
    };
    bench.auditor.observe(&replied);
    assert_eq!(bench.found(), []);
    assert_eq!(bench.auditor.acknowledged(), Op(3));
    bench.auditor.observe(&replied);
    assert_eq!(bench.found(), [AuditProperty::I6]);
    bench.auditor.observe(&requested(0));
    let lost = EventKind::SessionLost {
        client: C0,
        group: crate::ids::GROUP_PARTITION_0,
    };
    bench.auditor.observe(&lost);
    assert!(bench.auditor.under_way.values().all(|sent| sent.abandoned));
}
