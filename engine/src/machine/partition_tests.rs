//! The partition: what each command answers and leaves behind.

use super::*;
use crate::digest::checksum_bytes;
use crate::ids::{ClientId, GROUP_PARTITION_0, Op, RequestNumber, View};
use crate::machine::codec::{POLL_MAX, send_messages};
use crate::prng::{Purpose, Rng};
use crate::vsr::message::Header;

fn entry(op: u64, body: Rc<[u8]>) -> Prepare {
    let header = Header {
        op: Op(op),
        view: View(0),
        client: ClientId(0),
        session: Op(1),
        request: RequestNumber(op),
        operation: Operation::Machine,
        body_checksum: checksum_bytes(&body),
        ..Header::root(GROUP_PARTITION_0)
    };
    Prepare {
        header: Rc::new(header.sealed()),
        body,
    }
}

/// A partition and the number of its next entry.
#[derive(Clone, Default)]
struct Bench {
    partition: Partition,
    op: u64,
}

impl Bench {
    fn run(&mut self, body: Rc<[u8]>) -> Rc<[u8]> {
        self.op += 1;
        self.partition.apply(&entry(self.op, body))
    }

    fn send(&mut self, texts: &[&[u8]]) {
        self.run(send_messages(texts));
    }

    fn poll(&mut self, from: u64, count: u32) -> (u64, Vec<String>) {
        let result = self.run(Command::Poll { from, count }.encode());
        match Answer::decode(&result) {
            Ok(Answer::Messages { first, payloads }) => {
                let texts = payloads.iter().map(|p| String::from_utf8_lossy(p).into());
                (first, texts.collect())
            }
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, command: Command<'_>, expected: Answer<'_>) {
        let result = self.run(command.encode());
        assert_eq!(Answer::decode(&result), Ok(expected));
    }
}

#[test]
fn sent_messages_get_the_next_offsets_and_are_read_back() {
    let mut bench = Bench::default();
    let result = bench.run(send_messages(&[b"a", b"b", b"c"]));
    let sent = Answer::Sent { first: 0, count: 3 };
    assert_eq!(Answer::decode(&result), Ok(sent));
    let result = bench.run(send_messages(&[b"d"]));
    let sent = Answer::Sent { first: 3, count: 1 };
    assert_eq!(Answer::decode(&result), Ok(sent));
    assert_eq!(bench.poll(1, 2), (1, vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(bench.poll(2, POLL_MAX).1, ["c", "d"]);
    assert_eq!(bench.poll(4, 1), (4, vec![]));
    assert_eq!(bench.poll(u64::MAX, POLL_MAX), (u64::MAX, vec![]));
    assert_eq!(bench.partition.message(2), Some(b"c".as_slice()));
    assert_eq!(bench.partition.message(3), Some(b"d".as_slice()));
    assert_eq!(bench.partition.message(4), None);
    assert_eq!(bench.partition.messages().count(), 4);
}

#[test]
fn a_poll_never_gives_more_than_it_asked_for() {
    let mut bench = Bench::default();
    for _ in 0..20 {
        bench.send(&[b"a", b"b", b"c"]);
    }
    for count in 1..=POLL_MAX {
        assert_eq!(bench.poll(5, count).1.len(), count as usize);
    }
}

#[test]
fn consumer_offsets_name_messages_that_exist() {
    let mut bench = Bench::default();
    let store = |offset| Command::StoreOffset {
        consumer: 2,
        offset,
    };
    let get = Command::GetOffset { consumer: 2 };
    let delete = Command::DeleteOffset { consumer: 2 };
    let refused = |next| Answer::Refused(Refusal::OutOfRange { next });
    bench.answer(store(0), refused(0));
    bench.send(&[b"a", b"b"]);
    bench.answer(get, Answer::Offset(None));
    bench.answer(store(2), refused(2));
    bench.answer(store(1), Answer::Stored);
    bench.answer(get, Answer::Offset(Some(1)));
    bench.answer(delete, Answer::Deleted);
    bench.answer(delete, Answer::Refused(Refusal::UnknownConsumer));
    bench.answer(get, Answer::Offset(None));
}

#[test]
fn an_undecodable_body_is_refused_and_changes_nothing() {
    let mut bench = Bench::default();
    bench.send(&[b"a"]);
    for n in 0..5_000 {
        let mut rng = Rng::keyed(5, Purpose::Workload, [1, n]);
        let bytes: Vec<u8> = (0..rng.below(20))
            .map(|_| u8::try_from(rng.below(256)).unwrap())
            .collect();
        let decodable = Command::decode(&bytes).is_ok();
        let result = bench.run(bytes.into());
        let refused = Ok(Answer::Refused(Refusal::Undecodable));
        assert_eq!(Answer::decode(&result) == refused, !decodable);
    }
    assert_eq!(bench.partition.message(0), Some(b"a".as_slice()));
}

#[test]
fn equal_entries_give_equal_digests_and_any_difference_shows() {
    let mut ours = Bench::default();
    ours.send(&[b"a", b"b"]);
    let (mut same, mut other_text, mut other_split) = (ours.clone(), ours.clone(), ours.clone());
    ours.send(&[b"c"]);
    same.send(&[b"c"]);
    other_text.send(&[b"C"]);
    other_split.send(&[b"", b"c"]);
    assert_eq!(ours.partition.digest(), same.partition.digest());
    assert_ne!(ours.partition.digest(), other_text.partition.digest());
    assert_ne!(ours.partition.digest(), other_split.partition.digest());
    let before = ours.partition.digest();
    let store = Command::StoreOffset {
        consumer: 1,
        offset: 0,
    };
    let mut other_consumer = ours.clone();
    ours.run(store.encode());
    assert_ne!(ours.partition.digest(), before);
    let store = Command::StoreOffset {
        consumer: 2,
        offset: 0,
    };
    other_consumer.run(store.encode());
    assert_ne!(ours.partition.digest(), other_consumer.partition.digest());
}

#[test]
fn a_register_leaves_the_partition_alone() {
    let mut partition = Partition::default();
    let header = Header {
        operation: Operation::Register,
        ..Header::root(GROUP_PARTITION_0)
    };
    let register = Prepare {
        header: Rc::new(header.sealed()),
        body: Rc::from([]),
    };
    assert!(partition.apply(&register).is_empty());
    assert_eq!(partition.digest(), Partition::default().digest());
}

#[test]
fn bodies_are_shared_with_the_log_not_copied() {
    let body = send_messages(&[b"shared"]);
    let mut partition = Partition::default();
    partition.apply(&entry(1, Rc::clone(&body)));
    assert_eq!(Rc::strong_count(&body), 2);
}

#[test]
fn offsets_outlive_the_messages_in_front_of_them() {
    let mut bench = Bench::default();
    bench.send(&[b"a", b"b"]);
    bench.send(&[b"c"]);
    bench.partition.batches.pop_front();
    assert_eq!(bench.partition.first_offset(), 2);
    assert_eq!(bench.partition.message(1), None);
    assert_eq!(bench.poll(0, 8), (2, vec!["c".to_owned()]));
}
