//! The weather as oracles ask for it: what stands on links and what disks suffer now. Must never change
//! anything.

use crate::ids::{GroupId, Process, ReplicaId};
use crate::oracle::{DiskFacts, Pace, Weather, undecidable};
use crate::sim::simulator::Simulator;
use crate::vsr::quorum::Quorums;

/// A link of fewer packets than this pushes some out whenever much is said.
const SMALL_LINK: u32 = 32;

impl Weather for Simulator {
    fn pace(&self) -> Pace {
        let (knobs, network) = (&self.run.knobs, &self.run.faults.network);
        Pace {
            heartbeat_wait_ticks: knobs.heartbeat_wait_ticks,
            view_change_wait_ticks: knobs.view_change_wait_ticks,
            abdicate_ticks: knobs.abdicate_ticks,
            probe_ticks: knobs.probe_ticks,
            probe_attempts_max: knobs.probe_attempts_max,
            repair_retry_ticks: knobs.repair_retry_ticks,
            client_retry_ticks: self.run.workload.retry_ticks,
            delay_mean_ticks: network.delay_mean_ticks.max(network.delay_min_ticks),
            lossy: network.loss_per_million > 0 || network.link_capacity < SMALL_LINK,
        }
    }

    fn is_hale(&self, replica: ReplicaId) -> bool {
        let (place, disk) = (
            &self.places[usize::from(replica.0)],
            self.world.disk(replica),
        );
        place.up && !place.paused && !disk.lies() && disk.slow_factor() == 1
    }

    fn is_free(&self, from: Process, to: Process) -> bool {
        let link = self.network.link(self.tick.0, from, to);
        link.is_some_and(|link| {
            !link.cut
                && !link.partitioned
                && link.clogged_until.is_none()
                && link.filtered.is_empty()
                && link.held_kinds.is_empty()
                && link.extra_delay_ticks == 0
                && link.loss_per_million.is_none()
        })
    }

    fn proven_stall(&self, group: GroupId, core: &[ReplicaId]) -> Option<String> {
        let disks: Vec<DiskFacts> = core
            .iter()
            .filter_map(|&replica| self.disk_facts(replica, group))
            .collect();
        let count = self.run.cluster.replicas;
        undecidable(&disks, count, Quorums::of(count)).map(|stall| stall.to_string())
    }
}
