//! Claims about what goes wrong with a disk, and about what never does while nobody asks for it.

use super::*;
use crate::journal::Sector::{Block as Whole, Damaged, Empty};
use crate::sim::disk::DiskOptions;
use crate::sim::disk::tests::{Bench, bench};
use crate::sim::timer::Clock;

fn seeded(seed: u64) -> Bench {
    let clock = Clock::new();
    let disk = Disk::new(clock.clone(), seed, 1, DiskOptions::default());
    Bench { clock, disk }
}

fn put(bench: &Bench, address: u64, content: u32) {
    bench.write(address, content);
    bench.sync();
}

#[test]
fn rot_is_told_outlives_a_crash_and_a_rewrite_mends_it() {
    let bench = bench();
    put(&bench, 5, 50);
    assert!(bench.disk.damage(5));
    assert!(!bench.disk.damage(5), "no news");
    assert_eq!(bench.sector(5), Damaged);
    assert_eq!(bench.disk.pristine(5), Some(50));
    bench.disk.crash();
    assert_eq!(bench.disk.scan(0..9), [(5, Damaged)]);
    bench.write(5, 51);
    assert_eq!(bench.sector(5), Whole(51), "the cache is sound");
    assert_eq!(bench.disk.durable(5), Damaged, "the medium is not yet");
    bench.sync();
    assert_eq!(
        (bench.disk.durable(5), bench.sector(5)),
        (Whole(51), Whole(51))
    );
}

#[test]
fn an_erased_block_was_never_written() {
    let bench = bench();
    put(&bench, 5, 50);
    bench.disk.damage(5);
    bench.disk.erase(5);
    assert_eq!(bench.sector(5), Empty);
    assert_eq!(bench.disk.scan(0..9), []);
    put(&bench, 5, 51);
    bench.write(5, 52);
    bench.disk.erase(5);
    assert_eq!(
        bench.sector(5),
        Whole(52),
        "a younger write is still in the cache"
    );
}

#[test]
fn a_misdirected_block_leaves_what_stood_there_and_overwrites_what_it_hits() {
    let bench = bench();
    put(&bench, 5, 49);
    put(&bench, 5, 50);
    put(&bench, 6, 60);
    bench.disk.damage(6);
    assert!(bench.disk.misdirect(5, 6));
    assert_eq!((bench.sector(5), bench.sector(6)), (Whole(49), Whole(50)));
    put(&bench, 5, 51);
    put(&bench, 6, 61);
    assert_eq!((bench.sector(5), bench.sector(6)), (Whole(51), Whole(61)));
    put(&bench, 7, 70);
    assert!(bench.disk.misdirect(7, 8));
    assert_eq!((bench.sector(7), bench.sector(8)), (Empty, Whole(70)));
    assert!(!bench.disk.misdirect(7, 8), "nothing is there any more");
}

#[test]
fn a_crash_that_tears_damages_what_is_not_durable_and_nothing_else() {
    let bench = bench();
    put(&bench, 1, 10);
    bench.write(2, 20);
    let _under_way = bench.disk.write(3, 30);
    let _read = bench.disk.read(vec![1]);
    bench.disk.set_tearing(true);
    let outage = bench.disk.crash();
    assert_eq!((outage.writes_lost, outage.torn), (2, vec![2, 3]));
    assert!(!bench.disk.tears(), "one crash alone");
    assert_eq!(
        bench.disk.scan(0..9),
        [(1, Whole(10)), (2, Damaged), (3, Damaged)]
    );
    put(&bench, 2, 21);
    assert_eq!(bench.sector(2), Whole(21));
}

#[test]
fn a_torn_rewrite_damages_the_old_block_too() {
    let bench = bench();
    put(&bench, 1, 10);
    bench.write(1, 11);
    bench.disk.set_tearing(true);
    bench.disk.crash();
    assert_eq!(bench.sector(1), Damaged);
    assert_eq!(bench.disk.pristine(1), Some(10));
}

