//! Whole runs of several groups: planes side by side, views apart, boots cut short, determinism.

use super::*;
use crate::frame::{PACKET_STRIDE, frame, packets};
use crate::ids::{GroupId, ReplicaId, View};
use crate::scenario::decode;
use crate::trace::{EventKind, Recording};
use crate::vsr::note::Note;

fn session(link: &str) -> Session {
    let recorder = Recorder::new(Recording::Everything, 1 << 18);
    Session::new(decode(link).unwrap(), recorder).unwrap()
}

fn view_of(session: &Session, replica: u8, group: GroupId) -> Option<View> {
    let group = session.simulator().group(ReplicaId(replica), group)?;
    let view = group.borrow().replica.view();
    Some(view)
}

fn until(session: &mut Session, condition: &str, ticks: u32) {
    let awaited = Awaited::from_text(condition).unwrap();
    assert!(session.advance_until(&awaited, ticks), "{condition}");
}

/// Texts of acts that were refused.
fn refused(session: &Session) -> Vec<String> {
    let record = session.simulator().world().record.borrow();
    let events = record.recorder().events().iter();
    let skipped = events.filter_map(|event| match &event.kind {
        EventKind::Skipped(skipped) => Some(skipped.because.to_string()),
        _ => None,
    });
    skipped.collect()
}

#[test]
fn all_groups_converge_under_heavy_faults() {
    for seed in 0..6 {
        let link = format!(
            "v=1&seed={seed}&clients=3&partitions=3&faults=heavy&load=1&crash=0.005&restart=0.02\
             &crash-primary=yes&rot=0.001&tear=0.5"
        );
        let mut session = session(&link);
        session.advance_ticks(3_000);
        session.settle();
        let verdict = session.verdict();
        assert_eq!(
            verdict.kind,
            VerdictKind::Converged,
            "{seed}: {} {:?}",
            verdict.text,
            session.violations()
        );
        let record = session.simulator().world().record.borrow();
        for &group in &session.simulator().group_ids()[1..] {
            assert!(record.tally(group).replies > 0, "{seed}: group {group}");
            assert!(record.tally(group).views_started > 0, "{seed}: {group}");
        }
    }
}

