//! Claims about virtual time.

use super::*;

fn poll(sleep: &mut Sleep) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    Pin::new(sleep).poll(&mut context).is_ready()
}

fn alarm(number: u64) -> Alarm {
    Alarm { owner: 3, number }
}

fn fire_all(clock: &Clock) -> Vec<u64> {
    std::iter::from_fn(|| clock.fire_next())
        .map(|fired| fired.sequence)
        .collect()
}

#[test]
fn a_run_begins_with_2026() {
    let clock = Clock::new();
    assert_eq!(clock.now_micros(), 0);
    let days_since_1970 = clock.realtime_micros() / 86_400_000_000;
    assert_eq!(days_since_1970, 56 * 365 + 14);
    assert_eq!(clock.realtime_micros() % 86_400_000_000, 0);
}

#[test]
fn timers_fire_by_deadline_and_then_by_the_order_they_were_set() {
    let clock = Clock::new();
    for (number, duration) in [30, 10, 20, 10, 31].into_iter().enumerate() {
        clock.set_alarm(duration, alarm(number as u64));
    }
    assert_eq!(clock.next_deadline_micros(), Some(10));
    clock.advance(9);
    assert_eq!(clock.fire_next(), None);
    clock.advance(21);
    assert_eq!(fire_all(&clock), [1, 3, 2, 0]);
    clock.advance(1);
    let last = clock.fire_next().expect("due");
    assert_eq!((last.deadline_micros, last.alarm), (31, Some(alarm(4))));
    assert_eq!(clock.next_deadline_micros(), None);
}

#[test]
fn a_sleep_is_ready_once_fired_and_its_deadline_is_fixed_when_made() {
    let clock = Clock::new();
    let mut sleep = clock.sleep(10);
    clock.advance(10);
    assert!(!poll(&mut sleep), "due, but not fired");
    assert_eq!(
        clock.fire_next().map(|fired| fired.deadline_micros),
        Some(10)
    );
    assert!(poll(&mut sleep));
    assert!(poll(&mut clock.sleep(0)), "zero is ready at once");
    assert_eq!(clock.timers(), 0);
}

#[test]
fn a_dropped_sleep_never_fires() {
    let clock = Clock::new();
    let kept = clock.sleep(10);
    drop(clock.sleep(5));
    clock.set_alarm(5, alarm(1));
    clock.advance(10);
    assert_eq!(fire_all(&clock), [2, 0]);
    drop(kept);
    assert_eq!(clock.timers(), 0);
}

#[test]
fn cancelled_timers_do_not_pile_up() {
    let clock = Clock::new();
    let _kept = clock.sleep(1_000_000);
    let mut most = 0;
    for _ in 0..10_000 {
        drop(clock.sleep(1_000_000));
        most = most.max(clock.timers());
    }
    assert!(most <= SWEEP_MIN + 2, "{most}");
    clock.advance(1_000_000);
    assert_eq!(fire_all(&clock), [0]);
}

#[test]
fn a_replica_may_be_off_either_way() {
    let clock = Clock::new();
    let replica = ReplicaClock::new(clock.clone());
    clock.advance(10_000);
    assert_eq!(replica.realtime_micros(), clock.realtime_micros());
    let skew = |offset_ms, drift_ppm| Skew {
        offset_ms,
        drift_ppm,
    };
    replica.set_skew(skew(-500, 0));
    assert_eq!(replica.realtime_micros() + 500_000, clock.realtime_micros());
    replica.clone().set_skew(skew(2, 0));
    assert_eq!(replica.offset_micros(), 2_000);
}

#[test]
fn a_drifting_clock_goes_wrong_from_when_it_was_set_and_never_runs_backwards() {
    let clock = Clock::new();
    let replica = ReplicaClock::new(clock.clone());
    clock.advance(3_000_000);
    for drift_ppm in [-100_000, 20, 100_000] {
        replica.set_skew(Skew {
            offset_ms: 0,
            drift_ppm,
        });
        assert_eq!(replica.offset_micros(), 0);
        let mut last = replica.realtime_micros();
        for _ in 0..100 {
            clock.advance(10_000);
            assert!(replica.realtime_micros() > last);
            last = replica.realtime_micros();
        }
        assert_eq!(replica.offset_micros(), i64::from(drift_ppm));
    }
}
