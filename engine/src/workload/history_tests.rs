//! Histories made by hand with a wrong answer planted, and histories of real runs.

use super::*;
use crate::ids::GROUP_PARTITION_0;
use crate::ids::{Checksum, ReplicaId, Tick, View};
use crate::machine::RETENTION_DEFAULT;
use crate::machine::codec::{Answer, Command, send_messages};
use crate::run::Session;
use crate::scenario::decode;
use crate::trace::{Recorder, Recording};
use crate::vsr::message::{Frame, Operation as Requested, Reply, Request};

type Bytes = Rc<[u8]>;

const SESSION: Op = Op(1);

/// Events by hand.
struct Bench {
    histories: Histories,
    number: u64,
}

impl Bench {
    fn new() -> Self {
        Self::that_keeps(RETENTION_DEFAULT)
    }

    fn that_keeps(retention: u32) -> Self {
        Self {
            histories: Histories::new(retention),
            number: 0,
        }
    }

    fn event(&mut self, kind: EventKind) {
        self.histories.observe(&Event {
            number: self.number,
            tick: Tick(0),
            step: 0,
            kind,
        });
        self.number += 1;
    }

    fn ask(&mut self, client: u8, request: u64, body: &Rc<[u8]>) {
        let (client, request) = (ClientId(client), RequestNumber(request));
        self.event(EventKind::Requested {
            group: GROUP_PARTITION_0,
            client,
            to: ReplicaId(0),
            session: SESSION,
            request,
            attempts: 0,
            body_checksum: Checksum(0),
        });
        self.event(EventKind::Sent {
            frame: Rc::new(Frame {
                group: GROUP_PARTITION_0,
                from: Process::Client(client),
                to: Process::Replica(ReplicaId(0)),
                view: View(0),
                incarnation: crate::ids::Incarnation(0),
                message: Message::Request(Rc::new(Request {
                    client,
                    session: SESSION,
                    request,
                    operation: Requested::Machine,
                    body_checksum: Checksum(0),
                    body: Rc::clone(body),
                })),
            }),
            packet: 1,
            due: Tick(1),
            cause: 0,
            copy: false,
        });
    }

    fn tell(&mut self, client: u8, request: u64, result: &Rc<[u8]>) {
        self.event(EventKind::Replied {
            group: GROUP_PARTITION_0,
            client: ClientId(client),
            reply: Rc::new(Reply {
                client: ClientId(client),
                session: SESSION,
                request: RequestNumber(request),
                op: Op(9),
                checksum: Checksum(0),
                result: Rc::clone(result),
            }),
            view: View(0),
            latency_ticks: 1,
        });
    }

    fn done(&mut self, client: u8, request: u64, body: &Rc<[u8]>, result: &Rc<[u8]>) {
        self.ask(client, request, body);
        self.tell(client, request, result);
    }

    fn fits(&self) -> bool {
        let findings = self.histories.search();
        findings
            .iter()
            .all(|finding| finding.searched == Searched::Fits)
    }
}

fn send(text: &str) -> Rc<[u8]> {
    send_messages(&[text.as_bytes()])
}

fn sent(first: u64) -> Rc<[u8]> {
    Answer::Sent { first, count: 1 }.encode()
}

/// The answer to a poll: the payloads are those of a send.
fn read(first: u64, texts: &[&str]) -> Rc<[u8]> {
    let bodies: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let body = send_messages(&bodies);
    let Ok(Command::SendMessages { payloads }) = Command::decode(&body) else {
        panic!("a send");
    };
    Answer::Messages { first, payloads }.encode()
}

fn poll() -> Rc<[u8]> {
    Command::Poll { from: 0, count: 4 }.encode()
}

#[test]
fn right_answers_fit_and_each_wrong_one_does_not() {
    let right: [(Bytes, Bytes); 8] = [
        (send("a"), sent(0)),
        (send("b"), sent(1)),
        (poll(), read(0, &["a", "b"])),
        (
            Command::StoreOffset {
                consumer: 2,
                offset: 1,
            }
            .encode(),
            Answer::Stored.encode(),
        ),
        (
            Command::GetOffset { consumer: 2 }.encode(),
            Answer::Offset(Some(1)).encode(),
        ),
        (
            Command::DeleteOffset { consumer: 2 }.encode(),
            Answer::Deleted.encode(),
        ),
        (
            Command::GetOffset { consumer: 2 }.encode(),
            Answer::Offset(None).encode(),
        ),
        (
            Command::Poll { from: 1, count: 4 }.encode(),
            read(1, &["b"]),
        ),
    ];
    let wrong: [(usize, Bytes); 9] = [
        (0, sent(1)),
        (1, sent(0)),
        (2, read(0, &["a"])),
        (2, read(0, &["a", "c"])),
        (3, Answer::Deleted.encode()),
        (4, Answer::Offset(Some(0)).encode()),
        (6, Answer::Offset(Some(1)).encode()),
        (7, read(0, &["b"])),
        (7, Rc::from([255])),
    ];
    let play = |spoilt: Option<&(usize, Bytes)>| {
        let mut bench = Bench::new();
        for (place, (body, answer)) in right.iter().enumerate() {
            let answer = match spoilt {
                Some((at, other)) if *at == place => other,
                _ => answer,
            };
            bench.done(0, place as u64 + 1, body, answer);
        }
        bench.fits()
    };
    assert!(play(None));
    for spoilt in &wrong {
        assert!(!play(Some(spoilt)), "{spoilt:?}");
    }
}

