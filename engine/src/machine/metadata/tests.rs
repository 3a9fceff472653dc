//! The metadata group: what commands leave behind, what is read back, and who hosts what.

use super::testing::{Bench, consumer_group, entry, password, topic};
use super::*;
use crate::ids::GROUP_METADATA;
use crate::vsr::message::Header;

#[path = "refusal_tests.rs"]
mod refusals;
#[path = "snapshot_tests.rs"]
mod snapshots;

const STREAM: StreamId = StreamId(2);
const USER: UserId = UserId(2);
const NOWHERE: TopicPath = TopicPath {
    stream: StreamId(99),
    topic: TopicId(1),
};

/// Beside the genesis: stream 2 `s` with topics 2 `t` (two partitions, consumer group 1 `g` whose
/// member is client 0) and 3 `u` (none), stream 3 `r`, user 2 `alice` with token `k`, user 3 `bob`.
fn furnished() -> Bench {
    let mut bench = Bench::default();
    bench.must(Command::CreateStream { name: "s" });
    create_topic(&mut bench, STREAM, "t", 2);
    create_topic(&mut bench, STREAM, "u", 0);
    bench.must(Command::CreateStream { name: "r" });
    for name in ["alice", "bob"] {
        bench.must(Command::CreateUser {
            name,
            password: password(b"hash"),
            permissions: 1,
        });
    }
    bench.must(create_token(USER, "k", b"shown", None));
    bench.must(Command::CreateConsumerGroup {
        of: topic(2, 2),
        name: "g",
    });
    bench.must(Command::JoinConsumerGroup {
        path: consumer_group(topic(2, 2), 1),
    });
    bench
}

fn create_topic(bench: &mut Bench, stream: StreamId, name: &str, partitions: u8) -> Answer {
    bench.ask(Command::CreateTopic {
        stream,
        name,
        durability: Durability::Replicated,
        partitions,
    })
}

fn create_token<'a>(
    user: UserId,
    name: &'a str,
    hash: &'a [u8],
    expiry_micros: Option<u64>,
) -> Command<'a> {
    Command::CreateToken {
        user,
        name,
        hash,
        expiry_micros,
    }
}

fn create_user(name: &str) -> Command<'_> {
    Command::CreateUser {
        name,
        password: password(b""),
        permissions: 0,
    }
}

fn assert_refused(bench: &mut Bench, command: Command<'_>, refusal: Refusal) {
    let before = bench.metadata.clone();
    let answer = bench.ask(command);
    assert_eq!(answer, Answer::Refused(refusal), "{command:?}");
    assert_eq!(bench.metadata.catalogue(), before.catalogue());
    assert_eq!(bench.metadata.last, before.last);
    assert_eq!(bench.metadata.changes, before.changes);
}

#[test]
fn the_log_begins_with_a_stream_a_topic_and_root() {
    for partitions in [1, 3, 8] {
        let metadata = Metadata::new(&Genesis {
            partitions,
            durability: Durability::Replicated,
            ..Genesis::default()
        });
        let groups = metadata.groups();
        let ids: Vec<u64> = groups.iter().map(|group| group.group.0).collect();
        assert_eq!(ids, Vec::from_iter(1..=u64::from(partitions)));
        for (place, group) in (0..).zip(groups) {
            assert_eq!(group.durability, Durability::Replicated);
            assert_eq!(group.partition, place);
            assert_eq!((group.stream, group.topic), (StreamId(1), TopicId(1)));
        }
        assert_eq!(metadata.user_named("root").unwrap().0, ROOT);
        assert_eq!(metadata.digest(), Checksum(0));
    }
}

