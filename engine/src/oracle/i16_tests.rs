//! Clients that wait too long, views that are too many, and whatever excuses either.

use super::super::testing::{GROUP, World, chain};
use super::*;
use crate::ids::{Checksum, Op, RequestNumber};
use crate::trace::EventKind;
use crate::vsr::note::{EnterCause, Note};

fn ask(world: &mut World) {
    world.event(EventKind::Requested {
        group: GROUP,
        client: ClientId(0),
        to: ReplicaId(0),
        session: Op(1),
        request: RequestNumber(1),
        attempts: 0,
        body_checksum: Checksum(0),
    });
}

fn wait(world: &mut World, ticks: u64) {
    for _ in 0..ticks {
        world.tick();
    }
}

fn enter(world: &mut World, view: u32) {
    world.note(
        1,
        Note::ViewEntered {
            from: View(view - 1),
            view: View(view),
            cause: EnterCause::Votes { have: 2, need: 2 },
        },
    );
}

/// One way that is blocked.
fn block(world: &mut World, from: u8, to: u8) {
    let way = [from, to].map(|replica| Process::Replica(ReplicaId(replica)));
    world.weather.blocked.push((way[0], way[1]));
}

const LONG: u64 = 20_000;

#[test]
fn a_client_that_nobody_answers_is_found_once() {
    let mut world = World::new(3);
    ask(&mut world);
    wait(&mut world, LONG);
    assert_eq!(world.found(Property::I16), 1);
    let text = &world.kept()[0].text;
    assert!(
        text.contains("though 0, 1 and 2 could work together"),
        "{text}"
    );
    assert!(world.compared(Property::I16) > 100);
}

#[test]
fn replies_in_time_hold_and_nobody_waiting_is_nothing_wrong() {
    let mut world = World::new(3);
    wait(&mut world, LONG);
    for header in &chain(4) {
        ask(&mut world);
        wait(&mut world, 5_000);
        world.reply(header, 0);
    }
    assert_eq!(world.found(Property::I16), 0);
}

#[test]
fn outsiders_that_half_hear_are_no_excuse() {
    // A31: 2 hears nothing and says what it likes.
    let mut world = World::new(3);
    block(&mut world, 0, 2);
    block(&mut world, 1, 2);
    ask(&mut world);
    wait(&mut world, LONG);
    assert!(world.kept()[0].text.contains("though 0 and 1 could"));
}

#[test]
fn whatever_excuses_a_cluster_excuses_it() {
    type Change = fn(&mut World);
    let excuses: [(&str, Change); 7] = [
        ("no quorum runs", |world| {
            world.members[1].up = false;
            world.members[2].up = false;
        }),
        ("no quorum is hale", |world| {
            world.weather.sick = vec![ReplicaId(0), ReplicaId(2)];
        }),
        ("no two meet", |world| {
            for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                block(world, from, to);
            }
        }),
        ("the client does not reach all that run", |world| {
            let (client, replica) = (Process::Client(ClientId(0)), Process::Replica(ReplicaId(2)));
            world.weather.blocked = vec![(client, replica)];
        }),
        ("packets are as slow as waits", |world| {
            world.weather.pace.delay_mean_ticks = 26;
        }),
        ("a proof", |world| {
            world.weather.stall = Some("op 2 may have been committed".to_owned());
        }),
        ("a wait that has grown", |world| {
            world.members[1].view_change_wait = 8_000;
        }),
    ];
    for (name, excuse) in excuses {
        let mut world = World::new(3);
        excuse(&mut world);
        ask(&mut world);
        wait(&mut world, LONG);
        assert_eq!(world.found(Property::I16), 0, "{name}");
    }
}

#[test]
fn trouble_now_and_then_starts_the_wait_anew() {
    let mut world = World::new(3);
    ask(&mut world);
    for _ in 0..10 {
        wait(&mut world, 5_000);
        world.weather.sick = vec![ReplicaId(0), ReplicaId(1)];
        wait(&mut world, 20);
        world.weather.sick.clear();
    }
    assert_eq!(world.found(Property::I16), 0);
}

#[test]
fn a_core_is_kept_while_it_holds_and_is_the_largest_there_is() {
    let world = World::new(5);
    let find = |availability: &Availability, world: &World| {
        let core = availability.find_core(&world.members, &world.weather);
        core.iter().map(|replica| replica.0).collect::<Vec<_>>()
    };
    let mut availability = Availability::new(&world.roster);
    assert_eq!(find(&availability, &world), [0, 1, 2, 3, 4]);
    // 0 reaches 1 to 3, who do not all reach 4.
    let mut parted = World::new(5);
    block(&mut parted, 0, 4);
    block(&mut parted, 4, 1);
    assert_eq!(find(&availability, &parted), [0, 1, 2, 3]);
    availability.core = [2, 3, 4].map(ReplicaId).into_iter().collect();
    assert_eq!(find(&availability, &parted), [2, 3, 4]);
}

#[test]
fn too_many_views_in_a_calm_cluster_are_found() {
    let mut world = World::new(3);
    wait(&mut world, 100);
    for view in 1..=7 {
        enter(&mut world, view);
        wait(&mut world, 500);
    }
    assert_eq!(world.found(Property::I16), 1);
    let text = &world.kept()[0].text;
    assert!(
        text.starts_with("7 views began within 3000 ticks, up to view 7"),
        "{text}"
    );
}

#[test]
fn views_are_not_counted_where_packets_are_lost_nor_from_before_it_was_calm() {
    let mut world = World::new(3);
    world.weather.pace.lossy = true;
    wait(&mut world, 100);
    for view in 1..=20 {
        enter(&mut world, view);
        wait(&mut world, 500);
    }
    assert_eq!(world.found(Property::I16), 0);
    let mut world = World::new(3);
    block(&mut world, 0, 1);
    block(&mut world, 1, 2);
    block(&mut world, 2, 0);
    wait(&mut world, 100);
    for view in 1..=6 {
        enter(&mut world, view);
    }
    world.weather.blocked.clear();
    wait(&mut world, 100);
    enter(&mut world, 7);
    assert_eq!(world.found(Property::I16), 0);
    // Few views in a long time are fine.
    let mut world = World::new(3);
    wait(&mut world, 100);
    for view in 1..=20 {
        enter(&mut world, view);
        wait(&mut world, 1_000);
    }
    assert_eq!(world.found(Property::I16), 0);
}
