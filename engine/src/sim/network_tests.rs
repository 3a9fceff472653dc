//! Claims about the network: its dice, its order, its bounds, and that luck stays where it is.

use std::collections::BTreeSet;

use super::*;
use crate::sim::link::WAITING_MAX;
use crate::sim::network_options::PartitionSymmetry;
use crate::vsr::message::MessageKind;

/// A payload that is its own checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note(pub(crate) MessageKind, pub(crate) u64);

impl Payload for Note {
    fn kind(&self) -> MessageKind {
        self.0
    }

    fn group(&self) -> crate::ids::GroupId {
        crate::ids::GROUP_PARTITION_0
    }

    fn checksum(&self) -> u64 {
        self.1
    }
}

pub(crate) fn r(replica: u8) -> Process {
    Process::Replica(ReplicaId(replica))
}

pub(crate) fn c(client: u8) -> Process {
    Process::Client(ClientId(client))
}

pub(crate) fn note(word: u64) -> Note {
    Note(MessageKind::Prepare, word)
}

/// A network of `replicas` and two clients.
pub(crate) fn network(replicas: u8, options: NetworkOptions) -> Network<Note> {
    Network::new(211, replicas, 2, options)
}

/// One arrival as told: tick, link, number, fate.
pub(crate) type Told = (u64, usize, u64, Fate);

pub(crate) fn drain(net: &mut Network<Note>, now: u64) -> Vec<Told> {
    let mut told = Vec::new();
    while let Some(arrival) = net.next_due(now) {
        let link = link_index(arrival.from, arrival.to);
        told.push((now, link, arrival.packet.number, arrival.fate));
    }
    told
}

/// Every replica and client sends to every other each third tick.
pub(crate) fn chatter(net: &mut Network<Note>, now: u64) {
    if !now.is_multiple_of(3) {
        return;
    }
    let links: Vec<(Process, Process)> = net.links(now).map(|link| (link.from, link.to)).collect();
    for (from, to) in links {
        net.submit(now, from, to, note(now), now);
    }
}

fn run(net: &mut Network<Note>, ticks: u64) -> (Vec<Told>, Vec<(u64, NetworkFault)>) {
    let (mut told, mut faults) = (Vec::new(), Vec::new());
    for now in 1..=ticks {
        told.extend(drain(net, now));
        chatter(net, now);
        faults.extend(net.tick_faults(now).into_iter().map(|fault| (now, fault)));
    }
    (told, faults)
}

fn count(told: &[Told], fate: Fate) -> usize {
    told.iter().filter(|told| told.3 == fate).count()
}

#[test]
fn every_packet_arrives_once_and_not_before_its_minimum() {
    let options = NetworkOptions {
        delay_min_ticks: 2,
        delay_mean_ticks: 4,
        ..NetworkOptions::none()
    };
    let mut net = network(3, options);
    let mut arrived = BTreeSet::new();
    let mut delays = Vec::new();
    for now in 1..=400 {
        while let Some(arrival) = net.next_due(now) {
            assert_eq!(arrival.fate, Fate::Delivered);
            let packet = &arrival.packet;
            assert_eq!(packet.due_tick, now);
            assert_eq!(packet.cause, packet.send_tick);
            delays.push(now - packet.send_tick);
            assert!(arrived.insert((arrival.from, arrival.to, packet.number)));
        }
        if now <= 300 {
            chatter(&mut net, now);
        }
    }
    assert_eq!(
        arrived.len(),
        100 * (6 + 12),
        "links of 3 replicas, 2 clients"
    );
    assert_eq!(net.packet_count(), 0);
    assert!(delays.iter().all(|&delay| delay >= 2));
    let mean = delays.iter().sum::<u64>() * 10 / delays.len() as u64;
    assert!(
        (38..48).contains(&mean),
        "a floor of 2 under a mean of 4: {mean} tenths"
    );
}

#[test]
fn packets_that_are_ready_together_come_in_any_order() {
    let mut net = network(2, NetworkOptions::none());
    let mut firsts = [0; 4];
    for burst in 0..200 {
        let now = burst * 100;
        net.clog(now, r(0), r(1), 60).expect("a link");
        for word in 0..4 {
            net.submit(now, r(0), r(1), note(word), 0);
        }
        let early: usize = (now + 1..now + 60)
            .map(|tick| drain(&mut net, tick).len())
            .sum();
        assert_eq!(early, 0);
        let first = net.next_due(now + 60).expect("the burst");
        firsts[usize::try_from(first.packet.payload.checksum()).expect("small")] += 1;
        assert_eq!(drain(&mut net, now + 60).len(), 3);
    }
    assert!(firsts.iter().all(|&count| count > 25), "{firsts:?}");
}

