//! The facade between a page and the engine: one handle, few coarse calls, no logic. It only passes
//! on. Must never know the document, and holds no JavaScript value between calls.

use engine::disk_view::disk;
use engine::frame::{frame, packets};
use engine::run::Session;
use engine::scenario::{Awaited, BUILT_IN, Run, decode, encode};
use engine::trace::{Recorder, Recording, story_step};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// Quiet ticks that one step by event passes over at most: ten seconds of virtual time.
const QUIET_TICKS_MAX: u32 = 1_000;

/// Events that a page can look back on without going back.
const EVENTS_KEPT: usize = 50_000;

/// What a run of ordinary size comes to need.
const RESERVE_BYTES: usize = 16 << 20;

/// Takes memory from the host and leaves it to the allocator. A page goes back in time by writing an
/// older image of the memory back; a run that had to grow would then grow anew each time, since the
/// allocator of that image knows nothing of what the host has given since.
fn reserve_memory() {
    let reserve: Vec<u8> = Vec::with_capacity(RESERVE_BYTES);
    std::hint::black_box(&reserve);
}

/// A run being played.
#[wasm_bindgen]
pub struct Playground {
    session: Session,
}

#[wasm_bindgen]
impl Playground {
    /// Starts the run of a link, with or without its `#`, at tick 0.
    ///
    /// # Errors
    /// The engine's sentence, where the link cannot be read.
    #[wasm_bindgen(constructor)]
    pub fn new(link: &str) -> Result<Playground, JsError> {
        console_error_panic_hook::set_once();
        let run = decode(link)?;
        // The table of JavaScript values gets its room now: an image of this memory that was taken
        // before would ask for room again, each time it is restored.
        drop(JsValue::from_str(""));
        reserve_memory();
        let recorder = Recorder::new(Recording::Everything, EVENTS_KEPT);
        Ok(Self {
            session: Session::new(run, recorder)?,
        })
    }

    /// Goes on by whole ticks.
    pub fn advance_ticks(&mut self, ticks: u32) {
        self.session.advance_ticks(ticks);
    }

    /// Goes on by one event; whether there was one within ten virtual seconds.
    pub fn advance_event(&mut self) -> bool {
        self.session.advance_event(QUIET_TICKS_MAX)
    }

    /// Goes on until a condition holds, for so many ticks at most; whether it came to hold.
    ///
    /// # Errors
    /// If the text is no condition.
    pub fn advance_until(&mut self, condition: &str, ticks_max: u32) -> Result<bool, JsError> {
        let awaited = Awaited::from_text(condition)?;
        Ok(self.session.advance_until(&awaited, ticks_max))
    }

    /// Goes on to the n-th event of a tick, or to its end where n is zero.
    pub fn advance_to(&mut self, tick: u32, step: u32) {
        self.session.advance_to(engine::scenario::Cursor {
            tick: engine::ids::Tick(u64::from(tick)),
            step,
        });
    }

    /// Does something in the next tick; answers it as the link carries it.
    ///
    /// # Errors
    /// If the text is no verb, or names what this cluster does not have.
    pub fn act(&mut self, verb: &str) -> Result<String, JsError> {
        Ok(self.session.act(verb)?)
    }

    /// Replaces every act after the tick that is shown.
    ///
    /// # Errors
    /// If the text is no list of acts.
    pub fn plan(&mut self, acts: &str) -> Result<(), JsError> {
        Ok(self.session.plan(acts)?)
    }

    /// Shows another group from here on: `meta`, `g0`. That changes nothing in the run.
    ///
    /// # Errors
    /// If there is no such group now.
    pub fn select_group(&mut self, name: &str) -> Result<(), JsError> {
        Ok(self.session.select_group(name)?)
    }

    /// The picture now.
    ///
    /// # Errors
    /// None that a person can cause.
    pub fn frame(&self) -> Result<JsValue, JsError> {
        to_js(&frame(&self.session))
    }

    /// A replica's disk in full: rings and copies of the superblock.
    ///
    /// # Errors
    /// None that a person can cause.
    pub fn disk(&self, replica: u8) -> Result<JsValue, JsError> {
        let replica = engine::ids::ReplicaId(replica);
        to_js(&disk(&self.session, replica, self.session.shown_group()))
    }

    /// The packets on links, eleven numbers each.
    #[must_use]
    pub fn packets(&self) -> Vec<f64> {
        packets(&self.session)
    }

