//! Claims about damage in a running cluster: what it touches, what refuses it, how far dice may go.

use super::*;
use crate::ids::GROUP_PARTITION_0;
use crate::oracle::Property;
use crate::scenario::{Action, decode};
use crate::sim::StopAt;
use crate::trace::{Actor, Recorder, Recording};

fn simulator(link: &str) -> Simulator {
    let run = decode(link).unwrap();
    Simulator::new(run, Recorder::new(Recording::Nothing, 0))
}

/// A cluster that journaled ops 1 to 6 everywhere and is quiet.
fn warm(keys: &str) -> Simulator {
    let mut simulator = simulator(&format!("v=1&load=0&do=1.warm.5{keys}"));
    go(&mut simulator, 400);
    for replica in simulator.replica_ids().collect::<Vec<_>>() {
        assert_eq!(simulator.journaled(replica, GROUP_PARTITION_0).len(), 6);
    }
    simulator
}

fn go(simulator: &mut Simulator, ticks: u32) {
    for _ in 0..ticks {
        simulator.advance(StopAt::Tick).unwrap();
    }
}

fn verb(text: &str) -> Verb {
    Action::from_text(text).unwrap().verb
}

/// Does it, or says why not.
fn act(simulator: &mut Simulator, text: &str) -> String {
    let refused = simulator.refusal_to_damage(verb(text), GROUP_PARTITION_0);
    simulator.act(Action::of(verb(text)), Actor::Person);
    refused.unwrap_or_default()
}

fn sectors(simulator: &Simulator, replica: u8, op: u64) -> [Sector<Op>; 2] {
    [Zone::Prepares, Zone::Headers].map(|zone| {
        let address = simulator.address(GROUP_PARTITION_0, Op(op), zone);
        let sector = simulator.world.disk(ReplicaId(replica)).durable(address);
        sector.and_then(|block| block.op())
    })
}

fn found(simulator: &Simulator, property: Property) -> u64 {
    simulator
        .world
        .record
        .borrow()
        .oracles
        .book()
        .found(property)
}

const WHOLE: [Sector<Op>; 2] = [Sector::Block(Op(3)); 2];

#[test]
fn corruption_hits_the_disk_alone_until_a_restart_reads_it_and_repair_mends_it() {
    let mut simulator = warm("");
    assert_eq!(sectors(&simulator, 1, 3), WHOLE);
    assert_eq!(act(&mut simulator, "corrupt.1.op3.prepare"), "");
    go(&mut simulator, 200);
    assert_eq!(
        sectors(&simulator, 1, 3),
        [Sector::Damaged, Sector::Block(Op(3))]
    );
    let group = simulator.group(ReplicaId(1), GROUP_PARTITION_0).unwrap();
    assert!(group.borrow().replica.log().prepare(Op(3)).is_some());
    simulator.act(Action::of(verb("crash.1")), Actor::Person);
    go(&mut simulator, 10);
    simulator.act(Action::of(verb("restart.1")), Actor::Person);
    go(&mut simulator, 2_000);
    assert_eq!(sectors(&simulator, 1, 3), WHOLE, "repaired from a peer");
    assert_eq!(found(&simulator, Property::I10), 0);
    assert_eq!(found(&simulator, Property::I11), 0);
}

#[test]
fn each_ring_can_be_damaged_alone_and_the_rest_of_both_after_it() {
    let mut simulator = warm("");
    assert_eq!(act(&mut simulator, "corrupt.1.op3.header"), "");
    assert_eq!(
        sectors(&simulator, 1, 3),
        [Sector::Block(Op(3)), Sector::Damaged]
    );
    assert_eq!(act(&mut simulator, "corrupt.1.op3.both"), "");
    assert_eq!(sectors(&simulator, 1, 3), [Sector::Damaged; 2]);
    assert_eq!(
        act(&mut simulator, "corrupt.1.op3.both"),
        "op 3 is damaged on the disk of replica 1 already"
    );
}

#[test]
fn a_punched_op_was_never_there() {
    let mut simulator = warm("");
    act(&mut simulator, "corrupt.1.op3.header");
    assert_eq!(act(&mut simulator, "punch.1.op3"), "");
    assert_eq!(sectors(&simulator, 1, 3), [Sector::Empty; 2]);
    let gone = "the disk of replica 1 holds nothing of op 3 there";
    assert_eq!(act(&mut simulator, "punch.1.op3"), gone);
    assert_eq!(act(&mut simulator, "corrupt.1.op3.both"), gone);
    assert_eq!(act(&mut simulator, "misdirect.1.op3.op4"), gone);
}

