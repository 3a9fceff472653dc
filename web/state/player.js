/**
 * How fast virtual time runs: pace, the speed of skipping through quiet, the part of a tick that has passed, and how
 * many ticks are due at a frame. Must never advance a run; the conductor does.
 */

import { isQuiet, signatureOf, SKIP_TICKS_PER_SECOND, skippableTicks } from "./pacing.js";

/** @typedef {import("../types.js").Frame} Frame */

/** Longest time that a frame accounts for; a page that was busy does not make up for it. */
const FRAME_MS_MAX = 100;
/** Longest stretch of script that playing may take from a frame. */
const SLICE_MS = 7;

/** The clock of the page. */
export class Player {
  #store;
  #frameAt = 0;
  #signature = "";
  #changedAt = 0;
  #skipSpeed = 0;
  /** Part of a tick that has passed since the shown one. */
  fraction = 0;

  /** @param {import("../state.js").Store} store */
  constructor(store) {
    this.#store = store;
  }

  /** Another run, or another place. */
  reset() {
    this.fraction = 0;
    this.#signature = "";
    this.#changedAt = 0;
  }

  /**
   * @param {Frame} frame
   * @returns {number} for how many ticks nothing has changed
   */
  observe(frame) {
    const signature = signatureOf(frame);
    if (signature !== this.#signature || frame.tick < this.#changedAt) {
      this.#signature = signature;
      this.#changedAt = frame.tick;
    }
    return frame.tick - this.#changedAt;
  }

  /**
   * @param {number} time of the page
   * @returns {number} milliseconds since the last frame
   */
  passed(time) {
    const passed = Math.min(FRAME_MS_MAX, time - this.#frameAt);
    this.#frameAt = time;
    return passed;
  }

  /**
   * @param {number} passed
   * @param {number | null} asked ticks a second that the episode wants
   * @returns {number} whole ticks to go
   */
  due(passed, asked) {
    const { frame } = this.#store.state;
    if (!frame) return 0;
    // The episode has a track of its own, in which nothing is skipped.
    if (asked !== null) this.#skipSpeed = 0;
    this.fraction += (passed / 1000) * (asked ?? this.#speed(frame, this.#store.state.pace));
    return Math.floor(this.fraction);
  }

  /**
   * @param {Frame} frame
   * @param {number} pace
   * @returns {number} ticks a second
   */
  #speed(frame, pace) {
    const { skipsQuiet, packets, isSkipping } = this.#store.state;
    const skips = skipsQuiet && pace < SKIP_TICKS_PER_SECOND && skippableTicks(frame) > 0;
    if (!skips || !isQuiet(frame, packets, frame.tick - this.#changedAt)) {
      this.#skipSpeed = pace;
      if (isSkipping) this.#store.change({ isSkipping: false });
      return pace;
    }
    // Gathers speed, so that the eye sees the arcs run instead of a jump.
    this.#skipSpeed = Math.min(SKIP_TICKS_PER_SECOND, Math.max(pace, this.#skipSpeed) * 1.09 + 0.3);
    if (!isSkipping && this.#skipSpeed > pace * 3) this.#store.change({ isSkipping: true });
    return this.#skipSpeed;
  }

  /**
   * Advances by what is due, as far as a frame has time; what is left over is let go.
   * @param {import("../sim.js").Sim} sim
   * @param {number} due
   */
  play(sim, due) {
    const { frame, pace, skipsQuiet } = this.#store.state;
    if (!frame) return;
    const isFast = skipsQuiet && this.#skipSpeed > pace;
    const limit = isFast ? Math.max(1, skippableTicks(frame)) : due;
    let left = Math.min(due, limit);
    const start = performance.now();
    let chunk = 1;
    while (left > 0 && performance.now() - start < SLICE_MS) {
      const ticks = Math.min(left, chunk);
      sim.advanceTicks(ticks);
      left -= ticks;
      chunk = Math.min(64, chunk * 2);
    }
    this.fraction = left > 0 || due > limit ? 0 : this.fraction - due;
  }
}