#[test]
fn dice_tear_about_as_often_as_asked_and_each_crash_and_write_has_its_own() {
    let torn = |seed, chance| {
        let bench = seeded(seed);
        bench.disk.set_dice(DiskDice {
            tear_per_million: chance,
            ..DiskDice::default()
        });
        let mut torn = Vec::new();
        for _ in 0..20 {
            let _writes: Vec<_> = (0..50).map(|word| bench.disk.write(word, 1)).collect();
            torn.push(bench.disk.crash().torn);
        }
        torn
    };
    let some = torn(7, 300_000);
    let count: usize = some.iter().map(Vec::len).sum();
    assert!((230..370).contains(&count), "{count}");
    assert_ne!(some[0], some[1]);
    assert_eq!(some, torn(7, 300_000));
    assert_eq!(torn(7, 0).iter().map(Vec::len).sum::<usize>(), 0);
    assert_eq!(
        torn(7, 1_000_000).iter().map(Vec::len).sum::<usize>(),
        1_000
    );
}

#[test]
fn a_lying_disk_keeps_nothing_and_says_so_to_the_world_alone() {
    let bench = bench();
    put(&bench, 1, 10);
    bench.disk.set_lying(true);
    bench.write(1, 11);
    bench.write(2, 20);
    assert_eq!(bench.sync(), 2, "it reports both");
    assert_eq!(bench.sync(), 0, "and neither twice");
    bench.write(3, 30);
    assert_eq!((bench.sector(1), bench.sector(2)), (Whole(11), Whole(20)));
    bench.disk.set_tearing(true);
    let outage = bench.disk.crash();
    assert_eq!(outage.unkept, [(1, 11), (2, 20)]);
    assert_eq!((outage.writes_lost, outage.torn), (3, vec![3]));
    assert_eq!((bench.sector(1), bench.sector(2)), (Whole(10), Empty));
    assert!(bench.disk.lies(), "until it is told otherwise");
}

#[test]
fn honest_again_a_disk_keeps_what_its_cache_still_holds() {
    let bench = bench();
    bench.disk.set_lying(true);
    put(&bench, 1, 10);
    put(&bench, 1, 11);
    bench.disk.set_lying(false);
    assert_eq!(bench.sync(), 1);
    assert_eq!(bench.disk.crash().unkept, []);
    assert_eq!(bench.sector(1), Whole(11));
}

#[test]
fn a_long_lie_holds_one_version_of_each_block() {
    let bench = bench();
    bench.disk.set_lying(true);
    for word in 0..100 {
        put(&bench, u64::from(word % 4), word);
    }
    assert_eq!(bench.disk.unsynced(), 4);
    assert_eq!(bench.sector(3), Whole(99));
}

#[test]
fn a_slow_disk_takes_so_many_times_as_long_by_the_same_draws() {
    let time = |factor| {
        let bench = bench();
        bench.disk.set_slow_factor(factor);
        for word in 0..10 {
            put(&bench, word, 1);
        }
        bench.clock.now_micros()
    };
    assert_eq!(time(20), 20 * time(1));
}

#[test]
fn dice_name_what_rots_and_where_it_lands_once_it_is_durable() {
    let bench = bench();
    bench.disk.set_dice(DiskDice {
        rot_per_million: 500_000,
        misdirect_per_million: 500_000,
        ..DiskDice::default()
    });
    for word in 0..200 {
        put(&bench, word, 1);
    }
    let whims = bench.disk.take_whims();
    let (mut rots, mut strays) = (0, 0);
    for whim in &whims {
        match whim {
            Whim::Rot { .. } => rots += 1,
            Whim::Misdirect { .. } => strays += 1,
        }
    }
    assert!((70..130).contains(&rots), "{rots}");
    assert!((70..130).contains(&strays), "{strays}");
    assert!(bench.disk.take_whims().is_empty());
    assert_eq!(bench.sector(1), Whole(1), "it is a wish so far");
}
