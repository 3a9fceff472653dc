/**
 * The simulator client: the one module that imports wasm. It gives each Run an instance of its own, takes and restores
 * checkpoints of that instance's memory, and turns a trap into an error after which the instance is never called again.
 * Must never know the page, the store or what an act means.
 */

import { CheckpointTable, PAGE_BYTES, restoreInto } from "./sim/checkpoints.js";
import { nameOf } from "./geometry.js";
import { groupNameOf } from "./groups.js";

/** @typedef {import("./sim/checkpoints.js").Ancestor} Ancestor */
/** @typedef {import("./types.js").Playground} Playground */

/**
 * @typedef {object} Glue the module that wasm-bindgen writes
 * @property {() => Promise<{ memory: WebAssembly.Memory }>} default
 * @property {new (link: string) => Playground} Playground
 * @property {() => string} default_link
 * @property {() => string} episode_link
 * @property {(link: string) => unknown} read_link throws where the link is not good
 * @property {() => number} [packet_stride] numbers of one packet; absent from older engines
 */

const BUDGET_BYTES = 192 * 1024 * 1024;
/** Checkpoints stand evenly by replay work; a seek then costs about as much. */
const WORK_MS = 6;
/** Also in quiet stretches, where a tick costs next to nothing. */
const TICKS_MAX = 4000;
/** Keys of a link that the page has fields for and not every engine knows, each with a value that is always good. */
const KEYS = [
  ["partitions", "1"],
  ["shards", "1"],
  ["plane", "partition"],
  ["retention", "128"],
];
/** Numbers of one packet where the engine does not say: with groups there is one more. */
const STRIDE = { alone: 10, grouped: 11 };

/** The engine trapped. Its instance is lost; a new one can replay the link. */
export class EngineTrap extends Error {
  /** @param {unknown} cause */
  constructor(cause) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.name = "EngineTrap";
  }
}

let instances = 0;

/** @returns {Promise<{ glue: Glue, memory: WebAssembly.Memory }>} a wasm instance under an address of its own */
async function instantiate() {
  instances += 1;
  // Two Runs in one instance would rewind each other, and a module has one instance for each address.
  const address = new URL(`./sim-wasm.js?n=${instances}`, import.meta.url).href;
  /** @type {Glue} */
  const glue = await import(address);
  const { memory } = await glue.default();
  return { glue, memory };
}

/** One Run in one wasm instance. */
export class Sim {
  #memory;
  #handle;
  #table = new CheckpointTable(BUDGET_BYTES);
  /** @type {import("./sim/checkpoints.js").Checkpoint | null} */
  #last = null;
  #workMs = 0;
  #costMs = 0;
  #isDead = false;
  #stride;
  /** Keys that its links take. @type {Set<string>} */
  takes;

  /**
   * @param {Glue} glue
   * @param {WebAssembly.Memory} memory
   * @param {string} link
   */
  constructor(glue, memory, link) {
    this.#memory = memory;
    this.takes = new Set(KEYS.flatMap(([key = "", value]) => (isGood(glue, `v=1&${key}=${value}`) ? [key] : [])));
    this.#handle = guard(() => new glue.Playground(link));
    this.#stride = glue.packet_stride?.() ?? (this.#handle.select_group ? STRIDE.grouped : STRIDE.alone);
  }

  /**
   * Starts a Run. Throws the engine's message if the link is not good.
   * @param {(links: { default_link: () => string, episode_link: () => string }) => string} choose
   * @returns {Promise<{ sim: Sim, link: string }>}
   */
  static async open(choose) {
    const { glue, memory } = await instantiate();
    const link = choose(glue);
    return { sim: new Sim(glue, memory, link), link };
  }

  /** @returns {boolean} the instance trapped and must not be called */
  get isDead() {
    return this.#isDead;
  }

  /** @returns {{ memory: number, checkpoints: number, lastMs: number }} bytes held, and what the last checkpoint took */
  get footprint() {
    return { memory: this.#memory.buffer.byteLength, checkpoints: this.#table.bytes, lastMs: this.#costMs };
  }

  /** @returns {number[]} ticks at which a checkpoint stands */
  get checkpointTicks() {
    return this.#table.entries.map((entry) => entry.tick);
  }

  /** @returns {number} */
  tick() {
    return this.#call(() => this.#handle.tick());
  }

  /** @returns {import("./types.js").Frame} */
  frame() {
    return this.#call(() => this.#handle.frame());
  }

  /** @returns {string} */
  hash() {
    return this.#call(() => this.#handle.hash());
  }

  /** @returns {string} */
  link() {
    return this.#call(() => this.#handle.link());
  }

  /**
   * @param {import("./types.js").GroupSummary[]} [groups] those of the frame, by which packets are named
   * @returns {import("./types.js").Packet[]}
   */
  packets(groups) {
    const flat = this.#call(() => this.#handle.packets());
    const packets = [];
    for (let start = 0; start < flat.length; start += this.#stride) {
      const [from, to, number, kind, view, op, sent, due, flags, , group] = flat.subarray(start, start + this.#stride);
      packets.push({
        key: `${nameOf(from ?? 0)}to${nameOf(to ?? 0)}.${number ?? 0}`,
        from: nameOf(from ?? 0),
        to: nameOf(to ?? 0),
        number: number ?? 0,
        kind: kind ?? 0,
        view: view ?? 0,
        op: op ?? -1,
        sent: sent ?? 0,
        due: due ?? 0,
        isHeld: ((flags ?? 0) & 1) !== 0,
        isWaiting: ((flags ?? 0) & 2) !== 0,
        group: groupNameOf(groups, group),
      });
    }
    return packets;
  }

  /**
   * @param {number} replica
   * @returns {import("./types.js").Disk | null} nothing from an engine that does not show disks
   */
  disk(replica) {
    return this.#call(() => this.#handle.disk?.(replica) ?? null);
  }

  /** @returns {import("./types.js").Story | null} the story of the run, in words */
  story() {
    return this.#call(() => this.#handle.story?.() ?? null);
  }

  /**
   * Which group the frames are about. One that is not there, as before it was made, leaves the choice as it was.
   * @param {string} name
   */
  selectGroup(name) {
    this.#call(() => {
      try {
        this.#handle.select_group?.(name);
      } catch (error) {
        if (error instanceof WebAssembly.RuntimeError) throw error;
      }
    });
  }

