/**
 * A row that may be wider than its place: what is out of sight is told by a fading edge and an arrow that brings it in.
 * Must never know what stands in the row.
 */

import { css, html, LitElement, nothing } from "lit";

/** Part of the row's width that an arrow brings in. */
const STEP = 0.7;

/** `<vsr-strip>…</vsr-strip>` around the children of a row. */
export class Strip extends LitElement {
  /** @override */
  static properties = { hasBefore: { state: true }, hasAfter: { state: true } };

  /** @override */
  static styles = css`
    :host {
      display: block;
      position: relative;
      min-width: 0;
    }
    .row {
      display: flex;
      gap: 6px;
      align-items: center;
      overflow-x: auto;
      scrollbar-width: none;
      padding: 4px 2px;
      scroll-padding: 0 40px;
    }
    .row.before {
      mask-image: linear-gradient(to right, transparent 30px, #000 58px);
    }
    .row.after {
      mask-image: linear-gradient(to left, transparent 30px, #000 58px);
    }
    .row.before.after {
      mask-image: linear-gradient(to right, transparent 30px, #000 58px, #000 calc(100% - 58px), transparent calc(100% - 30px));
    }
    button {
      position: absolute;
      top: 50%;
      transform: translateY(-50%);
      width: 28px;
      height: 32px;
      padding: 0;
      border: 0;
      border-radius: 7px;
      background: none;
      color: var(--ink);
      font: 600 20px/1 var(--sans);
      cursor: pointer;
      pointer-events: auto;
    }
    button:hover {
      background: var(--wash);
    }
    .left {
      left: 0;
    }
    .right {
      right: 0;
    }
  `;

  constructor() {
    super();
    this.hasBefore = false;
    this.hasAfter = false;
  }

  #resize = new ResizeObserver(() => this.#measure());

  /** @override */
  firstUpdated() {
    const row = this.#row;
    if (row) this.#resize.observe(row);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#resize.disconnect();
  }

  get #row() {
    return /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(".row"));
  }

  #measure() {
    const row = this.#row;
    if (!row) return;
    this.hasBefore = row.scrollLeft > 4;
    this.hasAfter = row.scrollLeft + row.clientWidth < row.scrollWidth - 4;
  }

  /** The keyboard needs no arrows: a focused child is brought in by itself. @override */
  render() {
    return html`<div class="row ${this.hasBefore ? "before" : ""} ${this.hasAfter ? "after" : ""}" @scroll=${this.#measure}>
        <slot @slotchange=${this.#measure}></slot>
      </div>
      ${this.hasBefore ? html`<button class="left" tabindex="-1" aria-hidden="true" @click=${() => this.#move(-1)}>‹</button>` : nothing}
      ${this.hasAfter ? html`<button class="right" tabindex="-1" aria-hidden="true" @click=${() => this.#move(1)}>›</button>` : nothing}`;
  }

  /** @param {number} way */
  #move(way) {
    const row = this.#row;
    row?.scrollBy({ left: way * row.clientWidth * STEP, behavior: "smooth" });
  }
}

customElements.define("vsr-strip", Strip);
