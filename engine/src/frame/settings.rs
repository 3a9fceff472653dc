//! What a run was set to, as it stands after the acts so far. Must never change anything.

use serde::Serialize;

use crate::scenario::{ClockFaults, DiskFaults, Profile, Run};
use crate::sim::network_options::NetworkOptions;
use crate::workload::Plane;

/// The fault profile as it stands.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct FaultsView {
    pub profile: Profile,
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[serde(flatten)]
    pub disk: DiskFaults,
    #[serde(flatten)]
    pub clock: ClockFaults,
    pub crash_per_million: u32,
    pub restart_per_million: u32,
    pub crash_primary: bool,
}

/// What clients do on their own.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct WorkloadView {
    pub load_per_million: u32,
    pub retry_ticks: u32,
    pub plane: Plane,
    pub ack_quorum_ratio_per_million: u32,
    pub shell: bool,
    pub retention: u32,
    pub running: bool,
}

impl FaultsView {
    pub(super) fn of(values: &Run) -> Self {
        let faults = &values.faults;
        Self {
            profile: faults.profile,
            network: faults.network,
            disk: faults.disk,
            clock: faults.clock,
            crash_per_million: faults.crash_per_million,
            restart_per_million: faults.restart_per_million,
            crash_primary: faults.crash_primary,
        }
    }
}

impl WorkloadView {
    pub(super) fn of(values: &Run) -> Self {
        let workload = &values.workload;
        Self {
            load_per_million: workload.load_per_million,
            retry_ticks: workload.retry_ticks,
            plane: workload.plane,
            ack_quorum_ratio_per_million: workload.ack_quorum_ratio_per_million,
            shell: workload.shell,
            retention: workload.retention,
            running: workload.load_per_million > 0,
        }
    }
}
