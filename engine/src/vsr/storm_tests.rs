//! Clusters driven by dice through cuts, losses, crashes and slow disks, over a ring of a few slots,
//! so that checkpoints, transfers and forfeits happen all the time; then all heals and must come to
//! one log. Must never know which rule is at work.

use crate::prng::{Purpose, Rng};
use crate::vsr::io::Status;
use crate::vsr::knobs::Knobs;
use crate::vsr::message::MessageKind;
use crate::vsr::note::{Note, StateNote};
use crate::vsr::testing::{Cluster, SMALL};

const CLIENTS: u8 = 3;
const SEEDS: u64 = 300;

struct Storm {
    cluster: Cluster,
    rng: Rng,
    open: Vec<u8>,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::keyed(seed, Purpose::Pick, [0, 0]);
        let count = u8::try_from(rng.between(2, 5)).unwrap();
        let pipeline_max = rng.between(1, 3);
        let knobs = Knobs {
            pipeline_max,
            journal_slots: pipeline_max * rng.between(3, 5),
            repair_chunk_max: rng.between(1, 4),
            state_chunk_bytes: rng.between(8, 64),
            ..SMALL
        };
        Self {
            cluster: Cluster::with_knobs(count, knobs),
            rng,
            open: Vec::new(),
        }
    }

    fn replica(&mut self) -> u8 {
        let count = u32::from(self.cluster.count());
        u8::try_from(self.rng.below(count)).unwrap()
    }

    /// Clients open sessions and write, at whoever leads.
    fn ask(&mut self) {
        let Some(leader) = self.cluster.leader() else {
            return;
        };
        let client = u8::try_from(self.rng.below(u32::from(CLIENTS))).unwrap();
        if self.open.contains(&client) {
            self.cluster.write(leader, client);
        } else if self.cluster.try_open(leader, client) {
            self.open.push(client);
        }
    }

    fn disturb(&mut self) {
        let (a, b) = (self.replica(), self.replica());
        match self.rng.below(14) {
            0 if a != b => self.cluster.cut(a, b),
            1 if a != b => self.cluster.mute(a, b),
            2 if a != b => {
                let kinds = MessageKind::ALL;
                let kind = kinds[self.rng.below(u32::try_from(kinds.len()).unwrap()) as usize];
                self.cluster.block(a, b, kind);
            }
            3 => self.cluster.isolate(a),
            4 | 5 => self.cluster.heal(),
            6 if self.cluster.is_up(a) => self.cluster.crash(a),
            7 | 8 if !self.cluster.is_up(a) => self.cluster.restart(a),
            9 | 10 => self.cluster.slow_disk(a),
            11 => self.cluster.fast_disk(a),
            12 if a != b => self.cluster.hold(a, b),
            13 => self.cluster.lose_all(),
            _ => {}
        }
    }

    fn step(&mut self) {
        for _ in 0..self.rng.below(4) {
            self.ask();
            if self.rng.below(3) == 0 {
                self.cluster.settle();
            }
        }
        for r in 0..self.cluster.count() {
            for _ in 0..self.rng.below(4) {
                let pick = self.rng.below(64);
                self.cluster.finish_any(r, pick);
            }
        }
        let ticks = [1, 5, 30, 200, 700][self.rng.below(5) as usize];
        self.cluster.run(ticks);
    }

    fn rage(&mut self, steps: u32) {
        for _ in 0..steps {
            if self.rng.below(2) == 0 {
                self.disturb();
            }
            self.step();
        }
    }

    fn calm(&mut self) -> bool {
        self.cluster.heal();
        for r in 0..self.cluster.count() {
            self.cluster.fast_disk(r);
            if !self.cluster.is_up(r) {
                self.cluster.restart(r);
            }
        }
        self.cluster.run_until(60_000, is_one)
    }
}

fn is_one(cluster: &Cluster) -> bool {
    let first = cluster.at(0);
    let same = |r: u8| {
        let it = cluster.at(r);
        it.status() == Status::Normal
            && it.view() == first.view()
            && it.log().head() == first.log().head()
            && it.commit_min() == it.log().head()
    };
    (0..cluster.count()).all(same)
}

fn describe(cluster: &Cluster) -> String {
    let one = |r: u8| {
        let it = cluster.at(r);
        format!(
            "{r}: {:?} view {} log_view {} floor {} held {} head {} executed {} of {} checkpoint {} needs state {}\n",
            it.status(),
            it.view(),
            it.log_view(),
            it.log().floor(),
            it.log().held_through(),
            it.log().head(),
            it.commit_min(),
            it.commit_max(),
            it.checkpoint(),
            it.needs_state(),
        )
    };
    (0..cluster.count()).map(one).collect()
}

#[test]
fn whatever_happened_a_healed_cluster_comes_to_one_log() {
    let mut checkpoints = 0;
    let mut transfers = 0;
    let mut forfeits = 0;
    for seed in 0..SEEDS {
        let mut storm = Storm::new(seed);
        storm.rage(60);
        let converged = storm.calm();
        let cluster = &storm.cluster;
        cluster.assert_one_log();
        assert!(converged, "seed {seed}:\n{}", describe(cluster));
        for r in 0..cluster.count() {
            let slots = storm.cluster.slots();
            assert!(cluster.at(r).log().len() <= slots, "seed {seed}");
        }
        for (_, note) in &cluster.notes {
            match note {
                Note::State(StateNote::Checkpointed { .. }) => checkpoints += 1,
                Note::State(StateNote::TransferFinished { .. }) => transfers += 1,
                Note::Forfeited { .. } => forfeits += 1,
                _ => {}
            }
        }
    }
    let happened = [checkpoints, transfers, forfeits];
    assert!(happened.iter().all(|&times| times > 0), "{happened:?}");
}
