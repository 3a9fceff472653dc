//! A lane: sessions, retries, what it accepts.

use super::*;
use crate::ids::{Checksum, GROUP_PARTITION_0, Incarnation};
use crate::vsr::message::Rejection;

/// A client of three replicas and what it put out last.
struct Bench {
    client: Lane,
    out: Vec<LaneEffect>,
}

/// What a send looks like from outside: receiver, session, number, attempts before.
type Sent = (u8, u64, u64, u32);

impl Bench {
    fn new() -> Self {
        Self {
            client: Lane::new(ClientId(2), GROUP_PARTITION_0, 3, REQUEST_TIMEOUT_TICKS),
            out: Vec::new(),
        }
    }

    fn registered(session: u64) -> Self {
        let mut bench = Self::new();
        bench.tick(0);
        bench.reply(3, 0, 0, session, 0);
        assert_eq!(bench.client.state(), LaneState::Registered);
        bench
    }

    fn tick(&mut self, now: u64) {
        self.out.clear();
        self.client.tick(Tick(now), &mut self.out);
    }

    fn submit(&mut self, now: u64, body: &[u8], to: Option<u8>) -> Result<(), NotSubmitted> {
        self.out.clear();
        let to = to.map(ReplicaId);
        self.client
            .submit(Tick(now), body.into(), to, &mut self.out)
    }

    fn hear(&mut self, now: u64, from: u8, view: u32, message: Message) {
        self.out.clear();
        let frame = Frame {
            group: GROUP_PARTITION_0,
            from: Process::Replica(ReplicaId(from)),
            to: Process::Client(ClientId(2)),
            view: View(view),
            incarnation: Incarnation(1),
            message,
        };
        self.client.on_frame(Tick(now), &frame, &mut self.out);
    }

    fn reply(&mut self, now: u64, from: u8, view: u32, session: u64, request: u64) {
        let reply = Reply {
            client: ClientId(2),
            session: Op(session),
            request: RequestNumber(request),
            op: Op(session + request),
            checksum: Checksum(1),
            result: Rc::from([]),
        };
        self.hear(now, from, view, Message::Reply(Rc::new(reply)));
    }

    fn evict(&mut self, now: u64, session: u64, request: u64, rejection: Rejection) {
        let message = Message::Eviction {
            session: Op(session),
            request: RequestNumber(request),
            rejection,
        };
        self.hear(now, 0, 0, message);
    }

    /// The last send; checks that its event precedes it and agrees.
    fn sent(&self) -> Option<Sent> {
        let place = self
            .out
            .iter()
            .position(|effect| matches!(effect, LaneEffect::Send { .. }))?;
        let LaneEffect::Send { to, message, .. } = &self.out[place] else {
            return None;
        };
        let (Message::Request(asked), LaneEffect::Event(event)) = (message, &self.out[place - 1])
        else {
            panic!("{:?}", self.out);
        };
        let EventKind::Requested {
            to: told,
            session,
            request,
            attempts,
            body_checksum,
            ..
        } = event
        else {
            panic!("{event:?}");
        };
        assert_eq!(
            (told, *session, *request),
            (to, asked.session, asked.request)
        );
        assert_eq!(*body_checksum, checksum_bytes(&asked.body));
        assert_eq!(asked.body_checksum, *body_checksum);
        Some((to.0, session.0, request.0, *attempts))
    }

    fn replied(&self) -> bool {
        let is_reply =
            |effect: &LaneEffect| matches!(effect, LaneEffect::Event(EventKind::Replied { .. }));
        self.out.iter().any(is_reply)
    }

    fn lost(&self) -> bool {
        let is_loss = |effect: &LaneEffect| {
            matches!(effect, LaneEffect::Event(EventKind::SessionLost { .. }))
        };
        self.out.iter().any(is_loss)
    }
}

#[test]
fn an_idle_client_opens_a_session_and_takes_its_epoch() {
    let mut bench = Bench::new();
    assert_eq!(bench.client.state(), LaneState::Idle);
    bench.tick(1);
    assert_eq!(bench.client.state(), LaneState::Registering);
    assert_eq!(bench.sent(), Some((0, 0, 0, 0)));
    bench.reply(4, 0, 0, 9, 0);
    assert_eq!(bench.client.state(), LaneState::Registered);
    assert_eq!(bench.client.session(), Op(9));
    let latency = bench.out.iter().find_map(|effect| match effect {
        LaneEffect::Event(EventKind::Replied { latency_ticks, .. }) => Some(*latency_ticks),
        _ => None,
    });
    assert_eq!(latency, Some(3));
}

#[test]
fn a_request_is_taken_only_by_a_registered_idle_client() {
    let mut bench = Bench::new();
    assert_eq!(bench.submit(0, b"a", None), Err(NotSubmitted::NoSession));
    bench.tick(0);
    assert_eq!(bench.submit(0, b"a", None), Err(NotSubmitted::NoSession));
    let mut bench = Bench::registered(5);
    let replica = ReplicaId(3);
    let nowhere = Err(NotSubmitted::NoSuchReplica { replica });
    assert_eq!(bench.submit(10, b"a", Some(3)), nowhere);
    assert_eq!(bench.submit(10, b"a", None), Ok(()));
    assert_eq!(bench.sent(), Some((0, 5, 1, 0)));
    let request = RequestNumber(1);
    let busy = Err(NotSubmitted::Waiting { request });
    assert_eq!(bench.submit(11, b"b", None), busy);
    assert!(bench.out.is_empty());
}

