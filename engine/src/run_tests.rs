//! Whole runs: determinism, stopping, acting, stories.

use super::*;
use crate::scenario::BUILT_IN;
use crate::trace::Recording;

fn session(run: Run) -> Session {
    Session::new(run, Recorder::new(Recording::Nothing, 0)).unwrap()
}

#[test]
fn a_quiet_cluster_answers_its_client() {
    let mut session = session(Run::default());
    session.advance_ticks(1_000);
    session.settle();
    let verdict = session.verdict();
    assert_eq!(verdict.kind, VerdictKind::Converged, "{}", verdict.text);
    assert!(session.totals().replies > 10, "{:?}", session.totals());
}

#[test]
fn stopping_at_every_event_changes_no_hash() {
    let mut whole = session(Run::default());
    let mut stepped = session(Run::default());
    whole.advance_ticks(300);
    let mut events = 0;
    while stepped.cursor().tick < Tick(300) || !stepped.simulator().is_between_ticks() {
        stepped.advance_event(1);
        events += 1;
    }
    assert!(events > 300, "{events}");
    assert_eq!(whole.hash(), stepped.hash());
    assert_eq!(whole.schedule_hash(), stepped.schedule_hash());
}

#[test]
fn an_event_names_the_step_at_which_it_is_first_seen() {
    let recorder = Recorder::new(Recording::Everything, 100_000);
    let mut session = Session::new(Run::default(), recorder).unwrap();
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
    assert!(seen > 100, "{seen}");
}

#[test]
fn every_built_in_story_ends_as_it_says() {
    for story in BUILT_IN {
        let mut session = session(story.run());
        session.advance_ticks(20_000);
        session.settle();
        let verdict = session.verdict();
        assert_eq!(
            verdict.kind,
            VerdictKind::Converged,
            "{}: {} {:?}\n{}",
            story.name,
            verdict.text,
            session.violations(),
            session.link()
        );
        assert_eq!(
            session.simulator().story_done(),
            story.run().story.actions().len(),
            "{}: the story came to its end",
            story.name
        );
    }
}

/// Offset and drift of every clock, in the frame.
fn clocks(session: &Session) -> Vec<(i64, i32)> {
    let frame = crate::frame::frame(session);
    let clocks = frame.replicas.iter().map(|replica| replica.clock);
    clocks
        .map(|clock| (clock.offset_micros, clock.drift_ppm))
        .collect()
}

#[test]
fn clocks_are_drawn_in_the_first_tick_as_acts_that_a_script_can_name() {
    let drawn = "v=1&seed=5&load=0.5&clock-offset-max=10000&clock-drift-max=500";
    let mut random = session(crate::scenario::decode(drawn).unwrap());
    random.advance_ticks(1);
    let wrong = clocks(&random);
    assert!(
        wrong
            .iter()
            .all(|&(offset, drift)| offset != 0 && drift != 0),
        "{wrong:?}"
    );
    let mut scripted = session(crate::scenario::decode("v=1&seed=5&load=0.5").unwrap());
    for (replica, (offset, drift)) in wrong.iter().enumerate() {
        let signed = |value: i64| format!("{value}").replace('-', "m");
        // A tick has passed since they were set.
        let offset = signed((offset - i64::from(*drift).div_euclid(100)) / 1_000);
        let verb = format!("skew.{replica}.{offset}.d{}", signed(i64::from(*drift)));
        scripted.act(&verb).unwrap();
    }
    scripted.advance_ticks(1);
    assert_eq!(clocks(&scripted), wrong);
    random.advance_ticks(500);
    scripted.advance_ticks(500);
    assert_eq!(random.hash(), scripted.hash());
    assert!(random.totals().replies > 10);
    assert_eq!(random.violations(), []);
}

#[test]
fn a_clock_that_may_be_wrong_by_nothing_is_right_and_survives_a_crash_as_it_is() {
    let mut session = session(Run::default());
    session.advance_ticks(5);
    assert_eq!(clocks(&session), [(0, 0); 3]);
    session.act("skew.1.m500").unwrap();
    session.act("crash.1").unwrap();
    session.act("restart.1").unwrap();
    session.advance_ticks(20);
    assert_eq!(clocks(&session)[1], (-500_000, 0));
    session.act("skew.1.0").unwrap();
    session.advance_ticks(1);
    assert_eq!(clocks(&session)[1], (0, 0));
}
