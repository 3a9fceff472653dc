/**
 * Runs the run: opens links, plays, steps, seeks, acts and branches, and writes what came of it into the store. The one
 * caller of the simulator client. Must never know the DOM or draw anything.
 */

import { actWords } from "../acts.js";
import { Alarm } from "./alarm.js";
import { freshRun } from "./begin.js";
import { changeBranch, forkBranch, lineageOf, linkOf, rootBranch } from "./branches.js";
import { Episode } from "./episode.js";
import { actsAfter, actsOf, clusterOf, comparePositions, mergeLink, parsePosition, positionText, runOf, valueOf } from "../link.js";
import { Player } from "./player.js";
import { EngineTrap, Sim } from "../sim.js";
import { History } from "./history.js";
import { nextSlice } from "./slices.js";
import { Recorder } from "./recorder.js";
import { branchOf, liveOf } from "../state.js";

/** @typedef {import("../link.js").Position} Position */
/** @typedef {import("./branches.js").Branch} Branch */
/** @typedef {import("../types.js").EventRow} EventRow */

/** Longest stretch of script that a seek may take from a frame. */
const SLICE_MS = 7;
/** An instance that grew beyond this is left for a new one. */
const MEMORY_MAX = 256 * 1024 * 1024;

/** Drives one Run at a time and keeps the others as data. */
export class Conductor {
  #store;
  /** @type {Sim | null} */
  #sim = null;
  /** The branch whose memory the simulator holds. */
  #loaded = -1;
  #runs = 0;
  #ids = 0;
  #opens = 0;
  #opening = 0;
  /** @type {{ branch: number, at: Position } | null} */
  #goal = null;
  /** @type {Promise<void> | null} */
  #driving = null;
  #history = new History();
  #recorder;
  #player;
  #alarm;
  /** @type {Episode | null} */
  #episode = null;
  /** A person did something, so the address may follow. */
  hasActed = false;

  /** @param {import("../state.js").Store} store */
  constructor(store) {
    this.#store = store;
    this.#recorder = new Recorder(store);
    this.#player = new Player(store);
    this.#alarm = new Alarm(store);
  }