#[test]
fn numbers_rise_by_one_within_a_session_and_begin_again_in_the_next() {
    let mut bench = Bench::registered(5);
    for request in 1..=3 {
        bench.submit(10, b"a", None).unwrap();
        assert_eq!(bench.sent(), Some((0, 5, request, 0)));
        bench.reply(12, 0, 0, 5, request);
    }
    bench.submit(20, b"a", None).unwrap();
    bench.evict(22, 5, 4, Rejection::NoSession);
    bench.reply(24, 0, 0, 30, 0);
    bench.submit(25, b"a", None).unwrap();
    assert_eq!(bench.sent(), Some((0, 30, 1, 0)));
}

#[test]
fn silence_makes_it_ask_the_next_replica_for_the_very_same() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"pay", None).unwrap();
    let body = Rc::clone(bench.client.waiting_for().unwrap());
    bench.tick(209);
    assert_eq!(bench.sent(), None);
    bench.tick(210);
    assert_eq!(bench.sent(), Some((1, 5, 1, 1)));
    bench.tick(409);
    assert_eq!(bench.sent(), None);
    bench.tick(410);
    assert_eq!(bench.sent(), Some((2, 5, 1, 2)));
    bench.tick(610);
    assert_eq!(bench.sent(), Some((0, 5, 1, 3)));
    assert!(Rc::ptr_eq(&body, bench.client.waiting_for().unwrap()));
    assert_eq!(bench.client.attempts(), 4);
    assert_eq!(bench.client.since(), Some(Tick(10)));
}

#[test]
fn a_register_without_an_answer_is_sent_again_too() {
    let mut bench = Bench::new();
    bench.tick(1);
    bench.tick(201);
    assert_eq!(bench.sent(), Some((1, 0, 0, 1)));
}

#[test]
fn the_timeout_is_a_knob() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"a", None).unwrap();
    bench.client.set_request_timeout_ticks(20);
    bench.tick(29);
    assert_eq!(bench.sent(), None);
    bench.tick(30);
    assert_eq!(bench.sent(), Some((1, 5, 1, 1)));
}

#[test]
fn it_asks_first_whom_it_takes_for_the_primary() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"a", None).unwrap();
    bench.reply(12, 2, 5, 5, 1);
    bench.submit(13, b"b", None).unwrap();
    assert_eq!(bench.sent(), Some((2, 5, 2, 0)));
    // A cached answer out of an older view says nothing of who leads now.
    bench.reply(15, 1, 4, 5, 2);
    assert!(bench.replied());
    bench.submit(16, b"c", None).unwrap();
    assert_eq!(bench.sent(), Some((2, 5, 3, 0)));
}

#[test]
fn a_request_can_be_sent_to_a_chosen_replica() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"a", Some(1)).unwrap();
    assert_eq!(bench.sent(), Some((1, 5, 1, 0)));
    bench.tick(210);
    assert_eq!(bench.sent(), Some((2, 5, 1, 1)));
}

#[test]
fn late_and_doubled_answers_are_ignored() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"a", None).unwrap();
    bench.reply(12, 0, 0, 5, 1);
    assert!(bench.replied());
    bench.reply(13, 0, 0, 5, 1);
    assert!(!bench.replied());
    bench.submit(14, b"b", None).unwrap();
    bench.reply(15, 0, 0, 5, 1);
    assert!(!bench.replied());
    bench.reply(15, 0, 0, 4, 2);
    assert!(!bench.replied());
    bench.reply(15, 0, 0, 9, 0);
    assert!(!bench.replied());
    assert_eq!(bench.client.session(), Op(5));
    assert_eq!(bench.client.replies(), 2);
}

#[test]
fn an_eviction_loses_the_session_and_registers_again() {
    let all = [
        Rejection::NoSession,
        Rejection::SessionTooOld,
        Rejection::RequestTooOld,
        Rejection::NumberReused,
    ];
    for rejection in all {
        let mut bench = Bench::registered(5);
        bench.submit(10, b"a", None).unwrap();
        bench.evict(12, 5, 1, rejection);
        assert!(bench.lost());
        assert_eq!(bench.sent(), Some((0, 0, 0, 0)));
        assert_eq!(bench.client.state(), LaneState::Registering);
        assert_eq!(bench.client.waiting_for(), None);
    }
}

#[test]
fn evictions_of_other_requests_or_sessions_are_late() {
    let mut bench = Bench::registered(5);
    bench.evict(9, 5, 0, Rejection::NoSession);
    assert!(!bench.lost());
    bench.submit(10, b"a", None).unwrap();
    bench.evict(12, 5, 0, Rejection::RequestTooOld);
    bench.evict(12, 4, 1, Rejection::SessionTooOld);
    assert!(!bench.lost());
    assert_eq!(bench.client.state(), LaneState::Waiting);
}

#[test]
fn an_old_answer_to_a_register_brings_no_old_session_back() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"a", None).unwrap();
    bench.evict(12, 5, 1, Rejection::SessionTooOld);
    bench.reply(13, 0, 0, 5, 0);
    assert_eq!(bench.client.state(), LaneState::Registering);
    bench.reply(14, 0, 0, 8, 0);
    assert_eq!(bench.client.session(), Op(8));
}

#[test]
fn frames_for_others_are_ignored() {
    let mut bench = Bench::registered(5);
    bench.submit(10, b"a", None).unwrap();
    let reply = Reply {
        client: ClientId(1),
        session: Op(5),
        request: RequestNumber(1),
        op: Op(6),
        checksum: Checksum(1),
        result: Rc::from([]),
    };
    bench.hear(12, 0, 0, Message::Reply(Rc::new(reply)));
    assert!(!bench.replied());
    bench.hear(12, 0, 0, Message::StartViewChange);
    assert!(bench.out.is_empty());
}
