/**
 * What every panel stands on: an element that redraws when the part of the state it watches changes, at most as often
 * as it needs, and the styles that all panels share. Must never know one panel from another.
 */

import { css, LitElement } from "lit";

/** @typedef {{ store: import("../state.js").Store, run: import("../state/conductor.js").Conductor }} App */
/** @typedef {import("../state.js").State} State */

/** A panel over the store. */
export class View extends LitElement {
  /** @override */
  static properties = { app: { attribute: false } };

  /** @type {(() => void) | null} */
  #leave = null;
  /** @type {unknown[]} */
  #seen = [];
  #drawnAt = 0;
  #timer = 0;

  constructor() {
    super();
    /** @type {App} */
    this.app = /** @type {any} */ (null);
  }

  /** @returns {Readonly<State>} */
  get state() {
    return this.app.store.state;
  }

  /** Least time between two drawings while the run moves. */
  get restMs() {
    return 0;
  }

  /**
   * @param {Readonly<State>} _state
   * @returns {unknown[]} what this panel shows; it redraws when one of them is another
   */
  watched(_state) {
    return [];
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.#leave = this.app.store.subscribe((state) => this.#consider(state));
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#leave?.();
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  /** @param {Readonly<State>} state */
  #consider(state) {
    if (this.#timer !== 0) return;
    const now = this.watched(state);
    if (now.length === this.#seen.length && now.every((value, index) => value === this.#seen[index])) return;
    const rest = state.isPlaying ? this.#drawnAt + this.restMs - performance.now() : 0;
    if (rest <= 0) {
      this.#draw(now);
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#draw(this.watched(this.state));
    }, rest);
  }

  /** @param {unknown[]} now */
  #draw(now) {
    this.#seen = now;
    this.#drawnAt = performance.now();
    this.requestUpdate();
  }
}

/** Buttons, fields, headings and lists, the same everywhere. */
export const shared = css`
  :host {
    display: block;
    box-sizing: border-box;
  }
  *,
  *::before,
  *::after {
    box-sizing: inherit;
  }
  [hidden] {
    display: none !important;
  }
  h2,
  h3 {
    font: 600 17px/1.25 var(--serif);
    margin: 0 0 8px;
    letter-spacing: -0.003em;
  }
  h3 {
    font-size: 15.5px;
  }
  p {
    margin: 0;
  }
  button,
  input,
  select,
  textarea {
    font: inherit;
    color: inherit;
  }
  button {
    background: var(--sheet);
    border: 1px solid var(--rule);
    border-radius: 7px;
    padding: 4px 11px;
    min-height: 30px;
    cursor: pointer;
    white-space: nowrap;
  }
  button:hover {
    background: var(--paper);
    border-color: var(--edge);
  }
  button:active {
    background: var(--press);
  }
  button.main {
    background: var(--ink);
    border-color: var(--ink);
    color: var(--on);
  }
  button.main:hover {
    background: var(--soft);
    border-color: var(--soft);
  }
  button.quiet {
    background: none;
    border-color: transparent;
    color: var(--soft);
  }
  button.quiet:hover {
    color: var(--ink);
    background: var(--wash);
  }
  button.link {
    background: none;
    border: 0;
    padding: 2px 0;
    min-height: 24px;
    text-decoration: underline;
    text-decoration-color: var(--edge);
    text-underline-offset: 3px;
  }
  button:disabled {
    color: var(--faint);
    cursor: default;
    opacity: 0.6;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  input[type="text"],
  input[type="number"],
  select,
  textarea {
    background: var(--sheet);
    border: 1px solid var(--edge);
    border-radius: 7px;
    padding: 3px 8px;
    min-height: 30px;
    min-width: 0;
  }
  input[type="range"] {
    accent-color: var(--accent);
    min-height: 24px;
    margin: 0;
  }
  input[type="checkbox"] {
    accent-color: var(--accent);
    inline-size: 16px;
    block-size: 16px;
    margin: 0;
  }
  label.check {
    display: inline-flex;
    gap: 8px;
    align-items: center;
    min-height: 26px;
    cursor: pointer;
  }
  .num {
    font-variant-numeric: tabular-nums lining-nums;
  }
  .mono {
    font-family: var(--mono);
    font-size: 0.86em;
  }
  .soft {
    color: var(--soft);
  }
  .small {
    font-size: 13px;
  }
  .row {
    display: flex;
    gap: 8px;
    align-items: center;
    flex-wrap: wrap;
  }
  .tag {
    display: inline-block;
    padding: 0 8px;
    border-radius: 20px;
    border: 1px solid currentColor;
    font: 400 13px/20px var(--sans);
    white-space: nowrap;
  }
  .unseen {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  dl {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 2px 14px;
    margin: 0;
  }
  dt {
    color: var(--soft);
  }
  dd {
    margin: 0;
    text-align: right;
  }
  .h0 {
    --h: var(--v0);
  }
  .h1 {
    --h: var(--v1);
  }
  .h2 {
    --h: var(--v2);
  }
  .h3 {
    --h: var(--v3);
  }
  .h4 {
    --h: var(--v4);
  }
`;

/** How many hues there are; views further on take them again, with their number beside. */
const HUES = 5;

/**
 * @param {number} view
 * @returns {string} the class that gives `--h` the hue of a view
 */
export function hueOf(view) {
  return `h${((view % HUES) + HUES) % HUES}`;
}

/**
 * @param {number} view
 * @returns {number} the index of its hue
 */
export function hueIndex(view) {
  return ((view % HUES) + HUES) % HUES;
}
