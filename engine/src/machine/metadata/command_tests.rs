//! Commands as bytes: both ways, and whatever comes.

use std::collections::BTreeSet;

use super::*;
use crate::machine::metadata::testing::{consumer_group, password, topic};
use crate::machine::wire::NAME_BYTES_MAX;
use crate::machine::{codec, describe};

/// One of each, in order of their tags.
fn one_of_each() -> Vec<Command<'static>> {
    let (stream, user, of) = (StreamId(7), UserId(9), topic(7, 300));
    let path = consumer_group(of, 5);
    vec![
        Command::CreateStream { name: "wl-a" },
        Command::UpdateStream { stream, name: "b" },
        Command::DeleteStream { stream },
        Command::CreateTopic {
            stream,
            name: "a.b_c-D9",
            durability: Durability::Replicated,
            partitions: PARTITIONS_AT_ONCE_MAX,
        },
        Command::UpdateTopic { of, name: "n" },
        Command::DeleteTopic { of },
        Command::CreatePartitions { of, count: 1 },
        Command::DeletePartitions { of, count: 4 },
        Command::CreateUser {
            name: "u",
            password: password(&[7; SECRET_BYTES_MAX]),
            permissions: 255,
        },
        Command::UpdateUser {
            user,
            name: "v",
            permissions: 0,
        },
        Command::ChangePassword {
            user,
            current_hash: b"",
            password: password(b"h"),
        },
        Command::DeleteUser { user },
        Command::CreateToken {
            user,
            name: "t",
            hash: b"h",
            expiry_micros: Some(u64::MAX),
        },
        Command::DeleteToken { user, name: "t" },
        Command::CreateConsumerGroup { of, name: "cg" },
        Command::DeleteConsumerGroup { path },
        Command::JoinConsumerGroup { path },
        Command::LeaveConsumerGroup { path },
        Command::GetStream { stream },
        Command::GetTopic { of },
        Command::GetUser { user },
        Command::GetCatalogue,
    ]
}

#[test]
fn commands_come_back_as_they_were_written() {
    let commands = one_of_each();
    let tags: Vec<u8> = commands.iter().map(|command| command.encode()[0]).collect();
    let all: Vec<u8> = (TAG_MIN..=GET_CATALOGUE).collect();
    assert_eq!(tags, all);
    for command in commands {
        assert_eq!(Command::decode(&command.encode()), Ok(command));
    }
}

#[test]
fn every_truncation_and_every_addition_is_refused() {
    for command in one_of_each() {
        let body = command.encode();
        for cut in 0..body.len() {
            assert_eq!(Command::decode(&body[..cut]), Err(Malformed), "{command:?}");
        }
        let longer = [&*body, &[0]].concat();
        assert_eq!(Command::decode(&longer), Err(Malformed), "{command:?}");
    }
}

#[test]
fn neither_plane_takes_a_command_of_the_other() {
    for command in one_of_each() {
        assert_eq!(codec::Command::decode(&command.encode()), Err(Malformed));
    }
    for tag in 0..TAG_MIN {
        let body = [&[tag][..], &[1; 20]].concat();
        assert_eq!(Command::decode(&body), Err(Malformed));
    }
}

#[test]
fn names_are_short_and_plain() {
    let decodes = |name: &str| {
        let body = Command::CreateStream { name }.encode();
        Command::decode(&body).is_ok()
    };
    let longest = "n".repeat(NAME_BYTES_MAX);
    for name in ["a", "A9._-z", &longest] {
        assert!(decodes(name), "{name}");
    }
    let too_long = "n".repeat(NAME_BYTES_MAX + 1);
    for name in ["", " ", "a b", "é", "a/b", "a\n", &too_long] {
        assert!(!decodes(name), "{name:?}");
    }
}

#[test]
fn counts_and_flags_outside_their_bounds_are_refused() {
    let of = topic(1, 1);
    for count in [0, 1, 4, 5, 255] {
        let fits = (1..=PARTITIONS_AT_ONCE_MAX).contains(&count);
        for body in [
            Command::CreatePartitions { of, count }.encode(),
            Command::DeletePartitions { of, count }.encode(),
        ] {
            assert_eq!(Command::decode(&body).is_ok(), fits, "{count}");
        }
    }
    let body = Command::CreateToken {
        user: UserId(1),
        name: "t",
        hash: b"",
        expiry_micros: None,
    }
    .encode();
    let mut odd = body.to_vec();
    *odd.last_mut().unwrap() = 2;
    assert_eq!(Command::decode(&odd), Err(Malformed));
    let long_hash = [0; SECRET_BYTES_MAX + 1];
    let body = Command::CreateUser {
        name: "u",
        password: password(&long_hash),
        permissions: 0,
    };
    assert_eq!(Command::decode(&body.encode()), Err(Malformed));
}

#[test]
fn every_command_has_words_of_its_own() {
    let commands = one_of_each();
    let words: BTreeSet<String> = commands
        .iter()
        .map(|command| describe(&command.encode()))
        .collect();
    assert_eq!(words.len(), commands.len(), "{words:?}");
    assert!(words.contains("create replicated topic a.b_c-D9 with 4 partitions in stream 7"));
    assert!(words.contains("join consumer group 5 of topic 300 of stream 7"));
    assert_eq!(describe(&[200, 1]), "2 bytes that are no command");
}

#[cfg(not(target_arch = "wasm32"))]
mod arbitrary {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::machine::metadata::testing::any_command;

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same_bytes(
            tag in TAG_MIN..=GET_CATALOGUE,
            bytes in vec(prop_oneof![0_u8..4, any::<u8>()], 0..30),
        ) {
            let body: Vec<u8> = std::iter::once(tag).chain(bytes).collect();
            if let Ok(command) = Command::decode(&body) {
                prop_assert_eq!(&*command.encode(), &*body);
            }
            prop_assert!(!describe(&body).is_empty());
        }

        #[test]
        fn an_altered_command_is_refused_or_another_one(
            body in any_command(),
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut altered = body.to_vec();
            let place = place.index(altered.len());
            altered[place] = byte;
            if let Ok(command) = Command::decode(&altered) {
                prop_assert_eq!(&*command.encode(), &*altered);
            }
        }
    }
}
