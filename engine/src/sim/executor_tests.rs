//! Claims about the executor: fair, repeatable, and nothing lost or run twice.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

use super::*;
use crate::sim::promise::promise;

type Log = Rc<RefCell<Vec<u32>>>;

/// Yields once, then goes on.
async fn turn() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn run(executor: &Executor, choices: &mut ChoiceSource) -> u32 {
    let mut polls = 0;
    while executor.poll_one(choices).expect("no livelock") != Turn::Idle {
        polls += 1;
    }
    polls
}

fn spawn_log(executor: &Executor, owner: u16, log: &Log, mark: u32, turns: u32) -> TaskId {
    let log = Rc::clone(log);
    executor.spawn(owner, async move {
        for _ in 0..turns {
            log.borrow_mut().push(mark);
            turn().await;
        }
        log.borrow_mut().push(mark);
    })
}

fn shuffled(seed: u64, tick: u64) -> (Vec<u32>, u64) {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(seed);
    choices.enter_tick(tick);
    let log = Log::default();
    for mark in 0..6 {
        spawn_log(&executor, 0, &log, mark, 5);
    }
    assert_eq!(run(&executor, &mut choices), 36);
    (log.take(), executor.schedule_hash())
}

#[test]
fn the_same_seed_gives_the_same_interleaving_and_another_another() {
    assert_eq!(shuffled(1, 0), shuffled(1, 0));
    assert_ne!(shuffled(1, 0), shuffled(2, 0));
    assert_ne!(shuffled(1, 0), shuffled(1, 1));
    let (order, _) = shuffled(1, 0);
    assert!(!order.is_sorted(), "{order:?}");
}

#[test]
fn every_ready_task_is_picked_first_about_equally_often() {
    let mut first = [0_u32; 4];
    for seed in 0..2_000 {
        let executor = Executor::new();
        let log = Log::default();
        for mark in 0..4 {
            spawn_log(&executor, 0, &log, mark, 0);
        }
        run(&executor, &mut ChoiceSource::new(seed));
        first[log.borrow()[0] as usize] += 1;
    }
    assert!(first.iter().all(|&count| count > 400), "{first:?}");
}

#[test]
fn one_ready_task_draws_nothing() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(1);
    spawn_log(&executor, 0, &Log::default(), 0, 9);
    assert_eq!(run(&executor, &mut choices), 10);
    assert_eq!(choices.choices, 0);
}

#[test]
fn waking_twice_polls_once() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(1);
    let kept: Rc<RefCell<Option<Waker>>> = Rc::default();
    let sink = Rc::clone(&kept);
    executor.spawn(
        0,
        poll_fn(move |context| {
            *sink.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        }),
    );
    assert_eq!(run(&executor, &mut choices), 1);
    let waker = kept.borrow().clone().expect("polled once");
    waker.wake_by_ref();
    waker.wake_by_ref();
    waker.wake();
    assert_eq!(run(&executor, &mut choices), 1);
}

#[test]
fn a_task_spawns_from_inside_and_slots_are_used_again() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(3);
    let log = Log::default();
    let (inner, inner_log) = (executor.clone(), Rc::clone(&log));
    let parent = executor.spawn(7, async move {
        spawn_log(&inner, 7, &inner_log, 5, 0);
    });
    assert_eq!(run(&executor, &mut choices), 2);
    assert_eq!(*log.borrow(), [5]);
    assert_eq!(executor.live(), 0);
    let later = spawn_log(&executor, 7, &log, 6, 0);
    let slots = [parent.slot, 1];
    assert!(slots.contains(&later.slot), "{later:?}");
    assert_eq!(later.generation, 1);
}

#[test]
fn a_stale_waker_does_not_reach_the_next_task_of_its_slot() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(3);
    let kept: Rc<RefCell<Option<Waker>>> = Rc::default();
    let sink = Rc::clone(&kept);
    let first = executor.spawn(
        0,
        poll_fn(move |context| {
            *sink.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        }),
    );
    run(&executor, &mut choices);
    executor.abort_owner(0);
    let second = executor.spawn(0, std::future::pending());
    assert_eq!(second.slot, first.slot);
    assert_eq!(run(&executor, &mut choices), 1);
    kept.take().expect("kept").wake();
    assert!(!executor.has_ready());
}