#[test]
fn equal_runs_of_many_groups_have_equal_hashes() {
    let link = "v=1&seed=5&clients=2&partitions=4&faults=heavy&load=0.3&crash=0.01&restart=0.05";
    let mut hashes = Vec::new();
    for _ in 0..2 {
        let mut session = session(link);
        session.advance_ticks(1_500);
        hashes.push((session.hash(), session.schedule_hash()));
    }
    let mut stepped = session(link);
    let mut events = 0;
    while stepped.cursor().tick < Tick(1_500) || !stepped.simulator().is_between_ticks() {
        stepped.advance_event(1);
        events += 1;
    }
    assert!(events > 2_000, "{events}");
    hashes.push((stepped.hash(), stepped.schedule_hash()));
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn a_step_shows_one_thing_alone_with_many_groups_too() {
    let mut session = session("v=1&partitions=3&clients=2&load=1");
    let mut seen = 0;
    while session.cursor().tick < Tick(200) {
        session.advance_event(1);
        let here = session.cursor();
        let record = session.simulator().world().record.borrow();
        for event in record.recorder().events().range(seen..) {
            let expected = if event.tick == here.tick {
                here.step
            } else {
                0
            };
            assert_eq!(event.step, expected, "{here:?}: {event:?}");
        }
        seen = record.recorder().events().len();
    }
}

#[test]
fn a_filter_in_one_group_moves_the_views_of_that_group_alone() {
    for (name, moved, still) in [
        ("meta", GROUP_METADATA, GROUP_PARTITION_0),
        ("g0", GROUP_PARTITION_0, GROUP_METADATA),
    ] {
        let mut session = session(&format!("v=1&load=0&act=10.filter.0to12.Commit.{name}"));
        session.advance_ticks(2_000);
        for replica in 1..3 {
            assert!(view_of(&session, replica, moved) > Some(View(0)), "{name}");
            assert_eq!(view_of(&session, replica, still), Some(View(0)), "{name}");
        }
    }
}

#[test]
fn conditions_are_asked_of_their_group() {
    let story = "do=10.filter.0to12.Commit.meta_when-new-view.meta.crash.0_a0.expect-view-0.0";
    let mut session = session(&format!("v=1&load=0&{story}"));
    until(&mut session, "r1-normal-v1.meta", 3_000);
    assert_eq!(view_of(&session, 1, GROUP_PARTITION_0), Some(View(0)));
    session.advance_ticks(5);
    assert_eq!(session.simulator().story_done(), 3);
    until(&mut session, "r1-primary-v1", 3_000);
}

#[test]
fn a_lane_opens_where_a_person_writes_first_and_groups_that_are_not_there_refuse() {
    let mut session =
        session("v=1&load=0&partitions=2&act=5.write.c0.g1_6.write.c0.g1_9.write.c0.g2");
    until(&mut session, "replied-c0-1.g1", 400);
    assert!(
        refused(&session)[0].contains("has no session yet"),
        "{:?}",
        refused(&session)
    );
    assert_eq!(refused(&session)[1], "there is no group g2 now");
    assert_eq!(session.totals().replies, 1);
    let record = session.simulator().world().record.borrow();
    assert_eq!(record.tally(GroupId(2)).replies, 1);
    assert_eq!(record.tally(GROUP_PARTITION_0).replies, 0);
}

#[test]
fn a_crash_between_the_boots_of_two_groups_is_survived() {
    let mut session = session("v=1&partitions=4&load=0.2&act=300.crash.1_400.restart.1");
    let booted = |session: &Session| {
        let groups = session.simulator().group_ids().iter();
        let hosted =
            groups.filter(|&&group| session.simulator().group(ReplicaId(1), group).is_some());
        hosted.count()
    };
    session.advance_ticks(400);
    while booted(&session) < 2 {
        session.advance_event(1);
    }
    assert_eq!(booted(&session), 2, "metadata and the first partition");
    session.act("crash.1").unwrap();
    session.advance_ticks(50);
    let lives = |session: &Session| {
        let groups = session.simulator().group_ids().iter();
        let superblocks =
            groups.map(|&group| session.simulator().superblock_of(ReplicaId(1), group));
        superblocks
            .map(|superblock| superblock.unwrap().incarnation.0)
            .collect::<Vec<u32>>()
    };
    assert!(
        lives(&session).ends_with(&[1, 1, 1]),
        "{:?}",
        lives(&session)
    );
    session.act("restart.1").unwrap();
    session.advance_ticks(500);
    session.settle();
    assert_eq!(session.verdict().kind, VerdictKind::Converged);
    assert!(lives(&session).iter().all(|&life| life >= 2));
}

#[test]
fn groups_boot_in_order_and_metadata_first() {
    let mut session = session("v=1&partitions=3&load=0.2&act=200.crash.2_300.restart.2");
    session.advance_ticks(400);
    let record = session.simulator().world().record.borrow();
    let events = record.recorder().events().iter();
    let booted: Vec<u64> = events
        .filter_map(|event| match &event.kind {
            EventKind::Noted {
                group,
                note: Note::Booted { .. },
                ..
            } => Some(group.0),
            _ => None,
        })
        .collect();
    assert_eq!(booted, [0, 1, 2, 3]);
}

#[test]
fn looking_at_another_group_changes_the_picture_and_nothing_else() {
    let link = "v=1&partitions=2&load=0.5";
    let (mut watched, mut other) = (session(link), session(link));
    watched.select_group("meta").unwrap();
    for _ in 0..300 {
        watched.advance_ticks(1);
        let _ = frame(&watched);
        other.advance_ticks(1);
    }
    assert_eq!(watched.hash(), other.hash());
    assert_eq!(watched.schedule_hash(), other.schedule_hash());
    let (meta, first) = (frame(&watched), frame(&other));
    assert_eq!((meta.group.as_str(), first.group.as_str()), ("meta", "g0"));
    assert_eq!(meta.replicas[0].head.0, 0);
    assert!(first.replicas[0].head.0 > 1);
    let names: Vec<&str> = meta
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["meta", "g0", "g1"]);
    assert!(
        meta.groups
            .iter()
            .all(|group| group.primary == Some(ReplicaId(0)))
    );
    assert_eq!(meta.groups[1].head, first.replicas[0].head);
    assert!(watched.select_group("g2").is_err());
    assert!(watched.select_group("g1").is_ok());
}

#[test]
fn packets_end_with_their_group() {
    let mut session = session("v=1&partitions=2&load=0");
    session.advance_ticks(52);
    let packets = packets(&session);
    let mut groups: Vec<u32> = packets
        .chunks(PACKET_STRIDE)
        .map(|packet| packet[10] as u32)
        .collect();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups, [0, 1, 2], "heartbeats of all");
}
