//! I14, no lost wakeup: when a tick is over, every shard's inbox and every channel between the shards of
//! a running replica is empty, every state that
//! waits owns a running timer that ends the wait, and a normal replica has executed whatever it holds
//! and knows committed (protocol sections 1 and 3 to 7; scenarios A54). Must never know what a timer
//! does.
//!
//! Exceptions. A paused replica takes nothing in. A cluster of one waits for nobody. A primary that
//! abdicated has stopped its heartbeats and resends on purpose. A primary waits for its own disk
//! without resending, and so does a replica that has just booted, whose new incarnation must be
//! durable before it asks. A replica that voted to leave its view has done waiting and sends its vote
//! again instead. Where bodies are missing, entries above them are not proven and may wait; so does
//! everything while a state is fetched. What has no slot before the next checkpoint waits for it.

use super::view::MemberView;
use super::violation::{Property, Replicas, Report};
use crate::ids::View;
use crate::vsr::io::{Status, Timer};

/// Which replicas were last seen stuck: a wait is reported once, not every tick.
#[derive(Debug)]
pub(super) struct NoLostWakeup {
    replica_count: u8,
    stuck: Replicas,
}

impl NoLostWakeup {
    pub(super) fn new(replica_count: u8) -> Self {
        Self {
            replica_count,
            stuck: Replicas::NONE,
        }
    }

    /// A replica changed.
    pub(super) fn moved(&mut self, member: &MemberView, report: &mut Report) {
        let one = Replicas::one(member.replica);
        report.compared(Property::I14);
        let Some(text) = self.fault(member) else {
            self.stuck = self.stuck.without(one);
            return;
        };
        if !self.stuck.contains(member.replica) {
            self.stuck = self.stuck.with(member.replica);
            report.violated(Property::I14, None, one, text);
        }
    }

    fn fault(&self, member: &MemberView) -> Option<String> {
        if !member.up || member.paused {
            return None;
        }
        if member.inbox > 0 {
            return Some(format!(
                "{} frames wait in the inbox of {} and nothing opens it",
                member.inbox, member.replica
            ));
        }
        if member.between > 0 {
            return Some(format!(
                "{} frames wait between the shards of {} and nothing takes them",
                member.between, member.replica
            ));
        }
        let ready = member.commit_max.min(member.head);
        let lacks_nothing = !member.holes && !member.needs_state;
        if member.status == Status::Normal && lacks_nothing && member.commit_min < ready {
            return Some(format!(
                "{} holds op {ready} and knows it committed, has executed op {} and waits for nothing",
                member.replica, member.commit_min
            ));
        }
        let (timer, wait) = self.wait(member)?;
        (!member.timers.contains(timer)).then(|| {
            format!(
                "{} {wait} and its timer {} does not run",
                member.replica,
                name(timer)
            )
        })
    }

    /// What a replica waits for first of all, and the timer that must end it.
    fn wait(&self, member: &MemberView) -> Option<(Timer, &'static str)> {
        if self.replica_count == 1 {
            return None;
        }
        let leads = leads(member.view, self.replica_count, member);
        let missing = |timer: Timer| !member.timers.contains(timer);
        let has_voted = !missing(Timer::StartViewChangeResend);
        match member.status {
            Status::Recovering | Status::RecoveringHead if member.writes_pending > 0 => None,
            Status::ViewChange | Status::Normal if has_voted => None,
            Status::Recovering | Status::RecoveringHead => {
                Some((Timer::Probe, "waits to learn who leads"))
            }
            Status::ViewChange => Some((Timer::ViewChangeWait, "waits for a view to start")),
            Status::Normal if member.needs_state && member.writes_pending == 0 => {
                Some((Timer::StateRetry, "lacks a state"))
            }
            Status::Normal
                if member.fetchable && !member.needs_state && missing(Timer::RepairRetry) =>
            {
                Some((Timer::RepairRetry, "lacks bodies"))
            }
            Status::Normal if !leads => Some((Timer::HeartbeatWait, "follows a primary")),
            Status::Normal if !member.abdicated && missing(Timer::Heartbeat) => {
                Some((Timer::Heartbeat, "leads"))
            }
            Status::Normal
                if member.pipeline > 0 && member.writes_pending == 0 && !member.abdicated =>
            {
                Some((Timer::PrepareResend, "waits for acks"))
            }
            Status::Normal => None,
        }
    }
}

fn leads(view: View, replica_count: u8, member: &MemberView) -> bool {
    view.primary(replica_count) == member.replica
}

