//! Whole runs of replicas with several shards: each group on its own, a hop in between, and the same
//! outcome as with one.

use super::late_groups_tests::{assert_served_from_parked, hosting};
use super::*;
use crate::frame::frame;
use crate::ids::{Checksum, GROUP_METADATA, GroupId, Op, Process, ReplicaId};
use crate::scenario::decode;
use crate::shard::owner;
use crate::trace::Recording;
use crate::vsr::host_note::HostNote;

fn session(link: &str) -> Session {
    let recorder = Recorder::new(Recording::Everything, 1 << 18);
    Session::new(decode(link).unwrap(), recorder).unwrap()
}

fn assert_converges(session: &mut Session) {
    session.settle();
    let verdict = session.verdict();
    let link = session.link();
    assert_eq!(
        verdict.kind,
        VerdictKind::Converged,
        "{link}: {}",
        verdict.text
    );
    let violations = session.violations();
    assert!(violations.is_empty(), "{link}: {violations:?}");
}

/// Where every replica stands in every group.
fn state(session: &Session) -> Vec<(GroupId, Op, Checksum)> {
    let simulator = session.simulator();
    let groups = simulator.group_ids().iter();
    let of = groups.flat_map(|&id| {
        (0..3).map(ReplicaId).map(move |replica| {
            let group = simulator.group(replica, id).unwrap();
            let group = group.borrow();
            let core = &group.replica;
            (id, core.commit_min(), core.digest(&group.machine))
        })
    });
    of.collect()
}

/// One client that asks when it is told to, so that what is asked does not depend on when answers come.
const ORDERED: &str = "v=1&seed=5&partitions=3&load=0&act=50.write.c0.g0_200.write.c0.g1\
                       _350.write.c0.g2_500.create.c0_900.write.c0.g0_1100.write.c0.g1_1300.write.c0.g3";

#[test]
fn a_faultless_run_ends_alike_with_any_number_of_shards() {
    let mut ends = Vec::new();
    for shards in 1..=4 {
        let mut session = session(&format!("{ORDERED}&shards={shards}"));
        session.advance_ticks(2_500);
        assert_eq!(session.simulator().group_ids().len(), 5, "{shards}");
        let totals = session.totals();
        assert_eq!(totals.hops > 0, shards > 1, "{shards}: {}", totals.hops);
        assert_eq!(totals.overflows, 0);
        ends.push(state(&session));
        assert_converges(&mut session);
    }
    assert!(ends[0].iter().any(|&(_, op, _)| op > Op(1)));
    for (place, end) in ends.iter().enumerate() {
        assert_eq!(*end, ends[0], "{} shards", place + 1);
    }
}

#[test]
fn the_frame_says_where_groups_live() {
    let session = session("v=1&seed=1&partitions=8&shards=4");
    let frame = frame(&session);
    assert_eq!(frame.shards.count, 4);
    assert_eq!(frame.groups[0].shard, 0);
    for group in &frame.groups {
        assert_eq!(group.shard, owner(group.id, 4).0);
    }
    assert!(frame.groups.iter().any(|group| group.shard == 3));
}

#[test]
fn a_channel_that_overflows_drops_frames_and_the_run_converges() {
    let mut session =
        session("v=1&seed=7&partitions=4&clients=4&load=1&retry=100&shards=4&mesh=1&delay-mean=3");
    session.advance_ticks(2_000);
    let overflows = session.totals().overflows;
    assert!(overflows > 50, "{overflows}");
    assert!(session.totals().commits > 50);
    let told = hosting(&session);
    let mut count = 0;
    for (_, group, note) in told {
        if let HostNote::Overflow {
            entry,
            owner: to,
            room,
            ..
        } = note
        {
            count += 1;
            assert_eq!((to, room), (owner(group, 4), 1));
            assert_ne!(entry, to);
        }
    }
    assert!(count > 50, "{count}");
    assert_converges(&mut session);
}