#[test]
fn a_misdirected_prepare_stands_in_the_other_slot_and_not_in_its_own() {
    let mut simulator = warm("&slots=24&pipeline=8");
    assert_eq!(act(&mut simulator, "misdirect.1.op5.op6"), "");
    assert_eq!(
        sectors(&simulator, 1, 5),
        [Sector::Empty, Sector::Block(Op(5))]
    );
    assert_eq!(
        sectors(&simulator, 1, 6),
        [Sector::Block(Op(5)), Sector::Block(Op(6))]
    );
    let journaled = simulator.journaled(ReplicaId(1), GROUP_PARTITION_0);
    assert_eq!(journaled.len(), 4, "a stray is not what belongs there");
    assert_eq!(
        act(&mut simulator, "misdirect.1.op4.op28"),
        "ops 4 and 28 share a slot"
    );
    act(&mut simulator, "corrupt.1.op4.prepare");
    assert_eq!(
        act(&mut simulator, "misdirect.1.op4.op3"),
        "op 4 is damaged on the disk of replica 1"
    );
}

#[test]
fn troubles_that_stand_already_are_refused() {
    let mut simulator = warm("");
    for (text, refused) in [
        ("tear.1", "the next crash of replica 1 tears already"),
        ("lie.1", "the disk of replica 1 lies already"),
        ("lie.1.off", "the disk of replica 1 is honest"),
        ("slow.1.20", "the disk of replica 1 is just as slow already"),
        ("slow.1.1", "the disk of replica 1 is just as slow already"),
    ] {
        assert_eq!(act(&mut simulator, text), "", "{text}");
        assert_eq!(act(&mut simulator, text), refused);
    }
    simulator.act(Action::of(verb("crash.1")), Actor::Person);
    assert_eq!(
        act(&mut simulator, "tear.1"),
        "replica 1 is down and writes nothing"
    );
}

#[test]
fn a_lie_excuses_its_replica_of_what_it_acknowledged_and_promised() {
    let mut simulator = simulator("v=1&load=0.2&act=1.lie.1_300.crash.1_310.restart.1");
    go(&mut simulator, 500);
    assert_eq!(found(&simulator, Property::I11), 0);
    assert_eq!(found(&simulator, Property::I7), 0);
    let totals = simulator.world.record.borrow().totals;
    assert_eq!((totals.crashes, totals.restarts), (1, 1));
}

#[test]
fn a_superblock_opens_whatever_crash_tears_it() {
    let mut torn = 0;
    for seed in 0..12 {
        let mut simulator = simulator(&format!("v=1&seed={seed}&load=0"));
        let mut sequence = 0;
        for delay in [1, 2, 3, 1, 4, 2, 5, 3, 1, 1, 6] {
            act(&mut simulator, "tear.1");
            simulator.act(Action::of(verb("crash.1")), Actor::Person);
            let superblock = simulator.superblock_of(ReplicaId(1), GROUP_PARTITION_0);
            let superblock = superblock.unwrap_or_else(|| panic!("seed {seed}, delay {delay}"));
            assert!(superblock.sequence >= sequence);
            sequence = superblock.sequence;
            simulator.act(Action::of(verb("restart.1")), Actor::Person);
            go(&mut simulator, delay);
        }
        torn += simulator.world.record.borrow().totals.torn_writes;
    }
    assert!(torn > 30, "{torn}");
}

#[test]
fn the_end_phase_calms_the_disks_of_its_core() {
    let mut simulator = simulator("v=1&replicas=1&rot=0.5&act=1.lie.0_1.slow.0.1000");
    go(&mut simulator, 50);
    simulator.act(Action::of(verb("settle")), Actor::Settle);
    let disk = simulator.world.disk(ReplicaId(0));
    assert!(!disk.lies());
    assert_eq!(disk.slow_factor(), 1);
    assert_eq!(simulator.run.faults.disk, DiskFaults::default());
}

// Dice.