#[test]
fn stopping_between_deliveries_changes_nothing() {
    let mut whole = network(3, NetworkOptions::heavy());
    let (expected, _) = run(&mut whole, 300);
    let mut net = network(3, NetworkOptions::heavy());
    let mut told = Vec::new();
    for now in 1..=300 {
        while let Some(arrival) = net.next_due(now) {
            let looked = net.packets().count() + net.links(now).count();
            assert!(looked >= 18);
            let link = link_index(arrival.from, arrival.to);
            told.push((now, link, arrival.packet.number, arrival.fate));
        }
        chatter(&mut net, now);
        net.tick_faults(now);
    }
    assert!(told.len() > 1_000);
    assert_eq!(told, expected);
}

#[test]
fn loss_and_copies_happen_about_as_often_as_asked() {
    let options = NetworkOptions {
        loss_per_million: 100_000,
        replay_per_million: 50_000,
        ..NetworkOptions::none()
    };
    let mut net = network(3, options);
    let (told, _) = run(&mut net, 3_000);
    let sent = 1_000 * 18;
    let lost = count(&told, Fate::Lost);
    assert!((1_700..2_100).contains(&lost), "{lost} of {sent}");
    let copies = told.len() + net.packet_count() - sent;
    assert!((720..920).contains(&copies), "{copies} of {sent}");
}

#[test]
fn a_copy_is_a_packet_of_its_own_and_is_not_copied() {
    let options = NetworkOptions {
        replay_per_million: 1_000_000,
        ..NetworkOptions::none()
    };
    let mut net = network(2, options);
    net.submit(0, r(0), r(1), note(7), 3);
    let arrivals: Vec<_> = (1..200)
        .flat_map(|now| {
            let arrivals: Vec<_> = std::iter::from_fn(|| net.next_due(now)).collect();
            arrivals
        })
        .collect();
    let numbers: Vec<u64> = arrivals
        .iter()
        .map(|arrival| arrival.packet.number)
        .collect();
    assert_eq!(numbers, [1, 2]);
    let copy = arrivals[0].copy.as_ref().expect("certain");
    assert_eq!((copy.number, arrivals[1].packet.cause), (2, 3));
    assert_eq!(copy.due_tick, arrivals[1].packet.due_tick);
    assert!(arrivals[1].copy.is_none());
}

