//! The generator: keyed luck, aims that come true, and every outcome of every action provoked.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::digest::mix;
use crate::ids::GROUP_PARTITION_0;
use crate::machine::codec::{Command as PartitionCommand, POLL_MAX};
use crate::machine::metadata::{self, TopicPath};
use crate::vsr::io::Durability;
use crate::workload::outcome::Coverage;
use crate::workload::testing::Honest;

const LOAD: Load = Load {
    per_million: 1_000_000,
    plane: Plane::Partition,
    ack_quorum_ratio_per_million: 500_000,
};

fn of_plane(seed: u64, plane: Plane) -> Generator {
    Generator::new(seed, Load { plane, ..LOAD })
}

/// What some drawn requests come to, one after the other, of several clients in turn.
fn play(
    honest: &mut Honest,
    generator: &mut Generator,
    clients: u8,
    requests: u64,
) -> Vec<(Drawn, Rc<[u8]>)> {
    let mut played = Vec::new();
    for n in 0..requests {
        let client = u8::try_from(mix(requests, n) % u64::from(clients)).unwrap();
        let client = ClientId(client);
        let free = honest.groups();
        if let Some(drawn) = generator.next(client, &free, &honest.auditors) {
            let result = honest.ask(client, drawn.group, &drawn.body);
            played.push((drawn, result));
        }
    }
    played
}

#[test]
fn every_outcome_of_every_action_is_provoked_and_every_aim_comes_true() {
    let mut all = Coverage::default();
    for (plane, requests) in [
        (Plane::Uniform, 30_000),
        (Plane::Metadata, 20_000),
        (Plane::Mixed, 10_000),
        (Plane::Partition, 5_000),
    ] {
        let mut honest = Honest::new(1, 64);
        let mut generator = of_plane(3, plane);
        let mut coverage = Coverage::default();
        for (drawn, result) in play(&mut honest, &mut generator, 8, requests) {
            let came_to = Outcome::of(&drawn.body, &result);
            assert_eq!(came_to, Some((drawn.action, drawn.aimed_at)), "{drawn:?}");
            coverage.count(drawn.action, drawn.aimed_at);
        }
        assert_eq!(honest.auditors.take_findings(), []);
        assert_eq!(honest.auditors.coverage(), coverage);
        let missing: Vec<_> = coverage.missing().collect();
        match plane {
            Plane::Uniform => assert_eq!(missing, []),
            Plane::Metadata => assert!(missing.iter().all(|(of, _)| of.is_of_partition())),
            Plane::Partition => assert!(!missing.iter().any(|(of, _)| of.is_of_partition())),
            Plane::Mixed => {}
        }
        all.add(&coverage);
    }
    assert_eq!(all.missing().count(), 0);
}

#[test]
fn the_nth_request_of_a_client_depends_on_nothing_but_client_n_and_what_is_known() {
    for plane in Plane::ALL {
        let honest = Honest::new(3, 64);
        let free = honest.groups();
        let mut alone = of_plane(7, plane);
        let mut crowded = of_plane(7, plane);
        for n in 0..200 {
            crowded.next(ClientId(1), &free, &honest.auditors);
            if n % 3 == 0 {
                crowded.next_send(ClientId(0));
                crowded.next_poll(ClientId(0), Known::default());
            }
            assert_eq!(
                alone.next(ClientId(0), &free, &honest.auditors),
                crowded.next(ClientId(0), &free, &honest.auditors)
            );
        }
        let mut other_seed = of_plane(8, plane);
        let mut ours = of_plane(7, plane);
        let first = |generator: &mut Generator| -> Vec<_> {
            (0..20)
                .map(|_| generator.next(ClientId(0), &free, &honest.auditors))
                .collect()
        };
        assert_ne!(first(&mut ours), first(&mut other_seed));
    }
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    for plane in Plane::ALL {
        let [one, other] = [0, 1].map(|_| {
            let mut honest = Honest::new(2, 64);
            play(&mut honest, &mut of_plane(5, plane), 3, 2_000)
        });
        assert_eq!(one, other);
    }
}

#[test]
fn actions_come_in_the_shares_of_their_weights() {
    for plane in Plane::ALL {
        let sum: u32 = plane.weights().iter().sum();
        let mut honest = Honest::new(1, 64);
        let mut counts = [0_u32; Action::COUNT];
        let requests = 10_000;
        for (drawn, _) in play(&mut honest, &mut of_plane(1, plane), 4, requests) {
            counts[drawn.action.place()] += 1;
        }
        for (count, weight) in counts.into_iter().zip(plane.weights()) {
            let expected = weight * 10_000 / sum;
            assert!(count.abs_diff(expected) < 200, "{plane:?} {counts:?}");
            assert_eq!(count == 0, *weight == 0);
        }
    }
}

#[test]
fn presets_are_known_by_their_names() {
    for plane in Plane::ALL {
        assert_eq!(Plane::from_name(plane.name()), Some(plane));
    }
    assert_eq!(Plane::from_name("both"), None);
}

