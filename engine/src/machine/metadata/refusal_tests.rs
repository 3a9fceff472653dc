//! Every refusal of every command, in the order in which they are looked for.

use std::collections::BTreeSet;

use super::*;

/// Command, and what it meets in the furnished state. Several rules broken at once give the refusal
/// that is looked for first.
const REFUSED: [(Command<'static>, Refusal); 66] = {
    use Command as C;
    use Refusal as R;
    const NO_TOPIC: TopicPath = TopicPath {
        stream: STREAM,
        topic: TopicId(1),
    };
    const T: TopicPath = TopicPath {
        stream: STREAM,
        topic: TopicId(2),
    };
    const U: TopicPath = TopicPath {
        stream: STREAM,
        topic: TopicId(3),
    };
    const fn group(of: TopicPath, id: u32) -> ConsumerGroupPath {
        ConsumerGroupPath {
            of,
            consumer_group: ConsumerGroupId(id),
        }
    }
    const fn new_topic(stream: u32, name: &'static str) -> Command<'static> {
        C::CreateTopic {
            stream: StreamId(stream),
            name,
            durability: Durability::Persisted,
            partitions: 1,
        }
    }
    const fn token(user: u32, name: &'static str, hash: &'static [u8], at: u64) -> C<'static> {
        C::CreateToken {
            user: UserId(user),
            name,
            hash,
            expiry_micros: Some(at),
        }
    }
    const fn update(user: u32, name: &'static str) -> C<'static> {
        C::UpdateUser {
            user: UserId(user),
            name,
            permissions: 9,
        }
    }
    const fn change(user: u32, current_hash: &'static [u8]) -> C<'static> {
        C::ChangePassword {
            user: UserId(user),
            current_hash,
            password: Password {
                hash: b"new",
                salt: b"",
            },
        }
    }
    const fn partitions(of: TopicPath, count: u8) -> C<'static> {
        C::CreatePartitions { of, count }
    }
    const fn fewer(of: TopicPath, count: u8) -> C<'static> {
        C::DeletePartitions { of, count }
    }
    const LATE: u64 = u64::MAX;
    const S9: StreamId = StreamId(9);
    [
        (C::CreateStream { name: "s" }, R::NameTaken),
        (C::CreateStream { name: "stream-1" }, R::NameTaken),
        (
            C::UpdateStream {
                stream: S9,
                name: "s",
            },
            R::StreamNotFound,
        ),
        (
            C::UpdateStream {
                stream: S9,
                name: "x",
            },
            R::StreamNotFound,
        ),
        (
            C::UpdateStream {
                stream: STREAM,
                name: "r",
            },
            R::NameTaken,
        ),
        (
            C::DeleteStream {
                stream: StreamId(0),
            },
            R::StreamNotFound,
        ),
        (C::DeleteStream { stream: S9 }, R::StreamNotFound),
        (new_topic(9, "t"), R::StreamNotFound),
        (new_topic(2, "t"), R::NameTaken),
        (
            C::UpdateTopic {
                of: NOWHERE,
                name: "t",
            },
            R::StreamNotFound,
        ),
        (
            C::UpdateTopic {
                of: NO_TOPIC,
                name: "t",
            },
            R::TopicNotFound,
        ),
        (C::UpdateTopic { of: T, name: "u" }, R::NameTaken),
        (C::DeleteTopic { of: NOWHERE }, R::StreamNotFound),
        (C::DeleteTopic { of: NO_TOPIC }, R::TopicNotFound),
        (partitions(NOWHERE, 4), R::StreamNotFound),
        (partitions(NO_TOPIC, 4), R::TopicNotFound),
        (fewer(NOWHERE, 4), R::StreamNotFound),
        (fewer(NO_TOPIC, 4), R::TopicNotFound),
        (fewer(T, 3), R::TooFewPartitions),
        (fewer(U, 1), R::TooFewPartitions),
        (create_named("root"), R::NameTaken),
        (create_named("bob"), R::NameTaken),
        (update(9, "bob"), R::UserNotFound),
        (update(1, "bob"), R::RootProtected),
        (update(1, "root"), R::RootProtected),
        (update(2, "bob"), R::NameTaken),
        (update(2, "root"), R::NameTaken),
        (change(9, b"hash"), R::UserNotFound),
        (change(2, b"other"), R::WrongPassword),
        (change(2, b""), R::WrongPassword),
        (C::DeleteUser { user: UserId(9) }, R::UserNotFound),
        (C::DeleteUser { user: ROOT }, R::RootProtected),
        (token(9, "k", b"shown", 0), R::UserNotFound),
        (token(2, "k", b"shown", 0), R::NameTaken),
        (token(2, "j", b"shown", 0), R::TokenTaken),
        (token(3, "k", b"shown", LATE), R::TokenTaken),
        (token(2, "j", b"other", 0), R::Expired),
        // The furnished state took 9 entries, and the clock is the op.
        (token(2, "j", b"other", 10), R::Expired),
        (
            C::DeleteToken {
                user: UserId(9),
                name: "k",
            },
            R::UserNotFound,
        ),
        (
            C::DeleteToken {
                user: USER,
                name: "j",
            },
            R::TokenNotFound,
        ),
        (
            C::DeleteToken {
                user: ROOT,
                name: "k",
            },
            R::TokenNotFound,
        ),
        (
            C::CreateConsumerGroup {
                of: NOWHERE,
                name: "g",
            },
            R::StreamNotFound,
        ),
        (
            C::CreateConsumerGroup {
                of: NO_TOPIC,
                name: "g",
            },
            R::TopicNotFound,
        ),
        (C::CreateConsumerGroup { of: T, name: "g" }, R::NameTaken),
        (
            C::DeleteConsumerGroup {
                path: group(NOWHERE, 1),
            },
            R::StreamNotFound,
        ),
        (
            C::DeleteConsumerGroup {
                path: group(NO_TOPIC, 1),
            },
            R::TopicNotFound,
        ),
        (
            C::DeleteConsumerGroup { path: group(T, 2) },
            R::ConsumerGroupNotFound,
        ),
        (
            C::DeleteConsumerGroup { path: group(U, 1) },
            R::ConsumerGroupNotFound,
        ),
        (
            C::JoinConsumerGroup {
                path: group(NOWHERE, 1),
            },
            R::StreamNotFound,
        ),
        (
            C::JoinConsumerGroup {
                path: group(NO_TOPIC, 1),
            },
            R::TopicNotFound,
        ),
        (
            C::JoinConsumerGroup { path: group(T, 0) },
            R::ConsumerGroupNotFound,
        ),
        (
            C::JoinConsumerGroup { path: group(U, 1) },
            R::ConsumerGroupNotFound,
        ),
        (C::JoinConsumerGroup { path: group(T, 1) }, R::AlreadyMember),
        (
            C::LeaveConsumerGroup {
                path: group(NOWHERE, 1),
            },
            R::StreamNotFound,
        ),
        (
            C::LeaveConsumerGroup {
                path: group(NO_TOPIC, 1),
            },
            R::TopicNotFound,
        ),
        (
            C::LeaveConsumerGroup { path: group(T, 2) },
            R::ConsumerGroupNotFound,
        ),
        (
            C::LeaveConsumerGroup { path: group(U, 1) },
            R::ConsumerGroupNotFound,
        ),
        (C::GetStream { stream: S9 }, R::StreamNotFound),
        (
            C::GetStream {
                stream: StreamId(0),
            },
            R::StreamNotFound,
        ),
        (C::GetTopic { of: NOWHERE }, R::StreamNotFound),
        (C::GetTopic { of: NO_TOPIC }, R::TopicNotFound),
        (
            C::GetTopic {
                of: TopicPath {
                    stream: StreamId(3),
                    topic: TopicId(2),
                },
            },
            R::TopicNotFound,
        ),
        (C::GetUser { user: UserId(0) }, R::UserNotFound),
        (C::GetUser { user: UserId(9) }, R::UserNotFound),
        (
            C::DeleteTopic {
                of: TopicPath {
                    stream: StreamId(1),
                    topic: TopicId(2),
                },
            },
            R::TopicNotFound,
        ),
        (C::CreateStream { name: "r" }, R::NameTaken),
    ]
};

const fn create_named(name: &'static str) -> Command<'static> {
    Command::CreateUser {
        name,
        password: Password {
            hash: b"",
            salt: b"",
        },
        permissions: 0,
    }
}

#[test]
fn each_broken_rule_is_refused_by_its_name_and_nothing_changes() {
    for (command, refusal) in REFUSED {
        assert_refused(&mut furnished(), command, refusal);
    }
}

#[test]
fn a_member_that_is_none_cannot_leave() {
    let mut bench = furnished();
    let path = consumer_group(topic(2, 2), 1);
    let answer = bench.ask_as(ClientId(1), Command::LeaveConsumerGroup { path });
    assert_eq!(answer, Answer::Refused(Refusal::NotAMember));
}

#[test]
fn limits_are_refusals_and_names_are_looked_at_first() {
    let mut bench = Bench::default();
    let names: Vec<String> = (0..32).map(|n| format!("n{n}")).collect();
    let mut names = names.iter().map(String::as_str);
    let mut name = || names.next().unwrap();
    for _ in 1..STREAMS_MAX {
        bench.must(Command::CreateStream { name: name() });
    }
    let full = Command::CreateStream { name: "more" };
    assert_refused(&mut bench, full, Refusal::StreamsFull);
    assert_refused(
        &mut bench,
        Command::CreateStream { name: "n0" },
        Refusal::NameTaken,
    );

    for _ in 0..TOPICS_OF_STREAM_MAX {
        create_topic(&mut bench, STREAM, name(), 0);
    }
    let answer = create_topic(&mut bench, STREAM, "more", 4);
    assert_eq!(answer, Answer::Refused(Refusal::TopicsFull));
    let taken = create_topic(&mut bench, STREAM, "n7", 4);
    assert_eq!(taken, Answer::Refused(Refusal::NameTaken));

    let of = topic(2, 2);
    for name in ["a", "b", "c", "d"] {
        bench.must(Command::CreateConsumerGroup { of, name });
    }
    let full = Command::CreateConsumerGroup { of, name: "e" };
    assert_refused(&mut bench, full, Refusal::ConsumerGroupsFull);

    let path = consumer_group(of, 1);
    for client in 0..3 {
        bench.ask_as(ClientId(client), Command::JoinConsumerGroup { path });
    }
    let join = Command::JoinConsumerGroup { path };
    let answer = bench.ask_as(ClientId(3), join);
    assert_eq!(answer, Answer::Refused(Refusal::MembersFull));
    assert_refused(&mut bench, join, Refusal::AlreadyMember);
}

#[test]
fn users_and_tokens_have_limits() {
    let mut bench = Bench::default();
    let names: Vec<String> = (0..32).map(|n| format!("n{n}")).collect();
    for name in &names[1..USERS_MAX] {
        bench.must(create_user(name));
    }
    assert_refused(&mut bench, create_user("more"), Refusal::UsersFull);
    assert_refused(&mut bench, create_user("n1"), Refusal::NameTaken);
    for name in &names[..TOKENS_MAX] {
        bench.must(create_token(USER, name, name.as_bytes(), None));
    }
    let full = create_token(UserId(3), "more", b"more", None);
    assert_refused(&mut bench, full, Refusal::TokensFull);
    let late = create_token(UserId(3), "more", b"more", Some(1));
    assert_refused(&mut bench, late, Refusal::Expired);
    bench.must(Command::DeleteUser { user: USER });
    bench.must(full);
}

#[test]
fn partitions_have_a_limit_for_a_topic_and_one_for_all() {
    let mut bench = Bench::default();
    let (first, second) = (topic(1, 1), topic(1, 2));
    let more = |of, count| Command::CreatePartitions { of, count };
    bench.must(more(first, 4));
    assert_refused(&mut bench, more(first, 4), Refusal::TopicFull);
    bench.must(more(first, 3));
    assert_refused(&mut bench, more(first, 1), Refusal::TopicFull);
    let answer = create_topic(&mut bench, StreamId(1), "t", 4);
    assert!(matches!(answer, Answer::TopicCreated { .. }));
    assert_refused(&mut bench, more(second, 1), Refusal::PartitionsFull);
    let answer = create_topic(&mut bench, StreamId(1), "u", 1);
    assert_eq!(answer, Answer::Refused(Refusal::PartitionsFull));
    bench.must(Command::DeletePartitions {
        of: first,
        count: 1,
    });
    bench.must(more(second, 1));
    assert_eq!(bench.metadata.groups().len(), PARTITIONS_ALIVE_MAX);
}

/// No command meets a refusal that it does not name, and each one that it names is met by a test.
#[test]
fn the_refusals_a_command_names_are_those_it_meets() {
    use Refusal as R;
    let named: [(u8, &[Refusal]); 22] = [
        (128, &[R::NameTaken, R::StreamsFull]),
        (129, &[R::StreamNotFound, R::NameTaken]),
        (130, &[R::StreamNotFound]),
        (
            131,
            &[
                R::StreamNotFound,
                R::NameTaken,
                R::TopicsFull,
                R::PartitionsFull,
            ],
        ),
        (132, &[R::StreamNotFound, R::TopicNotFound, R::NameTaken]),
        (133, &[R::StreamNotFound, R::TopicNotFound]),
        (
            134,
            &[
                R::StreamNotFound,
                R::TopicNotFound,
                R::TopicFull,
                R::PartitionsFull,
            ],
        ),
        (
            135,
            &[R::StreamNotFound, R::TopicNotFound, R::TooFewPartitions],
        ),
        (136, &[R::NameTaken, R::UsersFull]),
        (137, &[R::UserNotFound, R::RootProtected, R::NameTaken]),
        (138, &[R::UserNotFound, R::WrongPassword]),
        (139, &[R::UserNotFound, R::RootProtected]),
        (
            140,
            &[
                R::UserNotFound,
                R::NameTaken,
                R::TokenTaken,
                R::Expired,
                R::TokensFull,
            ],
        ),
        (141, &[R::UserNotFound, R::TokenNotFound]),
        (
            142,
            &[
                R::StreamNotFound,
                R::TopicNotFound,
                R::NameTaken,
                R::ConsumerGroupsFull,
            ],
        ),
        (
            143,
            &[
                R::StreamNotFound,
                R::TopicNotFound,
                R::ConsumerGroupNotFound,
            ],
        ),
        (
            144,
            &[
                R::StreamNotFound,
                R::TopicNotFound,
                R::ConsumerGroupNotFound,
                R::AlreadyMember,
                R::MembersFull,
            ],
        ),
        (
            145,
            &[
                R::StreamNotFound,
                R::TopicNotFound,
                R::ConsumerGroupNotFound,
                R::NotAMember,
            ],
        ),
        (146, &[R::StreamNotFound]),
        (147, &[R::StreamNotFound, R::TopicNotFound]),
        (148, &[R::UserNotFound]),
        (149, &[]),
    ];
    let met: BTreeSet<(u8, Refusal)> = REFUSED
        .iter()
        .map(|(command, refusal)| (command.encode()[0], *refusal))
        .collect();
    // Those that need a full house or another client have tests of their own above.
    let apart = [
        (128, R::StreamsFull),
        (131, R::TopicsFull),
        (131, R::PartitionsFull),
        (134, R::TopicFull),
        (134, R::PartitionsFull),
        (136, R::UsersFull),
        (140, R::TokensFull),
        (142, R::ConsumerGroupsFull),
        (144, R::MembersFull),
        (145, R::NotAMember),
    ];
    let met: Vec<(u8, Refusal)> = met.into_iter().chain(apart).collect();
    let mut pairs = named
        .iter()
        .flat_map(|(tag, refusals)| refusals.iter().map(|refusal| (*tag, *refusal)));
    assert_eq!(pairs.clone().count(), met.len());
    assert!(pairs.all(|pair| met.contains(&pair)));
}
