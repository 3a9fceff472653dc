//! Whole runs under each preset: both planes are asked, nothing is wrong, and it is seen that it was
//! not for want of asking.

use super::{Action, Coverage, Outcome};
use crate::run::{Session, VerdictKind};
use crate::scenario::decode;
use crate::trace::{Recorder, Recording};

/// Plays a run to its end.
fn played(link: &str) -> Session {
    let recorder = Recorder::new(Recording::Nothing, 0);
    let mut session = Session::new(decode(link).unwrap(), recorder).unwrap();
    session.advance_ticks(3_000);
    session.settle();
    session
}

/// What some runs came to; none breaks a property or stalls without excuse.
fn covered(plane: &str, faults: &str) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in 1..=4 {
        let link = format!(
            "v=1&seed={seed}&clients=4&partitions=2&load=0.5&plane={plane}&retention=16&{faults}"
        );
        let session = played(&link);
        assert_eq!(session.violations(), [], "{link}");
        // A half-connected primary outside the core may excuse a stall (A33).
        let kind = session.verdict().kind;
        let is_well = matches!(kind, VerdictKind::Converged | VerdictKind::Excused);
        assert!(is_well, "{link}: {kind:?}");
        let record = session.simulator().world().record.borrow();
        let of_run = record.auditors.coverage();
        assert_eq!(of_run.total(), session.totals().replies, "{link}");
        coverage.add(&of_run);
    }
    coverage
}

fn answers(coverage: &Coverage, is_of_partition: bool) -> u64 {
    let of_plane = Action::ALL
        .into_iter()
        .filter(|action| action.is_of_partition() == is_of_partition);
    let pairs = of_plane.flat_map(|action| {
        let outcomes = action.outcomes().iter();
        outcomes.map(move |outcome| (action, *outcome))
    });
    pairs
        .map(|(action, outcome)| coverage.of(action, outcome))
        .sum()
}

const CALM: &str = "faults=none";
const ROUGH: &str = "faults=light&crash=0.002&restart=0.02&crash-primary=yes";

#[test]
fn the_partition_plane_is_asked_alone_and_messages_go() {
    for faults in [CALM, ROUGH] {
        let coverage = covered("partition", faults);
        assert_eq!(answers(&coverage, false), 0);
        assert!(answers(&coverage, true) > 400);
        assert!(coverage.of(Action::Poll, Outcome::Trimmed) > 0);
        assert!(coverage.of(Action::StoreOffset, Outcome::OutOfRange) > 0);
    }
}

#[test]
fn the_metadata_plane_is_asked_alone() {
    for faults in [CALM, ROUGH] {
        let coverage = covered("metadata", faults);
        assert_eq!(answers(&coverage, true), 0);
        assert!(answers(&coverage, false) > 400);
        let metadata = Action::ALL.into_iter().filter(|of| !of.is_of_partition());
        let missing: Vec<Action> = metadata
            .filter(|action| coverage.of(*action, Outcome::Success) == 0)
            .collect();
        assert_eq!(missing, [], "{faults}");
    }
}

#[test]
fn both_planes_are_asked_at_once() {
    for plane in ["mixed", "uniform"] {
        for faults in [CALM, ROUGH] {
            let coverage = covered(plane, faults);
            let (partition, metadata) = (answers(&coverage, true), answers(&coverage, false));
            assert!(partition > 50 && metadata > 50, "{partition} {metadata}");
        }
    }
}

#[test]
fn what_a_replicated_topic_loses_with_every_memory_is_told_and_nothing_else_breaks() {
    let each = |verb: &str| {
        [0, 1, 2]
            .map(|r| verb.replace('R', &r.to_string()))
            .join("_")
    };
    let acts = [
        each("1900.slow.R.300"),
        each("2000.crash.R"),
        each("2020.restart.R"),
    ];
    let mut excused = 0;
    for seed in 1..=6 {
        let link = format!(
            "v=1&seed={seed}&clients=4&load=1&plane=mixed&ack-quorum-ratio=0&act={}",
            acts.join("_")
        );
        let recorder = Recorder::new(Recording::Nothing, 0);
        let mut session = Session::new(decode(&link).unwrap(), recorder).unwrap();
        session.keep_histories();
        session.advance_ticks(3_000);
        session.settle();
        session.search_histories();
        assert_eq!(session.violations(), [], "{link}");
        excused += session.totals().histories_excused;
    }
    assert!(excused > 0, "nothing was lost, so nothing was shown");
}
