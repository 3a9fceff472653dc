/** Which acts can be taken back, and which of those done again. Pure: must never know the store. */

/** @typedef {{ branch: number, at: import("../link.js").Position, from: number }} Step what an act made, and where it was done */

/** One for the page. */
export class History {
  /** @type {Step[]} */
  #done = [];
  /** @type {Step[]} */
  #undone = [];

  /** @returns {{ canUndo: boolean, canRedo: boolean }} */
  get state() {
    return { canUndo: this.#done.length > 0, canRedo: this.#undone.length > 0 };
  }

  /** @param {Step} step */
  add(step) {
    this.#done.push(step);
    this.#undone = [];
  }

  /** @returns {Step | undefined} */
  undo() {
    const step = this.#done.pop();
    if (step) this.#undone.push(step);
    return step;
  }

  /** @returns {Step | undefined} */
  redo() {
    const step = this.#undone.pop();
    if (step) this.#done.push(step);
    return step;
  }
}
