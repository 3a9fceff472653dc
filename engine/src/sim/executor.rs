//! A deterministic executor of `!Send` futures on one thread: of the tasks that are ready it polls
//! one at a time, drawn uniformly, so that a seed explores one interleaving and finds it again.
//! Must never know what its tasks do, nor move time.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

use thiserror::Error;

use crate::digest::RunHash;
use crate::prng::{Purpose, Rng};

/// Most polls of a round. A round that needs more waits for something that will never come.
pub const POLLS_PER_ROUND_MAX: u32 = 100_000;

/// Told apart from poll numbers, which count from 1 and never come near.
const MARK_TIMER: u64 = 0xFFFF_0000_0000_0001;
const MARK_SPAWN: u64 = 0xFFFF_0000_0000_0002;

/// A handle on the executor. Clones are the same executor; tasks may hold one and spawn through it.
/// Tasks that hold one keep it alive: whoever made it ends it with [`Executor::abort_all`].
#[derive(Clone)]
pub struct Executor {
    inner: Rc<Inner>,
}

/// Names a task. A slot is used again, a generation of a slot never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId {
    /// Place in the slab.
    pub slot: u32,
    /// How many tasks had the place before.
    pub generation: u32,
}

/// What one call of [`Executor::poll_one`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing was ready.
    Idle,
    /// One task was polled.
    Polled {
        /// Which.
        task: TaskId,
        /// Whose it is.
        owner: u16,
        /// Whether that was its last poll.
        finished: bool,
    },
}

/// Tasks kept waking each other without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("tasks kept waking each other: {polls} polls in one round and still not quiet")]
pub struct Livelock {
    /// Polls of the round.
    pub polls: u32,
}

/// Draws which ready task runs: keyed by tick and by the number of the choice in it, so that one
/// tick's choices move no other tick's.
#[derive(Clone, Debug)]
pub struct ChoiceSource {
    seed: u64,
    tick: u64,
    choices: u64,
}

struct Inner {
    arrivals: Arc<Arrivals>,
    state: RefCell<State>,
}

/// Tasks woken or spawned since the last turn, in that order. Outside `State` and `Sync`, because a
/// `Waker` must be, and because tasks wake each other while they are polled.
#[derive(Default)]
struct Arrivals {
    queue: Mutex<Vec<TaskId>>,
}

#[derive(Default)]
struct State {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// In wake order.
    ready: Vec<TaskId>,
    /// Ready, but of a paused owner; in wake order.
    parked: Vec<TaskId>,
    paused: Vec<u16>,
    running_owner: Option<u16>,
    live: usize,
    polls_of_round: u32,
    polls: u64,
    hash: RunHash,
    /// The emptied buffer of `Arrivals`, swapped back in so that a turn allocates nothing.
    spare: Vec<TaskId>,
}

struct Slot {
    generation: u32,
    task: Option<Task>,
}

struct Task {
    owner: u16,
    signal: Arc<Signal>,
    /// Out of the slot while it is polled.
    body: Option<Body>,
}

struct Body {
    future: Pin<Box<dyn Future<Output = ()>>>,
    /// Made once: a clone a poll would cost more than the poll.
    waker: Waker,
}

struct Signal {
    id: TaskId,
    queued: AtomicBool,
    arrivals: Arc<Arrivals>,
}

