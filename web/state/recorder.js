/**
 * Writes down what a run did: the rows of the log, what the timeline paints, hashes seen, losses for the stage. It reads
 * what the conductor hands it and changes the store. Must never advance a run.
 */

import { comparePositions } from "../link.js";
import { rowText } from "../words.js";
import { changeBranch, historyOf, lineageOf } from "./branches.js";
import { markOf, spansAfter } from "./marks.js";

/** @typedef {import("../link.js").Position} Position */
/** @typedef {import("../types.js").EventRow} EventRow */

/** Rows kept for the log; older ones leave it. */
const ROWS_MAX = 20_000;
/** Rows that a frame may take without thought; more are taken a few times a second, and then only the last. */
const ROWS_AT_ONCE = 80;
const COLLECT_MS = 150;
const ROWS_PASSING = 600;
const ROWS_WINDOW = 1000;
const ROWS_LEAST = 200;
const MARKS_PAGE = 500;
const MARKS_MAX = 3000;
const HASHES_MAX = 20_000;
const BURSTS_MAX = 80;
const BURST_MS = 1500;
/** A person's act that could not be done when its time came, and why. */
const REFUSED = /^by hand: .*; not done: (.*)$/;

/**
 * Replies are many and look alike: every second one goes.
 * @param {import("./branches.js").Mark[]} marks
 * @returns {import("./branches.js").Mark[]}
 */
function thinReplies(marks) {
  let replies = 0;
  return marks.filter(({ kind }) => {
    if (kind !== "reply") return true;
    replies += 1;
    return replies % 2 === 0;
  });
}

/** One for the page. */
export class Recorder {
  #store;
  /** @type {Map<string, string>} */
  #hashes = new Map();
  #collectedAt = 0;
  /** Numbers up to which marks were read, by branch. @type {Map<number, number>} */
  #marked = new Map();
  /** Losses, with the time at which they happened here. @type {{ row: EventRow, at: number }[]} */
  bursts = [];

  /** @param {import("../state.js").Store} store */
  constructor(store) {
    this.#store = store;
  }

