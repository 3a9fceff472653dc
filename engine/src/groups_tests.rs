//! Whole runs of several groups: planes side by side, views apart, boots cut short, determinism.

use super::*;
use crate::frame::{PACKET_STRIDE, frame, packets};
use crate::ids::{GroupId, Process, ReplicaId, View};
use crate::scenario::decode;
use crate::trace::{EventKind, Fate, Recording};
use crate::vsr::host_note::HostNote;
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
    let (mut replies, mut views) = ([0; 4], [0; 4]);
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
        for (place, &group) in session.simulator().group_ids().iter().enumerate() {
            replies[place] += record.tally(group).replies;
            views[place] += record.tally(group).views_started;
        }
    }
    assert!(replies[1..].iter().all(|&count| count > 20), "{replies:?}");
    assert!(views.iter().all(|&count| count > 5), "{views:?}");
}

#[test]
fn dice_damage_every_group_and_say_which() {
    let link = "v=1&seed=2&clients=3&partitions=2&load=1&rot=0.1&misdirect=0.1";
    let mut session = session(link);
    session.advance_ticks(1_000);
    let record = session.simulator().world().record.borrow();
    let events = record.recorder().events().iter();
    let mut hits = [0; 2];
    for event in events {
        if let EventKind::Acted(act) = &event.kind {
            hits[usize::from(act.text.ends_with(".g1"))] += 1;
        }
    }
    assert!(hits.iter().all(|&count| count > 5), "{hits:?}");
    let refused = refused(&session);
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn a_disk_that_lied_about_one_group_is_not_believed_in_that_group() {
    // Only the second partition is written to while the disk lies.
    let writes = "1.warm.2.g1_when-r1-commit-3.g1.lie.1_a1.warm.4.g1_a1.crash.1_a50.restart.1";
    let mut session = session(&format!("v=1&load=0&partitions=2&do={writes}"));
    session.advance_ticks(3_000);
    assert_eq!(session.simulator().story_done(), 5);
    assert!(session.totals().disk_faults > 0);
    let violations = session.violations();
    assert!(violations.is_empty(), "{violations:?}");
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
fn metadata_boots_first_and_frames_wait_for_the_others_from_then_on() {
    let timers = "heartbeat=1&heartbeat-wait=300&delay-min=1&delay-mean=2";
    let link = format!("v=1&partitions=3&load=0.2&{timers}&act=200.crash.2_300.restart.2");
    let mut session = session(&link);
    session.advance_ticks(400);
    let record = session.simulator().world().record.borrow();
    let (mut booted, mut waited) = (Vec::new(), 0);
    for event in record
        .recorder()
        .events()
        .iter()
        .filter(|event| event.tick >= Tick(300))
    {
        match &event.kind {
            EventKind::Noted {
                group,
                note: Note::Booted { .. },
                ..
            } => booted.push(group.0),
            EventKind::Noted {
                replica: ReplicaId(2),
                group,
                note: Note::Hosting(HostNote::Parked { .. }),
            } => {
                assert!(!booted.contains(&group.0), "{event:?}");
                waited += 1;
            }
            EventKind::Ended {
                to: Process::Replica(ReplicaId(2)),
                fate,
                ..
            } => {
                let expected = if booted.is_empty() {
                    Fate::TargetDown
                } else {
                    Fate::Delivered
                };
                assert_eq!(*fate, expected, "{event:?}");
            }
            _ => {}
        }
    }
    assert_eq!(booted[0], 0);
    booted.sort_unstable();
    assert_eq!(booted, [0, 1, 2, 3]);
    assert!(waited > 0, "some groups were up before others");
}

#[test]
fn the_end_phase_waits_for_every_group() {
    let mut session = session("v=1&load=0&act=10.filter.0to12.Commit.meta");
    until(&mut session, "r1-view-change.meta", 3_000);
    session.act("settle").unwrap();
    session.advance_ticks(1);
    let settling = session.simulator().settling().unwrap();
    assert!(settling.outcome.is_none(), "{:?}", settling.outcome);
    session.settle();
    let leader = Awaited::from_text("primary.meta").unwrap();
    assert!(leader.holds(session.simulator(), &Baseline::default()));
    assert_eq!(
        session.simulator().settling().unwrap().outcome,
        Some(Outcome::Converged)
    );
}

#[test]
fn answers_of_every_partition_are_audited() {
    let mut session = session("v=1&clients=2&partitions=3&load=1");
    session.advance_ticks(500);
    let record = session.simulator().world().record.borrow();
    for &group in &session.simulator().group_ids()[1..] {
        let auditor = record.auditors.of(group).unwrap();
        // Those to registers among them.
        assert!(
            auditor.answers_compared() > record.tally(group).replies,
            "{group}"
        );
        assert!(record.tally(group).replies > 5, "{group}");
    }
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
