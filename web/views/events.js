/**
 * The event log in plain words with reasons, filtered, drawn only where it is seen. Every row leads to its tick and to
 * its replica or packet. The words are the engine's. Must never word an event itself.
 */

import { css, html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { groupText, isShown } from "../groups.js";
import { comparePositions } from "../link.js";
import { rowText } from "../words.js";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").EventRow} EventRow */

const ROW = 42;
const SPARE = 12;

/** Filters, each over one or more of the engine's classes. */
const GROUPS = [
  { name: "view changes", classes: ["view-change"] },
  { name: "faults", classes: ["fault", "violation"] },
  { name: "replication", classes: ["replication"] },
  { name: "clients", classes: ["client"] },
  { name: "decisions", classes: ["decision", "repair"] },
  { name: "packets", classes: ["packet"] },
  { name: "timers", classes: ["timer"] },
];

/** A list that may be long. */
export class Events extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        display: grid;
        grid-template-rows: auto minmax(0, 1fr);
        min-height: 0;
      }
      .head {
        display: flex;
        flex-wrap: wrap;
        gap: 4px;
        align-items: center;
        padding: 10px 18px 8px;
      }
      .head h2 {
        margin: 0 6px 0 0;
      }
      .chip {
        padding: 0 9px;
        min-height: 24px;
        border-radius: 20px;
        font-size: 13px;
        color: var(--soft);
        background: none;
        border-color: transparent;
      }
      .chip[aria-pressed="true"] {
        border-color: var(--edge);
        color: var(--ink);
        background: var(--sheet);
      }
      .scroll {
        overflow: auto;
        overscroll-behavior: contain;
        position: relative;
      }
      ol {
        list-style: none;
        margin: 0;
        padding: 0;
        position: relative;
      }
      li {
        position: absolute;
        left: 0;
        right: 0;
        height: 42px;
      }
      li button {
        display: grid;
        grid-template-columns: 40px 18px minmax(0, 1fr);
        gap: 8px;
        width: 100%;
        height: 100%;
        border: 0;
        border-radius: 0;
        background: none;
        padding: 2px 18px;
        text-align: left;
        white-space: normal;
        align-items: center;
      }
      li button:hover {
        background: var(--wash);
      }
      li button:focus-visible {
        outline-offset: -2px;
      }
      .t {
        color: var(--faint);
        font-size: 13.5px;
      }
      .who {
        text-align: center;
        font-weight: 600;
        color: var(--soft);
      }
      .x {
        display: -webkit-box;
        -webkit-line-clamp: 2;
        -webkit-box-orient: vertical;
        overflow: hidden;
        font-size: 14px;
        line-height: 18px;
      }
      .big .x {
        font-weight: 600;
      }
      .lost .x,
      .timer .x,
      .packet .x {
        color: var(--soft);
      }
      .violation .x {
        color: var(--bad);
      }
      .now {
        background: var(--wash);
      }
      .lit {
        box-shadow: inset 3px 0 var(--ink);
        background: var(--press);
      }
      .group {
        color: var(--soft);
        font-size: 13px;
      }
      .none {
        padding: 14px 18px;
        color: var(--soft);
      }
      @media (forced-colors: active) {
        .chip[aria-pressed="true"] {
          outline: 1px solid;
        }
      }
    `,
  ];

  /** @type {Set<string>} */
  #shownGroups = new Set(["view changes", "faults", "replication", "clients", "decisions"]);
  /** @type {EventRow[]} */
  #rows = [];
  #filteredUpTo = 0;
  #isFollowing = true;
  #top = 0;
  #height = 300;
  #resize = new ResizeObserver(([entry]) => {
    if (!entry) return;
    const { height } = entry.contentRect;
    // A list that was out of sight begins with what is newest.
    this.#isNew = this.#height === 0 && height > 0;
    this.#height = height;
    this.requestUpdate();
  });
  #isNew = false;

  /** @override */
  get restMs() {
    return 130;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.rowsVersion, state.shown, state.lit, state.frame?.group, state.frame?.groups?.length];
  }

  /** @override */
  firstUpdated() {
    const scroll = this.renderRoot.querySelector(".scroll");
    if (scroll) this.#resize.observe(scroll);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#resize.disconnect();
  }

  /** Follows the end only while the end is in sight, as it is now: a scroll may not have been told yet. @override */
  willUpdate() {
    const scroll = this.renderRoot.querySelector(".scroll");
    if (!scroll) return;
    this.#top = scroll.scrollTop;
    this.#isFollowing = this.#isNew || scroll.scrollTop + scroll.clientHeight >= scroll.scrollHeight - ROW;
  }

  /** @override */
  updated() {
    const scroll = this.renderRoot.querySelector(".scroll");
    const list = /** @type {HTMLElement | null} */ (this.renderRoot.querySelector("ol"));
    list?.style.setProperty("height", `${this.#rows.length * ROW}px`);
    for (const item of this.renderRoot.querySelectorAll("li")) item.style.setProperty("top", `${item.dataset.top}px`);
    if (scroll && this.#isFollowing) scroll.scrollTop = scroll.scrollHeight;
    this.#isNew = false;
  }

  #filter() {
    const { rows } = this.state;
    const last = this.#rows[this.#rows.length - 1];
    const isExtended = this.#filteredUpTo <= rows.length && (!last || rows[this.#lastIndex] === last);
    if (!isExtended) {
      this.#rows = [];
      this.#filteredUpTo = 0;
    }
    const { frame } = this.state;
    // Another group shown is another log to read.
    const key = `${frame?.group} ${this.#hasOthers}`;
    if (key !== this.#filteredFor) {
      this.#filteredFor = key;
      this.#rows = [];
      this.#filteredUpTo = 0;
    }
    const classes = new Set(GROUPS.flatMap((group) => (this.#shownGroups.has(group.name) ? group.classes : [])));
    for (let index = this.#filteredUpTo; index < rows.length; index += 1) {
      const row = rows[index];
      if (!row || !(classes.has(row.class) || isLoss(row))) continue;
      if (!this.#hasOthers && !isShown(row, frame)) continue;
      this.#rows.push(row);
      this.#lastIndex = index;
    }
    this.#filteredUpTo = rows.length;
  }

  #lastIndex = 0;
  #filteredFor = "";
  /** Rows of groups that are not shown, too. */
  #hasOthers = false;

  /** @override */
  render() {
    this.#filter();
    const count = this.#rows.length;
    const top = this.#isFollowing ? Math.max(0, count * ROW - this.#height) : this.#top;
    const first = Math.max(0, Math.floor(top / ROW) - SPARE);
    const last = Math.min(count, Math.ceil((top + this.#height) / ROW) + SPARE);
    return html`<div class="head" role="group" aria-label="Filter events">
        <h2>Events</h2>
        ${GROUPS.map(
          ({ name }) =>
            html`<button class="chip" aria-pressed=${this.#shownGroups.has(name)} @click=${() => this.#toggle(name)}>${name}</button>`,
        )}
        ${
          (this.state.frame?.groups?.length ?? 0) < 2
            ? nothing
            : html`<button class="chip" aria-pressed=${this.#hasOthers} @click=${this.#toggleOthers}>other groups</button>`
        }
      </div>
      <div class="scroll" tabindex="0" role="region" aria-label="Event log" @scroll=${this.#scrolled} @keydown=${this.#keyed}>
        ${count === 0 ? html`<p class="none">Nothing has happened yet.</p>` : nothing}
        <ol>
          ${repeat(
            this.#rows.slice(first, last),
            (row) => row.number,
            (row, index) => this.#row(row, first + index),
          )}
        </ol>
      </div>`;
  }

  /**
   * @param {EventRow} row
   * @param {number} index
   */
  #row(row, index) {
    const isNow = comparePositions(row, this.state.shown) >= 0 || row.tick === this.state.shown.tick;
    const loss = isLoss(row) ? "lost" : "";
    const isLit = row.op !== null && row.op === this.state.lit && isShown(row, this.state.frame);
    const other = isShown(row, this.state.frame) ? "" : groupText(row.group ?? "");
    return html`<li data-top=${index * ROW} class="${row.class} ${row.big ? "big" : ""} ${loss} ${isNow ? "now" : ""} ${isLit ? "lit" : ""}">
      <button tabindex="-1" data-row=${index} @click=${() => this.#follow(row)} title=${rowText(row)} aria-label=${nameOf(row)}>
        <span class="t num">${row.tick}</span>
        <span class="who num">${row.replica ?? (row.client === null ? nothing : `c${row.client}`)}</span>
        <span class="x">${other === "" ? nothing : html`<span class="group">${other}: </span>`}${row.text}</span>
      </button>
    </li>`;
  }

  /** @param {EventRow} row */
  #follow(row) {
    const { store, run } = this.app;
    if (row.packet !== null && row.fate === null) store.selectPacket(row.packet);
    else if (row.replica !== null) store.selectReplicas([row.replica]);
    else if (row.client !== null) store.selectClient(row.client);
    else if (row.from !== null && row.to !== null) store.selectLink(row.from < row.to ? row.from : row.to, row.from < row.to ? row.to : row.from);
    void run.seek({ tick: row.tick, step: row.step });
  }

  /**
   * Up and down go from row to row, so that Tab need not pass them all.
   * @param {KeyboardEvent} event
   */
  #keyed(event) {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const now = /** @type {HTMLElement | null} */ (this.shadowRoot?.activeElement ?? null);
    const place = now?.dataset.row === undefined ? this.#rows.length : Number(now.dataset.row);
    const next = Math.max(0, Math.min(this.#rows.length - 1, place + (event.key === "ArrowUp" ? -1 : 1)));
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`[data-row="${next}"]`))?.focus();
  }

  /** @param {string} name */
  #toggle(name) {
    if (this.#shownGroups.has(name)) this.#shownGroups.delete(name);
    else this.#shownGroups.add(name);
    this.#rows = [];
    this.#filteredUpTo = 0;
    this.requestUpdate();
  }

  #toggleOthers() {
    this.#hasOthers = !this.#hasOthers;
    this.requestUpdate();
  }

  #scrolled() {
    this.requestUpdate();
  }
}

/**
 * @param {EventRow} row
 * @returns {string} the whole row, for those who hear it
 */
function nameOf(row) {
  const who = row.replica !== null ? `replica ${row.replica} ` : row.client !== null ? `client ${row.client} ` : "";
  return `${row.tick}${row.step > 0 ? `, step ${row.step}` : ""} ${who}${row.text}`;
}

/**
 * @param {EventRow} row
 * @returns {boolean} a packet that did not arrive: worth a line even where packets are filtered out
 */
function isLoss(row) {
  return row.fate !== null && row.fate !== "delivered" && row.kind !== "Commit";
}

customElements.define("vsr-events", Events);