struct Bell(Log, u32);

impl Drop for Bell {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

#[test]
fn abort_drops_the_tasks_of_one_owner_where_they_stand() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(3);
    let log = Log::default();
    for owner in [1, 2, 1] {
        let bell = Bell(Rc::clone(&log), u32::from(owner));
        executor.spawn(owner, async move {
            let _bell = bell;
            std::future::pending::<()>().await;
        });
    }
    run(&executor, &mut choices);
    spawn_log(&executor, 1, &log, 9, 0);
    executor.abort_owner(1);
    assert_eq!(*log.borrow(), [1, 1]);
    assert_eq!((executor.live_of(1), executor.live_of(2)), (0, 1));
    assert!(!executor.has_ready(), "the staged task is gone too");
    executor.abort_all();
    assert_eq!(*log.borrow(), [1, 1, 2]);
}

#[test]
#[should_panic(expected = "cannot abort its own owner")]
fn a_task_cannot_abort_its_own_owner() {
    let executor = Executor::new();
    let inner = executor.clone();
    executor.spawn(4, async move { inner.abort_owner(4) });
    run(&executor, &mut ChoiceSource::new(0));
}

#[test]
fn an_aborted_future_may_wake_a_task_that_is_gone() {
    struct Rings(Option<Waker>);
    impl Drop for Rings {
        fn drop(&mut self) {
            self.0.take().expect("a waker").wake();
        }
    }
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(3);
    let (resolver, awaited) = promise::<u8>();
    executor.spawn(2, async move {
        awaited.await;
    });
    run(&executor, &mut choices);
    let inner = executor.clone();
    executor.spawn(
        1,
        poll_fn(move |context| {
            let rings = Rings(Some(context.waker().clone()));
            inner.spawn(1, async move {
                let _rings = rings;
                std::future::pending::<()>().await;
            });
            Poll::Ready(())
        }),
    );
    run(&executor, &mut choices);
    executor.abort_owner(1);
    assert!(!executor.has_ready());
    resolver.resolve(1);
    assert_eq!(run(&executor, &mut choices), 1);
    assert_eq!(executor.live(), 0);
}

#[test]
fn tasks_of_a_paused_owner_wait_and_go_on_later() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(3);
    let log = Log::default();
    spawn_log(&executor, 1, &log, 1, 0);
    executor.pause(1, true);
    spawn_log(&executor, 1, &log, 1, 0);
    spawn_log(&executor, 2, &log, 2, 0);
    assert!(executor.is_paused(1));
    assert_eq!(run(&executor, &mut choices), 1);
    assert!(!executor.has_ready());
    assert_eq!(*log.borrow(), [2]);
    executor.pause(1, false);
    assert!(executor.has_ready());
    assert_eq!(run(&executor, &mut choices), 2);
    assert_eq!(*log.borrow(), [2, 1, 1]);
}

#[test]
fn an_endless_round_is_a_livelock() {
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(3);
    executor.spawn(0, async {
        loop {
            turn().await;
        }
    });
    let mut polls = 0;
    let livelock = loop {
        match executor.poll_one(&mut choices) {
            Ok(_) => polls += 1,
            Err(livelock) => break livelock,
        }
    };
    assert_eq!(polls, POLLS_PER_ROUND_MAX);
    assert_eq!(livelock.polls, POLLS_PER_ROUND_MAX);
    executor.begin_round();
    assert!(executor.poll_one(&mut choices).is_ok());
}

#[test]
fn the_schedule_hash_tells_polls_timers_and_spawns_apart() {
    let hash_after = |act: &dyn Fn(&Executor)| {
        let executor = Executor::new();
        act(&executor);
        executor.schedule_hash()
    };
    let mut hashes = vec![
        hash_after(&|_| ()),
        hash_after(&|executor| executor.note_timer(1)),
        hash_after(&|executor| executor.note_timer(2)),
        hash_after(&|executor| {
            executor.spawn(1, async {});
        }),
        hash_after(&|executor| {
            executor.spawn(2, async {});
        }),
        hash_after(&|executor| {
            executor.spawn(2, async {});
            run(executor, &mut ChoiceSource::new(0));
        }),
    ];
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
}
