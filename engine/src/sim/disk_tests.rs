//! Claims about a disk: what survives a crash, and when it is done.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::sim::executor::{ChoiceSource, Executor, Turn};

pub(in crate::sim) struct Bench {
    pub(in crate::sim) clock: Clock,
    pub(in crate::sim) disk: Disk<u32>,
}

pub(in crate::sim) fn bench() -> Bench {
    let clock = Clock::new();
    let disk = Disk::new(clock.clone(), 7, 1, DiskOptions::default());
    Bench { clock, disk }
}

impl Bench {
    /// Completes everything under way, in the order of its alarms.
    pub(in crate::sim) fn settle(&self) -> Vec<Completion> {
        let mut done = Vec::new();
        while let Some(deadline) = self.clock.next_deadline_micros() {
            self.clock.advance(deadline - self.clock.now_micros());
            let alarm = self.clock.fire_next().and_then(|fired| fired.alarm);
            let alarm = alarm.expect("the disk sets alarms alone");
            assert_eq!(alarm.owner, 1);
            done.extend(self.disk.complete(alarm.number));
        }
        done
    }

    pub(in crate::sim) fn write(&self, address: u64, content: u32) {
        let mut done = self.disk.write(address, content);
        assert!(!is_done(&mut done));
        self.settle();
        assert!(is_done(&mut done));
    }

    pub(in crate::sim) fn sync(&self) -> u32 {
        drop(self.disk.sync());
        let done = self.settle();
        match done[..] {
            [
                Completion {
                    kind: CompletionKind::Synced { writes },
                    ..
                },
            ] => writes,
            _ => panic!("{done:?}"),
        }
    }

    fn read(&self, address: u64) -> Option<u32> {
        self.sector(address).block()
    }

    pub(in crate::sim) fn sector(&self, address: u64) -> Sector<u32> {
        let mut read = self.disk.read(vec![address]);
        self.settle();
        match poll(&mut read) {
            Poll::Ready(sectors) => sectors[0],
            Poll::Pending => panic!("the read is done"),
        }
    }
}

fn poll<T>(promise: &mut Promise<T>) -> Poll<T> {
    Pin::new(promise).poll(&mut Context::from_waker(Waker::noop()))
}

fn is_done(promise: &mut Promise<()>) -> bool {
    poll(promise).is_ready()
}

#[test]
fn a_written_block_can_be_read_and_only_a_sync_makes_it_survive() {
    let bench = bench();
    bench.write(5, 50);
    assert_eq!((bench.read(5), bench.read(6)), (Some(50), None));
    assert_eq!(bench.sync(), 1);
    bench.write(6, 60);
    bench.write(5, 51);
    assert_eq!(bench.read(5), Some(51));
    assert_eq!(bench.disk.unsynced(), 2);
    assert_eq!(bench.disk.crash().writes_lost, 2);
    assert_eq!((bench.read(5), bench.read(6)), (Some(50), None));
    assert_eq!(bench.disk.scan(0..100), [(5, Sector::Block(50))]);
}

#[test]
fn operations_under_way_at_a_crash_never_complete() {
    let bench = bench();
    bench.write(1, 10);
    let mut lost = [
        bench.disk.write(2, 20),
        bench.disk.write(3, 30),
        bench.disk.sync(),
    ];
    assert_eq!(bench.disk.pending(), 3);
    assert_eq!(
        bench.disk.crash().writes_lost,
        3,
        "two under way, one not synced"
    );
    assert_eq!(bench.settle(), []);
    assert!(lost.iter_mut().all(|promise| !is_done(promise)));
    assert_eq!((bench.disk.pending(), bench.read(2)), (0, None));
    bench.write(2, 21);
    assert_eq!(bench.sync(), 1);
    assert_eq!(bench.disk.durable(2).block(), Some(21));
}

#[test]
fn a_sync_covers_what_was_complete_when_it_was_asked_for() {
    let (mut covered, mut left) = (0, 0);
    for seed in 0..200 {
        let clock = Clock::new();
        let disk = Disk::new(clock.clone(), seed, 1, DiskOptions::default());
        let bench = Bench { clock, disk };
        bench.write(1, 10);
        let _early = bench.disk.write(2, 20);
        let _sync = bench.disk.sync();
        bench.settle();
        assert_eq!(bench.disk.durable(1).block(), Some(10));
        assert_eq!(
            bench.disk.durable(2).block(),
            None,
            "complete too late for that sync"
        );
        covered += 1;
        left += bench.disk.crash().writes_lost;
    }
    assert_eq!((covered, left), (200, 200));
}

