//! Partitions of the fault profile: which replicas part, and which way. Must never know packets, nor
//! what the user cut.

use crate::ids::{Process, ReplicaId};
use crate::prng::Rng;
use crate::sim::network_options::{PartitionMode, PartitionSymmetry};
use crate::sim::sets::ProcessSet;

/// Two sides of the replicas. Clients are on neither: they reach every replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its packets do not reach the others.
    pub muted: ProcessSet,
    /// The other side.
    pub others: ProcessSet,
    /// Whether the others' packets do not reach it either.
    pub both_ways: bool,
}

impl Partition {
    /// Whether it stops packets from one process to another.
    #[must_use]
    pub fn parts(&self, from: Process, to: Process) -> bool {
        let there = self.muted.contains(from) && self.others.contains(to);
        let back = self.others.contains(from) && self.muted.contains(to);
        there || (back && self.both_ways)
    }
}

/// Draws a partition; nothing where the mode has none or there are not two replicas.
pub(crate) fn draw(
    rng: &mut Rng,
    replica_count: u8,
    mode: PartitionMode,
    symmetry: PartitionSymmetry,
) -> Option<Partition> {
    if replica_count < 2 {
        return None;
    }
    let some = match mode {
        PartitionMode::None => return None,
        PartitionMode::UniformSize => {
            let size = rng.between(1, u32::from(replica_count) - 1);
            members(rng, replica_count, size)
        }
        PartitionMode::UniformPartition => coins(rng, replica_count),
        PartitionMode::IsolateSingle => members(rng, replica_count, 1),
    };
    let rest = replicas(replica_count)
        .filter(|&replica| !some.contains(replica))
        .collect();
    let both_ways = symmetry == PartitionSymmetry::Symmetric;
    let (muted, others) = if !both_ways && rng.below(2) == 1 {
        (rest, some)
    } else {
        (some, rest)
    };
    Some(Partition {
        muted,
        others,
        both_ways,
    })
}

/// So many replicas, every choice equally likely.
fn members(rng: &mut Rng, replica_count: u8, size: u32) -> ProcessSet {
    let mut missing = size;
    let mut left = u32::from(replica_count);
    let drawn = replicas(replica_count).filter(|_| {
        let chosen = rng.below(left) < missing;
        left -= 1;
        missing -= u32::from(chosen);
        chosen
    });
    drawn.collect()
}

/// A coin for each; where all fall alike, a drawn one is turned over.
fn coins(rng: &mut Rng, replica_count: u8) -> ProcessSet {
    let side: ProcessSet = replicas(replica_count)
        .filter(|_| rng.below(2) == 1)
        .collect();
    let count = u32::from(replica_count);
    if !side.is_empty() && side.len() != count {
        return side;
    }
    let turned = members(rng, replica_count, 1);
    if side.is_empty() {
        return turned;
    }
    side.iter()
        .filter(|&replica| !turned.contains(replica))
        .collect()
}

fn replicas(replica_count: u8) -> impl Iterator<Item = Process> {
    (0..replica_count).map(|replica| Process::Replica(ReplicaId(replica)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Purpose;

    const MODES: [PartitionMode; 3] = [
        PartitionMode::UniformSize,
        PartitionMode::UniformPartition,
        PartitionMode::IsolateSingle,
    ];

    fn drawn(mode: PartitionMode, symmetry: PartitionSymmetry, seed: u64, count: u8) -> Partition {
        let mut rng = Rng::keyed(seed, Purpose::Partition, [0, 0]);
        draw(&mut rng, count, mode, symmetry).expect("two sides")
    }

    #[test]
    fn both_sides_have_members_and_together_are_all() {
        let mut compared = 0;
        for mode in MODES {
            for (seed, count) in (0..200).flat_map(|seed| [(seed, 2), (seed, 3), (seed, 7)]) {
                let parts = drawn(mode, PartitionSymmetry::Symmetric, seed, count);
                assert!(!parts.muted.is_empty() && !parts.others.is_empty());
                assert_eq!(parts.muted.len() + parts.others.len(), u32::from(count));
                assert!(parts.muted.intersection(parts.others).is_empty());
                compared += 1;
            }
        }
        assert_eq!(compared, 1_800);
    }

    #[test]
    fn every_replica_is_isolated_and_every_size_drawn() {
        let mut alone = [0; 5];
        let mut sizes = [0; 5];
        for seed in 0..1_000 {
            let single = drawn(
                PartitionMode::IsolateSingle,
                PartitionSymmetry::Symmetric,
                seed,
                5,
            );
            assert_eq!(single.muted.len(), 1);
            let replica = single.muted.iter().next().expect("one");
            alone[usize::from(replica.index())] += 1;
            let sized = drawn(
                PartitionMode::UniformSize,
                PartitionSymmetry::Symmetric,
                seed,
                5,
            );
            sizes[sized.muted.len() as usize] += 1;
        }
        assert!(alone.iter().all(|&count| count > 120), "{alone:?}");
        assert_eq!(sizes[0], 0);
        assert!(sizes[1..].iter().all(|&count| count > 180), "{sizes:?}");
    }

    #[test]
    fn an_asymmetric_partition_is_one_way_and_either_way() {
        let (a, b) = (0, 1);
        let [a, b] = [a, b].map(|replica| Process::Replica(ReplicaId(replica)));
        let mut ways = [0; 2];
        for seed in 0..100 {
            let parts = drawn(
                PartitionMode::IsolateSingle,
                PartitionSymmetry::Asymmetric,
                seed,
                2,
            );
            assert_ne!(parts.parts(a, b), parts.parts(b, a));
            ways[usize::from(parts.parts(a, b))] += 1;
        }
        assert!(ways.iter().all(|&count| count > 30), "{ways:?}");
    }

    #[test]
    fn one_replica_cannot_part_and_no_mode_never_does() {
        let mut rng = Rng::keyed(1, Purpose::Partition, [0, 0]);
        let symmetric = PartitionSymmetry::Symmetric;
        assert_eq!(
            draw(&mut rng, 1, PartitionMode::UniformSize, symmetric),
            None
        );
        assert_eq!(draw(&mut rng, 3, PartitionMode::None, symmetric), None);
    }
}
