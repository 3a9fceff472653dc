//! All groups at a glance, for choosing the one to look at. Must never change anything.

use serde::Serialize;

use crate::ids::{GROUP_METADATA, GroupId, Op, ReplicaId, View};
use crate::shard::owner;
use crate::sim::Simulator;
use crate::vsr::io::Status;

/// One group, at a glance.
#[derive(Debug, Serialize)]
#[expect(
    missing_docs,
    reason = "each name is the field's meaning, as on the page"
)]
pub struct GroupFrame {
    pub id: GroupId,
    pub name: String,
    pub plane: Plane,
    pub shard: u8,
    /// Who leads its newest view.
    pub primary: Option<ReplicaId>,
    pub view: View,
    pub commit_max: Op,
    pub head: Op,
}

/// What a group is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plane {
    /// It knows which groups there are.
    Metadata,
    /// It keeps messages.
    Partition,
}

/// The name that a script has for a group now.
pub(super) fn name(simulator: &Simulator, group: GroupId) -> String {
    let name = simulator.name_of(group);
    name.map(|name| name.to_string()).unwrap_or_default()
}

pub(super) fn group_frame(simulator: &Simulator, id: GroupId) -> GroupFrame {
    let mut frame = GroupFrame {
        id,
        name: name(simulator, id),
        plane: if id == GROUP_METADATA {
            Plane::Metadata
        } else {
            Plane::Partition
        },
        shard: owner(id, simulator.values().shards.count).0,
        primary: None,
        view: View(0),
        commit_max: Op(0),
        head: Op(0),
    };
    for replica in (0..simulator.values().cluster.replicas).map(ReplicaId) {
        let Some(group) = simulator.group(replica, id) else {
            continue;
        };
        let group = group.borrow();
        let core = &group.replica;
        if core.view() > frame.view {
            frame.view = core.view();
            frame.primary = None;
        }
        if core.view() == frame.view && core.is_primary() && core.status() == Status::Normal {
            frame.primary = Some(replica);
        }
        frame.commit_max = frame.commit_max.max(core.commit_max());
        frame.head = frame.head.max(core.log().head());
    }
    frame
}
