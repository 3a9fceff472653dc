//! One example of every message, fate, act and client event, and how it reads. Blessed by
//! `UPDATE_EXPECT=1`.

use std::rc::Rc;

use expect_test::{Expect, expect};

use super::*;
use crate::ids::{Checksum, GROUP_PARTITION_0, Incarnation, RequestNumber};
use crate::trace::{Recorder, Recording, Skipped};
use crate::vsr::io::Timer;
use crate::vsr::message::{
    DoViewChange, Header, Operation, Prepare, Rejection, Reply, Request, StartView,
};

pub(in crate::trace) const CHECKSUM: Checksum = Checksum(7);

fn header(operation: Operation) -> Header {
    Header {
        op: Op(7),
        request: RequestNumber(3),
        session: Op(1),
        operation,
        ..Header::root(GROUP_PARTITION_0)
    }
}

pub(in crate::trace) fn prepare(operation: Operation) -> Rc<Prepare> {
    Rc::new(Prepare {
        header: header(operation).into(),
        body: Rc::from([]),
    })
}

fn reply() -> Rc<Reply> {
    Rc::new(Reply {
        client: ClientId(0),
        session: Op(1),
        request: RequestNumber(3),
        op: Op(7),
        checksum: CHECKSUM,
        result: Rc::from([]),
    })
}

fn request(operation: Operation) -> Message {
    Message::Request(Rc::new(Request {
        client: ClientId(0),
        session: Op(1),
        request: RequestNumber(3),
        operation,
        body_checksum: CHECKSUM,
        body: Rc::from([]),
    }))
}

pub(in crate::trace) fn noted(replica: u8, note: Note) -> EventKind {
    EventKind::Noted {
        replica: ReplicaId(replica),
        group: GROUP_PARTITION_0,
        note,
    }
}

pub(in crate::trace) fn sent(
    from: Process,
    to: Process,
    packet: u64,
    message: Message,
) -> EventKind {
    EventKind::Sent {
        frame: Rc::new(Frame {
            group: GROUP_PARTITION_0,
            from,
            to,
            view: View(1),
            incarnation: Incarnation(1),
            message,
        }),
        packet,
        due: Tick(103),
        cause: 0,
        copy: false,
    }
}

/// Records the events at tick 100 and lists their texts, each after whoever says it.
pub(in crate::trace) fn check(kinds: Vec<EventKind>, expected: &Expect) {
    let mut recorder = Recorder::new(Recording::Everything, 1_000);
    recorder.at(Tick(100), 0);
    for kind in kinds {
        recorder.push(kind);
    }
    let mut listed = String::new();
    for row in recorder.rows(0, 1_000, 3) {
        let who = match (row.replica, row.client) {
            (Some(replica), _) => format!("{replica} "),
            (None, Some(client)) => format!("client {client} "),
            (None, None) => String::new(),
        };
        let big = if row.big { " (big)" } else { "" };
        listed += &format!("{:?}{big} | {who}{}\n", row.class, row.text);
    }
    expected.assert_eq(&listed);
}

const R0: Process = Process::Replica(ReplicaId(0));
const R1: Process = Process::Replica(ReplicaId(1));
const C0: Process = Process::Client(ClientId(0));

