//! Claims about what a person may do to the network, and that a random run can be written down.

use super::*;
use crate::sim::network::NetworkFault;
use crate::sim::network::tests::{Note, Told, c, chatter, drain, network, note, r};
use crate::sim::network_options::{NetworkOptions, PartitionMode};
use crate::vsr::message::MessageKind;

fn side(processes: &[Process]) -> ProcessSet {
    processes.iter().copied().collect()
}

fn kinds(kinds: &[MessageKind]) -> KindSet {
    kinds.iter().copied().collect()
}

fn fates(told: &[Told]) -> Vec<Fate> {
    told.iter().map(|told| told.3).collect()
}

/// Sends one packet and says what became of it within 100 ticks.
fn send(net: &mut Network<Note>, from: Process, to: Process, payload: Note) -> Vec<Fate> {
    net.submit(0, from, to, payload, 0);
    let told: Vec<Told> = (1..100).flat_map(|now| drain(net, now)).collect();
    fates(&told)
}

#[test]
fn a_cut_stops_both_ways_a_mute_one_and_a_join_lifts_them() {
    let mut net = network(3, NetworkOptions::none());
    net.cut(side(&[r(0), r(1)]), side(&[r(2)]))
        .expect("possible");
    assert_eq!(send(&mut net, r(0), r(2), note(0)), [Fate::Cut]);
    assert_eq!(send(&mut net, r(2), r(1), note(0)), [Fate::Cut]);
    assert_eq!(send(&mut net, r(0), r(1), note(0)), [Fate::Delivered]);
    assert_eq!(send(&mut net, c(0), r(2), note(0)), [Fate::Delivered]);
    let again = net.mute(side(&[r(2)]), side(&[r(0)]));
    assert_eq!(again, Err(NetworkRefusal::CutAlready));
    net.join(side(&[r(0), r(1)]), side(&[r(2)]))
        .expect("possible");
    net.mute(side(&[c(0)]), side(&[r(0)]))
        .expect("clients' links too");
    assert_eq!(send(&mut net, c(0), r(0), note(0)), [Fate::Cut]);
    assert_eq!(send(&mut net, r(0), c(0), note(0)), [Fate::Delivered]);
    assert_eq!(send(&mut net, r(2), r(0), note(0)), [Fate::Delivered]);
}

#[test]
fn what_cannot_be_done_says_why() {
    let mut net = network(3, NetworkOptions::none());
    let said = [
        net.cut(side(&[r(0), r(1)]), side(&[r(1)]))
            .expect_err("both"),
        net.cut(side(&[c(0)]), side(&[c(1)])).expect_err("no link"),
        net.join(side(&[r(0)]), side(&[r(1)])).expect_err("not cut"),
        net.clog(0, r(0), r(5), 1).expect_err("no replica 5"),
        net.release(r(0), r(1)).expect_err("nothing held"),
        net.drop_packet(r(0), r(1), 57).expect_err("no packet"),
    ]
    .map(|refusal| refusal.to_string());
    assert_eq!(
        said,
        [
            "1 is on both sides",
            "no link leads from c0 to c1",
            "nothing there is cut",
            "there is no link 0to5",
            "nothing is held on 0to1",
            "packet 0to1.57 is not on its way",
        ]
    );
}

#[test]
fn a_filter_drops_types_and_a_hold_keeps_them_until_released() {
    let mut net = network(3, NetworkOptions::none());
    let commit = Note(MessageKind::Commit, 1);
    net.filter(r(0), r(1), kinds(&[MessageKind::Prepare]), None)
        .expect("a link");
    assert_eq!(send(&mut net, r(0), r(1), note(0)), [Fate::Filtered]);
    assert_eq!(send(&mut net, r(0), r(1), commit), [Fate::Delivered]);
    net.filter(r(0), r(1), KindSet::default(), None)
        .expect("a link");
    net.hold(r(0), r(1), kinds(&[MessageKind::Prepare]), None)
        .expect("a link");
    net.hold(r(0), r(1), kinds(&[MessageKind::Reply]), None)
        .expect("a link");
    assert_eq!(send(&mut net, r(0), r(1), note(0)), []);
    assert_eq!(send(&mut net, r(0), r(1), commit), [Fate::Delivered]);
    let view = net.link(100, r(0), r(1)).expect("a link");
    assert_eq!((view.waiting, view.travelling), (1, 0));
    net.release(r(0), r(1)).expect("held");
    assert_eq!(fates(&drain(&mut net, 100)), [Fate::Delivered]);
}

