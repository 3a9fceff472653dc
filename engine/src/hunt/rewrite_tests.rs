//! A random run and its script have equal run hashes at every tick.

use crate::hunt::{Goal, Limit, play, rewrite, spell_out_packets};
use crate::ids::Tick;
use crate::run::Session;
use crate::scenario::{Run, decode};
use crate::trace::{Recorder, Recording};

const TICKS: u64 = 1_500;

fn session(run: Run) -> Session {
    Session::new(run, Recorder::new(Recording::Nothing, 0)).unwrap()
}

struct Never;

impl Goal for Never {
    fn name(&self) -> String {
        "never".into()
    }

    fn is_met(&self, _: &Session) -> bool {
        false
    }
}

/// The script of a run, and how many faults it has.
fn script(run: &Run) -> (Run, usize) {
    let probe = play(run, None, &Never, Limit::At(Tick(TICKS))).unwrap();
    (rewrite(run, &probe.injected), probe.injected.len())
}

/// Plays both side by side; the hashes seen.
fn assert_equal_at_every_tick(random: &Run, script: &Run) {
    let (mut random, mut script) = (session(random.clone()), session(script.clone()));
    for tick in 1..=TICKS {
        random.advance_ticks(1);
        script.advance_ticks(1);
        assert_eq!(
            random.hash(),
            script.hash(),
            "tick {tick}: {}",
            random.link()
        );
        assert_eq!(
            random.schedule_hash(),
            script.schedule_hash(),
            "tick {tick}"
        );
    }
}

fn assert_rewrites(seeds: std::ops::Range<u64>) {
    let mut faults = [0; 6];
    for seed in seeds {
        let heavy = "faults=heavy&crash=0.01&restart=0.02&crash-primary=yes&clients=2&load=0.1";
        let disks = "rot=0.01&misdirect=0.01&lie=0.001&slow=0.001&tear=0.5&atlas=no";
        let acts = "act=300.write.c0_500.profile.light_700.pause.1_900.resume.1";
        let shapes = [
            format!("replicas=3&{heavy}&{disks}"),
            format!(
                "replicas=5&{heavy}&do=100.crash.0_a300.restart.0_when-primary.pause.1_a90.resume.1"
            ),
            "faults=swarm".to_owned(),
            format!("replicas=3&partitions=3&{heavy}&{disks}"),
            format!("replicas=3&partitions=4&shards=3&mesh=2&{heavy}&{disks}"),
            format!("replicas=4&{heavy}&{acts}"),
        ];
        for (place, shape) in shapes.iter().enumerate() {
            let random = decode(&format!("v=1&seed={seed}&{shape}")).unwrap();
            let (script, injected) = script(&random);
            faults[place] += injected;
            if place < 5 {
                assert_equal_at_every_tick(&random, &script);
            } else {
                assert_ends_alike(&random, &script);
            }
        }
    }
    assert!(faults.iter().all(|&count| count > 100), "{faults:?}");
}

/// Where an act wakes dice, the script has one more that stills them again, which the run hash tells;
/// all else is the same.
fn assert_ends_alike(random: &Run, script: &Run) {
    let (mut random, mut script) = (session(random.clone()), session(script.clone()));
    random.advance_ticks(u32::try_from(TICKS).unwrap());
    script.advance_ticks(u32::try_from(TICKS).unwrap());
    let (mut one, mut other) = (random.totals(), script.totals());
    (one.acts, other.acts) = (0, 0);
    // What dice inject in one is written down in the other.
    (one.injected, other.injected) = (0, 0);
    assert_eq!(one, other, "{}", random.link());
    assert_eq!(random.schedule_hash(), script.schedule_hash());
}

#[test]
fn a_random_run_and_its_script_have_equal_hashes_at_every_tick() {
    assert_rewrites(0..20);
}

#[test]
#[ignore = "several seconds long; twenty other seeds run always"]
fn a_hundred_random_runs_and_their_scripts_have_equal_hashes() {
    assert_rewrites(1_000..1_100);
}

#[test]
fn lost_and_copied_packets_spelt_out_deliver_the_same() {
    let mut spelt_out = 0;
    for seed in 0..10 {
        let link = format!("v=1&seed={seed}&loss=0.1&replay=0.05&clients=2&load=1");
        let dice = decode(&link).unwrap();
        let spelt = spell_out_packets(&dice, Tick(TICKS)).unwrap();
        spelt_out += spelt.acts.len();
        let (mut dice, mut spelt) = (session(dice), session(spelt));
        for tick in 1..=TICKS {
            dice.advance_ticks(1);
            spelt.advance_ticks(1);
            assert_eq!(dice.schedule_hash(), spelt.schedule_hash(), "tick {tick}");
            let (one, other) = (dice.totals(), spelt.totals());
            assert_eq!(one.delivered, other.delivered, "tick {tick}");
            assert_eq!(one.replies, other.replies, "tick {tick}");
        }
    }
    assert!(spelt_out > 300, "{spelt_out}");
}
