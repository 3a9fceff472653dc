//! Quorum sizes by cluster size (protocol section 1). Must never know who answered.

use serde::Serialize;

/// The three quorums of a cluster. Any replication quorum meets any view-change quorum, and a nack
/// quorum leaves too few others for a replication quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quorums {
    /// Replicas that must hold an op before it commits.
    pub replication: u8,
    /// Voters that a view needs.
    pub view_change: u8,
    /// Replicas that must never have journaled an op before it may be dropped.
    pub nack: u8,
}

impl Quorums {
    /// The quorums of `replica_count` replicas, 1 to 9.
    #[must_use]
    pub fn of(replica_count: u8) -> Self {
        let n = replica_count;
        let replication = if n == 2 { 2 } else { n.div_ceil(2).min(3) };
        let view_change = if n == 2 { 2 } else { n - replication + 1 };
        Self {
            replication,
            view_change,
            nack: n - replication + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_protocol_page() {
        let replication = [1, 2, 2, 2, 3, 3, 3, 3, 3];
        let view_change = [1, 2, 2, 3, 3, 4, 5, 6, 7];
        let nack = [1, 1, 2, 3, 3, 4, 5, 6, 7];
        for n in 1..=9_u8 {
            let place = usize::from(n - 1);
            let expected = Quorums {
                replication: replication[place],
                view_change: view_change[place],
                nack: nack[place],
            };
            assert_eq!(Quorums::of(n), expected, "{n} replicas");
        }
    }

    #[test]
    fn quorums_intersect_in_every_size() {
        for n in 1..=9_u8 {
            let quorums = Quorums::of(n);
            assert!(quorums.replication + quorums.view_change > n);
            assert!(quorums.replication + quorums.nack > n);
            assert!(2 * quorums.view_change > n || n == 1);
        }
    }
}