    /// Rows of the event log from a number on, at most so many.
    ///
    /// # Errors
    /// None that a person can cause.
    pub fn events(&self, from: f64, max: u32) -> Result<JsValue, JsError> {
        let record = self.session.simulator().world().record.borrow();
        let replicas = self.session.run().cluster.replicas;
        to_js(&record.recorder().rows(number(from), max as usize, replicas))
    }

    /// Rows that a timeline paints, from a number on, at most so many.
    ///
    /// # Errors
    /// None that a person can cause.
    pub fn marks(&self, from: f64, max: u32) -> Result<JsValue, JsError> {
        let record = self.session.simulator().world().record.borrow();
        let replicas = self.session.run().cluster.replicas;
        to_js(
            &record
                .recorder()
                .marks(number(from), max as usize, replicas),
        )
    }

    /// The link that replays the run to where it stands.
    #[must_use]
    pub fn link(&self) -> String {
        self.session.link()
    }

    /// The run hash, 16 hex digits.
    #[must_use]
    pub fn hash(&self) -> String {
        format!("{:016x}", self.session.hash())
    }

    /// What came of it so far.
    ///
    /// # Errors
    /// None that a person can cause.
    pub fn verdict(&self) -> Result<JsValue, JsError> {
        to_js(&self.session.verdict())
    }

    /// The tick that is shown.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a run ends long before 2^53 ticks"
    )]
    pub fn tick(&self) -> f64 {
        self.session.cursor().tick.0 as f64
    }

    /// The number of the event inside the tick that is shown; zero at its end.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.session.cursor().step
    }

    /// The story of the run, in words: `{title, source, steps}`; no steps where there is none.
    ///
    /// # Errors
    /// None that a person can cause.
    pub fn story(&self) -> Result<JsValue, JsError> {
        let story = &self.session.run().story;
        let known = BUILT_IN
            .iter()
            .find(|known| Some(known.name) == story.name());
        to_js(&StoryTold {
            title: known.map(|known| known.title),
            source: known.map(|known| known.source),
            steps: story.actions().iter().map(story_step).collect(),
        })
    }

    /// The acts of the run as text, every one so far and planned.
    #[must_use]
    pub fn acts(&self) -> String {
        engine::scenario::write_acts(&self.session.run().acts)
    }
}

/// What a link asks for, without playing it: `{tick, step, hash, epoch, seed}` and its sizes.
///
/// # Errors
/// The engine's sentence, where the link cannot be read.
#[wasm_bindgen]
pub fn read_link(link: &str) -> Result<JsValue, JsError> {
    let run = decode(link)?;
    run.validate()?;
    to_js(&Asked {
        tick: run.at.map_or(0, |at| at.tick.0),
        step: run.at.map_or(0, |at| at.step),
        hash: run.expected_hash.map(|hash| format!("{hash:016x}")),
        epoch: run.epoch,
        current_epoch: engine::scenario::EPOCH,
        seed: run.seed.to_string(),
        replicas: run.cluster.replicas,
        clients: run.cluster.clients,
        partitions: run.cluster.partitions,
        story: run.story.name(),
        acts: engine::scenario::write_acts(&run.acts),
        start: encode(&Run {
            acts: Vec::new(),
            at: None,
            expected_hash: None,
            ..run
        }),
    })
}

#[derive(Serialize)]
struct StoryTold {
    title: Option<&'static str>,
    source: Option<&'static str>,
    steps: Vec<String>,
}

#[derive(Serialize)]
struct Asked {
    tick: u64,
    step: u32,
    hash: Option<String>,
    epoch: u32,
    current_epoch: u32,
    seed: String,
    replicas: u8,
    clients: u8,
    partitions: u8,
    story: Option<&'static str>,
    acts: String,
    start: String,
}

/// The link of the default cluster.
#[wasm_bindgen]
#[must_use]
pub fn default_link() -> String {
    encode(&Run::default())
}

/// The link of the opening episode.
#[wasm_bindgen]
#[must_use]
pub fn episode_link() -> String {
    let opening = engine::scenario::BUILT_IN.first();
    encode(&opening.map_or_else(Run::default, engine::scenario::BuiltIn::run))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "event numbers are whole, not negative and below 2^53"
)]
fn number(from: f64) -> u64 {
    from as u64
}

/// By way of JSON, so that nothing of the page's stays behind: references to its values are numbers
/// in this memory for places in a table outside it. A serialiser that keeps the names of fields as
/// such references fails once an older image of the memory is written back, which knows a shorter
/// table.
fn to_js(value: &impl Serialize) -> Result<JsValue, JsError> {
    let text = serde_json::to_string(value)?;
    js_sys::JSON::parse(&text).map_err(|_| JsError::new("the browser does not read JSON"))
}