#[test]
fn the_atlas_leaves_a_whole_copy_beyond_its_budget() {
    let mut simulator = warm("&replicas=5");
    let allowed = |simulator: &Simulator, text| simulator.may_dice_do(Action::of(verb(text)));
    act(&mut simulator, "corrupt.0.op3.both");
    assert!(allowed(&simulator, "corrupt.1.op3.prepare"));
    act(&mut simulator, "punch.1.op3");
    assert!(
        allowed(&simulator, "corrupt.2.op3.prepare"),
        "a punch is no damage"
    );
    act(&mut simulator, "corrupt.2.op3.prepare");
    assert!(!allowed(&simulator, "corrupt.3.op3.prepare"), "r is 3");
    assert!(!allowed(&simulator, "misdirect.3.op4.op3"));
    assert!(allowed(&simulator, "misdirect.3.op4.op5"));
    assert!(allowed(&simulator, "corrupt.0.op4.prepare"));
    assert!(!allowed(&simulator, "corrupt.0.op3.prepare"), "no news");
    simulator.set(crate::scenario::Setting::Atlas, 0);
    assert!(allowed(&simulator, "corrupt.3.op3.prepare"));
}

#[test]
fn the_atlas_lets_no_dice_hide_that_an_op_was_there() {
    let mut simulator = warm("");
    act(&mut simulator, "misdirect.1.op3.op4");
    assert!(!simulator.may_dice_do(Action::of(verb("corrupt.1.op3.header"))));
    assert!(simulator.may_dice_do(Action::of(verb("corrupt.1.op5.header"))));
    act(&mut simulator, "corrupt.1.op5.header");
    assert!(!simulator.may_dice_do(Action::of(verb("misdirect.1.op5.op6"))));
    assert!(simulator.may_dice_do(Action::of(verb("corrupt.1.op5.prepare"))));
}

#[test]
fn alone_or_with_lies_the_atlas_allows_nothing() {
    let mut alone = simulator("v=1&replicas=1&load=0.5&rot=1&misdirect=1");
    go(&mut alone, 300);
    assert_eq!(alone.world.record.borrow().totals.disk_faults, 0);
    let mut lies = simulator("v=1&lie=1");
    go(&mut lies, 10);
    assert!(!lies.world.disk(ReplicaId(1)).lies());
    let mut lies = simulator("v=1&lie=1&atlas=no");
    go(&mut lies, 10);
    assert!(lies.world.disk(ReplicaId(1)).lies());
}

#[test]
fn dice_damage_within_the_atlas_the_same_way_every_time() {
    let run = || {
        let mut simulator = simulator("v=1&load=0.3&rot=0.2&misdirect=0.05&slow=0.002");
        for _ in 0..60 {
            go(&mut simulator, 10);
            for op in (1..=60).map(Op) {
                let replicas = simulator.replica_ids();
                let faulty = replicas
                    .filter(|&replica| !simulator.is_slot_sound((replica, GROUP_PARTITION_0), op));
                assert!(faulty.count() <= 1, "op {op}");
            }
        }
        let record = simulator.world.record.borrow();
        assert!(record.totals.disk_faults > 6, "{:?}", record.totals);
        (record.hash(), simulator.world.executor.schedule_hash())
    };
    assert_eq!(run(), run());
}

#[test]
fn each_of_the_dice_falls_when_its_rate_asks_for_it() {
    let faults = |keys: &str| {
        let mut simulator = simulator(&format!("v=1&clients=4&load=1{keys}"));
        go(&mut simulator, 5_000);
        let totals = simulator.world.record.borrow().totals;
        (totals.disk_faults, totals.torn_writes)
    };
    assert!(faults("&rot=0.1").0 > 3);
    assert!(faults("&misdirect=0.1").0 > 3);
    assert!(faults("&tear=1&crash=0.05&restart=0.2&crash-primary=yes").1 > 0);
    assert_eq!(faults("&crash=0.05&restart=0.2&crash-primary=yes"), (0, 0));
}

#[test]
fn dice_that_are_never_rolled_change_nothing() {
    let hash = |keys: &str| {
        let link = format!("v=1&seed=4&faults=heavy&crash=0.005&restart=0.02&load=0.3{keys}");
        let mut simulator = simulator(&link);
        go(&mut simulator, 1_500);
        let record = simulator.world.record.borrow();
        assert!(record.totals.crashes > 0);
        (record.hash(), simulator.world.executor.schedule_hash())
    };
    assert_eq!(
        hash(""),
        hash("&tear=0&rot=0&misdirect=0&lie=0&slow=0&atlas=no")
    );
    // Allowed by nothing, they draw and still change nothing.
    assert_eq!(hash(""), hash("&lie=1"));
}