#[test]
fn a_group_is_named_by_the_op_that_made_it_and_is_told_to_the_host() {
    let mut bench = furnished();
    let made = |group, partition| {
        GroupChange::Created(PartitionGroup {
            group: GroupId(group),
            durability: Durability::Replicated,
            stream: STREAM,
            topic: TopicId(2),
            partition,
        })
    };
    assert_eq!(
        bench.metadata.take_changes(),
        [made(0x201, 0), made(0x202, 1)]
    );
    assert_eq!(bench.metadata.take_changes(), []);
    let of = topic(2, 2);
    let answer = bench.must(Command::CreatePartitions { of, count: 1 });
    assert_eq!(answer, Answer::PartitionsCreated(vec![GroupId(0xa01)]));
    assert_eq!(bench.metadata.take_changes(), [made(0xa01, 2)]);
    bench.must(Command::DeletePartitions { of, count: 2 });
    let gone = |group| GroupChange::Deleted {
        group: GroupId(group),
    };
    assert_eq!(bench.metadata.take_changes(), [gone(0x202), gone(0xa01)]);
    bench.must(Command::CreatePartitions { of, count: 1 });
    assert_eq!(bench.metadata.take_changes(), [made(0xc01, 1)]);
    bench.must(Command::DeleteTopic { of });
    assert_eq!(bench.metadata.take_changes(), [gone(0x201), gone(0xc01)]);
    bench.must(Command::DeleteStream {
        stream: StreamId(1),
    });
    assert_eq!(bench.metadata.take_changes(), [gone(1)]);
    assert_eq!(bench.metadata.groups(), []);
}

#[test]
fn ids_are_never_given_out_again() {
    let mut bench = furnished();
    bench.must(Command::DeleteStream { stream: STREAM });
    let answer = bench.must(Command::CreateStream { name: "s" });
    assert_eq!(answer, Answer::StreamCreated(StreamId(4)));
    let answer = create_topic(&mut bench, StreamId(4), "t", 1);
    let expected = Answer::TopicCreated {
        topic: TopicId(4),
        partitions: vec![GroupId(0xc01)],
    };
    assert_eq!(answer, expected);
    bench.must(Command::DeleteUser { user: UserId(3) });
    let answer = bench.must(create_user("bob"));
    assert_eq!(answer, Answer::UserCreated(UserId(4)));
    let of = topic(4, 4);
    let answer = bench.must(Command::CreateConsumerGroup { of, name: "g" });
    assert_eq!(answer, Answer::ConsumerGroupCreated(ConsumerGroupId(2)));
}

#[test]
fn an_entity_may_keep_its_own_name() {
    let mut bench = furnished();
    bench.must(Command::UpdateStream {
        stream: STREAM,
        name: "s",
    });
    bench.must(Command::UpdateTopic {
        of: topic(2, 2),
        name: "t",
    });
    bench.must(Command::UpdateUser {
        user: USER,
        name: "alice",
        permissions: 7,
    });
    let Answer::User(user) = bench.must(Command::GetUser { user: USER }) else {
        panic!("no user");
    };
    assert_eq!((user.name.as_str(), user.permissions), ("alice", 7));
    let shared = create_topic(&mut bench, StreamId(3), "t", 0);
    assert!(matches!(shared, Answer::TopicCreated { .. }));
}

#[test]
fn a_password_is_changed_by_whoever_knows_it() {
    let mut bench = furnished();
    bench.must(Command::ChangePassword {
        user: USER,
        current_hash: b"hash",
        password: password(b"new"),
    });
    let (_, alice) = bench.metadata.user_named("alice").unwrap();
    assert_eq!(*alice.password().hash, *b"new");
    assert_refused(
        &mut bench,
        Command::ChangePassword {
            user: USER,
            current_hash: b"hash",
            password: password(b"newer"),
        },
        Refusal::WrongPassword,
    );
}

#[test]
fn tokens_are_found_by_their_hash_and_go_with_their_user() {
    let mut bench = furnished();
    bench.must(create_token(USER, "j", b"soon", Some(20)));
    let (of, token) = bench.metadata.token_of(b"soon").unwrap();
    assert_eq!(of, USER);
    assert!(!token.is_expired(19));
    assert!(token.is_expired(20));
    bench.must(Command::DeleteToken {
        user: USER,
        name: "j",
    });
    assert!(bench.metadata.token_of(b"soon").is_none());
    bench.must(Command::DeleteUser { user: USER });
    assert!(bench.metadata.token_of(b"shown").is_none());
    bench.must(create_token(UserId(3), "k", b"shown", None));
}