fn name(timer: Timer) -> &'static str {
    match timer {
        Timer::Heartbeat => "heartbeat",
        Timer::HeartbeatWait => "heartbeat-wait",
        Timer::ViewChangeWait => "view-change-wait",
        Timer::StartViewChangeResend => "start-view-change-resend",
        Timer::DoViewChangeResend => "do-view-change-resend",
        Timer::PrepareResend => "prepare-resend",
        Timer::Abdicate => "abdicate",
        Timer::Probe => "probe",
        Timer::RepairRetry => "repair-retry",
        Timer::StateRetry => "state-retry",
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::super::view::Timers;
    use super::*;
    use crate::ids::Op;

    type Change = fn(&mut MemberView);

    #[test]
    fn each_wait_without_its_timer_is_a_violation_once() {
        let cases: [(u8, Change, &str); 9] = [
            (
                1,
                |m| m.between = 3,
                "3 frames wait between the shards of 1",
            ),
            (1, |m| m.inbox = 2, "2 frames wait in the inbox of 1"),
            (1, |m| m.timers = Timers::default(), "heartbeat-wait"),
            (0, |m| m.timers = Timers::default(), "0 leads"),
            (1, |m| m.status = Status::ViewChange, "view-change-wait"),
            (1, |m| m.status = Status::Recovering, "probe"),
            (1, |m| m.fetchable = true, "repair-retry"),
            (1, |m| m.needs_state = true, "state-retry"),
            (0, |m| m.pipeline = 1, "prepare-resend"),
        ];
        for (replica, change, text) in cases {
            let mut world = World::new(3);
            world.tick();
            assert_eq!(world.found(Property::I14), 0);
            change(&mut world.members[usize::from(replica)]);
            world.tick();
            world.members[usize::from(replica)].sessions += 1;
            world.tick();
            assert_eq!(world.found(Property::I14), 1, "{text}");
            assert!(
                world.kept()[0].text.contains(text),
                "{}",
                world.kept()[0].text
            );
        }
    }

    #[test]
    fn each_exception_holds() {
        let cases: [(u8, Change); 7] = [
            (1, |m| {
                m.paused = true;
                m.inbox = 2;
                m.between = 2;
            }),
            (1, |m| {
                m.up = false;
                m.timers = Timers::default();
            }),
            (0, |m| {
                m.abdicated = true;
                m.timers = Timers::default();
            }),
            (0, |m| {
                m.pipeline = 1;
                m.writes_pending = 1;
            }),
            (1, |m| {
                m.status = Status::ViewChange;
                m.timers = m.timers.with(Timer::ViewChangeWait);
            }),
            (1, |m| {
                m.needs_state = true;
                m.writes_pending = 1;
            }),
            (1, |m| {
                m.needs_state = true;
                m.timers = m.timers.with(Timer::StateRetry);
                (m.head, m.commit_max) = (Op(9), Op(9));
            }),
        ];
        for (replica, change) in cases {
            let mut world = World::new(3);
            change(&mut world.members[usize::from(replica)]);
            world.tick();
            assert_eq!(world.found(Property::I14), 0);
            assert!(world.compared(Property::I14) > 0);
        }
    }

    #[test]
    fn a_committed_op_that_is_held_and_not_executed_is_a_violation() {
        let mut world = World::new(3);
        world.execute_everywhere(3);
        world.members[1].commit_max = Op(5);
        world.tick();
        world.members[1].head = Op(5);
        world.members[1].holes = true;
        world.members[1].timers = world.members[1].timers.with(Timer::RepairRetry);
        world.tick();
        assert_eq!(world.found(Property::I14), 0, "its entry is not there yet");
        world.members[1].holes = false;
        world.tick();
        assert_eq!(world.found(Property::I14), 1);
        assert!(world.kept()[0].text.contains("has executed op 3 and waits"));
    }

    #[test]
    fn a_wait_that_ends_and_comes_back_is_reported_again() {
        let mut world = World::new(3);
        for inbox in [1, 0, 1] {
            world.members[2].inbox = inbox;
            world.tick();
        }
        assert_eq!(world.found(Property::I14), 2);
    }

    #[test]
    fn a_cluster_of_one_needs_no_timer() {
        let mut world = World::new(1);
        world.members[0].timers = Timers::default();
        world.members[0].pipeline = 1;
        world.tick();
        assert_eq!(world.found(Property::I14), 0);
    }
}