  /** @returns {number} virtual time now, in ticks with a fraction */
  get now() {
    const { shown } = this.#store.state;
    return shown.tick + (shown.step > 0 ? 0 : this.#player.fraction);
  }

  /** @returns {{ row: EventRow, at: number }[]} */
  get bursts() {
    return this.#recorder.bursts;
  }

  /** @returns {boolean} whether it is on its way to another run or place */
  get isBusy() {
    return this.#goal !== null || this.#opening > 0;
  }

  /** @returns {{ memory: number, checkpoints: number, lastMs: number } | null} */
  get footprint() {
    return this.#sim?.footprint ?? null;
  }

  /** @returns {number[]} */
  get checkpointTicks() {
    return this.#sim?.checkpointTicks ?? [];
  }

  /**
   * @param {number} tick
   * @returns {string | null} the hash seen at a whole tick of the shown branch
   */
  hashAt(tick) {
    return this.#recorder.hashAt(tick, this.#store.state.branch);
  }

  /** @returns {string} the link of what is shown now */
  linkNow() {
    const sim = this.#sim;
    if (sim && !sim.isDead && !this.#goal) return sim.link();
    return this.#linkShown();
  }

  /**
   * Opens a link; an empty one is the opening episode. A bad one is reported and a default cluster opened beside it.
   * @param {string} link without `#`
   * @param {{ isCalm: boolean }} options isCalm: nothing moves until asked
   */
  async open(link, { isCalm }) {
    this.#opens += 1;
    const turn = this.#opens;
    const isEpisode = link === "";
    this.#opening += 1;
    try {
      const opened = await Sim.open((glue) => (isEpisode ? glue.episode_link() : link));
      if (turn === this.#opens) await this.#begin(opened.sim, opened.link, { isEpisode, isCalm, name: "as opened" });
    } catch (error) {
      if (turn !== this.#opens) return;
      if (error instanceof EngineTrap) this.#trapped(error, link);
      else await this.#openDefault(link, error, isCalm);
    } finally {
      this.#opening -= 1;
    }
  }

  /**
   * @param {string} link
   * @param {unknown} error
   * @param {boolean} isCalm
   */
  async #openDefault(link, error, isCalm) {
    const text = messageOf(error);
    try {
      const opened = await Sim.open((glue) => glue.default_link());
      await this.#begin(opened.sim, opened.link, { isEpisode: false, isCalm, name: "default cluster" });
      if (link !== "") this.#store.change({ broken: { link, text } });
    } catch (fatal) {
      this.#store.change({ phase: "failed", failure: messageOf(fatal) });
    }
  }

  /**
   * @param {Sim} sim
   * @param {string} link
   * @param {{ isEpisode: boolean, isCalm: boolean, name: string }} how
   */
  async #begin(sim, link, how) {
    this.#sim = sim;
    this.#runs += 1;
    const ours = sim.link();
    const cluster = mergeLink(runOf(ours), { act: null });
    const root = rootBranch(this.#nextId(), this.#runs, cluster, actsOf(link), how.name);
    this.#loaded = root.id;
    this.#alarm.reset();
    this.#forgetPlace();
    const theirs = valueOf(link, "epoch");
    const epoch = valueOf(ours, "epoch");
    this.#episode = how.isEpisode ? new Episode(link) : null;
    this.#store.change({
      ...freshRun(root, this.#store.state.branches, sim),
      epoch: theirs !== null && epoch !== null && theirs !== epoch ? { link, theirs, ours: epoch } : null,
    });
    sim.maybeCheckpoint(0, root.id, true);
    this.#refresh(false);
    const at = parsePosition(valueOf(link, "at") ?? "");
    if (at) await this.#go(root.id, at);
    if (this.#sim !== sim) return;
    this.#prove(link);
    if (!how.isCalm && (how.isEpisode || !at)) this.play();
    this.#refresh(false);
  }

  /** @param {string} link */
  #prove(link) {
    const at = valueOf(link, "at");
    const hash = valueOf(link, "hash");
    if (at === null || hash === null || !this.#sim || this.#sim.isDead) return;
    const is = this.#sim.hash() === hash ? "verified" : "differs";
    this.#store.change({ proof: { is, at } });
    this.#store.say(is === "verified" ? `Verified: the hash at tick ${at} is the same.` : `The hash at tick ${at} differs.`);
  }

  /**
   * Starts again with another cluster or other dice; the old run stays as a branch.
   * @param {Record<string, string | number | null>} changes
   */
  async startRun(changes) {
    this.hasActed = true;
    const base = branchOf(this.#store.state)?.cluster ?? "";
    const link = mergeLink(clusterOf(base), changes);
    this.#opens += 1;
    const turn = this.#opens;
    this.#opening += 1;
    try {
      const { sim } = await Sim.open(() => link);
      if (turn !== this.#opens) return;
      const name = Object.entries(changes).flatMap(([key, value]) => (value === null ? [] : [`${key} ${value}`]));
      const isCalm = !this.#store.state.isPlaying && this.#store.state.frame !== null;
      await this.#begin(sim, link, { isEpisode: false, isCalm, name: name.join(", ") || "started again" });
    } catch (error) {
      if (error instanceof EngineTrap) this.#trapped(error, link);
      else this.#store.change({ runError: messageOf(error) });
    } finally {
      this.#opening -= 1;
    }
  }

  /** Runs on, from wherever it stands. */
  play() {
    if (this.#store.state.trap) return;
    this.#store.change({ isPlaying: true });
  }

  /** Stands still. */
  pause() {
    this.#store.change({ isPlaying: false, isSkipping: false });
  }

  /** Play or pause. */
  togglePlay() {
    this.hasActed = true;
    if (this.#store.state.isPlaying) this.pause();
    else this.play();
  }

  /** @param {number} pace ticks a second */
  setPace(pace) {
    this.#episode?.release();
    this.#store.change({ pace });
  }

  /** @param {string} verb what a caption's button does */
  followCaption(verb) {
    const act = this.#episode?.follow(verb, this.#store.state);
    this.#store.change({ caption: this.#episode?.caption ?? null });
    if (act) this.act(act);
  }

  /** The caption is not wanted. */
  dismissCaption() {
    this.#episode = null;
    this.#store.change({ caption: null });
  }

  /** One event on: a delivery, a disk completion, a timer or an act. */
  async stepEvent() {
    this.hasActed = true;
    this.pause();
    await this.#settled();
    this.#guard(() => {
      this.#sim?.advanceEvent();
      this.#player.fraction = 0;
      this.#refresh(true);
    });
  }

  /** One event back. */
  async stepEventBack() {
    const { rows, shown } = this.#store.state;
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row && row.step > 0 && comparePositions(row, shown) < 0) return this.seek({ tick: row.tick, step: row.step });
    }
    return this.seek({ tick: Math.max(0, shown.tick - 1), step: 0 });
  }

  /** @param {number} ticks to go, back if negative */
  async stepTicks(ticks) {
    const { shown } = this.#store.state;
    const base = shown.step > 0 && ticks > 0 ? shown.tick - 1 : shown.tick;
    await this.seek({ tick: Math.max(0, base + ticks), step: 0 });
  }

  /** @param {Position} at */
  async seek(at) {
    this.hasActed = true;
    this.pause();
    await this.#go(this.#store.state.branch, at);
  }

  /** Back to the farthest place of this branch. */
  async returnToLive() {
    const live = liveOf(this.#store.state);
    if (comparePositions(this.#store.state.shown, live) !== 0) await this.seek(live);
  }

  /** @param {number} id */
  async switchBranch(id) {
    const branch = this.#store.state.branches.find((other) => other.id === id);
    if (!branch) return;
    this.hasActed = true;
    this.pause();
    await this.#go(id, branch.live);
  }

  /**
   * Shows another group of the same run.
   * @param {string} group
   */
  selectGroup(group) {
    this.#store.change({ group });
    if (!this.#goal) this.#guard(() => this.#refresh(false));
  }

  /**
   * @param {number} replica
   * @returns {import("../types.js").Disk | null} its disk as shown now; nothing on the way to another place
   */
  diskOf(replica) {
    const sim = this.#sim;
    return sim && !sim.isDead && !this.#goal ? this.#guard(() => sim.disk(replica)) : null;
  }

  /**
   * Does something to the world at the next tick. In the past this starts a branch.
   * @param {string} verb
   */
  async act(verb) {
    this.hasActed = true;
    await this.#settled();
    const branch = branchOf(this.#store.state);
    const sim = this.#sim;
    if (!branch || !sim || this.#store.state.trap) return;
    const { shown } = this.#store.state;
    const isPast = comparePositions(shown, branch.live) < 0;
    this.#guard(() => {
      let text = "";
      try {
        if (isPast) sim.plan([]);
        text = sim.act(verb);
      } catch (error) {
        if (error instanceof EngineTrap) throw error;
        if (isPast) sim.plan(actsAfter(branch.acts, shown.tick));
        this.#store.notify(messageOf(error), "warn");
        return;
      }
      const id = isPast ? this.#fork(branch, shown, `${actWords(verb)} at ${positionText(shown)}`) : branch.id;
      const target = this.#branch(id);
      this.#changeBranch(id, { acts: [...target.acts, text] });
      this.#history.add({ branch: id, at: shown, from: branch.id });
      // The act is done in the next tick; going there at once is the answer to the click.
      sim.advanceTicks(shown.step > 0 ? 2 : 1);
      this.#player.fraction = 0;
      this.#refresh(true);
    });
  }

  /** Back to before the last act; what came of it stays as a branch. */
  async undo() {
    const entry = this.#history.undo();
    if (!entry) return;
    const made = this.#branch(entry.branch);
    this.hasActed = true;
    this.pause();
    const act = made.acts.find((text) => Number.parseInt(text, 10) > entry.at.tick) ?? "";
    await this.#settled();
    const id = entry.from === entry.branch ? this.#fork(made, entry.at, `without ${actWords(act)}`) : entry.from;
    this.#loaded = -1;
    await this.#go(id, entry.at);
  }

  /** Forwards again. */
  async redo() {
    const entry = this.#history.redo();
    if (entry) await this.switchBranch(entry.branch);
  }

  /** After a trap: a new instance, run to the last place that was good. */
  async reloadBefore() {
    const { trap } = this.#store.state;
    if (trap) await this.open(mergeLink(trap.link, { at: Math.max(0, trap.tick) }), { isCalm: true });
  }

  /**
   * One animation frame. A hidden tab gets none and stands still.
   * @param {number} time in milliseconds
   */
  animate(time) {
    const { state } = this.#store;
    const passed = this.#player.passed(time);
    this.#recorder.fade(time);
    const sim = this.#sim;
    if (!state.isPlaying || this.#goal || !sim) return;
    const due = this.#player.due(passed, this.#episode?.pace(state) ?? null);
    if (due < 1) return;
    this.#guard(() => {
      this.#player.play(sim, due);
      this.#refresh(true);
    });
  }

  /**
   * @param {number} branch
   * @param {Position} at
   */
  async #go(branch, at) {
    this.#goal = { branch, at };
    this.#driving ??= this.#drive().finally(() => {
      this.#driving = null;
    });
    await this.#driving;
  }

  async #settled() {
    while (this.#driving) await this.#driving;
  }

  async #drive() {
    try {
      while (this.#goal) {
        const goal = this.#goal;
        const isThere = await this.#driveTo(goal);
        if (this.#goal === goal && isThere) this.#goal = null;
      }
      this.#store.change({ seeking: null });
    } catch (error) {
      this.#goal = null;
      this.#store.change({ seeking: null });
      if (error instanceof EngineTrap) this.#trapped(error, this.#linkShown());
      else throw error;
    }
  }

  /**
   * @param {{ branch: number, at: Position }} goal
   * @returns {Promise<boolean>} whether it got there; false if another goal came
   */
  async #driveTo(goal) {
    const branch = this.#branch(goal.branch);
    const sim = await this.#simOf(branch);
    const from = this.#startTowards(sim, branch, goal.at);
    const whole = goal.at.step > 0 ? goal.at.tick - 1 : goal.at.tick;
    let tick = sim.tick();
    let sliceStart = performance.now();
    let chunk = 1;
    while (tick < whole) {
      const chunkStart = performance.now();
      sim.advanceTicks(Math.min(chunk, whole - tick));
      // Ticks differ a thousandfold in what they cost; a chunk is to be felt and no more.
      chunk = performance.now() - chunkStart < SLICE_MS / 4 ? chunk * 2 : Math.max(1, chunk >> 1);
      tick = sim.tick();
      sim.maybeCheckpoint(tick, branch.id);
      if (performance.now() - sliceStart < SLICE_MS) continue;
      this.#recorder.collectMarks(sim, branch.id, this.#store.state.frame);
      this.#store.change({ seeking: { from, to: whole, at: tick } });
      await nextSlice();
      if (this.#goal !== goal) return false;
      sliceStart = performance.now();
    }
    if (goal.at.step > 0) sim.advanceTo(goal.at.tick, goal.at.step);
    this.#player.fraction = 0;
    this.#store.change({ branch: branch.id });
    this.#refresh(false);
    return true;
  }

  /**
   * Puts the simulator at or before the goal, from memory where that is nearer than going on.
   * @param {Sim} sim
   * @param {Branch} branch
   * @param {Position} at
   * @returns {number} the tick it starts from
   */
  #startTowards(sim, branch, at) {
    const { shown, branches } = this.#store.state;
    const lineage = lineageOf(branches, branch.id);
    const whole = at.step > 0 ? at.tick - 1 : at.tick;
    const near = sim.nearest(whole, lineage);
    const isOnWay = this.#loaded === branch.id && shown.step === 0 && shown.tick <= whole;
    if (isOnWay && (near === null || near <= shown.tick)) return shown.tick;
    const tick = sim.restore(whole, lineage);
    if (tick === null) throw new Error("no checkpoint to start from");
    sim.plan(actsAfter(branch.acts, tick));
    this.#loaded = branch.id;
    this.#recorder.forgetAfter({ tick, step: 0 });
    return tick;
  }

  /**
   * @param {Branch} branch
   * @returns {Promise<Sim>} its run's simulator, made anew if another run was shown
   */
  async #simOf(branch) {
    const shownRun = this.#loaded < 0 ? branch.run : this.#branch(this.#loaded).run;
    const held = this.#sim;
    if (held && !held.isDead && shownRun === branch.run && held.footprint.memory < MEMORY_MAX) return held;
    const { sim } = await Sim.open(() => linkOf(branch, null));
    this.#sim = sim;
    this.#loaded = branch.id;
    this.#store.change({ branch: branch.id, shown: { tick: 0, step: 0 } });
    this.#forgetPlace();
    sim.maybeCheckpoint(0, branch.id, true);
    return sim;
  }

  /**
   * Reads what stands now and tells the store.
   * @param {boolean} isMoving whether it came here by going on, so that losses burst and big events are said
   */
  #refresh(isMoving) {
    const sim = this.#sim;
    if (!sim) return;
    const { group } = this.#store.state;
    // A restored memory shows what was chosen when it was kept.
    if (group !== null) sim.selectGroup(group);
    const frame = sim.frame();
    const packets = sim.packets(frame.groups);
    const shown = { tick: frame.tick, step: frame.step };
    this.#player.observe(frame);
    const fresh = this.#recorder.collect(sim, frame, isMoving && this.#store.state.isPlaying);
    const marks = this.#recorder.collectMarks(sim, this.#loaded, frame);
    this.#store.change({ frame, packets, shown, ...this.#history.state });
    this.#recorder.extend(frame, this.#loaded);
    if (shown.step === 0) sim.maybeCheckpoint(shown.tick, this.#loaded);
    this.#recorder.remember(frame, this.#loaded);
    if (isMoving) this.#recorder.tell(fresh, marks);
    if (this.#episode) {
      this.#episode.watch(frame);
      if (this.#episode.caption !== this.#store.state.caption) this.#store.change({ caption: this.#episode.caption });
    }
    this.#alarm.heed(frame);
  }

  /**
   * @param {Branch} parent
   * @param {Position} at
   * @param {string} name
   * @returns {number}
   */
  #fork(parent, at, name) {
    const branch = forkBranch(parent, this.#nextId(), at, name);
    this.#loaded = branch.id;
    this.#store.change({ branches: [...this.#store.state.branches, branch], branch: branch.id });
    return branch.id;
  }

  #forgetPlace() {
    this.#recorder.forget();
    this.#player.reset();
  }

  /**
   * @template T
   * @param {() => T} work
   * @returns {T | null} nothing where the engine trapped
   */
  #guard(work) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof EngineTrap)) throw error;
      this.#trapped(error, this.#linkShown());
      return null;
    }
  }

  /**
   * @param {EngineTrap} error
   * @param {string} link
   */
  #trapped(error, link) {
    const { shown } = this.#store.state;
    this.#store.change({ phase: "ready", isPlaying: false, trap: { link, tick: shown.tick, text: error.message } });
    this.#store.say(`The engine stopped at tick ${shown.tick}.`);
  }

  #linkShown() {
    const branch = branchOf(this.#store.state);
    return branch ? linkOf(branch, this.#store.state.shown) : "";
  }

  /**
   * @param {number} id
   * @returns {Branch}
   */
  #branch(id) {
    const found = this.#store.state.branches.find((branch) => branch.id === id);
    if (!found) throw new Error(`no branch ${id}`);
    return found;
  }

  /**
   * @param {number} id
   * @param {Partial<Branch>} change
   */
  #changeBranch(id, change) {
    this.#store.change({ branches: changeBranch(this.#store.state.branches, id, change) });
  }

  #nextId() {
    this.#ids += 1;
    return this.#ids;
  }
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
