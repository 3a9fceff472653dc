//! A metadata group of one, driven by hand, and drawn commands that meet each other: few ids and few
//! names, so that most refusals are reached. Must never be part of a build that is not a test.

use std::rc::Rc;

use super::{Answer, Command, ConsumerGroupPath, Metadata, Password, TopicPath};
use crate::digest::checksum_bytes;
use crate::ids::{ClientId, ConsumerGroupId, GROUP_METADATA, Op, RequestNumber, StreamId, TopicId};
use crate::vsr::io::StateMachine;
use crate::vsr::message::{Header, Operation, Prepare};

/// An entry of the metadata group's log. Its time is its op, in microseconds.
pub(crate) fn entry(op: u64, client: ClientId, body: Rc<[u8]>) -> Prepare {
    let header = Header {
        op: Op(op),
        timestamp_micros: op,
        client,
        session: Op(1),
        request: RequestNumber(op),
        operation: Operation::Machine,
        body_checksum: checksum_bytes(&body),
        ..Header::root(GROUP_METADATA)
    };
    Prepare {
        header: Rc::new(header.sealed()),
        body,
    }
}

/// The state and the number of its last entry.
#[derive(Clone, Default)]
pub(crate) struct Bench {
    pub(crate) metadata: Metadata,
    pub(crate) op: u64,
}

impl Bench {
    pub(crate) fn run(&mut self, client: ClientId, body: Rc<[u8]>) -> Rc<[u8]> {
        self.op += 1;
        self.metadata.apply(&entry(self.op, client, body))
    }

    pub(crate) fn ask_as(&mut self, client: ClientId, command: Command<'_>) -> Answer {
        let result = self.run(client, command.encode());
        Answer::decode(&result).unwrap()
    }

    pub(crate) fn ask(&mut self, command: Command<'_>) -> Answer {
        self.ask_as(ClientId(0), command)
    }

    /// Asks for something that must be carried out.
    pub(crate) fn must(&mut self, command: Command<'_>) -> Answer {
        let answer = self.ask(command);
        assert!(
            !matches!(answer, Answer::Refused(_)),
            "{command:?} {answer:?}"
        );
        answer
    }
}

pub(crate) fn topic(stream: u32, topic: u32) -> TopicPath {
    TopicPath {
        stream: StreamId(stream),
        topic: TopicId(topic),
    }
}

pub(crate) fn consumer_group(of: TopicPath, consumer_group: u32) -> ConsumerGroupPath {
    ConsumerGroupPath {
        of,
        consumer_group: ConsumerGroupId(consumer_group),
    }
}