  /**
   * Takes the rows that came since the last time. Of very many only the last are taken: nobody reads so fast.
   * @param {import("../sim.js").Sim} sim
   * @param {import("../types.js").Frame} frame
   * @param {boolean} isPassing the run goes on at once, so that a fuller look can wait
   * @returns {EventRow[]}
   */
  collect(sim, frame, isPassing) {
    const { rows } = this.#store.state;
    const last = rows[rows.length - 1];
    const missing = last ? frame.next_event - last.number - 1 : Number.POSITIVE_INFINITY;
    if (missing <= 0) return [];
    const time = performance.now();
    if (isPassing && missing > ROWS_AT_ONCE && time - this.#collectedAt < COLLECT_MS) return [];
    this.#collectedAt = time;
    const window = isPassing ? ROWS_PASSING : ROWS_WINDOW;
    // A log with a gap would tell half a story.
    if (missing > window) rows.length = 0;
    const from = Math.max(0, frame.next_event - Math.min(window, missing));
    const fresh = sim.events(from, frame.next_event - from, frame.groups);
    for (const row of fresh) rows.push(row);
    if (rows.length > ROWS_MAX * 1.5) rows.splice(0, rows.length - ROWS_MAX);
    this.#store.change({ rowsVersion: this.#store.state.rowsVersion + 1 });
    return missing > window ? [] : fresh;
  }

  /**
   * Takes what the timeline paints.
   * @param {import("../sim.js").Sim} sim
   * @param {number} id
   * @param {import("../types.js").Frame | null} frame
   * @returns {EventRow[]}
   */
  collectMarks(sim, id, frame) {
    const branch = this.#branch(id);
    const known = Math.max(branch.marks[branch.marks.length - 1]?.number ?? -1, this.#marked.get(id) ?? -1);
    const fresh = [];
    for (;;) {
      const from = (fresh[fresh.length - 1]?.number ?? known) + 1;
      const page = sim.marks(from, MARKS_PAGE, frame?.groups);
      fresh.push(...page);
      if (page.length < MARKS_PAGE) break;
    }
    const own = fresh.filter((row) => comparePositions(row, branch.fork) > 0);
    if (fresh.length > 0) this.#marked.set(id, fresh[fresh.length - 1]?.number ?? known);
    if (own.length === 0) return own;
    const { spans } = historyOf(this.#store.state.branches, id);
    for (const row of own) {
      const mark = markOf(row);
      if (mark) branch.marks.push(mark);
      const begun = spansAfter(spans, row, frame?.replica_count ?? 1, frame?.groups?.map(({ name }) => name));
      branch.spans.push(...begun);
      spans.push(...begun);
    }
    const marks = branch.marks.length > MARKS_MAX ? thinReplies(branch.marks) : branch.marks;
    this.#change(id, { marks });
    return own;
  }

  /**
   * Moves the end of a branch, where it was reached.
   * @param {import("../types.js").Frame} frame
   * @param {number} id
   */
  extend(frame, id) {
    const branch = this.#branch(id);
    const shown = { tick: frame.tick, step: frame.step };
    if (comparePositions(shown, branch.live) < 0) return;
    this.#change(id, { live: shown });
  }

  /**
   * Keeps hashes seen, and says so if a replay ever gives another.
   * @param {import("../types.js").Frame} frame
   * @param {number} branch
   */
  remember(frame, branch) {
    if (frame.step > 0) return;
    const seen = this.hashAt(frame.tick, branch);
    if (seen === null) {
      if (this.#hashes.size > HASHES_MAX) this.#hashes.clear();
      this.#hashes.set(`${branch}@${frame.tick}`, frame.hash);
    } else if (seen !== frame.hash) {
      const text = `The replay differs at tick ${frame.tick}. This is a fault of the playground: please report the link.`;
      this.#store.notify(text, "bad");
    }
  }

  /**
   * @param {number} tick
   * @param {number} branch
   * @returns {string | null} the hash seen at a whole tick of a branch, or of its past
   */
  hashAt(tick, branch) {
    for (const ancestor of lineageOf(this.#store.state.branches, branch)) {
      const hash = tick <= ancestor.until ? this.#hashes.get(`${ancestor.branch}@${tick}`) : undefined;
      if (hash !== undefined) return hash;
    }
    return null;
  }

  /**
   * Lets the stage burst what was lost, and says what is big.
   * @param {EventRow[]} rows
   * @param {EventRow[]} marks
   */
  tell(rows, marks) {
    const time = performance.now();
    for (const row of rows) {
      const [, refusal] = REFUSED.exec(row.text) ?? [];
      if (refusal !== undefined) this.#store.notify(`Not done: ${refusal}.`, "warn");
      if (row.packet !== null && row.fate !== null && row.fate !== "delivered") this.bursts.push({ row, at: time });
    }
    for (const row of marks) if (row.big) this.#store.say(rowText(row));
    if (this.bursts.length > BURSTS_MAX) this.bursts.splice(0, this.bursts.length - BURSTS_MAX);
  }

  /** @param {number} time */
  fade(time) {
    if (this.bursts.length > 0) this.bursts = this.bursts.filter(({ at }) => time - at < BURST_MS);
  }

  /** @param {Position} at what came after it has not happened yet */
  forgetAfter(at) {
    const { rows } = this.#store.state;
    let length = rows.length;
    while (length > 0 && comparePositions(rows[length - 1] ?? at, at) > 0) length -= 1;
    // A log that would begin in the middle is read anew.
    rows.length = length < ROWS_LEAST && (rows[0]?.number ?? 0) > 0 ? 0 : length;
    this.bursts = [];
    this.#store.change({ rowsVersion: this.#store.state.rowsVersion + 1 });
  }

  /** Another run begins. */
  forget() {
    this.#store.state.rows.length = 0;
    this.bursts = [];
    this.#store.change({ rowsVersion: this.#store.state.rowsVersion + 1 });
  }

  /**
   * @param {number} id
   * @returns {import("./branches.js").Branch}
   */
  #branch(id) {
    const found = this.#store.state.branches.find((branch) => branch.id === id);
    if (!found) throw new Error(`no branch ${id}`);
    return found;
  }

  /**
   * @param {number} id
   * @param {Partial<import("./branches.js").Branch>} change
   */
  #change(id, change) {
    this.#store.change({ branches: changeBranch(this.#store.state.branches, id, change) });
  }
}