  /**
   * @param {number} from
   * @param {number} max
   * @param {import("./types.js").GroupSummary[]} [groups]
   * @returns {import("./types.js").EventRow[]}
   */
  events(from, max, groups) {
    return this.#call(() => this.#handle.events(from, max)).map((row) => ({ ...row, group: groupNameOf(groups, row.group) }));
  }

  /**
   * @param {number} from
   * @param {number} max
   * @param {import("./types.js").GroupSummary[]} [groups]
   * @returns {import("./types.js").EventRow[]} only what a timeline paints
   */
  marks(from, max, groups) {
    return this.#call(() => this.#handle.marks(from, max)).map((row) => ({ ...row, group: groupNameOf(groups, row.group) }));
  }

  /** @param {number} ticks */
  advanceTicks(ticks) {
    this.#timed(() => this.#handle.advance_ticks(ticks));
  }

  /** @returns {boolean} */
  advanceEvent() {
    return this.#timed(() => this.#handle.advance_event());
  }

  /**
   * Goes on to an event of a tick, or to its end.
   * @param {number} tick
   * @param {number} step
   */
  advanceTo(tick, step) {
    this.#timed(() => this.#handle.advance_to(tick, step));
  }

  /**
   * @param {string} text
   * @returns {string} the act with its tick
   */
  act(text) {
    return this.#call(() => this.#handle.act(text));
  }

  /** @param {string[]} acts those after now */
  plan(acts) {
    this.#call(() => this.#handle.plan(acts.join("_")));
  }

  /**
   * Takes a checkpoint if enough was done since the last. Only between whole ticks.
   * @param {number} tick
   * @param {number} branch
   * @param {boolean} isWanted take it whatever the work
   */
  maybeCheckpoint(tick, branch, isWanted = false) {
    const last = this.#last;
    const ticks = last === null || last.tick > tick ? Number.POSITIVE_INFINITY : tick - last.tick;
    if (ticks === 0 && last?.branch === branch) return;
    if (!isWanted && this.#workMs < Math.max(WORK_MS, this.#costMs * 1.5) && ticks < TICKS_MAX) return;
    this.#workMs = 0;
    const image = new Uint8Array(this.#memory.buffer);
    if (this.#table.entries.some((entry) => entry.tick === tick && entry.branch === branch)) return;
    const start = performance.now();
    this.#last = this.#table.add(tick, branch, image, last);
    this.#costMs = performance.now() - start;
  }

  /**
   * Goes back to the nearest checkpoint at or before a tick.
   * @param {number} tick
   * @param {Ancestor[]} lineage
   * @returns {number | null} the tick gone to; null if there is none
   */
  restore(tick, lineage) {
    const entry = this.#table.nearest(tick, lineage);
    if (!entry || this.#isDead) return null;
    const missing = entry.pages.length * PAGE_BYTES - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(missing / PAGE_BYTES);
    restoreInto(entry, new Uint8Array(this.#memory.buffer));
    this.#last = entry;
    this.#workMs = 0;
    return entry.tick;
  }

  /**
   * @param {number} tick
   * @param {Ancestor[]} lineage
   * @returns {number | null} where `restore` would go
   */
  nearest(tick, lineage) {
    return this.#table.nearest(tick, lineage)?.tick ?? null;
  }

  /**
   * @template T
   * @param {() => T} work
   * @returns {T}
   */
  #timed(work) {
    const start = performance.now();
    const result = this.#call(work);
    this.#workMs += performance.now() - start;
    return result;
  }

  /**
   * @template T
   * @param {() => T} work
   * @returns {T}
   */
  #call(work) {
    if (this.#isDead) throw new EngineTrap("the engine stopped before");
    try {
      return guard(work);
    } catch (error) {
      // Its stack pointer stays where the trap left it: a further call would write over other data.
      if (error instanceof EngineTrap) this.#isDead = true;
      throw error;
    }
  }
}

/**
 * @param {Glue} glue
 * @param {string} link
 * @returns {boolean}
 */
function isGood(glue, link) {
  try {
    guard(() => glue.read_link(link));
    return true;
  } catch (error) {
    if (error instanceof EngineTrap) throw error;
    return false;
  }
}

/**
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
function guard(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) throw new EngineTrap(error);
    throw error;
  }
}
