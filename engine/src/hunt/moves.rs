//! Ways to make a script smaller besides dropping acts: default values, no story, acts sooner after
//! one another, fewer clients and replicas. Each gives candidates; who asks tries them. Must never
//! play a run.

use crate::ids::Tick;
use crate::scenario::{Cluster, Run, Setting, Story, Workload};

/// The same with one value as it is by default, for each that differs; all of them at once first.
pub(super) fn defaults(run: &Run) -> Vec<Run> {
    let plain = Run::default();
    let changed: Vec<Setting> = Setting::ALL
        .into_iter()
        .filter(|setting| setting.read(run) != setting.read(&plain))
        .filter(|&setting| setting != Setting::Load || run.workload.load_per_million > 0)
        .collect();
    let reset = |settings: &[Setting]| {
        let mut candidate = run.clone();
        for setting in settings {
            setting.write(setting.read(&plain), &mut candidate);
        }
        candidate
    };
    let mut candidates = Vec::new();
    if changed.len() > 1 {
        candidates.push(reset(&changed));
    }
    candidates.extend(changed.iter().map(|&setting| reset(&[setting])));
    candidates
}

/// The same without its story, or without one action of it.
pub(super) fn shorter_stories(run: &Run) -> Vec<Run> {
    let actions = run.story.actions();
    if actions.is_empty() {
        return Vec::new();
    }
    let with = |story: Story| Run {
        story,
        ..run.clone()
    };
    let mut candidates = vec![with(Story::default())];
    for place in (0..actions.len()).rev() {
        let mut left = actions.to_vec();
        left.remove(place);
        candidates.push(with(Story::own(left)));
    }
    candidates
}

/// The same with all acts from one on sooner: the quiet before it is shorter.
pub(super) fn sooner(run: &Run) -> Vec<Run> {
    let mut candidates = Vec::new();
    for place in 0..run.acts.len() {
        let before = place
            .checked_sub(1)
            .map_or(Tick(0), |before| run.acts[before].tick);
        let quiet = run.acts[place].tick.0 - before.0;
        for less in [quiet.saturating_sub(1), quiet / 2, quiet / 4, quiet / 16] {
            if less == 0 {
                continue;
            }
            let mut candidate = run.clone();
            for act in &mut candidate.acts[place..] {
                act.tick = Tick(act.tick.0 - less);
            }
            candidates.push(candidate);
        }
    }
    candidates
}

/// The same with a smaller cluster, the smallest first. What its acts name may be gone with it; such
/// a Run is refused when it is played.
pub(super) fn smaller_clusters(run: &Run) -> Vec<Run> {
    let cluster = run.cluster;
    let of = |cluster: Cluster| Run {
        cluster,
        ..run.clone()
    };
    let fewer_partitions = (1..cluster.partitions).map(|partitions| Cluster {
        partitions,
        ..cluster
    });
    let fewer_clients = (1..cluster.clients).map(|clients| Cluster { clients, ..cluster });
    let fewer_replicas = (1..cluster.replicas).map(|replicas| Cluster {
        replicas,
        ..cluster
    });
    fewer_partitions
        .chain(fewer_clients)
        .chain(fewer_replicas)
        .map(of)
        .collect()
}

/// The same with fewer shards, one first.
pub(super) fn fewer_shards(run: &Run) -> Vec<Run> {
    let fewer = (1..run.shards.count).map(|count| {
        let mut candidate = run.clone();
        candidate.shards.count = count;
        candidate
    });
    fewer.collect()
}

/// The same with one more rule in force.
pub(super) fn fewer_mutations(run: &Run) -> Vec<Run> {
    let mutations = run.mutations;
    mutations
        .iter()
        .map(|mutation| Run {
            mutations: mutations.with(mutation, false),
            ..run.clone()
        })
        .collect()
}

/// The same with less to do for its clients.
pub(super) fn less_work(run: &Run) -> Vec<Run> {
    let load = run.workload.load_per_million;
    [0, load / 4]
        .into_iter()
        .filter(|&less| less < load && less != Workload::default().load_per_million)
        .map(|load_per_million| {
            let mut candidate = run.clone();
            candidate.workload.load_per_million = load_per_million;
            candidate
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::decode;

    #[test]
    fn fewer_shards_are_tried_from_one_up() {
        let run = decode("v=1&shards=4").unwrap();
        let counts: Vec<u8> = fewer_shards(&run)
            .iter()
            .map(|run| run.shards.count)
            .collect();
        assert_eq!(counts, [1, 2, 3]);
        assert!(fewer_shards(&Run::default()).is_empty());
        assert!(defaults(&run).iter().any(|run| run.shards.count == 1));
    }
}
