//! Conditions over a cluster made by hand.

use super::*;
use crate::ids::{GROUP_METADATA, GROUP_PARTITION_0};
use crate::scenario::{Awaited, Baseline};

const GROUPS: [GroupId; 2] = [GROUP_METADATA, GROUP_PARTITION_0];

/// Three replicas in view 1 that executed ops 1 to 5; 1 leads. One client with two replies.
struct Made {
    replicas: Vec<ReplicaFacts>,
    executed: u64,
    replies: u64,
    views_started: u64,
    violated: Option<u8>,
}

impl Made {
    fn new() -> Self {
        let facts = ReplicaFacts {
            up: true,
            status: Status::Normal,
            view: View(1),
            log_view: View(1),
            head: Op(5),
            head_checksum: Checksum(0x55),
            commit_min: Op(5),
            commit_max: Op(5),
            primary: false,
            voted: View(1),
            acks: 0,
        };
        let mut replicas = vec![facts; 3];
        replicas[1].primary = true;
        Self {
            replicas,
            executed: 2,
            replies: 2,
            views_started: 1,
            violated: None,
        }
    }

    fn holds(&self, text: &str) -> bool {
        self.holds_since(text, &Baseline::default())
    }

    fn holds_since(&self, text: &str, since: &Baseline) -> bool {
        Awaited::from_text(text).unwrap().holds(self, since)
    }

    fn check(&self, hold: &[&str], fail: &[&str]) {
        for text in hold {
            assert!(self.holds(text), "{text} should hold");
        }
        for text in fail {
            assert!(!self.holds(text), "{text} should not hold");
        }
    }
}

impl Observed for Made {
    fn cluster(&self) -> Cluster {
        Cluster {
            replicas: 3,
            clients: 1,
            partitions: 1,
        }
    }

    fn groups(&self) -> &[GroupId] {
        &GROUPS
    }

    fn group(&self, name: GroupName) -> Option<GroupId> {
        match name {
            GroupName::Metadata => Some(GROUP_METADATA),
            GroupName::Partition(0) => Some(GROUP_PARTITION_0),
            GroupName::Partition(_) => None,
        }
    }

    fn replica(&self, group: GroupId, replica: ReplicaId) -> ReplicaFacts {
        let facts = self.replicas[usize::from(replica.0)];
        match group {
            GROUP_METADATA => ReplicaFacts {
                primary: replica == ReplicaId(0),
                view: View(0),
                commit_max: Op(0),
                ..facts
            },
            _ => facts,
        }
    }

    fn client(&self, _: GroupId, _: ClientId) -> ClientFacts {
        ClientFacts {
            replied: RequestNumber(self.replies),
        }
    }

    fn executed(&self, _: GroupId, _: ReplicaId, _: ClientId) -> RequestNumber {
        RequestNumber(self.executed)
    }

    fn replies(&self, group: GroupId) -> u64 {
        if group == GROUP_PARTITION_0 {
            self.replies
        } else {
            0
        }
    }

    fn views_started(&self, _: GroupId) -> u64 {
        self.views_started
    }

    fn violated(&self, property: Option<u8>) -> bool {
        self.violated
            .is_some_and(|violated| property.is_none_or(|asked| asked == violated))
    }
}

#[test]
fn a_healthy_cluster_shows_what_it_is() {
    Made::new().check(
        &[
            "primary",
            "view-1",
            "same-log",
            "same-log-02",
            "replies-2",
            "replied-c0-2",
            "executed-c0-2",
            "commit-5",
            "r0-up",
            "r0-normal",
            "r0-normal-v1",
            "r1-primary",
            "r1-primary-v1",
            "r2-view-1",
            "r2-view-0",
            "r2-voted-v1",
            "r2-head-5",
            "r2-commit-5",
            "r2-executed-c0-1",
        ],
        &[
            "no-primary",
            "view-0",
            "view-2",
            "replies-3",
            "replied-c0-3",
            "executed-c0-3",
            "acks-1",
            "commit-6",
            "violation",
            "r0-down",
            "r0-primary",
            "r1-primary-v4",
            "r0-normal-v2",
            "r0-view-change",
            "r0-recovering",
            "r0-voted-v2",
            "r0-view-2",
            "r0-head-6",
            "r0-commit-6",
            "r1-acks-1",
        ],
    );
}

#[test]
fn a_crashed_replica_counts_only_as_down() {
    let mut made = Made::new();
    made.replicas[1].up = false;
    made.check(
        &["no-primary", "r1-down", "view-1", "same-log", "same-log-02"],
        &["primary", "r1-up", "r1-primary", "r1-head-1", "same-log-01"],
    );
}

#[test]
fn nothing_holds_of_a_cluster_that_is_down_but_that_it_is() {
    let mut made = Made::new();
    for replica in &mut made.replicas {
        replica.up = false;
    }
    made.check(
        &["no-primary", "r0-down"],
        &["view-1", "same-log", "executed-c0-1", "commit-1", "primary"],
    );
}

#[test]
fn logs_are_the_same_only_with_equal_heads_and_all_executed() {
    let mut other_entry = Made::new();
    other_entry.replicas[2].head_checksum = Checksum(0x56);
    other_entry.check(&["same-log-01"], &["same-log", "same-log-12"]);
    let mut behind = Made::new();
    for replica in &mut behind.replicas {
        replica.commit_min = Op(4);
    }
    behind.check(&[], &["same-log", "same-log-0"]);
}

#[test]
fn what_is_new_is_new_since_the_waiting_began() {
    let mut made = Made::new();
    let since = Baseline::of(&made);
    for text in ["reply", "new-view", "commit"] {
        assert!(!made.holds_since(text, &since), "{text}");
    }
    made.replies += 1;
    assert!(made.holds_since("reply", &since));
    made.views_started += 1;
    assert!(made.holds_since("new-view", &since));
    made.replicas[2].commit_max = Op(6);
    assert!(made.holds_since("commit", &since));
}

#[test]
fn acks_and_violations_are_seen() {
    let mut made = Made::new();
    made.replicas[1].acks = 2;
    made.violated = Some(4);
    made.check(
        &["acks-1", "acks-2", "r1-acks-2", "violation", "violation-I4"],
        &["acks-3", "r0-acks-1", "violation-I5"],
    );
}

#[test]
fn between_views_the_status_counts_with_its_view() {
    let mut made = Made::new();
    made.replicas[2].status = Status::ViewChange;
    made.replicas[2].view = View(2);
    made.check(
        &["r2-view-change", "r2-view-change-v2"],
        &["r2-view-change-v1", "r2-normal", "view-1", "view-2"],
    );
}
