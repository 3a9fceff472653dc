//! Dice that crash and restart replicas. Decides and does nothing itself. Must never know more of a
//! replica than what it is shown, nor take the cluster below the survivors it is told to leave.

use serde::Serialize;

use crate::ids::ReplicaId;
use crate::prng::{Purpose, Rng};

/// Probabilities are integers per million, per tick and replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NemesisOptions {
    /// Chance that a replica crashes.
    pub crash_per_million: u32,
    /// Chance that a crashed replica restarts.
    pub restart_per_million: u32,
    /// Whether primaries crash, too.
    pub crash_primary: bool,
    /// How long a crashed replica stays down at least.
    pub crash_stability_ticks: u32,
    /// How long a restarted replica is spared.
    pub restart_stability_ticks: u32,
    /// Replicas that are up and able to vote which a crash must leave: the view-change quorum.
    pub survivors_min: u8,
}

/// What the nemesis sees of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaView {
    /// It runs.
    pub up: bool,
    /// It takes part in view changes: not while it recovers.
    pub can_vote: bool,
    /// It leads its view.
    pub is_primary: bool,
    /// The tick of its last crash or restart; nothing where it never had one.
    pub since_tick: Option<u64>,
}

/// What the nemesis wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Crash it.
    Crash(ReplicaId),
    /// Restart it.
    Restart(ReplicaId),
}

impl NemesisOptions {
    /// No crashes, with the windows and the survivors that hold once there are.
    #[must_use]
    pub fn none(survivors_min: u8) -> Self {
        Self {
            crash_per_million: 0,
            restart_per_million: 0,
            crash_primary: false,
            crash_stability_ticks: 300,
            restart_stability_ticks: 500,
            survivors_min,
        }
    }

    /// Rolls for tick `now`: restarts first, then crashes. `replicas` in order of their ids.
    #[must_use]
    pub fn decide(&self, seed: u64, now: u64, replicas: &[ReplicaView]) -> Vec<Decision> {
        let mut decisions = Vec::new();
        if self.restart_per_million > 0 {
            let down = with_ids(replicas).filter(|(_, view)| !view.up);
            let stable = down.filter(|(_, view)| view.is_stable(now, self.crash_stability_ticks));
            let rolled = stable.filter(|&(id, _)| roll(seed, now, id, self.restart_per_million));
            decisions.extend(rolled.map(|(id, _)| Decision::Restart(id)));
        }
        if self.crash_per_million > 0 {
            self.decide_crashes(seed, now, replicas, &mut decisions);
        }
        decisions
    }

    fn decide_crashes(
        &self,
        seed: u64,
        now: u64,
        replicas: &[ReplicaView],
        decisions: &mut Vec<Decision>,
    ) {
        let mut voters = replicas.iter().filter(|view| view.votes()).count();
        for (id, view) in with_ids(replicas).filter(|(_, view)| view.up) {
            let spared = view.is_primary && !self.crash_primary;
            let survivors = voters - usize::from(view.votes());
            if spared
                || survivors < usize::from(self.survivors_min)
                || !view.is_stable(now, self.restart_stability_ticks)
            {
                continue;
            }
            if roll(seed, now, id, self.crash_per_million) {
                voters = survivors;
                decisions.push(Decision::Crash(id));
            }
        }
    }
}

impl ReplicaView {
    fn votes(&self) -> bool {
        self.up && self.can_vote
    }

    fn is_stable(&self, now: u64, window_ticks: u32) -> bool {
        let since = self.since_tick;
        since.is_none_or(|tick| now >= tick + u64::from(window_ticks))
    }
}

fn with_ids(replicas: &[ReplicaView]) -> impl Iterator<Item = (ReplicaId, &ReplicaView)> {
    (0..).map(ReplicaId).zip(replicas)
}

/// One roll a tick and replica: it is either up or down, so crash and restart never share one.
fn roll(seed: u64, now: u64, replica: ReplicaId, per_million: u32) -> bool {
    let key = [now, u64::from(replica.0)];
    Rng::keyed(seed, Purpose::Crash, key).chance(per_million)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain() -> NemesisOptions {
        NemesisOptions {
            crash_per_million: 1_000_000,
            restart_per_million: 1_000_000,
            ..NemesisOptions::none(2)
        }
    }

    fn up() -> ReplicaView {
        ReplicaView {
            up: true,
            can_vote: true,
            is_primary: false,
            since_tick: None,
        }
    }

    fn down(since: u64) -> ReplicaView {
        ReplicaView {
            up: false,
            can_vote: false,
            is_primary: false,
            since_tick: Some(since),
        }
    }

    #[test]
    fn survivors_able_to_vote_never_fall_below_the_minimum() {
        let recovering = ReplicaView {
            can_vote: false,
            ..up()
        };
        let decide = |replicas: &[ReplicaView]| certain().decide(1, 9, replicas);
        let first = vec![Decision::Crash(ReplicaId(0))];
        assert_eq!(decide(&[up(), up(), up()]), first);
        assert_eq!(
            decide(&[up(), up(), recovering]),
            [Decision::Crash(ReplicaId(2))]
        );
        assert_eq!(decide(&[up(), up(), down(0)]), []);
        assert_eq!(decide(&[up(); 5]).len(), 3);
    }

    #[test]
    fn the_primary_is_spared_unless_asked() {
        let primary = ReplicaView {
            is_primary: true,
            ..up()
        };
        let replicas = [primary, up(), up()];
        let decided = certain().decide(1, 9, &replicas);
        assert_eq!(decided, [Decision::Crash(ReplicaId(1))]);
        let asked = NemesisOptions {
            crash_primary: true,
            ..certain()
        };
        let decided = asked.decide(1, 9, &replicas);
        assert_eq!(decided, [Decision::Crash(ReplicaId(0))]);
    }

    #[test]
    fn windows_hold_for_each_replica_and_restarts_come_first() {
        let restarted = ReplicaView {
            since_tick: Some(100),
            ..up()
        };
        let replicas = [restarted, up(), up(), down(300)];
        let decide = |now| certain().decide(1, now, &replicas);
        assert_eq!(decide(599), [Decision::Crash(ReplicaId(1))]);
        assert_eq!(
            decide(600),
            [
                Decision::Restart(ReplicaId(3)),
                Decision::Crash(ReplicaId(0))
            ]
        );
    }

    #[test]
    fn rolls_happen_about_as_often_as_asked_and_are_keyed_by_replica() {
        let options = NemesisOptions {
            crash_per_million: 100_000,
            ..NemesisOptions::none(0)
        };
        let mut crashes = [0; 3];
        for now in 0..5_000 {
            for decision in options.decide(1, now, &[up(); 3]) {
                match decision {
                    Decision::Crash(replica) => crashes[usize::from(replica.0)] += 1,
                    Decision::Restart(_) => panic!("none is down"),
                }
            }
            let alone = options.decide(1, now, &[up()]);
            let both = options.decide(1, now, &[up(); 2]);
            assert!(both.starts_with(&alone), "0's luck is its own");
        }
        assert!(
            crashes.iter().all(|count| (420..580).contains(count)),
            "{crashes:?}"
        );
    }

    #[test]
    fn a_probability_of_zero_decides_nothing() {
        let replicas = [up(), up(), up(), down(0)];
        let decided = (0..1_000).map(|now| NemesisOptions::none(0).decide(1, now, &replicas));
        assert_eq!(decided.map(|decisions| decisions.len()).sum::<usize>(), 0);
    }
}