#[test]
fn a_sync_under_way_keeps_the_version_it_covers() {
    let bench = bench();
    bench.write(1, 10);
    // A slow sync, so that the second write is done before it.
    bench.disk.set_options(DiskOptions {
        sync_min_micros: 1_000_000,
        ..DiskOptions::default()
    });
    let _sync = bench.disk.sync();
    let _again = bench.disk.write(1, 11);
    let done = bench.settle();
    assert_eq!(done[0].kind, CompletionKind::Wrote { address: 1 });
    assert_eq!(done[1].kind, CompletionKind::Synced { writes: 1 });
    assert_eq!(bench.read(1), Some(11));
    assert_eq!(bench.disk.durable(1).block(), Some(10));
    bench.disk.crash();
    assert_eq!(bench.read(1), Some(10));
}

#[test]
fn of_two_writes_to_one_address_the_later_asked_for_wins() {
    let mut overtaken = 0;
    for seed in 0..100 {
        let clock = Clock::new();
        let disk = Disk::new(clock.clone(), seed, 1, DiskOptions::default());
        let bench = Bench { clock, disk };
        let _first = bench.disk.write(1, 10);
        let _second = bench.disk.write(1, 11);
        let done = bench.settle();
        overtaken += u32::from(done[0].number == 2);
        assert_eq!(bench.read(1), Some(11));
        assert_eq!(bench.sync(), 2);
        assert_eq!(bench.disk.durable(1).block(), Some(11));
    }
    assert!((20..80).contains(&overtaken), "{overtaken}");
}

#[test]
fn a_write_and_its_sync_take_about_a_tick() {
    let clock = Clock::new();
    let disk: Disk<u32> = Disk::new(clock.clone(), 3, 1, DiskOptions::default());
    let bench = Bench { clock, disk };
    for word in 0..500 {
        bench.write(u64::from(word), word);
        bench.sync();
    }
    let mean = bench.clock.now_micros() / 500;
    assert!((8_000..10_500).contains(&mean), "{mean}");
}

#[test]
fn latencies_are_keyed_by_replica_and_operation() {
    let order = |replica| {
        let clock = Clock::new();
        let disk = Disk::new(clock.clone(), 7, replica, DiskOptions::default());
        let writes: Vec<_> = (0..20).map(|word| disk.write(word, word)).collect();
        assert_eq!(writes.len(), disk.pending());
        clock.advance(1_000_000);
        let fired = std::iter::from_fn(|| clock.fire_next());
        fired.map(|fired| fired.deadline_micros).collect::<Vec<_>>()
    };
    assert_eq!(order(1).len(), 20);
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_formatted_block_is_durable_at_once_and_can_be_overwritten() {
    let bench = bench();
    bench.disk.format(9, 90);
    assert_eq!(
        (bench.disk.durable(9).block(), bench.read(9)),
        (Some(90), Some(90))
    );
    bench.write(9, 91);
    assert_eq!(bench.read(9), Some(91));
    assert_eq!(bench.sync(), 1);
    assert_eq!(bench.disk.durable(9).block(), Some(91));
}

#[test]
fn a_task_that_awaits_the_disk_is_woken_by_its_alarm() {
    let bench = bench();
    let executor = Executor::new();
    let mut choices = ChoiceSource::new(1);
    let disk = bench.disk.clone();
    executor.spawn(1, async move {
        disk.write(1, 10).await;
        disk.sync().await;
        assert_eq!(
            disk.read(vec![1, 2]).await,
            [Sector::Block(10), Sector::Empty]
        );
        disk.write(2, 20).await;
    });
    let mut completions = 0;
    loop {
        while executor.poll_one(&mut choices).expect("quiet") != Turn::Idle {}
        let Some(deadline) = bench.clock.next_deadline_micros() else {
            break;
        };
        bench.clock.advance(deadline - bench.clock.now_micros());
        let alarm = bench.clock.fire_next().and_then(|fired| fired.alarm);
        let done = bench.disk.complete(alarm.expect("a disk's").number);
        completions += u32::from(done.is_some());
    }
    assert_eq!((completions, executor.live()), (4, 0));
    assert_eq!(bench.disk.scan(0..9), [(1, Sector::Block(10))]);
}