impl Executor {
    /// An executor without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self {
            inner: Rc::new(Inner {
                arrivals: Arc::default(),
                state: RefCell::default(),
            }),
        }
    }

    /// Stages a task; it joins the ready ones, in order of arrival, at the next turn.
    pub fn spawn(&self, owner: u16, future: impl Future<Output = ()> + 'static) -> TaskId {
        let future = Box::pin(future);
        let mut state = self.inner.state.borrow_mut();
        state.hash.fold(MARK_SPAWN);
        state.hash.fold(u64::from(owner));
        let id = state.reserve_slot();
        let signal = Arc::new(Signal {
            id,
            queued: AtomicBool::new(true),
            arrivals: Arc::clone(&self.inner.arrivals),
        });
        let waker = Waker::from(Arc::clone(&signal));
        state.slots[id.slot as usize].task = Some(Task {
            owner,
            signal,
            body: Some(Body { future, waker }),
        });
        state.live += 1;
        self.inner.arrivals.lock().push(id);
        id
    }

    /// Begins a round: the poll budget is whole again.
    pub fn begin_round(&self) {
        self.inner.state.borrow_mut().polls_of_round = 0;
    }

    /// Whether a task could be polled now.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        let mut state = self.inner.state.borrow_mut();
        state.admit(&self.inner.arrivals);
        !state.ready.is_empty()
    }

    /// Polls one ready task, drawn uniformly.
    ///
    /// # Errors
    /// [`Livelock`] where the round has used up its polls and a task is ready still.
    pub fn poll_one(&self, choices: &mut ChoiceSource) -> Result<Turn, Livelock> {
        let Some((id, owner, mut body)) = self.take_next(choices)? else {
            return Ok(Turn::Idle);
        };
        let mut context = Context::from_waker(&body.waker);
        let finished = body.future.as_mut().poll(&mut context).is_ready();
        let mut state = self.inner.state.borrow_mut();
        state.running_owner = None;
        if finished {
            let done = state.retire(id.slot);
            // A future may spawn or wake as it is dropped.
            drop(state);
            drop((done, body));
        } else if let Some(task) = &mut state.slots[id.slot as usize].task {
            task.body = Some(body);
        }
        Ok(Turn::Polled {
            task: id,
            owner,
            finished,
        })
    }

    fn take_next(
        &self,
        choices: &mut ChoiceSource,
    ) -> Result<Option<(TaskId, u16, Body)>, Livelock> {
        let mut state = self.inner.state.borrow_mut();
        let state = &mut *state;
        state.admit(&self.inner.arrivals);
        let Ok(ready) = u32::try_from(state.ready.len()) else {
            return Err(state.livelock());
        };
        if ready == 0 {
            return Ok(None);
        }
        if state.polls_of_round >= POLLS_PER_ROUND_MAX {
            return Err(state.livelock());
        }
        let id = state.ready.remove(choices.pick(ready) as usize);
        state.polls_of_round += 1;
        state.polls += 1;
        state.hash.fold(state.polls);
        state.hash.fold(id.word());
        let task = state.slots[id.slot as usize]
            .task
            .as_mut()
            .expect("a ready task is alive: abort takes it off the list");
        // Before the poll, so that a wake during it counts.
        task.signal.queued.store(false, Ordering::Relaxed);
        state.running_owner = Some(task.owner);
        let body = task.body.take().expect("only a running task has no body");
        Ok(Some((id, task.owner, body)))
    }

    /// Drops every task of an owner where it stands.
    ///
    /// # Panics
    /// If a task of that owner is being polled: it cannot be dropped under its own feet.
    pub fn abort_owner(&self, owner: u16) {
        let running = self.inner.state.borrow().running_owner;
        assert!(running != Some(owner), "a task cannot abort its own owner");
        self.abort_where(|of| of == owner);
    }

    /// Drops every task. Ends the cycle of tasks that hold their executor. Does not panic, since it
    /// may run while a panic of a task unwinds.
    pub fn abort_all(&self) {
        self.abort_where(|_| true);
    }

    fn abort_where(&self, doomed: impl Fn(u16) -> bool) {
        let mut state = self.inner.state.borrow_mut();
        state.admit(&self.inner.arrivals);
        let places = (0..).zip(&state.slots);
        let doomed_slots: Vec<u32> = places
            .filter(|(_, slot)| slot.task.as_ref().is_some_and(|task| doomed(task.owner)))
            .map(|(place, _)| place)
            .collect();
        let retired = doomed_slots.iter().map(|&slot| state.retire(slot));
        let dropped: Vec<Option<Task>> = retired.collect();
        let State {
            ready,
            parked,
            slots,
            ..
        } = &mut *state;
        ready.retain(|id| is_current(slots, *id));
        parked.retain(|id| is_current(slots, *id));
        // Futures may wake other tasks as they go.
        drop(state);
        drop(dropped);
    }

    /// Pauses an owner or lets it go on. Its ready tasks stay ready, are not picked meanwhile, and
    /// line up behind the others afterwards.
    pub fn pause(&self, owner: u16, paused: bool) {
        let mut state = self.inner.state.borrow_mut();
        state.admit(&self.inner.arrivals);
        state.paused.retain(|&other| other != owner);
        let State {
            slots,
            ready,
            parked,
            paused: list,
            ..
        } = &mut *state;
        let of_owner = |id: &mut TaskId| owner_of(slots, *id) == Some(owner);
        if paused {
            list.push(owner);
            parked.extend(ready.extract_if(.., of_owner));
        } else {
            ready.extend(parked.extract_if(.., of_owner));
        }
    }

    /// Whether an owner is paused.
    #[must_use]
    pub fn is_paused(&self, owner: u16) -> bool {
        self.inner.state.borrow().paused.contains(&owner)
    }

    /// Folds a timer's fire into the schedule hash.
    pub fn note_timer(&self, sequence: u64) {
        let mut state = self.inner.state.borrow_mut();
        state.hash.fold(MARK_TIMER);
        state.hash.fold(sequence);
    }

    /// The schedule hash: every poll, timer fire and spawn so far.
    #[must_use]
    pub fn schedule_hash(&self) -> u64 {
        self.inner.state.borrow().hash.value()
    }

    /// Polls so far.
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.inner.state.borrow().polls
    }

    /// Tasks alive, of all owners.
    #[must_use]
    pub fn live(&self) -> usize {
        self.inner.state.borrow().live
    }

    /// Tasks of one owner that are alive.
    #[must_use]
    pub fn live_of(&self, owner: u16) -> usize {
        let state = self.inner.state.borrow();
        let tasks = state.slots.iter().filter_map(|slot| slot.task.as_ref());
        tasks.filter(|task| task.owner == owner).count()
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl ChoiceSource {
    /// The choices below the executor's child seed, from tick 0.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            tick: 0,
            choices: 0,
        }
    }

    /// Enters a tick: its choices count from 0.
    pub fn enter_tick(&mut self, tick: u64) {
        self.tick = tick;
        self.choices = 0;
    }

    /// One of `ready` tasks. Draws nothing where there is no choice.
    fn pick(&mut self, ready: u32) -> u32 {
        if ready == 1 {
            return 0;
        }
        let key = [self.tick, self.choices];
        self.choices += 1;
        Rng::keyed(self.seed, Purpose::Schedule, key).below(ready)
    }
}

