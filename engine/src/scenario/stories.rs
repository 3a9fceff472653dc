//! The built-in stories, as data: a setup in the words of a link, a script, where it comes from.
//! Each ends with its expectation as a positive condition, so that a story in which nothing happened
//! does not pass. Must never know how they are shown.
//!
//! Conventions: `warm` gives each client a session and a first reply, so a client's next request
//! after `warm.1` is its number 2. A client whose request must not wander when it retries is cut
//! from all other replicas. No load runs beside a schedule, since one more write can hide a bug.

use super::link;
use super::problem::{Problem, shown};
use super::run::{Run, Story};
use super::script::parse_story;

/// A story that comes with the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name in links.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Where the schedule comes from.
    pub source: &'static str,
    /// Keys of a link that differ from the default Run.
    pub setup: &'static str,
    /// The script.
    pub script: &'static str,
}

impl BuiltIn {
    /// The Run of the story.
    ///
    /// # Panics
    /// If the table is wrong, which a test rules out.
    #[must_use]
    pub fn run(&self) -> Run {
        let mut run = link::read_setup(self.setup).expect("the setup of a built-in story is right");
        let script: String = self.script.split_whitespace().collect();
        let actions = parse_story(self.name, &script).expect("a built-in story's script is right");
        run.story = Story::built_in(self.name, actions);
        run
    }
}

pub(super) fn find(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|story| story.name == name)
}

pub(super) fn parse_name(name: &str) -> Result<&'static BuiltIn, Problem> {
    find(name).ok_or_else(|| {
        let names: Vec<_> = BUILT_IN.iter().map(|story| story.name).collect();
        Problem::new(shown(name), format!("one of {}", names.join(", ")))
    })
}

