/**
 * The way in: makes the store and the conductor, hangs the page into the document, and wires keyboard, address, theme
 * and fonts. The one module that knows all layers. Must never hold state or draw.
 */

import { html, render } from "lit";
import { followAddress } from "./address.js";
import { loadFonts } from "./fonts.js";
import { listenToKeys } from "./keys.js";
import { Store } from "./state.js";
import { Conductor } from "./state/conductor.js";
import { followTheme } from "./theme.js";
import "./views/page.js";

/** The page's element, and the read-only door by which tests look in. */
class App extends HTMLElement {
  #store = new Store();
  #run = new Conductor(this.#store);
  /** @type {(() => void)[]} */
  #leave = [];

  connectedCallback() {
    const store = this.#store;
    const run = this.#run;
    const query = new URLSearchParams(location.search);
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    const open = (/** @type {string} */ link) => {
      // Going to the same place again, as by the link of a heading, is not another run.
      void run.open(link, { isCalm: calm.matches });
    };
    render(html`<vsr-page .app=${{ store, run }}></vsr-page>`, this);
    this.#leave = [followTheme(store, query.get("theme")), listenToKeys(store, run), followAddress(store, run, open), animate(run)];
    open(location.hash.slice(1));
    requestAnimationFrame(() => setTimeout(loadFonts));
  }

  disconnectedCallback() {
    for (const leave of this.#leave) leave();
  }

  /** @returns {string} the run hash at the shown place */
  get runHash() {
    return this.#store.state.frame?.hash ?? "";
  }

  /** @returns {number} the shown tick */
  get tick() {
    return this.#store.state.shown.tick;
  }

  /** @returns {number} the farthest tick of the shown branch */
  get liveTick() {
    const { branches, branch } = this.#store.state;
    return branches.find(({ id }) => id === branch)?.live.tick ?? 0;
  }

  /** @returns {boolean} whether it is on its way to another run or place */
  get isSeeking() {
    return this.#run.isBusy;
  }

  /** @returns {string} the link of what is shown */
  get link() {
    return this.#run.linkNow();
  }

  /** @returns {{ memory: number, checkpoints: number, lastMs: number } | null} bytes that the run holds */
  get footprint() {
    return this.#run.footprint;
  }

  /** @returns {number[]} ticks at which a memory checkpoint stands */
  get checkpointTicks() {
    return this.#run.checkpointTicks;
  }

  /**
   * @param {number} tick
   * @returns {string | null} the hash that was seen there
   */
  hashAt(tick) {
    return this.#run.hashAt(tick);
  }
}

/**
 * @param {Conductor} run
 * @returns {() => void} stops it
 */
function animate(run) {
  let handle = 0;
  const loop = (/** @type {number} */ time) => {
    handle = requestAnimationFrame(loop);
    run.animate(time);
  };
  handle = requestAnimationFrame(loop);
  return () => cancelAnimationFrame(handle);
}

customElements.define("vsr-app", App);
