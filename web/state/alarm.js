/**
 * Stops a run where a property is found violated, once for each property, so that it can go on past it. Must never
 * judge a property itself.
 */

/** One for the page. */
export class Alarm {
  #store;
  /** @type {Set<string>} */
  #heard = new Set();

  /** @param {import("../state.js").Store} store */
  constructor(store) {
    this.#store = store;
  }

  /** Another run begins. */
  reset() {
    this.#heard.clear();
  }

  /** @param {import("../types.js").Frame} frame */
  heed({ violations }) {
    const fresh = violations.find(({ property }) => !this.#heard.has(property));
    if (!fresh) return;
    for (const { property } of violations) this.#heard.add(property);
    this.#store.change({ isPlaying: false, isSkipping: false });
    this.#store.notify(`${fresh.property} is violated at tick ${fresh.tick}. Play goes on past it.`, "bad");
    this.#store.say(`${fresh.property} is violated at tick ${fresh.tick}: ${fresh.text}`);
  }
}
