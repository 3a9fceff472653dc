//! Replicas that ask for what they have, that never ask, and those with an excuse.

use super::super::testing::{World, chain, fork};
use super::*;
use crate::vsr::io::Timer;
use crate::vsr::message::MessageKind;
use crate::vsr::note::{Ignored, Note, StateNote};

fn ask(world: &mut World, from: u64, through: u64) {
    world.note(
        1,
        Note::RepairRequested {
            to: ReplicaId(0),
            from: Op(from),
            through: Op(through),
        },
    );
}

fn fill(world: &mut World, op: u64) {
    world.note(
        1,
        Note::Filled {
            op: Op(op),
            checksum: chain(op)[0].checksum,
            repair: true,
        },
    );
}

fn duplicate(world: &mut World, op: u64) {
    world.note(
        1,
        Note::MessageIgnored {
            kind: MessageKind::RepairPrepare,
            from: Some(ReplicaId(0)),
            reason: Ignored::Duplicate { op: Op(op) },
        },
    );
}

/// 0 and 2 executed nine ops; 1 holds three, knows nine and lacks op 4.
fn lagging() -> World {
    let mut world = World::new(3);
    for header in &chain(9) {
        for replica in [0, 2] {
            world.execute(replica, header, header.op.0);
        }
    }
    let member = &mut world.members[1];
    member.head = Op(9);
    member.held = Op(3);
    member.holes = true;
    member.fetchable = true;
    member.timers = member.timers.with(Timer::RepairRetry);
    world
}

fn wait(world: &mut World, ticks: u64) {
    for _ in 0..ticks {
        world.tick();
    }
}

#[test]
fn the_livelock_of_chunk_and_fence_is_found() {
    // Iggy's pull request 4433: the same chunk is fetched for ever, since commits stand still.
    let mut world = World::new(3);
    for _ in 0..10 {
        ask(&mut world, 1, 4);
        for op in 1..=4 {
            duplicate(&mut world, op);
        }
    }
    assert_eq!(world.found(Property::I13), 1);
    assert!(
        world.kept()[0]
            .text
            .starts_with("1 asks again for bodies from op 1 on"),
        "{}",
        world.kept()[0].text
    );
}

#[test]
fn asking_on_and_asking_for_what_was_dropped_is_fine() {
    let mut world = World::new(3);
    for from in 1..20 {
        ask(&mut world, from, from);
        fill(&mut world, from);
    }
    for _ in 0..10 {
        ask(&mut world, 20, 20);
        fill(&mut world, 20);
        world.note(
            1,
            Note::EntryDropped {
                op: Op(20),
                checksum: chain(1)[0].checksum,
                view: crate::ids::View(0),
            },
        );
    }
    // What never comes may be asked for without end; a lone duplicate or two are no fault.
    for _ in 0..50 {
        ask(&mut world, 21, 21);
    }
    for _ in 0..3 {
        duplicate(&mut world, 21);
        ask(&mut world, 21, 21);
    }
    assert_eq!(world.found(Property::I13), 0);
    assert!(world.compared(Property::I13) > 80);
}

#[test]
fn a_replica_that_gets_nothing_though_it_could_be_helped_is_found_once() {
    let mut world = lagging();
    wait(&mut world, 20_000);
    assert_eq!(world.found(Property::I13), 1);
    let text = &world.kept()[0].text;
    assert!(
        text.starts_with("1 has lacked the body of op 4") && text.contains("though 0 has it"),
        "{text}"
    );
}

#[test]
fn any_body_starts_the_wait_anew() {
    let mut world = lagging();
    for op in 5..=9 {
        wait(&mut world, 2_000);
        fill(&mut world, op);
    }
    assert_eq!(world.found(Property::I13), 0);
    wait(&mut world, 4_000);
    assert_eq!(world.found(Property::I13), 1);
}

/// 1 executed three ops and needs a state, which 0 and 2 have.
fn without_its_state() -> World {
    let mut world = lagging();
    for replica in [0, 2] {
        world.members[replica].checkpoint = Op(8);
    }
    let member = &mut world.members[1];
    member.commit_min = Op(3);
    member.needs_state = true;
    member.fetchable = false;
    member.timers = member.timers.with(Timer::StateRetry);
    world
}

