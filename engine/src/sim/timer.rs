//! Virtual time: one clock of the world, timers in it, and each replica's own idea of the time of
//! day. Time moves only when told. Must never know what waits for it, nor read a real clock.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::scenario::Skew;
use crate::sim::promise::remember;

/// 2026-01-01T00:00:00Z in microseconds since 1970: when every run begins.
pub const EPOCH_REALTIME_MICROS: u64 = 1_767_225_600_000_000;

/// Cancelled timers are swept once they are most of the heap and at least this many.
const SWEEP_MIN: usize = 64;

/// A handle on the virtual clock. Clones are the same clock.
#[derive(Clone, Default)]
pub struct Clock {
    inner: Rc<Inner>,
}

/// A wait whose deadline was fixed when it was made. Dropping it cancels it.
pub struct Sleep {
    clock: Rc<Inner>,
    cell: Rc<SleepCell>,
}

/// Names what an alarm is for, in the words of whoever set it: the clock only hands it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// Whose it is.
    pub owner: u16,
    /// The owner's number for it.
    pub number: u64,
}

/// A timer that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Its number in the order timers were set.
    pub sequence: u64,
    /// When it was due, in microseconds since the start.
    pub deadline_micros: u64,
    /// The alarm that went off; nothing where a sleeping task was woken.
    pub alarm: Option<Alarm>,
}

/// A replica's clock for timestamps: the world's, off by what was set, and drifting from there. It
/// belongs to the machine: no crash sets it right. Timers do not know it.
#[derive(Clone)]
pub struct ReplicaClock {
    clock: Clock,
    error: Rc<Cell<ClockError>>,
}

#[derive(Clone, Copy, Default)]
struct ClockError {
    skew: Skew,
    since_micros: u64,
}

struct Inner {
    now_micros: Cell<u64>,
    /// Deadline of the heap's top: an idle tick looks at this alone.
    next_micros: Cell<u64>,
    timers: RefCell<Timers>,
}

#[derive(Default)]
struct Timers {
    heap: BinaryHeap<Timer>,
    set: u64,
    cancelled: usize,
}

struct Timer {
    deadline_micros: u64,
    sequence: u64,
    what: What,
}

enum What {
    Sleep(Rc<SleepCell>),
    Alarm(Alarm),
}

struct SleepCell {
    state: Cell<SleepState>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SleepState {
    Waiting,
    Fired,
    Cancelled,
}

impl Clock {
    /// A clock at the start of a run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Microseconds since the start of the run.
    #[must_use]
    pub fn now_micros(&self) -> u64 {
        self.inner.now_micros.get()
    }

    /// Microseconds since 1970, as nobody's clock is wrong.
    #[must_use]
    pub fn realtime_micros(&self) -> u64 {
        EPOCH_REALTIME_MICROS + self.now_micros()
    }

    /// Waits for `duration_micros` from now, whenever it is first polled. Zero is ready at once.
    #[must_use]
    pub fn sleep(&self, duration_micros: u64) -> Sleep {
        let state = match duration_micros {
            0 => SleepState::Fired,
            _ => SleepState::Waiting,
        };
        let cell = Rc::new(SleepCell {
            state: Cell::new(state),
            waker: RefCell::default(),
        });
        if state == SleepState::Waiting {
            self.set(duration_micros, What::Sleep(Rc::clone(&cell)));
        }
        Sleep {
            clock: Rc::clone(&self.inner),
            cell,
        }
    }

    /// Sets an alarm, which [`Clock::fire_next`] hands to its caller when it is due. It cannot be
    /// taken back: whoever set it ignores what it no longer wants.
    pub fn set_alarm(&self, duration_micros: u64, alarm: Alarm) -> u64 {
        self.set(duration_micros, What::Alarm(alarm))
    }

    fn set(&self, duration_micros: u64, what: What) -> u64 {
        let deadline_micros = self.now_micros().saturating_add(duration_micros);
        let mut timers = self.inner.timers.borrow_mut();
        let sequence = timers.set;
        timers.set += 1;
        timers.heap.push(Timer {
            deadline_micros,
            sequence,
            what,
        });
        let next = self.inner.next_micros.get().min(deadline_micros);
        self.inner.next_micros.set(next);
        sequence
    }

    /// Moves time on. Nothing fires by itself: see [`Clock::fire_next`].
    pub fn advance(&self, micros: u64) {
        self.inner.now_micros.set(self.now_micros() + micros);
    }

