//! Whole runs in which groups come and go: founded everywhere, however late a replica learns of them,
//! and gone for good once their deletion is executed.

use super::*;
use crate::ids::{GROUP_METADATA, GroupId, Op, ReplicaId};
use crate::scenario::decode;
use crate::trace::{EventKind, Recording};
use crate::vsr::host_note::HostNote;
use crate::vsr::note::Note;

fn session(link: &str) -> Session {
    let recorder = Recorder::new(Recording::Everything, 1 << 18);
    Session::new(decode(link).unwrap(), recorder).unwrap()
}

/// What was said of hosting, by whom and of which group.
pub(super) fn hosting(session: &Session) -> Vec<(ReplicaId, GroupId, HostNote)> {
    let record = session.simulator().world().record.borrow();
    let events = record.recorder().events().iter();
    events
        .filter_map(|event| match &event.kind {
            EventKind::Noted {
                replica,
                group,
                note: Note::Hosting(note),
            } => Some((*replica, *group, *note)),
            _ => None,
        })
        .collect()
}

#[test]
fn partitions_come_and_go_and_the_cluster_converges() {
    let (mut founded, mut removed) = (0, 0);
    for seed in 0..4 {
        let link = format!("v=1&seed={seed}&clients=2&plane=metadata&load=0.2");
        let mut session = session(&link);
        session.advance_ticks(4_000);
        let notes = hosting(&session);
        let of = |wanted| notes.iter().filter(|(_, _, note)| *note == wanted).count();
        founded += of(HostNote::Founded);
        removed += of(HostNote::Removed);
        session.settle();
        let verdict = session.verdict();
        assert_eq!(
            verdict.kind,
            VerdictKind::Converged,
            "{seed}: {}",
            verdict.text
        );
        let simulator = session.simulator();
        for &group in simulator.group_ids() {
            for replica in (0..3).map(ReplicaId) {
                assert!(
                    simulator.group(replica, group).is_some(),
                    "{seed}: {replica} {group}"
                );
            }
        }
    }
    assert!(founded > 20 && removed > 5, "{founded} {removed}");
}

#[test]
fn planes_side_by_side_converge_under_heavy_faults() {
    for seed in 0..6 {
        let link = format!(
            "v=1&seed={seed}&clients=3&plane=mixed&faults=heavy&load=0.5&crash=0.005&restart=0.02\
             &crash-primary=yes&tear=0.5"
        );
        let mut session = session(&link);
        session.advance_ticks(4_000);
        session.settle();
        let verdict = session.verdict();
        assert_eq!(
            verdict.kind,
            VerdictKind::Converged,
            "{seed}: {} {:?}",
            verdict.text,
            session.violations()
        );
    }
}

#[test]
fn a_replica_that_learns_late_of_a_group_starts_it_in_view_0() {
    // 2 hears nothing while the group is created and lives through a view change.
    let mut session = session(
        "v=1&seed=3&plane=metadata&load=0&act=100.cut.2-01_120.create.c0_400.write.c0.g1\
         _500.cut.0-1_501.join.01-2_520.cut.0-12_2500.heal",
    );
    session.advance_ticks(500);
    let group = session.simulator().group_ids()[2];
    assert!(group.made_by() > Op(0));
    assert!(session.simulator().group(ReplicaId(2), group).is_none());
    session.advance_ticks(6_000);
    let founded = hosting(&session);
    let late = founded.iter().find(|(replica, of, note)| {
        (*replica, *of) == (ReplicaId(2), group) && *note == HostNote::Founded
    });
    assert!(late.is_some(), "{founded:?}");
    session.settle();
    assert_eq!(
        session.verdict().kind,
        VerdictKind::Converged,
        "{}",
        session.verdict().text
    );
    assert!(session.violations().is_empty());
}

#[test]
fn frames_for_a_group_still_to_come_wait_for_it() {
    // The metadata group's messages to 2 are late; those of the new group are not.
    let mut session = session(
        "v=1&seed=5&plane=metadata&load=0&act=50.filter.01to2.Prepare-Commit.meta\
         _60.create.c0_200.write.c0.g1_260.filter.01to2.none.meta",
    );
    session.advance_ticks(1_500);
    let group = session.simulator().group_ids()[2];
    assert_served_from_parked(&session, ReplicaId(2), group);
}

/// Frames waited at a replica before it founded their group, and it works.
pub(super) fn assert_served_from_parked(session: &Session, at: ReplicaId, group: GroupId) {
    let notes = hosting(session).into_iter();
    let of_it: Vec<HostNote> = notes
        .filter(|&(replica, of, _)| (replica, of) == (at, group))
        .map(|(_, _, note)| note)
        .collect();
    let parked = of_it
        .iter()
        .position(|note| matches!(note, HostNote::Parked { .. }));
    let founded = of_it.iter().position(|note| *note == HostNote::Founded);
    assert!(parked.is_some() && parked < founded, "{of_it:?}");
    let group = session.simulator().group(at, group).unwrap();
    assert!(group.borrow().replica.commit_min() > Op(0));
}

#[test]
fn a_deleted_group_is_gone_for_good_also_after_a_power_cut() {
    let mut session = session(
        "v=1&seed=9&plane=metadata&load=0&act=60.create.c0_300.write.c0.g1_500.delete.c0\
         _800.crash.0_800.crash.1_800.crash.2_900.restart.0_900.restart.1_900.restart.2",
    );
    session.advance_ticks(400);
    let group = session.simulator().group_ids()[2];
    session.advance_ticks(3_000);
    let simulator = session.simulator();
    assert_eq!(simulator.group_ids(), [GROUP_METADATA, GroupId(1)]);
    for replica in (0..3).map(ReplicaId) {
        assert!(simulator.group(replica, group).is_none(), "{replica}");
    }
    session.settle();
    assert_eq!(
        session.verdict().kind,
        VerdictKind::Converged,
        "{}",
        session.verdict().text
    );
}

#[test]
fn a_group_that_a_task_holds_cannot_be_taken_away() {
    let session = session("v=1&seed=1&load=0");
    let host = session.simulator().places()[0].host();
    let handle = host.get(GroupId(1)).unwrap();
    let lease = handle.lease();
    assert!(
        host.remove(GroupId(1)).is_err(),
        "a task would come back to nothing"
    );
    drop(lease);
    assert!(host.remove(GroupId(1)).is_ok());
    assert!(!host.hosts(GroupId(1)));
}