/// All built-in stories: the page's opening, then schedules by their numbers.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "opening",
        title: "The primary dies and the next in the ring takes over",
        source: "the page's opening episode",
        setup: "load=0.2&retry=30&delay-min=2&delay-mean=2&heartbeat=6&heartbeat-wait=18\
                &view-change-wait=60&vote-resend=10&vote-expiry=60&prepare-resend=20\
                &abdicate=120&probe=20&repair-retry=20",
        script: "24.crash.0
            _when-r1-primary-v1.expect-r2-normal-v1
            _when-reply.expect-r1-primary-v1
            _a60.restart.0
            _when-r0-normal-v1.expect-r1-primary-v1",
    },
    BuiltIn {
        name: "a1",
        title: "The longest log is lying",
        source: "Liskov and Cowling, Viewstamped Replication Revisited",
        setup: "clients=4&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.0-12_a0.cut.c0c1c2-12
            _a0.write.c0.to0_a0.write.c1.to0_a0.write.c2.to0
            _when-r1-primary-v1.write.c3.to1
            _when-replied-c3-2.expect-r1-executed-c3-2
            _a10.crash.1_a0.join.0-12
            _when-r2-primary-v2.expect-executed-c3-2
            _a0.expect-same-log-02",
    },
    BuiltIn {
        name: "a2",
        title: "Figure 8, Viewstamped",
        source: "Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm, 5.4.2",
        setup: "replicas=5&clients=2&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.c0-1234_a0.cut.c1-0134
            _a0.filter.0to234.Prepare_a0.write.c0.to0
            _when-r1-head-5.cut.01-234_a0.filter.0to234.none
            _when-r2-view-1.expect-r2-primary-v2
            _a0.filter.2to01.Prepare_a0.filter.2to34.Prepare_a0.write.c1.to2
            _when-r2-head-5.crash.2_a0.join.01-34_a0.cut.4-0123_a0.join.01-2_a0.filter.2to0134.none
            _when-r3-primary-v3.expect-r0-normal-v3
            _a0.expect-r1-normal-v3
            _a50.crash.3_a0.restart.2_a0.join.4-02_a0.cut.1-024
            _when-r4-view-3.expect-r4-primary-v4
            _a0.expect-same-log-024",
    },
    BuiltIn {
        name: "a3",
        title: "The next primary knows least",
        source: "https://github.com/apache/iggy/pull/3824",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.filter.0to1.Prepare_a0.write.c0.to0
            _when-replied-c0-2.expect-r0-executed-c0-2
            _a1.crash.0_a0.filter.0to1.none
            _when-r1-primary-v1.expect-executed-c0-2
            _a0.expect-same-log-12",
    },
    BuiltIn {
        name: "a5",
        title: "Duel of the primaries",
        source: "TigerBeetle, src/vsr/replica_test.zig",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.2-01_a0.filter.0to12.Commit_a0.write.c0.to0
            _when-replied-c0-2.heal_a0.cut.0-12
            _when-r1-primary-v1.filter.2to1.PrepareOk_a0.join.0-12_a0.cut.2-01
            _a0.expect-r1-executed-c0-2
            _a0.expect-same-log-01
            _a0.heal_a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a9",
        title: "A minority starts a view",
        source: "Liskov and Cowling, Viewstamped Replication Revisited",
        setup: "replicas=5&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.filter.0to34.Prepare_a0.write.c0.to0
            _when-replied-c0-2.cut.012-34
            _a1500.expect-view-0.0_a0.expect-r0-primary.0
            _a0.heal_a0.expect-executed-c0-2
            _a0.expect-same-log-01234",
    },
    BuiltIn {
        name: "a10",
        title: "The amnesiac voter",
        source: "Michael et al., Recovering Shared Objects Without Stable Storage, appendix B.1",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.filter.12to0.StartViewChange-DoViewChange_a0.filter.0to12.Commit
            _a0.hold.2to1.DoViewChange
            _when-r2-voted-v1.crash.2
            _a20.restart.2_a0.filter.0to2.none_a0.filter.1to2.StartViewChange-DoViewChange
            _a0.write.c0.to0
            _a100.release.2to1
            _when-r1-primary-v1.heal
            _a0.expect-replied-c0-2
            _a0.expect-executed-c0-2
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a11",
        title: "Whole-cluster power cut",
        source: "Vanlightly, VR Revisited, part 5",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.5
            _a0.crash.0_a0.crash.1_a0.crash.2
            _a10.restart.0_a0.restart.1_a0.restart.2
            _when-primary.expect-executed-c0-5
            _a0.write.c0
            _when-replied-c0-6.expect-executed-c0-6
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a12",
        title: "A recovering replica must not vote for what it cannot read",
        source: "https://github.com/UWSysLab/tapir/issues/15",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.2-01_a0.write.c0.to0
            _when-reply.crash.0_a0.crash.1_a0.corrupt.1.op3.prepare_a0.heal_a0.restart.1
            _a3000.expect-no-primary.0_a0.expect-r1-voted-v1.0
            _a0.restart.0
            _when-primary.expect-executed-c0-2
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a14",
        title: "Truncate now, ask later",
        source: "Vanlightly, VR Revisited, part 3",
        setup: "replicas=5&clients=3&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.c1c2-0134
            _a0.filter.0to34.Prepare_a0.write.c0.to0
            _when-replied-c0-2.cut.0-234_a0.mute.1-234_a0.filter.234to1.all
            _a0.filter.2to34.StartView
            _when-r2-view-1.expect-r2-primary-v2
            _a0.filter.2to34.StartView-Prepare_a0.write.c1.to2
            _when-r2-head-8.expect-r2-head-8
            _a8.filter.2to1.Commit-StartViewChange-DoViewChange-StartView-RequestStartView-RequestPrepares-RepairPrepare-RepairDone
            _a0.write.c2.to2
            _when-r2-head-9.expect-r2-head-9
            _a8.crash.0_a0.crash.2_a0.join.1-234_a0.filter.234to1.none
            _when-r3-primary-v3.expect-executed-c0-2
            _a0.expect-same-log-134",
    },
    BuiltIn {
        name: "a15",
        title: "The old primary's private prepare",
        source: "https://github.com/apache/iggy/pull/4433",
        setup: "clients=2&load=0&retry=100&delay-mean=1",
        script: "0.warm.3
            _a0.cut.0-12_a0.cut.c0-12_a0.write.c0.to0
            _when-r1-primary-v1.write.c1.to1
            _when-replied-c1-4.write.c1.to1
            _when-replied-c1-5.write.c1.to1
            _when-replied-c1-6.write.c1.to1
            _when-replied-c1-7.expect-r1-executed-c1-7
            _a10.join.0-12
            _a0.expect-r0-executed-c1-7.5000
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a20",
        title: "Promised before it was durable",
        source: "https://github.com/tigerbeetle/tigerbeetle/pull/768",
        setup: "clients=4&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.0-12_a0.cut.c0c1c2-12
            _a0.write.c0.to0_a0.write.c1.to0_a0.write.c2.to0
            _when-r1-primary-v1.write.c3.to1
            _when-replied-c3-2.crash.1_a0.crash.2
            _a10.restart.1_a0.join.0-12
            _when-r0-view-1.expect-r0-view-2
            _when-r0-primary-v3.expect-executed-c3-2
            _a0.expect-same-log-01",
    },
    BuiltIn {
        name: "a21",
        title: "Rot is not absence",
        source: "Alagappan et al., Protocol-Aware Recovery for Consensus-Based Storage",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.2-01_a0.write.c0.to0
            _when-reply.write.c0.to0
            _when-reply.crash.0_a0.crash.1_a0.corrupt.1.op3.both_a0.heal_a0.restart.1
            _a3000.expect-no-primary.0_a0.expect-r1-voted-v1.0
            _a0.restart.0
            _when-primary.expect-executed-c0-3
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a25",
        title: "The disk said yes",
        source: "Rebello et al., Can Applications Recover from fsync Failures?",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.2-01_a0.slow.1.100_a0.write.c0.to0
            _when-replied-c0-2.crash.0_a0.crash.1_a0.slow.1.1_a0.heal_a0.restart.1
            _when-r1-primary-v1.expect-executed-c0-2
            _a0.expect-same-log-12",
    },
    BuiltIn {
        name: "a31",
        title: "The deaf backup",
        source: "TigerBeetle, Simulation Testing For Liveness",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.mute.01-2_a0.load.50000
            _a2000.expect-view-0.0_a0.expect-replies-20.0
            _a0.load.0_a0.heal_a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a32",
        title: "The deaf primary",
        source: "TigerBeetle, src/vsr/replica_test.zig",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.mute.12-0_a0.write.c0.to0
            _when-r1-primary-v1.expect-replied-c0-2
            _a0.heal_a0.expect-executed-c0-2
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a33",
        title: "Cloudflare's triangle",
        source: "Cloudflare, A Byzantine failure in the real world",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.0-1_a0.load.50000
            _a2000.expect-view-0.0_a0.expect-replies-20.0
            _a0.load.0_a0.heal_a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a34",
        title: "The chain",
        source: "Raft does not Guarantee Liveness in the face of Network Faults",
        setup: "replicas=5&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.crash.0_a0.crash.1
            _when-r2-view-1.expect-r2-primary-v2
            _a0.restart.0_a0.restart.1
            _when-r0-normal-v2.expect-r1-normal-v2
            _a0.cut.0-34_a0.cut.1-4_a0.cut.2-3_a0.cut.3-4_a0.load.50000
            _a2000.expect-view-2.0_a0.expect-replies-20.0
            _a0.load.0_a0.heal_a0.expect-same-log-01234",
    },
    BuiltIn {
        name: "a35",
        title: "Hub and spokes",
        source: "How OmniPaxos handles partial connectivity",
        setup: "replicas=5&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.crash.0_a0.crash.1
            _when-r2-view-1.expect-r2-primary-v2
            _a0.restart.0_a0.restart.1
            _when-r0-normal-v2.expect-r1-normal-v2
            _a0.cut.1-234_a0.cut.2-34_a0.cut.3-4
            _when-r0-view-3.expect-r0-view-4
            _when-r0-primary-v5.write.c0
            _when-replied-c0-2.expect-executed-c0-2",
    },
    BuiltIn {
        name: "a36",
        title: "The limping link",
        source: "Jepsen: TigerBeetle 0.16.11",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.delay.0to1.250_a0.load.50000
            _a2000.expect-view-0.0_a0.expect-replies-20.0
            _a0.load.0_a0.heal_a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a38",
        title: "Zombie acks",
        source: "https://github.com/penberg/vsr-rs",
        setup: "replicas=5&clients=2&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.cut.c0-1234_a0.cut.c1-1234
            _a0.filter.0to124.Prepare_a0.hold.3to0.PrepareOk_a0.write.c0.to0
            _when-r3-head-5.expect-r3-head-5
            _a15.cut.c0-0_a0.cut.03-124
            _when-r1-primary-v1.filter.0to124.none_a0.cut.0-3_a0.join.0-124
            _when-r0-normal-v1.filter.0134to2.DoViewChange_a0.filter.1to024.Commit
            _when-r0-view-2.cut.4-012
            _when-r0-view-3.expect-r0-view-4
            _when-r0-primary-v5.filter.0to2.Prepare_a0.write.c1.to0
            _when-r0-acks-1.join.0-3_a0.mute.0-3_a0.release.3to0
            _a10.cut.c1-0_a0.crash.0_a0.crash.1
            _a0.filter.0134to2.none_a0.join.3-24_a0.join.4-2
            _when-r2-view-6.expect-r2-primary-v7
            _a0.expect-same-log-234
            _a0.restart.0_a0.restart.1_a0.heal
            _a0.expect-executed-c0-2_a0.expect-executed-c1-2
            _a0.expect-same-log-01234",
    },
    BuiltIn {
        name: "a39",
        title: "One ack, three copies",
        source: "https://github.com/penberg/vsr-rs",
        setup: "replicas=5&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.filter.0to234.Prepare_a0.set.replay.500000_a0.write.c0.to0
            _when-r0-acks-1.expect-r0-acks-1
            _a20.crash.0_a0.crash.1_a0.set.replay.0
            _when-r2-view-1.expect-r2-primary-v2
            _a0.restart.0_a0.restart.1_a0.heal
            _a0.expect-executed-c0-2
            _a0.expect-same-log-01234",
    },
    BuiltIn {
        name: "a41",
        title: "Rewound by an old StartView",
        source: "Vanlightly, vsr-tlaplus, 8bf5e40",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.hold.1to0.StartView_a0.filter.0to12.Commit
            _when-r1-primary-v1.cut.1-02_a0.filter.0to12.none
            _when-r2-primary-v2.write.c0.to2
            _when-replied-c0-2.join.1-02_a0.release.1to0
            _a10.crash.2
            _when-r0-primary-v3.expect-executed-c0-2
            _a0.expect-same-log-01",
    },
    BuiltIn {
        name: "a44",
        title: "Bad clock on the throne",
        source: "TigerBeetle, Three Clocks are Better than One",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.skew.1.m10000.dm500_a0.skew.2.3600000_a0.crash.0
            _when-r1-primary-v1.write.c0
            _when-replied-c0-2.write.c0
            _when-replied-c0-3.restart.0
            _when-r0-normal-v1.crash.1
            _when-r2-primary-v2.write.c0
            _when-replied-c0-4.restart.1
            _when-r1-normal-v2.crash.2
            _when-r0-primary-v3.write.c0
            _when-replied-c0-5.restart.2
            _a0.expect-same-log-012",
    },
    BuiltIn {
        name: "a45",
        title: "Paid twice",
        source: "Apache Iggy, core/simulator",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.filter.012toc0.Reply_a0.write.c0.to0
            _when-executed-c0-2.crash.0_a0.filter.012toc0.none
            _when-replied-c0-2.expect-executed-c0-2
            _a0.expect-same-log-12",
    },
    BuiltIn {
        name: "a56",
        title: "The ack that jumped the queue",
        source: "the model of this protocol",
        setup: "clients=2&load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.slow.1.1000_a0.write.c0.to0
            _when-r1-head-5.expect-r2-head-5
            _a0.slow.1.1_a0.filter.0to2.Prepare_a0.write.c1.to0
            _when-r1-head-6.expect-replied-c0-2
            _a20.crash.0_a0.crash.1_a0.filter.0to2.none_a0.restart.1
            _when-r1-primary-v1.expect-executed-c0-2
            _a0.expect-replied-c1-2
            _a0.expect-executed-c1-2_a0.expect-same-log-12",
    },
    BuiltIn {
        name: "m03",
        title: "One no is not enough",
        source: "TigerBeetle, docs/internals/vsr.md",
        setup: "load=0&retry=100&delay-mean=1",
        script: "0.warm.1
            _a0.filter.0to2.Prepare_a0.write.c0.to0
            _when-replied-c0-2.crash.0_a0.filter.0to2.none
            _when-r1-primary-v1.expect-executed-c0-2
            _a0.expect-same-log-12",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{decode, encode};

    #[test]
    fn every_story_makes_a_valid_run_that_ends_with_an_expectation() {
        for story in BUILT_IN {
            let run = story.run();
            run.validate()
                .unwrap_or_else(|error| panic!("{}: {error}", story.name));
            let last = run.story.actions().last().unwrap().to_string();
            assert!(last.contains(".expect-"), "{}: {last}", story.name);
        }
    }

    #[test]
    fn a_link_names_the_story_and_nothing_that_its_setup_says() {
        for story in BUILT_IN {
            let link = encode(&story.run());
            assert_eq!(link, format!("v=1&seed=211&story={}&epoch=1", story.name));
            assert_eq!(decode(&link).unwrap(), story.run());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = BUILT_IN.iter().map(|story| story.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BUILT_IN.len());
    }
}
