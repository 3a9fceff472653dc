//! Snapshots of the metadata group: whole, canonical, and nothing else is taken for one.

use std::collections::BTreeMap;

use super::*;

#[test]
fn a_snapshot_holds_everything_and_no_pending_change() {
    let ours = furnished();
    let mut theirs = Metadata::new(&Genesis {
        partitions: 8,
        ..Genesis::default()
    });
    let snapshot = ours.metadata.snapshot();
    assert_eq!(theirs.restore(&snapshot), Ok(()));
    assert_eq!(theirs.digest(), ours.metadata.digest());
    assert_eq!(theirs.catalogue(), ours.metadata.catalogue());
    assert_eq!(theirs.groups(), ours.metadata.groups());
    assert_eq!(theirs.take_changes(), []);
    assert_eq!(theirs.snapshot(), snapshot);
    let (_, alice) = theirs.user_named("alice").unwrap();
    assert_eq!(*alice.password().hash, *b"hash");
    assert!(theirs.token_of(b"shown").is_some());
}

#[test]
fn a_snapshot_of_a_partition_is_refused_and_the_other_way_round() {
    let mut metadata = Metadata::default();
    let mut partition = crate::machine::Partition::default();
    assert_eq!(metadata.restore(&partition.snapshot()), Err(Malformed));
    assert_eq!(partition.restore(&metadata.snapshot()), Err(Malformed));
}

/// States that no commands lead to, written all the same.
#[test]
fn a_state_that_breaks_a_rule_is_refused() {
    type Break = fn(&mut Metadata);
    let breaks: [(&str, Break); 18] = [
        ("stream id not given out", |of| of.last.stream = StreamId(2)),
        ("topic id not given out", |of| of.last.topic = TopicId(1)),
        ("user id not given out", |of| of.last.user = UserId(2)),
        ("consumer group id not given out", |of| {
            of.last.consumer_group = ConsumerGroupId(0);
        }),
        ("counter too high", |of| of.last.stream = StreamId(u32::MAX)),
        ("stream names alike", |of| {
            of.streams.get_mut(&STREAM).unwrap().name = Rc::from("stream-1");
        }),
        ("topic names alike", |of| {
            of.topic_mut(topic(2, 2)).unwrap().name = Rc::from("u");
        }),
        ("user names alike", |of| {
            of.users.get_mut(&USER).unwrap().name = Rc::from("bob");
        }),
        ("no root", |of| drop(of.users.remove(&ROOT))),
        ("root renamed", |of| {
            of.users.get_mut(&ROOT).unwrap().name = Rc::from("toor");
        }),
        ("a partition twice", |of| {
            of.topic_mut(topic(2, 3)).unwrap().partitions = vec![GroupId(1)];
        }),
        ("partitions out of order", |of| {
            of.topic_mut(topic(2, 2)).unwrap().partitions.reverse();
        }),
        ("the metadata group as a partition", |of| {
            of.topic_mut(topic(2, 3)).unwrap().partitions = vec![GROUP_METADATA];
        }),
        ("too many partitions in all", |of| {
            let partitions = (0..8).map(|n| GroupId(0x901 + n)).collect();
            of.topic_mut(topic(2, 3)).unwrap().partitions = partitions;
            let more = (0..2).map(|n| GroupId(0xa01 + n));
            of.topic_mut(topic(1, 1)).unwrap().partitions.extend(more);
        }),
        ("a token twice", |of| {
            let token = Token::new(b"shown", None);
            let bob = of.users.get_mut(&UserId(3)).unwrap();
            bob.tokens.insert(Rc::from("k"), token);
        }),
        ("too many members", |of| {
            let groups = &mut of.topic_mut(topic(2, 2)).unwrap().consumer_groups;
            let group = groups.get_mut(&ConsumerGroupId(1)).unwrap();
            group.members.extend((0..=3).map(ClientId));
        }),
        ("too many streams", |of| {
            for id in 4..=9 {
                let stream = Stream {
                    name: format!("n{id}").into(),
                    topics: std::collections::BTreeMap::new(),
                };
                of.streams.insert(StreamId(id), stream);
            }
            of.last.stream = StreamId(9);
        }),
        ("generation too high", |of| {
            let groups = &mut of.topic_mut(topic(2, 2)).unwrap().consumer_groups;
            groups.get_mut(&ConsumerGroupId(1)).unwrap().generation = u32::MAX;
        }),
    ];
    for (what, break_rule) in breaks {
        let mut broken = furnished().metadata;
        break_rule(&mut broken);
        let mut metadata = Metadata::default();
        assert_eq!(
            metadata.restore(&broken.snapshot()),
            Err(Malformed),
            "{what}"
        );
        assert_eq!(metadata.snapshot(), Metadata::default().snapshot());
    }
}

