//! Answers as bytes: both ways, and whatever comes.

use std::collections::BTreeSet;

use super::*;
use crate::machine::{codec, describe_answer};

fn topic_view() -> TopicView {
    TopicView {
        topic: TopicId(3),
        name: "t".to_owned(),
        durability: Durability::Replicated,
        partitions: vec![GroupId(0x201), GroupId(0x202)],
        consumer_groups: vec![ConsumerGroupView {
            consumer_group: ConsumerGroupId(4),
            name: "cg".to_owned(),
            generation: 9,
            members: vec![(ClientId(0), 0b01), (ClientId(7), 0b10)],
        }],
    }
}

fn user_view() -> UserView {
    UserView {
        user: UserId(2),
        name: "u".to_owned(),
        permissions: 5,
        tokens: vec![("a".to_owned(), None), ("b".to_owned(), Some(1))],
    }
}

fn stream_view() -> StreamView {
    StreamView {
        stream: StreamId(2),
        name: "s".to_owned(),
        topics: vec![topic_view()],
    }
}

fn answers() -> Vec<Answer> {
    let others = [
        Answer::Done,
        Answer::StreamCreated(StreamId(1)),
        Answer::TopicCreated {
            topic: TopicId(2),
            partitions: vec![GroupId(257)],
        },
        Answer::PartitionsCreated(vec![GroupId(257), GroupId(258)]),
        Answer::UserCreated(UserId(1)),
        Answer::ConsumerGroupCreated(ConsumerGroupId(1)),
        Answer::Joined {
            generation: 1,
            partitions: 255,
        },
        Answer::Left { generation: 2 },
        Answer::Stream(stream_view()),
        Answer::Topic(topic_view()),
        Answer::User(user_view()),
        Answer::Catalogue(Catalogue {
            streams: vec![stream_view()],
            users: vec![user_view(), user_view()],
        }),
    ];
    Refusal::ALL
        .into_iter()
        .map(Answer::Refused)
        .chain(others)
        .collect()
}

#[test]
fn refusals_stand_at_their_numbers() {
    for (number, refusal) in Refusal::ALL.into_iter().enumerate() {
        assert_eq!(refusal as usize, number);
    }
}

#[test]
fn answers_come_back_as_they_were_written() {
    for answer in answers() {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }
}

#[test]
fn every_truncation_and_every_addition_is_refused() {
    for answer in answers() {
        let result = answer.encode();
        for cut in 0..result.len() {
            assert_eq!(Answer::decode(&result[..cut]), Err(Malformed), "{answer:?}");
        }
        let longer = [&*result, &[0]].concat();
        assert_eq!(Answer::decode(&longer), Err(Malformed), "{answer:?}");
        assert_eq!(codec::Answer::decode(&result), Err(Malformed));
    }
}

#[test]
fn every_answer_has_words_of_its_own() {
    let answers = answers();
    let words: BTreeSet<String> = answers
        .iter()
        .map(|answer| describe_answer(&answer.encode()))
        .collect();
    assert_eq!(words.len(), answers.len(), "{words:?}");
    assert!(words.contains("refused: the name is taken"));
    assert!(words.contains("1 stream, 2 users"));
    assert_eq!(describe_answer(&[255]), "1 bytes that are no answer");
}

#[cfg(not(target_arch = "wasm32"))]
mod arbitrary {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same_bytes(
            which in 0..answers().len(),
            flips in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            noise in vec(prop_oneof![0_u8..4, any::<u8>()], 0..30),
        ) {
            let mut altered = answers()[which].encode().to_vec();
            for (place, byte) in flips {
                let place = place.index(altered.len());
                altered[place] = byte;
            }
            let noise: Vec<u8> = std::iter::once(altered[0]).chain(noise).collect();
            for result in [altered, noise] {
                if let Ok(answer) = Answer::decode(&result) {
                    prop_assert_eq!(&*answer.encode(), &*result);
                }
                prop_assert!(!describe_answer(&result).is_empty());
            }
        }
    }
}