impl State {
    fn reserve_slot(&mut self) -> TaskId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                task: None,
            });
            u32::try_from(self.slots.len() - 1).expect("tasks are far fewer than 2^32")
        });
        TaskId {
            slot,
            generation: self.slots[slot as usize].generation,
        }
    }

    /// Frees a slot. The caller drops the task once the state is no longer borrowed.
    fn retire(&mut self, slot: u32) -> Option<Task> {
        let place = &mut self.slots[slot as usize];
        let task = place.task.take();
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        self.live -= 1;
        task
    }

    /// Moves what arrived to the ready tasks; wakes of tasks that are gone are forgotten.
    fn admit(&mut self, arrivals: &Arrivals) {
        {
            let mut queue = arrivals.lock();
            if queue.is_empty() {
                return;
            }
            std::mem::swap(&mut *queue, &mut self.spare);
        }
        for &id in &self.spare {
            match owner_of(&self.slots, id) {
                Some(owner) if self.paused.contains(&owner) => self.parked.push(id),
                Some(_) => self.ready.push(id),
                None => {}
            }
        }
        self.spare.clear();
    }

    fn livelock(&self) -> Livelock {
        Livelock {
            polls: self.polls_of_round,
        }
    }
}

fn is_current(slots: &[Slot], id: TaskId) -> bool {
    owner_of(slots, id).is_some()
}

fn owner_of(slots: &[Slot], id: TaskId) -> Option<u16> {
    let slot = &slots[id.slot as usize];
    let task = slot.task.as_ref()?;
    (slot.generation == id.generation).then_some(task.owner)
}

impl TaskId {
    fn word(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.generation)
    }
}

impl Arrivals {
    fn lock(&self) -> MutexGuard<'_, Vec<TaskId>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.arrivals.lock().push(self.id);
        }
    }
}

#[cfg(test)]
#[path = "executor_tests.rs"]
mod tests;
