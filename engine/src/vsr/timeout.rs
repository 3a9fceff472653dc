//! Countdown timers of one replica in one group, in ticks. Must never know what a timer is for.

use crate::vsr::io::Timer;

const TIMERS: [Timer; 10] = [
    Timer::Heartbeat,
    Timer::HeartbeatWait,
    Timer::ViewChangeWait,
    Timer::StartViewChangeResend,
    Timer::DoViewChangeResend,
    Timer::PrepareResend,
    Timer::Abdicate,
    Timer::Probe,
    Timer::RepairRetry,
    Timer::StateRetry,
];

#[derive(Clone, Copy, Debug)]
struct Running {
    due: u64,
    length: u32,
}

/// All timers of a replica. Those that run out in one tick fire in the order of [`Timer`].
#[derive(Debug)]
pub struct Timers {
    now: u64,
    next_due: u64,
    running: [Option<Running>; TIMERS.len()],
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            now: 0,
            next_due: u64::MAX,
            running: [None; TIMERS.len()],
        }
    }
}

impl Timers {
    /// Ticks since boot.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Starts or restarts a timer.
    pub fn start(&mut self, timer: Timer, ticks: u32) {
        let due = self.now + u64::from(ticks.max(1));
        self.running[timer as usize] = Some(Running { due, length: ticks });
        self.next_due = self.next_due.min(due);
    }

    /// Starts a timer unless it runs already.
    pub fn ensure(&mut self, timer: Timer, ticks: u32) {
        if !self.is_running(timer) {
            self.start(timer, ticks);
        }
    }

    /// Stops a timer.
    pub fn stop(&mut self, timer: Timer) {
        self.running[timer as usize] = None;
    }

    /// Whether a timer runs.
    #[must_use]
    pub fn is_running(&self, timer: Timer) -> bool {
        self.running[timer as usize].is_some()
    }

    /// Whether the next tick may find a timer due.
    #[must_use]
    pub fn may_fire(&self) -> bool {
        self.now + 1 >= self.next_due
    }

    /// Lets a tick pass; whether a timer may be due. Most ticks end here.
    pub fn tick(&mut self) -> bool {
        self.now += 1;
        self.now >= self.next_due
    }

    /// Takes the next timer that is due; it no longer runs. Once none is, the earliest due tick is
    /// looked up anew.
    pub fn take_due(&mut self) -> Option<Timer> {
        for timer in TIMERS {
            if let Some(running) = self.running[timer as usize]
                && running.due <= self.now
            {
                self.running[timer as usize] = None;
                return Some(timer);
            }
        }
        self.next_due = self
            .running
            .iter()
            .flatten()
            .map(|running| running.due)
            .min()
            .unwrap_or(u64::MAX);
        None
    }

    /// Running timers as (timer, ticks left, of ticks).
    pub fn iter(&self) -> impl Iterator<Item = (Timer, u64, u32)> + '_ {
        TIMERS.into_iter().filter_map(|timer| {
            self.running[timer as usize]
                .map(|running| (timer, running.due.saturating_sub(self.now), running.length))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_once_in_their_order() {
        let mut timers = Timers::default();
        timers.start(Timer::Probe, 2);
        timers.start(Timer::Heartbeat, 2);
        assert!(!timers.tick());
        assert!(timers.tick());
        assert_eq!(timers.take_due(), Some(Timer::Heartbeat));
        assert_eq!(timers.take_due(), Some(Timer::Probe));
        assert_eq!(timers.take_due(), None);
        assert!(!timers.tick());
    }

    #[test]
    fn the_number_of_a_timer_is_its_place() {
        for (place, timer) in TIMERS.into_iter().enumerate() {
            assert_eq!(timer as usize, place);
        }
    }

    #[test]
    fn a_restarted_timer_counts_anew() {
        let mut timers = Timers::default();
        timers.start(Timer::Probe, 2);
        timers.tick();
        timers.start(Timer::Probe, 2);
        timers.tick();
        assert_eq!(timers.take_due(), None);
        timers.tick();
        assert_eq!(timers.take_due(), Some(Timer::Probe));
    }
}