#[test]
fn nothing_is_asked_where_nothing_is_free() {
    let mut honest = Honest::new(2, 64);
    let mut generator = of_plane(1, Plane::Mixed);
    let (mut to_metadata, mut to_partitions) = (0, 0);
    for _ in 0..500 {
        assert_eq!(generator.next(ClientId(0), &[], &honest.auditors), None);
        let dead = [GroupId(0x7701)];
        assert_eq!(generator.next(ClientId(0), &dead, &honest.auditors), None);
        let metadata = [GROUP_METADATA];
        if let Some(drawn) = generator.next(ClientId(0), &metadata, &honest.auditors) {
            assert_eq!(drawn.group, GROUP_METADATA);
            to_metadata += 1;
        }
        let partition = [GroupId(2)];
        if let Some(drawn) = generator.next(ClientId(0), &partition, &honest.auditors) {
            assert_eq!(drawn.group, GroupId(2));
            honest.ask(ClientId(0), drawn.group, &drawn.body);
            to_partitions += 1;
        }
    }
    // A fifth and four fifths.
    assert!((60..140).contains(&to_metadata), "{to_metadata}");
    assert!((360..440).contains(&to_partitions), "{to_partitions}");
}

#[test]
fn all_free_partitions_are_written_to() {
    let mut honest = Honest::new(4, 64);
    let mut groups: BTreeMap<GroupId, u32> = BTreeMap::new();
    for (drawn, _) in play(&mut honest, &mut of_plane(1, Plane::Partition), 2, 1_000) {
        *groups.entry(drawn.group).or_default() += 1;
    }
    assert_eq!(groups.len(), 4);
    assert!(groups.values().all(|count| *count > 180), "{groups:?}");
}

#[test]
fn no_two_messages_are_alike() {
    let mut honest = Honest::new(2, 64);
    let mut generator = of_plane(1, Plane::Mixed);
    let (mut seen, mut sizes) = (BTreeSet::new(), BTreeSet::new());
    let mut bodies: Vec<_> = play(&mut honest, &mut generator, 8, 2_000)
        .into_iter()
        .map(|(drawn, _)| drawn.body)
        .collect();
    bodies.extend((0..240).map(|n| generator.next_send(ClientId(n % 8))));
    for body in &bodies {
        if let Ok(PartitionCommand::SendMessages { payloads }) = PartitionCommand::decode(body) {
            sizes.insert(payloads.count());
            for payload in payloads.iter() {
                assert!(seen.insert(payload.to_vec()), "{payload:?}");
            }
        }
    }
    assert_eq!(sizes, BTreeSet::from([1, 2, 3, 4]));
}

/// What a person or the genesis made is read and added to, never renamed or deleted.
#[test]
fn only_what_the_workload_made_is_renamed_or_deleted() {
    let mut honest = Honest::new(3, 64);
    let stream = metadata::Command::CreateStream { name: "mine" }.encode();
    honest.ask(ClientId(7), GROUP_METADATA, &stream);
    let topic = metadata::Command::CreateTopic {
        stream: crate::ids::StreamId(2),
        name: "mine",
        durability: Durability::Persisted,
        partitions: 1,
    };
    honest.ask(ClientId(7), GROUP_METADATA, &topic.encode());
    let user = metadata::Command::CreateUser {
        name: "me",
        password: metadata::Password {
            hash: b"secret",
            salt: b"",
        },
        permissions: 7,
    };
    honest.ask(ClientId(7), GROUP_METADATA, &user.encode());
    play(&mut honest, &mut of_plane(1, Plane::Metadata), 3, 10_000);
    let metadata = honest.machine(GROUP_METADATA).metadata().unwrap().clone();
    let all = metadata.catalogue();
    let names: Vec<&str> = all.streams.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names[..2], ["stream-1", "mine"]);
    let mine = TopicPath {
        stream: all.streams[1].stream,
        topic: all.streams[1].topics[0].topic,
    };
    let groups = metadata.groups();
    let of_mine = groups.iter().filter(|of| of.topic == mine.topic);
    assert_eq!(of_mine.count(), 1);
    let kept: Vec<u64> = groups.iter().map(|of| of.group.0).take(3).collect();
    assert_eq!(kept, [1, 2, 3]);
    let (_, me) = metadata.user_named("me").unwrap();
    assert_eq!(
        (&*me.password().hash, me.permissions()),
        (&b"secret"[..], 7)
    );
    let made: Vec<&str> = all.streams[2..]
        .iter()
        .map(|of| of.name.as_str())
        .chain(all.users[2..].iter().map(|of| of.name.as_str()))
        .collect();
    assert!(!made.is_empty());
    assert!(made.iter().all(|name| name.starts_with("wl-c")), "{made:?}");
}