    /// Fires one due timer, the earliest by deadline and then by the order they were set, and wakes
    /// its task. One at a time, so that a caller can stop between any two.
    pub fn fire_next(&self) -> Option<Fired> {
        let now = self.now_micros();
        while self.inner.next_micros.get() <= now {
            let mut timers = self.inner.timers.borrow_mut();
            let timer = timers.heap.pop()?;
            self.inner.next_micros.set(timers.next_micros());
            let fired = Fired {
                sequence: timer.sequence,
                deadline_micros: timer.deadline_micros,
                alarm: match timer.what {
                    What::Sleep(_) => None,
                    What::Alarm(alarm) => Some(alarm),
                },
            };
            let What::Sleep(cell) = timer.what else {
                return Some(fired);
            };
            if cell.state.get() == SleepState::Cancelled {
                timers.cancelled -= 1;
                continue;
            }
            drop(timers);
            cell.state.set(SleepState::Fired);
            if let Some(waker) = cell.waker.take() {
                waker.wake();
            }
            return Some(fired);
        }
        None
    }

    /// When the next timer is due, in microseconds since the start. It may have been cancelled.
    #[must_use]
    pub fn next_deadline_micros(&self) -> Option<u64> {
        let next = self.inner.next_micros.get();
        (next != u64::MAX).then_some(next)
    }

    /// Timers set and neither fired nor swept.
    #[must_use]
    pub fn timers(&self) -> usize {
        self.inner.timers.borrow().heap.len()
    }
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            now_micros: Cell::new(0),
            next_micros: Cell::new(u64::MAX),
            timers: RefCell::default(),
        }
    }
}

impl Timers {
    fn next_micros(&self) -> u64 {
        let top = self.heap.peek();
        top.map_or(u64::MAX, |timer| timer.deadline_micros)
    }

    fn sweep(&mut self) {
        if self.cancelled >= SWEEP_MIN && self.cancelled * 2 > self.heap.len() {
            self.heap.retain(|timer| !timer.is_cancelled());
            self.cancelled = 0;
        }
    }
}

impl Timer {
    fn is_cancelled(&self) -> bool {
        match &self.what {
            What::Sleep(cell) => cell.state.get() == SleepState::Cancelled,
            What::Alarm(_) => false,
        }
    }

    fn key(&self) -> (u64, u64) {
        (self.deadline_micros, self.sequence)
    }
}

/// Reversed: the heap's largest is the timer that fires first.
impl Ord for Timer {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Timer {}

impl Future for Sleep {
    type Output = ();

    /// Ready once its timer has fired; that time has passed its deadline is not enough, or the order
    /// of fires would not be the order of wakes.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.cell.state.get() == SleepState::Fired {
            return Poll::Ready(());
        }
        remember(&mut self.cell.waker.borrow_mut(), context.waker());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if self.cell.state.get() != SleepState::Waiting {
            return;
        }
        self.cell.state.set(SleepState::Cancelled);
        self.cell.waker.take();
        let mut timers = self.clock.timers.borrow_mut();
        timers.cancelled += 1;
        timers.sweep();
        self.clock.next_micros.set(timers.next_micros());
    }
}

impl ReplicaClock {
    /// A replica's clock that is right.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            error: Rc::default(),
        }
    }

    /// Microseconds since 1970, as this replica believes.
    #[must_use]
    pub fn realtime_micros(&self) -> u64 {
        let world = self.clock.realtime_micros();
        world.saturating_add_signed(self.offset_micros())
    }

    /// How far it is off now.
    #[must_use]
    pub fn offset_micros(&self) -> i64 {
        let ClockError { skew, since_micros } = self.error.get();
        let since = self.clock.now_micros().saturating_sub(since_micros);
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        let drifted = since.saturating_mul(i64::from(skew.drift_ppm));
        i64::from(skew.offset_ms) * 1_000 + drifted.div_euclid(1_000_000)
    }

    /// How fast it goes wrong, in millionths.
    #[must_use]
    pub fn drift_ppm(&self) -> i32 {
        self.error.get().skew.drift_ppm
    }

    /// Sets how far it is off from now on, and how fast it goes wrong.
    pub fn set_skew(&self, skew: Skew) {
        let since_micros = self.clock.now_micros();
        self.error.set(ClockError { skew, since_micros });
    }
}

#[cfg(test)]
#[path = "timer_tests.rs"]
mod tests;