#[test]
fn a_partition_that_keeps_its_last_messages_alone_answers_with_those() {
    let mut bench = Bench::that_keeps(2);
    for (n, text) in (0..).zip(["a", "b", "c"]) {
        bench.done(0, n + 1, &send(text), &sent(n));
    }
    bench.done(0, 4, &poll(), &read(1, &["b", "c"]));
    assert!(bench.fits());
    bench.done(0, 5, &poll(), &read(0, &["a", "b", "c"]));
    assert!(!bench.fits());
}

#[test]
fn a_stale_read_is_found_and_told_in_words() {
    let mut bench = Bench::new();
    bench.done(0, 1, &send("a"), &sent(0));
    bench.done(0, 2, &send("b"), &sent(1));
    bench.done(1, 1, &poll(), &read(0, &["a"]));
    let findings = bench.histories.search();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].operations, 3);
    let text = findings[0].text.as_deref().unwrap();
    assert!(
        text.starts_with("no order of the 3 operations") && text.contains("client 1"),
        "{text}"
    );
    // Had it been asked before the second send was answered, it would be right.
    let mut bench = Bench::new();
    bench.done(0, 1, &send("a"), &sent(0));
    bench.ask(1, 1, &poll());
    bench.done(0, 2, &send("b"), &sent(1));
    bench.tell(1, 1, &read(0, &["a"]));
    assert!(bench.fits());
}

#[test]
fn a_lost_write_may_turn_up_later_and_not_vanish_again() {
    for (reads, fits) in [
        ([&["b"][..], &["b", "a"]], true),
        ([&["b"], &["b"]], true),
        ([&["b", "a"], &["b"]], false),
        ([&["a"], &["a"]], false),
    ] {
        let mut bench = Bench::new();
        bench.ask(0, 1, &send("a"));
        bench.done(1, 1, &send("b"), &sent(0));
        for (n, texts) in (2..).zip(reads) {
            bench.done(1, n, &poll(), &read(0, texts));
        }
        assert_eq!(bench.fits(), fits, "{reads:?}");
    }
}

#[test]
fn what_comes_after_the_last_that_is_kept_is_unknown() {
    let mut bench = Bench::new();
    for n in 1..=HISTORY_MAX as u64 - 1 {
        bench.done(0, n, &send("a"), &sent(n - 1));
    }
    bench.ask(1, 1, &send("b"));
    // This one is not kept, and comes before it in the partition.
    let n = HISTORY_MAX as u64;
    bench.done(0, n, &send("a"), &sent(n - 1));
    bench.tell(1, 1, &sent(n));
    let findings = bench.histories.search();
    assert_eq!(findings[0].operations, HISTORY_MAX);
    assert_eq!(findings[0].searched, Searched::Fits);
}

/// Plays a run with its histories kept.
fn played(link: &str, ticks: u32) -> Session {
    let recorder = Recorder::new(Recording::Nothing, 0);
    let mut session = Session::new(decode(link).unwrap(), recorder).unwrap();
    session.keep_histories();
    session.advance_ticks(ticks);
    session
}

#[test]
fn real_runs_fit() {
    let mut longest = 0;
    for seed in 0..12 {
        let link = format!(
            "v=1&seed={seed}&clients=8&load=0.5&faults=light&crash=0.002&restart=0.02\
             &crash-primary=yes"
        );
        let mut session = played(&link, 4_000);
        session.search_histories();
        let totals = session.totals();
        assert_eq!(session.violations(), [], "{link}");
        assert_eq!((totals.histories, totals.histories_given_up), (1, 0));
        longest = longest.max(totals.history_longest);
    }
    assert!(longest > 300, "{longest}");
}

#[test]
fn an_answer_spoilt_on_its_way_is_found_by_the_search_alone() {
    let session = played("v=1&seed=3&clients=4&load=1", 600);
    let mut histories = {
        let mut record = session.simulator().world().record.borrow_mut();
        record.histories.take().unwrap()
    };
    let history = histories.groups.get_mut(&GROUP_PARTITION_0).unwrap();
    assert!(history.operations.len() > 60);
    // One poll is given what another, earlier one was given.
    let polls: Vec<usize> = (0..history.operations.len())
        .filter(|&place| {
            let kept = &history.operations[place];
            let body = kept.body.as_deref().unwrap_or_default();
            kept.answered.is_some() && matches!(Command::decode(body), Ok(Command::Poll { .. }))
        })
        .collect();
    let (first, last) = (polls[0], *polls.last().unwrap());
    let stale = history.operations[first].answered.clone().unwrap().1;
    history.operations[last].answered.as_mut().unwrap().1 = stale;
    let findings = histories.search();
    assert!(findings[0].text.is_some(), "{findings:?}");
}