/// A map would put them in order without a word, and write other bytes than it was given.
#[test]
fn a_list_out_of_order_or_with_one_twice_is_refused() {
    let mut bench = furnished();
    let path = consumer_group(topic(2, 2), 1);
    bench.ask_as(ClientId(3), Command::JoinConsumerGroup { path });
    let snapshot = bench.metadata.snapshot();
    // The consumer group `g` of generation 2, whose two members are clients 0 and 3.
    let written = [1, b'g', 2, 0, 0, 0, 2, 0, 3];
    let place = snapshot.windows(written.len()).position(|of| of == written);
    let members = place.unwrap() + written.len() - 2;
    for [one, other] in [[3, 0], [3, 3], [0, 0]] {
        let mut altered = snapshot.to_vec();
        altered[members] = one;
        altered[members + 1] = other;
        let mut metadata = Metadata::default();
        assert_eq!(metadata.restore(&altered), Err(Malformed), "{one} {other}");
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod drawn {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::machine::metadata::testing::asked;

    fn run(bench: &mut Bench, asked: Vec<(ClientId, Rc<[u8]>)>) {
        for (client, body) in asked {
            bench.run(client, body);
        }
    }

    proptest! {
        #[test]
        fn a_restored_state_goes_on_as_the_one_that_was_written(
            before in vec(asked(), 0..80),
            after in vec(asked(), 0..30),
            other in vec(asked(), 0..10),
        ) {
            let (mut ours, mut theirs) = (Bench::default(), Bench::default());
            run(&mut ours, before);
            run(&mut theirs, other);
            let snapshot = ours.metadata.snapshot();
            prop_assert_eq!(theirs.metadata.restore(&snapshot), Ok(()));
            theirs.op = ours.op;
            ours.metadata.take_changes();
            prop_assert_eq!(ours.metadata.digest(), theirs.metadata.digest());
            prop_assert_eq!(theirs.metadata.snapshot(), snapshot);
            for (client, body) in after {
                let answer = ours.run(client, Rc::clone(&body));
                prop_assert_eq!(answer, theirs.run(client, body));
                prop_assert_eq!(ours.metadata.digest(), theirs.metadata.digest());
                prop_assert_eq!(ours.metadata.take_changes(), theirs.metadata.take_changes());
                prop_assert_eq!(ours.metadata.groups(), theirs.metadata.groups());
            }
            prop_assert_eq!(ours.metadata.snapshot(), theirs.metadata.snapshot());
        }

        /// A host that applies every change from the start hosts what is there.
        #[test]
        fn changes_add_up_to_the_groups(asked in vec(asked(), 0..120)) {
            let mut bench = Bench::default();
            let mut hosted: BTreeMap<GroupId, PartitionGroup> = BTreeMap::new();
            hosted.extend(bench.metadata.groups().into_iter().map(|group| (group.group, group)));
            for (client, body) in asked {
                bench.run(client, body);
                for change in bench.metadata.take_changes() {
                    match change {
                        GroupChange::Created(group) => {
                            prop_assert!(hosted.insert(group.group, group).is_none());
                        }
                        GroupChange::Deleted { group } => {
                            prop_assert!(hosted.remove(&group).is_some());
                        }
                    }
                }
                let groups: Vec<_> = hosted.values().copied().collect();
                prop_assert_eq!(groups, bench.metadata.groups());
            }
        }

        #[test]
        fn bytes_that_no_metadata_group_writes_are_refused_and_change_nothing(
            asked in vec(asked(), 0..30),
            flips in vec((any::<prop::sample::Index>(), prop_oneof![0_u8..4, any::<u8>()]), 0..4),
            cut in 0_usize..3,
            tail in vec(any::<u8>(), 0..2),
        ) {
            let mut bench = Bench::default();
            run(&mut bench, asked);
            let mut bytes = bench.metadata.snapshot().to_vec();
            for (place, byte) in flips {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            bytes.extend(tail);
            let mut bench = furnished();
            let before = bench.metadata.snapshot();
            match bench.metadata.restore(&bytes) {
                Ok(()) => {
                    prop_assert_eq!(&*bench.metadata.snapshot(), &*bytes);
                    bench.ask(Command::CreateStream { name: "after" });
                    create_topic(&mut bench, StreamId(1), "after", 4);
                    bench.ask(Command::GetCatalogue);
                }
                Err(Malformed) => prop_assert_eq!(bench.metadata.snapshot(), before),
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in vec(prop_oneof![0_u8..4, any::<u8>()], 0..80)) {
            let mut metadata = Metadata::default();
            let _ = metadata.restore(&bytes);
            let marked: Vec<u8> = std::iter::once(b'M').chain(bytes).collect();
            let _ = metadata.restore(&marked);
        }
    }
}