#[test]
fn a_group_founded_after_its_frames_came_is_served_from_where_they_waited() {
    // The metadata group's messages to 2 are late; those of the new group are not, and it lives on
    // another shard than the metadata group.
    let mut session = session(
        "v=1&seed=5&plane=metadata&load=0&shards=4&act=50.filter.01to2.Prepare-Commit.meta\
         _60.create.c0_200.write.c0.g1_260.filter.01to2.none.meta",
    );
    session.advance_ticks(250);
    let group = session.simulator().group_ids()[2];
    assert_ne!(owner(group, 4), owner(GROUP_METADATA, 4));
    assert!(session.totals().hops > 0);
    session.advance_ticks(1_250);
    assert_served_from_parked(&session, ReplicaId(2), group);
    assert_converges(&mut session);
}

#[test]
fn crashes_and_pauses_take_all_shards_along() {
    let mut session = session(
        "v=1&seed=3&partitions=4&clients=2&load=0.5&shards=4\
         &act=300.crash.1_500.restart.1_700.pause.2_900.resume.2",
    );
    session.advance_ticks(302);
    let live = |session: &Session, replica| session.simulator().world().executor.live_of(replica);
    assert_eq!(live(&session, 1), 0);
    session.advance_ticks(300);
    assert!(live(&session, 1) >= 4);
    for group in 0..=4 {
        let group = session.simulator().group(ReplicaId(1), GroupId(group));
        assert!(group.is_some());
    }
    session.advance_ticks(110);
    let executed = |session: &Session| -> Vec<Op> {
        let groups = (0..=4).map(GroupId);
        groups
            .map(|id| session.simulator().group(ReplicaId(2), id).unwrap())
            .map(|group| group.borrow().replica.commit_min())
            .collect()
    };
    let before = executed(&session);
    session.advance_ticks(150);
    assert_eq!(executed(&session), before);
    session.advance_ticks(500);
    assert_ne!(executed(&session), before);
    assert_converges(&mut session);
}

#[test]
fn faults_and_shards_together_converge_and_repeat() {
    let mut converged = 0;
    for seed in 0..6 {
        let shards = 2 + seed % 3;
        let link = format!(
            "v=1&seed={seed}&clients=3&plane=mixed&faults=heavy&load=0.5&crash=0.005&restart=0.02\
             &crash-primary=yes&tear=0.5&partitions=2&shards={shards}"
        );
        let (mut one, mut other) = (session(&link), session(&link));
        for session in [&mut one, &mut other] {
            session.advance_ticks(3_000);
        }
        assert_eq!(one.hash(), other.hash(), "{link}");
        assert_eq!(one.schedule_hash(), other.schedule_hash(), "{link}");
        assert_eq!(one.totals(), other.totals(), "{link}");
        assert!(one.totals().hops > 200, "{link}: {}", one.totals().hops);
        one.settle();
        assert_eq!(one.violations(), [], "{link}");
        // A half-connected primary outside the core may excuse a stall (A33).
        let verdict = one.verdict();
        let is_well = matches!(verdict.kind, VerdictKind::Converged | VerdictKind::Excused);
        assert!(is_well, "{link}: {}", verdict.text);
        converged += u32::from(verdict.kind == VerdictKind::Converged);
    }
    assert!(converged >= 4, "{converged}");
}

#[test]
fn a_copy_made_by_hand_moves_no_other_packet_to_another_shard() {
    let link = "v=1&seed=6&shards=4&partitions=4&clients=2&load=1";
    let (mut plain, mut copied) = (session(link), session(link));
    for session in [&mut plain, &mut copied] {
        session.advance_ticks(300);
    }
    let ends = (
        Process::Replica(ReplicaId(0)),
        Process::Replica(ReplicaId(1)),
    );
    let packets = copied.simulator().network().packets();
    let of_link = packets.filter(|view| (view.from, view.to) == ends);
    let original = of_link.map(|view| view.packet.number).max().unwrap();
    copied.act(&format!("dup.0to1.{original}")).unwrap();
    copied.act(&format!("drop.0to1.{}", original + 1)).unwrap();
    for tick in 0..300 {
        for session in [&mut plain, &mut copied] {
            session.advance_ticks(1);
        }
        assert_eq!(plain.schedule_hash(), copied.schedule_hash(), "{tick}");
        assert_eq!(plain.totals().hops, copied.totals().hops, "{tick}");
    }
    let acts = copied.totals().acts - plain.totals().acts;
    assert!(plain.totals().hops > 500 && acts == 2);
}
