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
fn the_last_messages_are_kept_and_their_offsets_stay() {
    let mut bench = Bench {
        partition: Partition::new(3),
        op: 0,
    };
    bench.send(&[b"a", b"b"]);
    bench.answer(
        Command::StoreOffset {
            consumer: 1,
            offset: 0,
        },
        Answer::Stored,
    );
    bench.send(&[b"c"]);
    assert_eq!(bench.partition.first_offset(), 0);
    bench.send(&[b"d"]);
    assert_eq!(bench.partition.first_offset(), 1);
    assert_eq!(bench.partition.message(0), None);
    assert_eq!(bench.partition.message(1), Some(b"b".as_slice()));
    assert_eq!(bench.poll(0, 8).0, 1);
    assert_eq!(bench.poll(0, 2).1, ["b", "c"]);
    bench.send(&[b"e", b"f", b"g"]);
    assert_eq!(bench.partition.batches.len(), 1);
    let kept: Vec<_> = bench.partition.messages().collect();
    assert_eq!(
        kept,
        [
            (4, b"e".as_slice()),
            (5, b"f".as_slice()),
            (6, b"g".as_slice())
        ]
    );
    bench.answer(Command::GetOffset { consumer: 1 }, Answer::Offset(Some(0)));
}

#[test]
fn a_partition_that_keeps_nothing_still_counts() {
    let mut bench = Bench {
        partition: Partition::new(0),
        op: 0,
    };
    bench.send(&[b"a", b"b"]);
    assert_eq!(bench.poll(0, 8), (2, vec![]));
    assert!(bench.partition.batches.is_empty());
    let snapshot = bench.partition.snapshot();
    let mut restored = Partition::new(0);
    assert_eq!(restored.restore(&snapshot), Ok(()));
    assert_eq!(restored.next_offset(), 2);
}

#[test]
fn memory_follows_the_retention_and_not_the_number_of_sends() {
    let mut bench = Bench::default();
    for _ in 0..2_000 {
        bench.send(&[b"a", b"b", b"c"]);
    }
    let kept = usize::try_from(RETENTION_DEFAULT).unwrap();
    assert_eq!(bench.partition.messages().count(), kept);
    assert!(bench.partition.batches.len() <= kept / 3 + 1);
    assert!(bench.partition.snapshot().len() < 3 * kept);
}

#[cfg(not(target_arch = "wasm32"))]
mod snapshots {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn command() -> impl Strategy<Value = Rc<[u8]>> {
        let send = vec(vec(any::<u8>(), 0..5), 1..=4).prop_map(|texts| {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            send_messages(&texts)
        });
        let offset = (0_u8..4, 0_u64..30);
        let store = offset
            .prop_map(|(consumer, offset)| Command::StoreOffset { consumer, offset }.encode());
        prop_oneof![
            3 => send,
            1 => store,
            1 => (0_u8..4).prop_map(|consumer| Command::DeleteOffset { consumer }.encode()),
            1 => (0_u64..30, 1_u32..6).prop_map(|(from, count)| Command::Poll { from, count }.encode()),
            1 => (0_u8..4).prop_map(|consumer| Command::GetOffset { consumer }.encode()),
        ]
    }

    /// The snapshot of a partition that executed some commands.
    fn written() -> impl Strategy<Value = Vec<u8>> {
        vec(command(), 0..20).prop_map(|commands| {
            let mut bench = bench(9);
            for body in commands {
                bench.run(body);
            }
            bench.partition.snapshot().to_vec()
        })
    }

    fn bench(retention: u32) -> Bench {
        Bench {
            partition: Partition::new(retention),
            op: 0,
        }
    }

    proptest! {
        #[test]
        fn a_restored_partition_goes_on_as_the_one_that_was_written(
            before in vec(command(), 0..40),
            after in vec(command(), 0..20),
            other in vec(command(), 0..10),
            retention in 0_u32..12,
        ) {
            let (mut ours, mut theirs) = (bench(retention), bench(retention));
            before.into_iter().for_each(|body| drop(ours.run(body)));
            other.into_iter().for_each(|body| drop(theirs.run(body)));
            let snapshot = ours.partition.snapshot();
            prop_assert_eq!(theirs.partition.restore(&snapshot), Ok(()));
            theirs.op = ours.op;
            prop_assert_eq!(ours.partition.digest(), theirs.partition.digest());
            prop_assert_eq!(theirs.partition.snapshot(), snapshot);
            for body in after {
                prop_assert_eq!(ours.run(Rc::clone(&body)), theirs.run(body));
                prop_assert_eq!(ours.partition.digest(), theirs.partition.digest());
                prop_assert_eq!(ours.partition.snapshot(), theirs.partition.snapshot());
            }
        }

        #[test]
        fn bytes_that_no_partition_writes_are_refused_and_change_nothing(
            mut bytes in written(),
            flips in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in 0_usize..3,
            tail in vec(any::<u8>(), 0..3),
        ) {
            for (place, byte) in flips {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            bytes.extend(tail);
            let mut bench = bench(9);
            bench.send(&[b"there"]);
            let before = bench.partition.snapshot();
            match bench.partition.restore(&bytes) {
                Ok(()) => {
                    prop_assert_eq!(&*bench.partition.snapshot(), &*bytes);
                    bench.send(&[b"a", b"b"]);
                    bench.poll(0, 32);
                }
                Err(Malformed) => prop_assert_eq!(bench.partition.snapshot(), before),
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..40)) {
            let mut partition = Partition::new(4);
            let _ = partition.restore(&bytes);
            let marked: Vec<u8> = std::iter::once(b'P').chain(bytes).collect();
            let _ = partition.restore(&marked);
        }
    }
}