#[test]
fn a_full_link_pushes_a_drawn_packet_out() {
    let options = NetworkOptions {
        link_capacity: 4,
        delay_min_ticks: 10,
        ..NetworkOptions::none()
    };
    let mut net = network(2, options);
    let mut victims = BTreeSet::new();
    for burst in 0..40 {
        let now = burst * 1_000;
        let reports: Vec<_> = (0..5)
            .map(|word| net.submit(now, r(0), r(1), note(word), 0))
            .collect();
        assert!(reports[..4].iter().all(|report| report.evicted.is_none()));
        let victim = reports[4].evicted.as_ref().expect("the link was full");
        victims.insert(victim.payload.checksum());
        assert_eq!(net.packet_count(), 4);
        let arrived: usize = (now + 1..now + 200)
            .map(|tick| drain(&mut net, tick).len())
            .sum();
        assert_eq!(arrived, 4);
    }
    assert_eq!(victims.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn packets_behind_a_clog_lie_outside_the_capacity_and_have_a_bound() {
    let options = NetworkOptions {
        link_capacity: 2,
        delay_mean_ticks: 1,
        ..NetworkOptions::none()
    };
    let mut net = network(2, options);
    net.clog(0, r(0), r(1), 0).expect("a link");
    let mut evicted = 0;
    let rounds = WAITING_MAX as u64 + 10;
    for round in 0..rounds {
        let now = round * 40;
        let report = net.submit(now, r(0), r(1), note(round), 0);
        assert!(report.evicted.is_none());
        let told: Vec<Told> = (now + 1..now + 40)
            .flat_map(|tick| drain(&mut net, tick))
            .collect();
        evicted += count(&told, Fate::Evicted);
        assert_eq!(told.len(), count(&told, Fate::Evicted));
    }
    assert_eq!((net.packet_count(), evicted), (WAITING_MAX, 10));
    assert_eq!(net.heal(rounds * 40), 1);
    assert_eq!(drain(&mut net, rounds * 40).len(), WAITING_MAX);
}

#[test]
fn partitions_stop_replicas_and_never_clients_and_end() {
    let options = NetworkOptions {
        partition_per_million: 50_000,
        unpartition_per_million: 50_000,
        partition_stability_ticks: 20,
        unpartition_stability_ticks: 30,
        partition_mode: PartitionMode::UniformPartition,
        partition_symmetry: PartitionSymmetry::Symmetric,
        ..NetworkOptions::none()
    };
    let mut net = network(5, options);
    let (told, faults) = run(&mut net, 5_000);
    let stopped: Vec<&Told> = told
        .iter()
        .filter(|told| told.3 == Fate::Partitioned)
        .collect();
    assert!(stopped.len() > 1_000);
    let between_replicas = |told: &&Told| told.1 / 17 < 5 && told.1 % 17 < 5;
    assert!(stopped.iter().all(between_replicas));
    let began = |fault: &NetworkFault| matches!(fault, NetworkFault::PartitionBegan(_));
    assert!(faults.len() > 50 && faults[0].0 >= 30, "{:?}", faults[0]);
    for pair in faults.windows(2) {
        assert_ne!(began(&pair[0].1), began(&pair[1].1), "they take turns");
        let least = if began(&pair[0].1) { 20 } else { 30 };
        assert!(pair[1].0 - pair[0].0 > least, "{pair:?}");
    }
}

#[test]
fn clogs_hold_for_the_ticks_they_say() {
    let options = NetworkOptions {
        clog_per_million: 10_000,
        clog_mean_ticks: 10,
        ..NetworkOptions::none()
    };
    let mut net = network(3, options);
    let mut compared = 0;
    let mut standing: Vec<(Process, Process, u64)> = Vec::new();
    for now in 1..2_000 {
        for link in net.links(now) {
            let clog = standing
                .iter()
                .find(|clog| (clog.0, clog.1) == (link.from, link.to));
            assert_eq!(link.clogged_until, clog.map(|clog| clog.2));
            compared += usize::from(clog.is_some());
        }
        for fault in net.tick_faults(now) {
            match fault {
                NetworkFault::ClogBegan { from, to, ticks } => {
                    standing.push((from, to, now + 1 + ticks));
                }
                NetworkFault::ClogEnded { from, to } => {
                    standing.retain(|clog| {
                        let ends = (clog.0, clog.1) == (from, to);
                        assert!(!ends || clog.2 == now + 1);
                        !ends
                    });
                }
                NetworkFault::PartitionBegan(_) | NetworkFault::PartitionEnded(_) => {
                    panic!("no partitions were asked for")
                }
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_another() {
    let told = |seed| {
        let mut net = Network::new(seed, 3, 2, NetworkOptions::heavy());
        run(&mut net, 500)
    };
    assert_eq!(told(1), told(1));
    assert_ne!(told(1).0, told(2).0);
    assert_ne!(told(1).1, told(2).1);
}

#[test]
fn what_is_done_to_one_link_moves_no_other_links_luck() {
    let touched = link_index(r(0), r(1));
    let mut plain = network(3, NetworkOptions::heavy());
    let mut meddled = network(3, NetworkOptions::heavy());
    let mut compared = 0;
    for now in 1..=600 {
        match now {
            50 => meddled.hold(r(0), r(1), KindSet::from_iter([MessageKind::Prepare]), None),
            80 => meddled.release(r(0), r(1)),
            100 => meddled.mute(ProcessSet::from_iter([r(0)]), ProcessSet::from_iter([r(1)])),
            150 => meddled.join(ProcessSet::from_iter([r(0)]), ProcessSet::from_iter([r(1)])),
            200 => meddled.clog(now, r(0), r(1), 40),
            300 => meddled.delay(r(0), r(1), 9),
            _ => Ok(()),
        }
        .expect("possible");
        let others = |told: Vec<Told>| -> Vec<Told> {
            told.into_iter().filter(|told| told.1 != touched).collect()
        };
        let (one, two) = (
            others(drain(&mut plain, now)),
            others(drain(&mut meddled, now)),
        );
        assert_eq!(one, two, "tick {now}");
        compared += one.len();
        chatter(&mut plain, now);
        chatter(&mut meddled, now);
        assert_eq!(plain.tick_faults(now), meddled.tick_faults(now));
    }
    assert!(compared > 2_000, "{compared}");
}

#[test]
fn a_copy_by_hand_moves_no_other_packets_luck() {
    let run = |copied: bool| {
        let mut net = network(2, NetworkOptions::heavy());
        let mut fates = Vec::new();
        for now in 1..=400 {
            if copied && now == 31 {
                let number = net
                    .packets()
                    .find(|view| view.from == r(0) && view.to == r(1));
                let number = number.expect("something is on its way").packet.number;
                net.duplicate_packet(now, r(0), r(1), number, 0)
                    .expect("there");
            }
            while let Some(arrival) = net.next_due(now) {
                let packet = &arrival.packet;
                if packet.is_copy {
                    continue;
                }
                fates.push((now, arrival.from, arrival.to, packet.draw_key, arrival.fate));
            }
            chatter(&mut net, now);
            net.tick_faults(now);
        }
        fates
    };
    let (plain, meddled) = (run(false), run(true));
    assert!(plain.len() > 500);
    assert_eq!(plain, meddled);
}

#[test]
fn a_fault_reads_as_the_act_that_would_do_the_same() {
    let mut parts = Partition {
        muted: ProcessSet::from_iter([r(2)]),
        others: ProcessSet::from_iter([r(0), r(1)]),
        both_ways: true,
    };
    let clog = NetworkFault::ClogBegan {
        from: c(0),
        to: r(2),
        ticks: 25,
    };
    let cut = NetworkFault::PartitionBegan(parts).act_text();
    parts.both_ways = false;
    let said = [
        cut,
        NetworkFault::PartitionBegan(parts).act_text(),
        NetworkFault::PartitionEnded(parts).act_text(),
        clog.act_text(),
    ];
    let expected = ["cut.2-01", "mute.2-01", "join.2-01", "clog.c0to2.25"];
    assert_eq!(said.map(|text| text.expect("an act")), expected);
}
