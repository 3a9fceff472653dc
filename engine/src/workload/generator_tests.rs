//! The generator: keyed luck, and choices that suit what is known.

use std::collections::BTreeSet;

use super::*;

const KNOWN: Known = Known {
    next_offset: 100,
    consumers: 0b0101,
};

fn decoded(body: &Rc<[u8]>) -> Command<'_> {
    Command::decode(body).unwrap()
}

#[test]
fn the_nth_request_of_a_client_depends_on_nothing_but_client_n_and_what_is_known() {
    let mut alone = Generator::new(7, 1_000);
    let mut crowded = Generator::new(7, 900_000);
    for n in 0..200 {
        crowded.next(ClientId(1), KNOWN);
        if n % 3 == 0 {
            crowded.next_send(ClientId(0));
            crowded.next_poll(ClientId(0), KNOWN);
        }
        let (ours, theirs) = (
            alone.next(ClientId(0), KNOWN),
            crowded.next(ClientId(0), KNOWN),
        );
        assert_eq!(ours, theirs);
    }
    let mut other_seed = Generator::new(8, 1_000);
    let other: Vec<_> = (0..20)
        .map(|_| other_seed.next(ClientId(0), KNOWN))
        .collect();
    let mut ours = Generator::new(7, 1_000);
    let ours: Vec<_> = (0..20).map(|_| ours.next(ClientId(0), KNOWN)).collect();
    assert_ne!(ours, other);
}

#[test]
fn commands_come_in_the_shares_of_their_weights() {
    let mut generator = Generator::new(1, 0);
    let mut counts = [0_u32; 5];
    for _ in 0..10_000 {
        let body = generator.next(ClientId(3), KNOWN);
        let place = match decoded(&body) {
            Command::SendMessages { .. } => 0,
            Command::Poll { .. } => 1,
            Command::StoreOffset { .. } => 2,
            Command::DeleteOffset { .. } => 3,
            Command::GetOffset { .. } => 4,
        };
        counts[place] += 1;
    }
    for (count, (_, weight)) in counts.into_iter().zip(WEIGHTS) {
        let expected = weight * 100;
        assert!(count.abs_diff(expected) < 200, "{counts:?}");
    }
}

#[test]
fn no_two_messages_are_alike() {
    let mut generator = Generator::new(1, 0);
    let (mut seen, mut sizes) = (BTreeSet::new(), BTreeSet::new());
    for n in 0..2_000_u32 {
        let client = ClientId(u8::try_from(n % 8).unwrap());
        let body = if n % 5 == 0 {
            generator.next_send(client)
        } else {
            generator.next(client, KNOWN)
        };
        if let Command::SendMessages { payloads } = decoded(&body) {
            sizes.insert(payloads.count());
            for payload in payloads.iter() {
                assert!(seen.insert(payload.to_vec()), "{payload:?}");
            }
        }
    }
    assert_eq!(sizes, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn both_outcomes_of_each_command_are_aimed_at() {
    let mut generator = Generator::new(1, 0);
    let mut aims = BTreeSet::new();
    for _ in 0..2_000 {
        let body = generator.next(ClientId(0), KNOWN);
        match decoded(&body) {
            Command::SendMessages { .. } => {}
            Command::Poll { from, .. } => {
                aims.insert(("poll", from < KNOWN.next_offset));
            }
            Command::StoreOffset { offset, consumer } => {
                assert!(consumer < CONSUMERS);
                aims.insert(("store", offset < KNOWN.next_offset));
            }
            Command::DeleteOffset { consumer } => {
                aims.insert(("delete", KNOWN.consumers >> consumer & 1 == 1));
            }
            Command::GetOffset { consumer } => {
                aims.insert(("get", KNOWN.consumers >> consumer & 1 == 1));
            }
        }
    }
    assert_eq!(aims.len(), 8, "{aims:?}");
}

#[test]
fn an_empty_or_an_enormous_partition_can_be_asked_too() {
    for next_offset in [0, 1, u64::from(u32::MAX), u64::MAX] {
        for consumers in [0, u8::MAX] {
            let mut generator = Generator::new(1, 0);
            for _ in 0..500 {
                let known = Known {
                    next_offset,
                    consumers,
                };
                let body = generator.next(ClientId(0), known);
                assert!(Command::decode(&body).is_ok());
            }
        }
    }
}

#[test]
fn clients_ask_as_often_as_the_load_says() {
    let asks = |load| {
        let generator = Generator::new(3, load);
        let wants = |&tick: &u64| generator.wants(Tick(tick), ClientId(1));
        (0..10_000).filter(wants).count()
    };
    assert_eq!(asks(0), 0);
    assert_eq!(asks(1_000_000), 10_000);
    assert!((180..=220).contains(&asks(20_000)), "{}", asks(20_000));
}

#[test]
fn clients_do_not_all_ask_in_the_same_ticks() {
    let generator = Generator::new(3, 500_000);
    let differ = |&tick: &u64| {
        generator.wants(Tick(tick), ClientId(0)) != generator.wants(Tick(tick), ClientId(1))
    };
    assert!((400..600).contains(&(0..1_000).filter(differ).count()));
}
