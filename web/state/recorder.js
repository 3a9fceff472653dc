/**
 * Writes down what a run did: the rows of the log, what the timeline paints, hashes seen, losses for the stage. It reads
 * what the conductor hands it and changes the store. Must never advance a run.
 */

import { comparePositions } from "../link.js";
import { rowText } from "../words.js";
import { changeBranch, historyOf, lineageOf } from "./branches.js";
import { extendSpans, ledView, markOf } from "./marks.js";

/** @typedef {import("../link.js").Position} Position */
/** @typedef {import("../types.js").EventRow} EventRow */

const EVENTS_PAGE = 2000;
/** Rows kept for the log; older ones leave it. */
const ROWS_MAX = 20_000;
const HASHES_MAX = 20_000;
const BURSTS_MAX = 80;
const BURST_MS = 1500;

/**
 * Properties that did not hold are no events of the run; oracles report them beside it.
 * @param {import("./branches.js").Mark[]} marks
 * @param {import("../types.js").Frame} frame
 * @returns {import("./branches.js").Mark[]}
 */
function withViolations(marks, frame) {
  const known = new Set(marks.filter(({ kind }) => kind === "violation").map(({ text }) => text));
  const fresh = frame.violations.filter(({ text }) => !known.has(text));
  if (fresh.length === 0) return marks;
  const number = marks[marks.length - 1]?.number ?? -1;
  const made = fresh.map(({ tick, text }) => ({ tick, step: 0, kind: "violation", text, view: null, replica: null, number }));
  return [...marks, ...made];
}

/** One for the page. */
export class Recorder {
  #store;
  /** @type {Map<string, string>} */
  #hashes = new Map();
  /** Losses, with the time at which they happened here. @type {{ row: EventRow, at: number }[]} */
  bursts = [];

  /** @param {import("../state.js").Store} store */
  constructor(store) {
    this.#store = store;
  }

  /**
   * Takes the rows that came since the last time.
   * @param {import("../sim.js").Sim} sim
   * @param {number} branch
   * @returns {EventRow[]}
   */
  collect(sim, branch) {
    const { rows } = this.#store.state;
    /** @type {EventRow[]} */
    const fresh = [];
    for (;;) {
      const last = fresh[fresh.length - 1] ?? rows[rows.length - 1];
      const page = sim.events(last ? last.number + 1 : 0, EVENTS_PAGE);
      fresh.push(...page);
      if (page.length < EVENTS_PAGE) break;
    }
    if (fresh.length === 0) return fresh;
    for (const row of fresh) rows.push(row);
    if (rows.length > ROWS_MAX * 1.5) rows.splice(0, rows.length - ROWS_MAX);
    this.#addMarks(fresh, branch);
    this.#store.change({ rowsVersion: this.#store.state.rowsVersion + 1 });
    return fresh;
  }

  /**
   * @param {EventRow[]} fresh
   * @param {number} id
   */
  #addMarks(fresh, id) {
    const branch = this.#branch(id);
    const known = branch.marks[branch.marks.length - 1]?.number ?? -1;
    const marks = fresh.flatMap((row) => {
      const mark = row.number > known && comparePositions(row, branch.fork) > 0 ? markOf(row) : null;
      return mark ? [mark] : [];
    });
    if (marks.length > 0) this.#change(id, { marks: [...branch.marks, ...marks] });
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
    const before = historyOf(this.#store.state.branches, id).spans;
    const view = ledView(frame);
    const isSame = before.length > 0 && before[before.length - 1]?.view === view;
    const spans = isSame ? branch.spans : extendSpans(branch.spans, shown.tick, view);
    this.#change(id, { live: shown, spans, marks: withViolations(this.#branch(id).marks, frame) });
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
   * @param {EventRow[]} fresh
   */
  tell(fresh) {
    const time = performance.now();
    for (const row of fresh) {
      if (row.packet !== null && row.fate !== null && row.fate !== "delivered") this.bursts.push({ row, at: time });
      if (row.big) this.#store.say(rowText(row));
    }
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
    rows.length = length;
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