#[test]
fn every_message_reads_well() {
    let vote = Rc::new(DoViewChange {
        log_view: View(0),
        commit_max: Op(5),
        head: Op(7),
        entries: Vec::new(),
        uncertain: false,
        trusted: true,
        checkpoint: Op(0),
    });
    let start = Rc::new(StartView {
        commit_max: Op(5),
        suffix: Vec::new(),
        answers: Incarnation(0),
        checkpoint: Op(0),
    });
    let evict = |request| Message::Eviction {
        session: Op(1),
        request: RequestNumber(request),
        rejection: Rejection::NoSession,
    };
    let mut kinds = vec![
        sent(C0, R1, 1, request(Operation::Register)),
        sent(C0, R1, 2, request(Operation::Machine)),
        sent(R1, C0, 1, Message::Reply(reply())),
        sent(R1, C0, 2, evict(3)),
        sent(R1, C0, 3, evict(0)),
    ];
    let between = [
        Message::Prepare {
            prepare: prepare(Operation::Machine),
            commit_max: Op(6),
        },
        Message::PrepareOk {
            op: Op(7),
            checksum: CHECKSUM,
        },
        Message::Commit { commit_max: Op(6) },
        Message::StartViewChange,
        Message::DoViewChange(vote),
        Message::StartView(start),
        Message::RequestStartView { recovering: true },
        Message::RequestStartView { recovering: false },
        Message::RequestPrepares {
            from: Op(3),
            to: Op(9),
        },
        Message::RepairPrepare {
            prepare: prepare(Operation::Machine),
        },
        Message::RepairDone {
            from: Op(3),
            through: Op(3),
            evicted: None,
        },
    ];
    kinds.extend(
        (1..)
            .zip(between)
            .map(|(n, message)| sent(R0, R1, n, message)),
    );
    check(
        kinds,
        &expect![[r#"
            Packet | client 0 sent to 1: a Request for a session (due in 3 ticks)
            Packet | client 0 sent to 1: Request 3 (due in 3 ticks)
            Packet | 1 sent to client 0: the Reply of op 7 (due in 3 ticks)
            Packet | 1 sent to client 0: an Eviction of request 3: it has no session here (due in 3 ticks)
            Packet | 1 sent to client 0: an Eviction of its register: it has no session here (due in 3 ticks)
            Packet | 0 sent to 1: Prepare of op 7 (due in 3 ticks)
            Packet | 0 sent to 1: PrepareOk of op 7 (due in 3 ticks)
            Packet | 0 sent to 1: a heartbeat, Commit up to op 6 (due in 3 ticks)
            Packet | 0 sent to 1: StartViewChange, to leave view 1 (due in 3 ticks)
            Packet | 0 sent to 1: DoViewChange for view 1, the log of view 0 up to op 7 (due in 3 ticks)
            Packet | 0 sent to 1: StartView of view 1, head 5 (due in 3 ticks)
            Packet | 0 sent to 1: RequestStartView from view 1, just restarted (due in 3 ticks)
            Packet | 0 sent to 1: RequestStartView from view 1 (due in 3 ticks)
            Packet | 0 sent to 1: RequestPrepares for ops 3 to 9 (due in 3 ticks)
            Packet | 0 sent to 1: RepairPrepare of op 7 (due in 3 ticks)
            Packet | 0 sent to 1: RepairDone for op 3 (due in 3 ticks)
        "#]],
    );
}

#[test]
fn every_fate_reads_well() {
    let fates = [
        Fate::Delivered,
        Fate::Lost,
        Fate::Cut,
        Fate::Partitioned,
        Fate::Filtered,
        Fate::Evicted,
        Fate::TargetDown,
        Fate::Dropped,
        Fate::InboxFull,
    ];
    let ack = Message::PrepareOk {
        op: Op(7),
        checksum: CHECKSUM,
    };
    let mut kinds = vec![sent(R0, R1, 57, ack)];
    kinds.extend(fates.map(|fate| EventKind::Ended {
        group: crate::ids::GROUP_PARTITION_0,
        from: R0,
        to: R1,
        packet: 57,
        kind: MessageKind::PrepareOk,
        fate,
    }));
    kinds.push(EventKind::Ended {
        group: crate::ids::GROUP_PARTITION_0,
        from: R1,
        to: C0,
        packet: 4,
        kind: MessageKind::Reply,
        fate: Fate::Delivered,
    });
    check(
        kinds,
        &expect![[r#"
            Packet | 0 sent to 1: PrepareOk of op 7 (due in 3 ticks)
            Packet | 1 received from 0: PrepareOk of op 7
            Packet | 0 did not reach 1 with PrepareOk of op 7: lost by the dice of the link
            Packet | 0 did not reach 1 with PrepareOk of op 7: the link is cut
            Packet | 0 did not reach 1 with PrepareOk of op 7: the fault profile has parted them
            Packet | 0 did not reach 1 with PrepareOk of op 7: a filter stops its type
            Packet | 0 did not reach 1 with PrepareOk of op 7: pushed out of the full link
            Packet | 0 did not reach 1 with PrepareOk of op 7: 1 is down
            Packet | 0 did not reach 1 with PrepareOk of op 7: dropped by hand
            Packet | 0 did not reach 1 with PrepareOk of op 7: the inbox of 1 is full
            Packet | client 0 received from 1: Reply
        "#]],
    );
}

#[test]
fn what_is_done_to_the_world_reads_well() {
    let act = |text: &str, by| Act {
        text: Rc::from(text),
        by,
    };
    let requested = |session, attempts| EventKind::Requested {
        group: crate::ids::GROUP_PARTITION_0,
        client: ClientId(0),
        to: ReplicaId(1),
        session: Op(session),
        request: RequestNumber(3),
        attempts,
        body_checksum: CHECKSUM,
    };
    let crashed = |writes_lost, writes_torn| EventKind::Crashed {
        replica: ReplicaId(2),
        writes_lost,
        writes_torn,
    };
    let kinds = vec![
        EventKind::Acted(act("crash.2", Actor::Person)),
        EventKind::Acted(act("cut.01-2", Actor::Story)),
        EventKind::Acted(act("clog.0to2.200", Actor::Nemesis)),
        EventKind::Acted(act("heal", Actor::Settle)),
        EventKind::Skipped(Skipped {
            act: act("crash.2", Actor::Person),
            because: Rc::from("2 is down already"),
        }),
        crashed(0, 0),
        crashed(1, 0),
        crashed(2, 1),
        EventKind::Restarted {
            replica: ReplicaId(2),
            incarnation: Incarnation(2),
        },
        requested(0, 0),
        requested(1, 0),
        requested(1, 2),
        EventKind::Replied {
            group: crate::ids::GROUP_PARTITION_0,
            client: ClientId(0),
            reply: reply(),
            view: View(1),
            latency_ticks: 12,
        },
        EventKind::SessionLost {
            group: crate::ids::GROUP_PARTITION_0,
            client: ClientId(0),
        },
    ];
    check(
        kinds,
        &expect![[r#"
            Fault | by hand: crash 2
            Fault (big) | the story: cut 0 and 1 off from 2
            Fault | the fault profile: clog the link 0 to 2 for 200 ticks
            Fault (big) | the end phase: heal every link
            Fault | by hand: crash 2; not done: 2 is down already
            Fault (big) | 2 crashed; no write was under way
            Fault (big) | 2 crashed; one write that was not on disk yet is gone
            Fault (big) | 2 crashed; 2 writes that were not on disk yet are gone, and one place is torn and unreadable
            Fault (big) | 2 restarts; this is its life 2
            Client | client 0 asked 1 for a session
            Client | client 0 sent request 3 to 1
            Client | client 0 sent request 3 to 1 again, try 3
            Client | client 0 has the reply to request 3 after 12 ticks: op 7 of view 1 must never be lost now
            Client | client 0 lost its session; what it still had under way has an unknown outcome
        "#]],
    );
}

#[test]
fn holders_in_another_group_do_not_make_a_quorum() {
    let counted = |group: u64, from| EventKind::Noted {
        replica: ReplicaId(0),
        group: GroupId(group),
        note: Note::AckCounted {
            op: Op(4),
            from: ReplicaId(from),
            have: 2,
            need: 2,
        },
    };
    let mut recorder = Recorder::default();
    recorder.push(counted(1, 0));
    recorder.push(counted(2, 2));
    recorder.push(counted(1, 1));
    recorder.push(noted(0, Note::CommitAdvanced { commit_max: Op(4) }));
    let row = recorder.rows(3, 1, 3).remove(0);
    assert_eq!(
        row.text,
        "committed op 4: replicas 0 and 1 hold it, two of three is a quorum"
    );
    assert_eq!(row.group, Some(GroupId(1)));
    assert!(row.to_string().contains(" g0 "), "{row}");
}

#[test]
fn a_row_names_packet_cause_and_place() {
    let mut recorder = Recorder::default();
    recorder.push(noted(
        0,
        Note::TimerFired {
            timer: Timer::Heartbeat,
        },
    ));
    recorder.push(sent(R0, R1, 57, Message::Commit { commit_max: Op(6) }));
    recorder.push(EventKind::Ended {
        group: crate::ids::GROUP_PARTITION_0,
        from: R0,
        to: R1,
        packet: 57,
        kind: MessageKind::Commit,
        fate: Fate::Lost,
    });
    let row = recorder.rows(2, 1, 3).remove(0);
    assert_eq!(row.packet.as_deref(), Some("0to1.57"));
    assert_eq!(
        (row.from.as_deref(), row.to.as_deref()),
        (Some("0"), Some("1"))
    );
    assert_eq!(
        (row.kind, row.fate),
        (Some(MessageKind::Commit), Some(Fate::Lost))
    );
    assert_eq!(
        (row.cause, row.view, row.op),
        (Some(0), Some(View(1)), Some(Op(6)))
    );
}