#[test]
fn topics_are_persisted_in_the_share_that_is_asked_for() {
    for (ratio, low, high) in [(0, 0, 0), (250_000, 15, 35), (1_000_000, 100, 100)] {
        let load = Load {
            plane: Plane::Metadata,
            ack_quorum_ratio_per_million: ratio,
            ..LOAD
        };
        let mut honest = Honest::new(1, 64);
        let played = play(&mut honest, &mut Generator::new(2, load), 4, 8_000);
        let durabilities: Vec<Durability> = played
            .iter()
            .filter_map(|(drawn, _)| match metadata::Command::decode(&drawn.body) {
                Ok(metadata::Command::CreateTopic { durability, .. }) => Some(durability),
                _ => None,
            })
            .collect();
        let is_persisted = |of: &&Durability| **of == Durability::Persisted;
        let persisted = durabilities.iter().filter(is_persisted).count();
        let percent = persisted * 100 / durabilities.len();
        assert!((low..=high).contains(&percent), "{ratio}: {percent}");
    }
}

#[test]
fn an_empty_or_an_enormous_partition_can_be_asked_too() {
    for (first_offset, next_offset) in [
        (0, 0),
        (0, 1),
        (0, u64::MAX),
        (u64::MAX - 9, u64::MAX),
        (u64::MAX, u64::MAX),
    ] {
        for consumers in [0, u8::MAX] {
            let known = Known {
                first_offset,
                next_offset,
                consumers,
            };
            let mut rng = Rng::keyed(1, Purpose::Workload, [0, 0]);
            for action in Action::ALL.into_iter().filter(|of| of.is_of_partition()) {
                for outcome in action.outcomes() {
                    let body = aim::aim_at_partition(action, *outcome, known, &mut rng);
                    assert!(body.is_none_or(|body| PartitionCommand::decode(&body).is_ok()));
                }
            }
            let poll = aim::poll(known, &mut rng);
            let Ok(PartitionCommand::Poll { count, .. }) = PartitionCommand::decode(&poll) else {
                panic!("no poll");
            };
            assert!(count <= POLL_MAX);
        }
    }
}

#[test]
fn a_poll_asked_for_by_hand_finds_what_is_kept() {
    let mut generator = of_plane(1, Plane::Partition);
    let known = Known {
        first_offset: 100,
        next_offset: 110,
        consumers: 0,
    };
    for _ in 0..100 {
        let body = generator.next_poll(ClientId(0), known);
        let Ok(PartitionCommand::Poll { from, .. }) = PartitionCommand::decode(&body) else {
            panic!("no poll");
        };
        assert!((100..110).contains(&from));
    }
}

#[test]
fn clients_ask_as_often_as_the_load_says() {
    let asks = |per_million| {
        let generator = Generator::new(
            3,
            Load {
                per_million,
                ..LOAD
            },
        );
        let wants = |&tick: &u64| generator.wants(Tick(tick), ClientId(1));
        (0..10_000).filter(wants).count()
    };
    assert_eq!(asks(0), 0);
    assert_eq!(asks(1_000_000), 10_000);
    assert!((180..=220).contains(&asks(20_000)), "{}", asks(20_000));
}

#[test]
fn clients_do_not_all_ask_in_the_same_ticks() {
    let generator = Generator::new(
        3,
        Load {
            per_million: 500_000,
            ..LOAD
        },
    );
    let differ = |&tick: &u64| {
        generator.wants(Tick(tick), ClientId(0)) != generator.wants(Tick(tick), ClientId(1))
    };
    assert!((400..600).contains(&(0..1_000).filter(differ).count()));
}

#[test]
fn names_written_by_hand_are_the_partitions_own() {
    let mut generator = of_plane(1, Plane::Partition);
    let body = generator.next_send(ClientId(2));
    let Ok(PartitionCommand::SendMessages { payloads }) = PartitionCommand::decode(&body) else {
        panic!("no send");
    };
    assert_eq!(payloads.iter().next(), Some(b"c2-w1.1".as_slice()));
    let mut honest = Honest::new(1, 64);
    honest.ask(ClientId(2), GROUP_PARTITION_0, &body);
    assert_eq!(honest.auditors.take_findings(), []);
}

#[test]
fn a_topic_asked_for_by_hand_is_left_alone_until_it_is_deleted_by_hand() {
    let mut honest = Honest::new(1, 64);
    let mut generator = of_plane(1, Plane::Metadata);
    let body = generator.next_create_topic(ClientId(3), Durability::Replicated, 9);
    honest.ask(ClientId(3), GROUP_METADATA, &body);
    let groups = honest.auditors.groups_alive();
    assert_eq!(groups, [1, 0x201, 0x202, 0x203, 0x204].map(GroupId));
    play(&mut honest, &mut generator, 3, 3_000);
    assert_eq!(honest.auditors.groups_alive()[..5], groups);
    assert_eq!(honest.auditors.delete_topic_of(GroupId(0x301)), None);
    let body = honest.auditors.delete_topic_of(GroupId(0x203)).unwrap();
    honest.ask(ClientId(3), GROUP_METADATA, &body);
    assert!(
        groups[1..]
            .iter()
            .all(|group| !honest.auditors.is_alive(*group))
    );
    assert!(honest.auditors.is_alive(GROUP_PARTITION_0));
    assert_eq!(honest.auditors.take_findings(), []);
}
