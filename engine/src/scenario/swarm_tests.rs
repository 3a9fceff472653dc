//! What swarm draws: valid, spread out, short in links, and second to what is given.

use super::*;
use crate::scenario::{Setting, decode, encode};

fn drawn(seed: u64) -> Run {
    let mut run = Run {
        seed,
        ..Run::default()
    };
    run.set_profile(Profile::Swarm);
    run
}

#[test]
fn every_drawn_run_is_valid_and_fits_a_short_link() {
    for seed in 0..2_000 {
        let run = drawn(seed);
        assert_eq!(run.validate(), Ok(()), "seed {seed}");
        let link = encode(&run);
        assert_eq!(link, format!("v=1&seed={seed}&faults=swarm&epoch=1"));
        assert_eq!(decode(&link), Ok(run), "seed {seed}");
    }
}

#[test]
fn every_value_varies_and_every_size_and_mode_comes_up() {
    let runs: Vec<Run> = (0..500).map(drawn).collect();
    let constant = [
        Setting::MinSurvivors,
        Setting::Lie,
        Setting::Atlas,
        Setting::Plane,
        Setting::Shell,
        Setting::Mesh,
    ];
    for setting in Setting::ALL {
        let first = setting.read(&runs[0]);
        let varies = runs.iter().any(|run| setting.read(run) != first);
        assert_eq!(varies, !constant.contains(&setting), "{}", setting.name());
    }
    for size in 1..=9 {
        assert!(runs.iter().any(|run| run.cluster.replicas == size));
    }
    for clients in 1..=8 {
        assert!(runs.iter().any(|run| run.cluster.clients == clients));
    }
    for mode in 0..4 {
        assert!(
            runs.iter()
                .any(|run| Setting::PartitionMode.read(run) == mode)
        );
    }
}

#[test]
fn given_values_override_drawn_ones_and_drawn_ones_make_room() {
    for seed in 0..200 {
        let read = |rest: &str| decode(&format!("v=1&seed={seed}&faults=swarm&{rest}"));
        let run = read("replicas=5&loss=0&delay-min=50&heartbeat=90000").unwrap();
        assert_eq!(run.cluster.replicas, 5);
        assert_eq!(run.cluster.clients, drawn(seed).cluster.clients);
        assert_eq!(run.faults.network.loss_per_million, 0);
        assert_eq!(run.faults.network.delay_mean_ticks, 50);
        assert_eq!(run.knobs.heartbeat_wait_ticks, 100_000);
        assert_eq!(decode(&encode(&run)), Ok(run));
        let run = read("delay-mean=1&heartbeat-wait=10&partition-mode=none").unwrap();
        assert_eq!(run.faults.network.delay_min_ticks, 1);
        assert_eq!(run.knobs.heartbeat_ticks, 9);
        assert_eq!(run.faults.network.partition_per_million, 0);
        let run = read("partition=0.01").unwrap();
        assert_ne!(run.faults.network.partition_mode, PartitionMode::None);
        let error = read("delay-min=20&delay-mean=15").unwrap_err();
        assert_eq!(error.what, "delay-mean", "a contradiction stays one");
    }
}

#[test]
fn the_order_of_keys_does_not_matter_and_a_story_keeps_its_cluster() {
    let first = decode("v=1&seed=7&faults=swarm&replicas=5");
    assert_eq!(first, decode("replicas=5&faults=swarm&v=1&seed=7"));
    let run = decode("v=1&seed=7&faults=swarm&story=a9").unwrap();
    let story = decode("v=1&story=a9").unwrap();
    assert_eq!(run.cluster, story.cluster);
    assert_eq!(decode(&encode(&run)), Ok(run));
}

#[test]
fn draws_are_pinned() {
    let run = drawn(211);
    let values: Vec<String> = Setting::ALL
        .into_iter()
        .map(|setting| {
            format!(
                "{} {}",
                setting.name(),
                setting.text_for_link(setting.read(&run))
            )
        })
        .collect();
    assert_eq!((run.cluster.replicas, run.cluster.clients), (8, 4));
    assert_eq!(
        values.join(" "),
        "crash 0.011 restart 0.061 crash-primary yes min-survivors quorum loss 0.15 replay 0.05 \
         delay-min 2 delay-mean 8 capacity 40 partition 0 unpartition 0.01 partition-stability 78 \
         unpartition-stability 45 partition-mode none partition-symmetry symmetric clog 0.007 \
         clog-mean 3 load 0.05 retry 171 heartbeat 28 heartbeat-wait 308 view-change-wait 643 \
         vote-resend 24 vote-expiry 216 prepare-resend 50 abdicate 1115 probe 57 probe-attempts 8 \
         repair-retry 145 repair-chunk 4 pipeline 16 slots 512 sessions 59 tear 0.2 rot 0 \
         misdirect 0.02 lie 0 slow 0.0005 atlas yes clock-offset-max 10000 clock-drift-max 50 \
         plane partition ack-quorum-ratio 0.5 shell 0 retention 512 state-chunk 128 \
         shards 1 mesh 1024"
    );
}
