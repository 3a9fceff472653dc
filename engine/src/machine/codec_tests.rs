//! Commands and answers as bytes: both ways, and whatever comes.

use super::*;
use crate::prng::{Purpose, Rng};

fn gathered(texts: &[&[u8]]) -> Gathered {
    let mut gathered = Gathered::default();
    for text in texts {
        gathered.push(text);
    }
    gathered
}

#[test]
fn commands_come_back_as_they_were_written() {
    let batch = gathered(&[b"one", b"", &[7; PAYLOAD_BYTES_MAX], b"four"]);
    let commands = [
        Command::SendMessages {
            payloads: batch.payloads(),
        },
        Command::StoreOffset {
            consumer: 3,
            offset: u64::MAX,
        },
        Command::DeleteOffset { consumer: 255 },
        Command::Poll {
            from: 1 << 40,
            count: POLL_MAX,
        },
        Command::GetOffset { consumer: 0 },
    ];
    for command in commands {
        assert_eq!(Command::decode(&command.encode()), Ok(command));
    }
}

#[test]
fn answers_come_back_as_they_were_written() {
    let texts = [b"x".as_slice(); POLL_MAX as usize];
    let (read, nothing) = (gathered(&texts), gathered(&[]));
    let answers = [
        Answer::Refused(Refusal::Undecodable),
        Answer::Refused(Refusal::OutOfRange { next: 9 }),
        Answer::Refused(Refusal::UnknownConsumer),
        Answer::Sent { first: 5, count: 4 },
        Answer::Stored,
        Answer::Deleted,
        Answer::Messages {
            first: 77,
            payloads: read.payloads(),
        },
        Answer::Messages {
            first: 0,
            payloads: nothing.payloads(),
        },
        Answer::Offset(Some(1)),
        Answer::Offset(None),
    ];
    for answer in answers {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }
}

#[test]
fn every_truncation_and_every_addition_is_refused() {
    let command = send_messages(&[b"one", b"two"]);
    let texts = [b"x".as_slice(), b"yz"];
    let answer = Answer::Messages {
        first: 3,
        payloads: gathered(&texts).payloads(),
    }
    .encode();
    for cut in 0..command.len() {
        assert_eq!(Command::decode(&command[..cut]), Err(Malformed), "{cut}");
    }
    for cut in 0..answer.len() {
        assert_eq!(Answer::decode(&answer[..cut]), Err(Malformed), "{cut}");
    }
    assert_eq!(Command::decode(&[&*command, &[0]].concat()), Err(Malformed));
    assert_eq!(Answer::decode(&[&*answer, &[0]].concat()), Err(Malformed));
}

#[test]
fn counts_outside_their_bounds_are_refused() {
    let empty_send = [SEND_MESSAGES, 0];
    let long_send = [SEND_MESSAGES, 5, 0, 0, 0, 0, 0];
    let longest_send = [SEND_MESSAGES, 4, 0, 0, 0, 0];
    assert_eq!(Command::decode(&empty_send), Err(Malformed));
    assert_eq!(Command::decode(&long_send), Err(Malformed));
    assert!(Command::decode(&longest_send).is_ok());
    for (count, fits) in [
        (0, false),
        (1, true),
        (POLL_MAX, true),
        (POLL_MAX + 1, false),
    ] {
        let body = Command::Poll { from: 0, count }.encode();
        assert_eq!(Command::decode(&body).is_ok(), fits, "{count}");
    }
}

/// Arbitrary bytes, most of them near a valid text, so that the deeper branches are reached.
#[test]
fn arbitrary_bytes_never_panic_and_what_decodes_encodes_to_the_same_bytes() {
    let (mut commands, mut answers) = (0, 0);
    for n in 0..20_000 {
        let mut rng = Rng::keyed(11, Purpose::Workload, [0, n]);
        let length = rng.below(24);
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| u8::try_from(rng.below(256)).unwrap())
            .collect();
        for byte in bytes.iter_mut().take(12) {
            if rng.below(3) > 0 {
                *byte %= 6;
            }
        }
        if let Ok(command) = Command::decode(&bytes) {
            commands += 1;
            assert_eq!(*command.encode(), *bytes);
        }
        if let Ok(answer) = Answer::decode(&bytes) {
            answers += 1;
            assert_eq!(*answer.encode(), *bytes);
        }
        assert!(!describe(&bytes).is_empty());
        assert!(!describe_answer(&bytes).is_empty());
    }
    assert!(commands > 50 && answers > 50, "{commands} {answers}");
}

#[test]
fn bodies_and_results_are_put_in_words() {
    let poll = Command::Poll { from: 7, count: 1 }.encode();
    assert_eq!(describe(&send_messages(&[b"a"])), "send 1 message");
    assert_eq!(describe(&send_messages(&[b"a", b"b"])), "send 2 messages");
    assert_eq!(describe(&poll), "poll up to 1 message from offset 7");
    assert_eq!(describe(b"zz"), "2 bytes that are no command");
    let sent = Answer::Sent { first: 4, count: 2 }.encode();
    assert_eq!(describe_answer(&sent), "2 messages from offset 4");
    assert_eq!(describe_answer(b""), "0 bytes that are no answer");
}