#[test]
fn layers_never_reset_each_other() {
    let options = NetworkOptions {
        partition_per_million: 1_000_000,
        unpartition_per_million: 1_000_000,
        partition_mode: PartitionMode::IsolateSingle,
        ..NetworkOptions::none()
    };
    let mut net = network(2, options);
    net.cut(side(&[r(0)]), side(&[r(1)])).expect("possible");
    net.filter(r(0), r(1), kinds(&[MessageKind::Commit]), None)
        .expect("a link");
    let mut partitioned = [0; 2];
    for now in 1..=20 {
        net.tick_faults(now);
        let view = net.link(now, r(0), r(1)).expect("a link");
        partitioned[usize::from(view.partitioned)] += 1;
        assert!(view.cut && view.filtered == kinds(&[MessageKind::Commit]));
    }
    assert_eq!(partitioned, [10, 10]);
    net.tick_faults(21);
    net.join(side(&[r(0)]), side(&[r(1)])).expect("cut");
    let view = net.link(21, r(0), r(1)).expect("a link");
    assert!(view.partitioned && !view.cut && !view.filtered.is_empty());
}

#[test]
fn a_packet_is_dropped_copied_or_delivered_by_name() {
    let mut net = network(2, NetworkOptions::none());
    net.hold(r(0), r(1), kinds(&[MessageKind::Prepare]), None)
        .expect("a link");
    net.clog(0, r(0), r(1), 0).expect("a link");
    for word in 1..=3 {
        net.submit(0, r(0), r(1), note(word), 0);
    }
    let early: usize = (1..100).map(|now| drain(&mut net, now).len()).sum();
    assert_eq!(early, 0);
    let dropped = net.drop_packet(r(0), r(1), 2).expect("there");
    assert_eq!(dropped.payload.1, 2);
    let copy = net.duplicate_packet(100, r(0), r(1), 3, 9).expect("there");
    assert_eq!(copy.number, 4);
    net.deliver_packet(100, r(0), r(1), 3).expect("there");
    let arrival = net.next_due(100).expect("express");
    assert_eq!((arrival.packet.number, arrival.fate), (3, Fate::Delivered));
    assert!(net.next_due(100).is_none());
    let left: Vec<u64> = net.packets().map(|view| view.packet.number).collect();
    assert_eq!(left, [4, 1]);
    let gone = net.deliver_packet(100, r(0), r(1), 3).expect_err("gone");
    assert_eq!(gone.to_string(), "packet 0to1.3 is not on its way");
}

#[test]
fn a_packet_that_would_be_stopped_is_not_handed_on() {
    let mut net = network(2, NetworkOptions::none());
    net.submit(0, r(0), r(1), note(1), 0);
    net.cut(side(&[r(0)]), side(&[r(1)])).expect("possible");
    let refusal = net.deliver_packet(1, r(0), r(1), 1).expect_err("cut");
    let said = "packet 0to1.1 would not get through: the link is cut";
    assert_eq!(refusal.to_string(), said);
    assert_eq!(net.packet_count(), 1);
}

#[test]
fn a_delay_and_a_loss_are_the_links_own() {
    let mut net = network(2, NetworkOptions::none());
    let plain = net.submit(0, r(0), r(1), note(0), 0).due_tick;
    let mut slow = network(2, NetworkOptions::none());
    slow.delay(r(0), r(1), 30).expect("a link");
    assert_eq!(slow.submit(0, r(0), r(1), note(0), 0).due_tick, plain + 30);
    slow.set_loss(r(1), r(0), Some(1_000_000)).expect("a link");
    assert_eq!(
        send(&mut slow, r(1), r(0), note(0)),
        [Fate::Lost, Fate::Delivered]
    );
}