#[test]
fn partitions_are_dealt_out_to_members_by_number_and_dealt_anew_at_each_change() {
    let mut bench = furnished();
    let of = topic(2, 2);
    let path = consumer_group(of, 1);
    bench.must(Command::CreatePartitions { of, count: 3 });
    let join = Command::JoinConsumerGroup { path };
    let joined = |generation, partitions| Answer::Joined {
        generation,
        partitions,
    };
    assert_eq!(bench.ask_as(ClientId(7), join), joined(3, 0b01010));
    assert_eq!(bench.ask_as(ClientId(3), join), joined(4, 0b10010));
    let Answer::Topic(view) = bench.must(Command::GetTopic { of }) else {
        panic!("no topic");
    };
    let members = &view.consumer_groups[0].members;
    let expected = [(0, 0b01001), (3, 0b10010), (7, 0b00100)];
    assert_eq!(
        *members,
        expected.map(|(client, share)| (ClientId(client), share))
    );
    let leave = Command::LeaveConsumerGroup { path };
    let left = bench.ask_as(ClientId(0), leave);
    assert_eq!(left, Answer::Left { generation: 5 });
    bench.must(Command::DeletePartitions { of, count: 4 });
    let Answer::Stream(view) = bench.must(Command::GetStream { stream: STREAM }) else {
        panic!("no stream");
    };
    let group = &view.topics[0].consumer_groups[0];
    assert_eq!(group.generation, 6);
    assert_eq!(group.members, [(ClientId(3), 1), (ClientId(7), 0)]);
}

#[test]
fn everything_is_read_back_but_secrets() {
    let mut bench = furnished();
    let Answer::Catalogue(all) = bench.must(Command::GetCatalogue) else {
        panic!("no catalogue");
    };
    assert_eq!(all, bench.metadata.catalogue());
    let names: Vec<&str> = all.streams.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["stream-1", "s", "r"]);
    let names: Vec<&str> = all.users.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["root", "alice", "bob"]);
    let result = bench.run(ClientId(0), Command::GetCatalogue.encode());
    for secret in [b"hash".as_slice(), b"shown", b"salt"] {
        let is_there = result.windows(secret.len()).any(|bytes| bytes == secret);
        assert!(!is_there, "{secret:?}");
    }
}

#[test]
fn a_register_leaves_the_metadata_alone() {
    let mut metadata = Metadata::default();
    let register = Prepare {
        header: Rc::new(
            Header {
                operation: Operation::Register,
                ..Header::root(GROUP_METADATA)
            }
            .sealed(),
        ),
        body: Rc::from([]),
    };
    assert!(metadata.apply(&register).is_empty());
    assert_eq!(metadata.digest(), Metadata::default().digest());
}

#[test]
fn undecodable_bodies_are_refused_and_change_nothing() {
    let mut bench = furnished();
    let before = bench.metadata.catalogue();
    for body in [&[][..], &[1, 2, 3], &[128], &[255]] {
        let result = bench.run(ClientId(0), Rc::from(body));
        let refused = Ok(Answer::Refused(Refusal::Undecodable));
        assert_eq!(Answer::decode(&result), refused);
    }
    assert_eq!(bench.metadata.catalogue(), before);
}

/// The digest tells states apart that gave the same answers.
#[test]
fn a_difference_in_what_a_command_touched_shows_in_the_digest() {
    let renamed = |bench: &Bench| {
        let mut bench = bench.clone();
        bench.must(Command::UpdateStream {
            stream: STREAM,
            name: "new",
        });
        bench.must(Command::ChangePassword {
            user: USER,
            current_hash: b"hash",
            password: password(b"new"),
        });
        bench.metadata.digest()
    };
    let ours = furnished();
    let (mut other_topic, mut other_password) = (ours.clone(), ours.clone());
    let topics = &mut other_topic.metadata.stream_mut(STREAM).unwrap().topics;
    topics.get_mut(&TopicId(2)).unwrap().durability = Durability::Persisted;
    let alice = other_password.metadata.users.get_mut(&USER).unwrap();
    alice.permissions = 0;
    assert_eq!(renamed(&ours), renamed(&furnished()));
    assert_ne!(renamed(&ours), renamed(&other_topic));
    assert_ne!(renamed(&ours), renamed(&other_password));
}

#[test]
fn the_same_entry_at_another_op_gives_another_digest() {
    let (mut one, mut other) = (Metadata::default(), Metadata::default());
    let body = Command::GetCatalogue.encode();
    one.apply(&entry(1, ClientId(0), Rc::clone(&body)));
    other.apply(&entry(2, ClientId(0), body));
    assert_ne!(one.digest(), other.digest());
}