#[test]
fn a_replica_that_gets_no_part_of_a_state_though_peers_have_it_is_found() {
    let mut world = without_its_state();
    wait(&mut world, 20_000);
    assert_eq!(world.found(Property::I13), 1);
    let found = world.kept().iter();
    let mut found = found.filter(|violation| violation.property == Property::I13);
    let text = &found.next().unwrap().text;
    assert!(
        text.starts_with("1 has lacked the state of op 4 or a later one"),
        "{text}"
    );
}

#[test]
fn parts_of_a_state_and_a_disk_that_writes_it_are_progress() {
    let mut world = without_its_state();
    for index in 0..10 {
        wait(&mut world, 2_000);
        let (op, have, of) = (Op(8), index + 1, 10);
        let part = StateNote::TransferChunk {
            op,
            index,
            have,
            of,
        };
        world.note(1, Note::State(part));
    }
    world.members[1].writes_pending = 1;
    wait(&mut world, 20_000);
    assert_eq!(world.found(Property::I13), 0);
}

#[test]
fn nobody_is_blamed_for_a_state_that_nobody_has() {
    let mut world = without_its_state();
    world.members[0].checkpoint = Op(0);
    world.members[2].commit_min = Op(7);
    wait(&mut world, 20_000);
    assert_eq!(world.found(Property::I13), 0);
}

#[test]
fn whatever_excuses_a_replica_excuses_it() {
    type Change = fn(&mut World);
    let excuses: [(&str, Change); 10] = [
        ("down", |world| world.members[1].up = false),
        ("recovering", |world| {
            world.members[1].status = Status::Recovering;
        }),
        ("another log", |world| {
            world.members[1].view = crate::ids::View(1);
        }),
        ("paused or slow", |world| {
            world.weather.sick = vec![ReplicaId(1)];
        }),
        ("the helpers paused or slow", |world| {
            world.weather.sick = vec![ReplicaId(0), ReplicaId(2)];
        }),
        ("deaf", |world| {
            let from = [0, 2].map(|replica| Process::Replica(ReplicaId(replica)));
            let to = Process::Replica(ReplicaId(1));
            world.weather.blocked = from.map(|from| (from, to)).into();
        }),
        ("damaged at the helpers", |world| {
            world.logs.remove(0, 4);
            world.logs.remove(2, 4);
        }),
        ("another identity at the helpers", |world| {
            for replica in [0, 2] {
                world.logs.put(replica, &fork(&chain(4)[3]));
            }
        }),
        ("not committed", |world| world.members[1].held = Op(9)),
        ("slow packets", |world| {
            world.weather.pace.delay_mean_ticks = 40;
        }),
    ];
    for (name, excuse) in excuses {
        let mut world = lagging();
        excuse(&mut world);
        wait(&mut world, 20_000);
        assert_eq!(world.found(Property::I13), 0, "{name}");
    }
    // One helper of two is enough, and one way that is blocked is not.
    let mut world = lagging();
    let way = [0, 1].map(|replica| Process::Replica(ReplicaId(replica)));
    world.weather.blocked = vec![(way[0], way[1])];
    wait(&mut world, 20_000);
    assert!(world.kept()[0].text.contains("though 2 has it"));
}

#[test]
fn trouble_now_and_then_starts_the_wait_anew() {
    let mut world = lagging();
    for _ in 0..20 {
        wait(&mut world, 2_000);
        world.weather.sick = vec![ReplicaId(1)];
        wait(&mut world, 20);
        world.weather.sick.clear();
    }
    assert_eq!(world.found(Property::I13), 0);
}

#[test]
fn where_dice_lose_packets_the_wait_is_longer() {
    let mut world = lagging();
    world.weather.pace.lossy = true;
    wait(&mut world, 10_000);
    assert_eq!(world.found(Property::I13), 0);
    wait(&mut world, 3_000);
    assert_eq!(world.found(Property::I13), 1);
}