#[test]
fn heal_lifts_everything_and_a_core_only_its_own() {
    let options = NetworkOptions {
        partition_per_million: 1_000_000,
        partition_mode: PartitionMode::UniformSize,
        clog_per_million: 1_000_000,
        clog_mean_ticks: 1_000_000,
        ..NetworkOptions::none()
    };
    let mut net = network(3, options);
    net.tick_faults(1);
    net.set_options(NetworkOptions::none());
    net.cut(side(&[r(0)]), side(&[r(1), r(2), c(0)]))
        .expect("possible");
    net.hold(r(1), r(0), kinds(&[MessageKind::Commit]), None)
        .expect("a link");
    let broken = |net: &Network<Note>| {
        let views = net.links(2);
        let bad = views.filter(|view| {
            view.cut
                || view.partitioned
                || view.clogged_until.is_some()
                || !view.held_kinds.is_empty()
        });
        bad.map(|view| (view.from, view.to)).collect::<Vec<_>>()
    };
    assert_eq!(broken(&net).len(), 18, "all are clogged");
    assert_eq!(net.heal_among(2, side(&[r(0), r(1)])), 2);
    assert_eq!(broken(&net).len(), 16);
    assert!(net.partition().is_some());
    assert_eq!(net.heal(2), 16);
    assert_eq!(broken(&net), []);
    assert!(net.partition().is_none());
    assert_eq!(net.heal(2), 0);
}

/// What shrinking rests on: a run whose faults were dice is the same run when they are acts.
#[test]
fn a_random_run_written_as_acts_delivers_the_same() {
    let ticks = 800;
    let mut dice = network(5, NetworkOptions::heavy());
    let mut acts: Vec<(u64, Act)> = Vec::new();
    let mut expected = Vec::new();
    for now in 1..=ticks {
        while let Some(arrival) = dice.next_due(now) {
            let (from, to) = (arrival.from, arrival.to);
            let number = arrival.packet.number;
            match arrival.fate {
                Fate::Lost => acts.push((now, Act::Drop(from, to, number))),
                Fate::Delivered => expected.push((now, from, to, number)),
                _ => {}
            }
            if arrival.copy.is_some() {
                acts.push((now, Act::Copy(from, to, number)));
            }
        }
        chatter(&mut dice, now);
        for fault in dice.tick_faults(now) {
            acts.push((now + 1, Act::Fault(fault)));
        }
    }
    let quiet = NetworkOptions {
        delay_mean_ticks: NetworkOptions::heavy().delay_mean_ticks,
        ..NetworkOptions::none()
    };
    let mut script = network(5, quiet);
    let mut told = Vec::new();
    for now in 1..=ticks {
        for (_, act) in acts.iter().filter(|(tick, _)| *tick == now) {
            act.apply(&mut script, now);
        }
        while let Some(arrival) = script.next_due(now) {
            if arrival.fate == Fate::Delivered {
                told.push((now, arrival.from, arrival.to, arrival.packet.number));
            }
        }
        chatter(&mut script, now);
    }
    assert!(acts.len() > 500 && expected.len() > 2_000);
    assert_eq!(told, expected);
}

enum Act {
    Drop(Process, Process, u64),
    Copy(Process, Process, u64),
    Fault(NetworkFault),
}

impl Act {
    fn apply(&self, net: &mut Network<Note>, now: u64) {
        match *self {
            Self::Drop(from, to, number) => net.drop_packet(from, to, number).map(drop),
            Self::Copy(from, to, number) => {
                net.duplicate_packet(now, from, to, number, 0).map(drop)
            }
            Self::Fault(NetworkFault::PartitionBegan(parts)) if parts.both_ways => {
                net.cut(parts.muted, parts.others)
            }
            Self::Fault(NetworkFault::PartitionBegan(parts)) => net.mute(parts.muted, parts.others),
            Self::Fault(NetworkFault::PartitionEnded(parts)) => net.join(parts.muted, parts.others),
            Self::Fault(NetworkFault::ClogBegan { from, to, ticks }) => {
                net.clog(now, from, to, ticks)
            }
            Self::Fault(NetworkFault::ClogEnded { .. }) => Ok(()),
        }
        .expect("what the dice did can be done by hand");
    }
}