pub(crate) fn password(hash: &[u8]) -> Password<'_> {
    Password {
        hash,
        salt: b"salt",
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use drawn::{any_command, asked};

#[cfg(not(target_arch = "wasm32"))]
mod drawn {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::UserId;
    use crate::vsr::io::Durability;

    const NAMES: [&str; 12] = [
        "stream-1", "topic-1", "root", "a", "b", "c", "d", "e", "f", "g", "h", "i",
    ];
    const HASHES: [&[u8]; 4] = [b"", b"h1", b"h2", b"h3"];

    /// Who asks, and the body: mostly what `any_command` draws, and now and then noise.
    pub(crate) fn asked() -> impl Strategy<Value = (ClientId, Rc<[u8]>)> {
        let noise = prop::collection::vec(any::<u8>(), 0..12).prop_map(Rc::from);
        let body = prop_oneof![40 => any_command(), 1 => noise];
        let client = prop_oneof![9 => 0_u8..3, 1 => any::<u8>()];
        (client.prop_map(ClientId), body)
    }

    pub(crate) fn any_command() -> impl Strategy<Value = Rc<[u8]>> {
        prop_oneof![
            10 => of_streams(),
            6 => of_users(),
            6 => of_consumer_groups(),
            2 => reads(),
        ]
    }

    fn name() -> impl Strategy<Value = &'static str> {
        prop::sample::select(&NAMES[..])
    }

    fn hash() -> impl Strategy<Value = &'static [u8]> {
        prop::sample::select(&HASHES[..])
    }

    fn secret() -> impl Strategy<Value = Password<'static>> {
        (hash(), hash()).prop_map(|(hash, salt)| Password { hash, salt })
    }

    fn stream() -> impl Strategy<Value = StreamId> {
        prop_oneof![4 => 1_u32..4, 1 => 0_u32..16].prop_map(StreamId)
    }

    fn path() -> impl Strategy<Value = TopicPath> {
        let topic = prop_oneof![4 => 1_u32..5, 1 => 0_u32..16].prop_map(TopicId);
        (stream(), topic).prop_map(|(stream, topic)| TopicPath { stream, topic })
    }

    fn user() -> impl Strategy<Value = UserId> {
        prop_oneof![4 => 1_u32..4, 1 => 0_u32..16].prop_map(UserId)
    }

    fn durability() -> impl Strategy<Value = Durability> {
        prop::sample::select(&[Durability::Persisted, Durability::Replicated][..])
    }

    fn of_streams() -> impl Strategy<Value = Rc<[u8]>> {
        let made = (stream(), name(), durability(), 0_u8..=4).prop_map(
            |(stream, name, durability, partitions)| {
                Command::CreateTopic {
                    stream,
                    name,
                    durability,
                    partitions,
                }
                .encode()
            },
        );
        prop_oneof![
            3 => name().prop_map(|name| Command::CreateStream { name }.encode()),
            1 => (stream(), name())
                .prop_map(|(stream, name)| Command::UpdateStream { stream, name }.encode()),
            1 => stream().prop_map(|stream| Command::DeleteStream { stream }.encode()),
            5 => made,
            1 => (path(), name()).prop_map(|(of, name)| Command::UpdateTopic { of, name }.encode()),
            1 => path().prop_map(|of| Command::DeleteTopic { of }.encode()),
            3 => (path(), 1_u8..=4)
                .prop_map(|(of, count)| Command::CreatePartitions { of, count }.encode()),
            2 => (path(), 1_u8..=4)
                .prop_map(|(of, count)| Command::DeletePartitions { of, count }.encode()),
        ]
    }

    fn of_users() -> impl Strategy<Value = Rc<[u8]>> {
        let made = (name(), secret(), any::<u8>()).prop_map(|(name, password, permissions)| {
            Command::CreateUser {
                name,
                password,
                permissions,
            }
            .encode()
        });
        let changed = (user(), name(), any::<u8>()).prop_map(|(user, name, permissions)| {
            Command::UpdateUser {
                user,
                name,
                permissions,
            }
            .encode()
        });
        let password = (user(), hash(), secret()).prop_map(|(user, current_hash, password)| {
            Command::ChangePassword {
                user,
                current_hash,
                password,
            }
            .encode()
        });
        let expiry = prop::option::of(0_u64..200);
        let token_hash = (0_u8..20).prop_map(|n| [n]);
        let token =
            (user(), name(), token_hash, expiry).prop_map(|(user, name, hash, expiry_micros)| {
                Command::CreateToken {
                    user,
                    name,
                    hash: &hash,
                    expiry_micros,
                }
                .encode()
            });
        prop_oneof![
            3 => made,
            1 => changed,
            1 => password,
            1 => user().prop_map(|user| Command::DeleteUser { user }.encode()),
            4 => token,
            1 => (user(), name())
                .prop_map(|(user, name)| Command::DeleteToken { user, name }.encode()),
        ]
    }

    fn of_consumer_groups() -> impl Strategy<Value = Rc<[u8]>> {
        let id = prop_oneof![4 => 1_u32..5, 1 => 0_u32..16].prop_map(ConsumerGroupId);
        let group =
            (path(), id).prop_map(|(of, consumer_group)| ConsumerGroupPath { of, consumer_group });
        let group = group.boxed();
        let [deleted, joined, left] = [group.clone(), group.clone(), group];
        prop_oneof![
            4 => (path(), name())
                .prop_map(|(of, name)| Command::CreateConsumerGroup { of, name }.encode()),
            1 => deleted.prop_map(|path| Command::DeleteConsumerGroup { path }.encode()),
            4 => joined.prop_map(|path| Command::JoinConsumerGroup { path }.encode()),
            2 => left.prop_map(|path| Command::LeaveConsumerGroup { path }.encode()),
        ]
    }

    fn reads() -> impl Strategy<Value = Rc<[u8]>> {
        prop_oneof![
            1 => stream().prop_map(|stream| Command::GetStream { stream }.encode()),
            1 => path().prop_map(|of| Command::GetTopic { of }.encode()),
            1 => user().prop_map(|user| Command::GetUser { user }.encode()),
            1 => Just(Command::GetCatalogue.encode()),
        ]
    }
}
