/**
 * A replica's disk in full: both journal rings slot by slot, and the copies of its superblock. A slot that is pointed at
 * is told in words below. Must never show as readable what the replica could not read.
 */

import { css, html, nothing } from "lit";
import { countText } from "../format.js";
import { entryText, isDamaged } from "../words.js";
import { crack } from "./glyphs.js";
import "./term.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../types.js").Disk} Disk */
/** @typedef {import("../types.js").DiskBlock} DiskBlock */
/** @typedef {import("../types.js").Replica} Replica */

/** Rings up to this many slots are drawn whole. */
const SLOTS_WHOLE = 64;
/** Of longer ones, the slots up to the head. */
const SLOTS_LAST = 32;
const NOTHING = /** @type {DiskBlock} */ ({ state: "empty", op: null, view: null });

/** Rings and superblock of one replica. */
export class DiskPanel extends View {
  /** @override */
  static properties = { ...View.properties, replica: { attribute: false } };

  /** @override */
  static styles = [
    shared,
    css`
      section {
        margin-bottom: 18px;
      }
      h3 .small {
        font: 400 13px/1.25 var(--sans);
      }
      .ring {
        display: grid;
        grid-template-columns: repeat(16, 1fr);
        gap: 3px 2px;
        padding: 0;
        margin: 0;
        list-style: none;
      }
      .ring li {
        position: relative;
        display: grid;
        gap: 1px;
        min-width: 0;
        border-radius: 4px;
      }
      .ring li:focus-visible,
      .ring .lit {
        outline: 2px solid var(--ink);
        outline-offset: 1px;
      }
      .ring span {
        position: relative;
        display: grid;
        place-items: center;
        border: 1px solid var(--rule);
        border-radius: 3px 3px 1px 1px;
        aspect-ratio: 1;
        font: 400 10px/1 var(--sans);
        color: var(--h);
        min-width: 0;
      }
      .ring .head {
        aspect-ratio: auto;
        height: 6px;
        border-radius: 1px 1px 3px 3px;
      }
      .ring .prepared,
      .ring .writing,
      .ring .unproven,
      .ring .whole,
      .ring .header {
        border: 1.5px solid var(--h);
      }
      .ring .writing {
        border-style: dashed;
      }
      .ring .committed,
      .ring .head.whole {
        background: var(--h);
        border-color: var(--h);
        color: var(--on);
      }
      .ring .damaged,
      .ring .astray {
        border: 1.5px solid var(--edge);
        color: var(--soft);
        background: none;
      }
      .ring .astray {
        border-style: double;
        border-width: 3px;
      }
      .ring svg {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
        overflow: visible;
      }
      .gap {
        fill: none;
        stroke: var(--paper);
        stroke-width: 4;
      }
      .crack {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .told {
        min-height: 2.9em;
        color: var(--soft);
        font-size: 14px;
        margin-top: 6px;
      }
      table {
        width: 100%;
        border-collapse: collapse;
        font-size: 13.5px;
      }
      th,
      td {
        text-align: right;
        padding: 2px 0 2px 6px;
        font-weight: 400;
      }
      th:first-child,
      td:first-child {
        text-align: left;
        padding-left: 0;
        white-space: nowrap;
      }
      th {
        color: var(--soft);
      }
    `,
  ];

  constructor() {
    super();
    /** @type {Replica | null} */
    this.replica = null;
  }

  /** @type {{ frame: object, id: number, disk: Disk | null } | null} */
  #read = null;
  /** The slot that is told in words, and where the keyboard is. @type {number | null} */
  #slot = null;

  /** @override */
  get restMs() {
    return 150;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.lit];
  }

  /** @override */
  render() {
    const { frame } = this.state;
    const { replica } = this;
    if (!frame || !replica) return nothing;
    return html`${this.#rings(replica, frame.knobs.journal_slots ?? 0)} ${this.#superblock(replica)}`;
  }

  /**
   * Read once for each frame. On the way to another place the last one stays.
   * @param {number} id
   * @returns {Disk | null}
   */
  #diskOf(id) {
    const { frame } = this.state;
    if (this.#read && this.#read.frame === frame && this.#read.id === id) return this.#read.disk;
    const disk = this.app.run.diskOf(id) ?? (this.#read?.id === id ? this.#read.disk : null);
    if (frame) this.#read = { frame, id, disk };
    return disk;
  }

  /**
   * @param {Replica} replica
   * @param {number} slots
   */
  #rings(replica, slots) {
    if (slots === 0) return nothing;
    const disk = this.#diskOf(replica.id);
    const written = new Map((disk?.rings ?? []).map((slot) => [slot.slot, slot]));
    const head = replica.log[replica.log.length - 1]?.op ?? 0;
    const isWhole = slots <= SLOTS_WHOLE;
    const start = isWhole ? 0 : Math.max(0, head - SLOTS_LAST + 1);
    const count = isWhole ? slots : Math.min(SLOTS_LAST, slots);
    const log = new Map(replica.log.map((entry) => [entry.op % slots, entry]));
    const places = Array.from({ length: count }, (_, index) => (start + index) % slots);
    const told = this.#slot !== null && places.includes(this.#slot) ? this.#slot : null;
    const tabStop = told ?? places[0];
    return html`<section aria-label="Journal of replica ${replica.id}">
      <h3><vsr-term word="journal">Journal</vsr-term> <span class="soft small">${isWhole ? `${slots} slots` : `the last ${count} of ${countText(slots)} slots`}: prepares above, headers below</span></h3>
      <ul class="ring num" @pointerover=${this.#point} @pointerleave=${() => this.#tell(null)} @focusin=${this.#point} @focusout=${() => this.#tell(null)} @keydown=${(/** @type {KeyboardEvent} */ event) => this.#keyed(event, places)}>
        ${places.map((place) => {
          const { prepare, header } = written.get(place) ?? { prepare: NOTHING, header: NOTHING };
          const entry = log.get(place);
          const op = prepare.op ?? header.op ?? entry?.op ?? null;
          const isLit = op !== null && op === this.state.lit;
          const state = prepare.state === "whole" && entry && entry.op === prepare.op && !isDamaged(entry) ? entry.state : prepare.state === "empty" && entry?.state === "writing" ? "writing" : prepare.state;
          const text = slotText(place, prepare, header, entry);
          return html`<li class=${isLit ? "lit" : ""} data-slot=${place} tabindex=${place === tabStop ? 0 : -1}>
            <span class="${state} ${hueOf(prepare.view ?? entry?.view ?? 0)}">${op}${hurt(prepare)}</span>
            <span class="head ${header.state} ${hueOf(header.view ?? 0)}">${hurt(header)}</span>
            <b class="unseen">${text}</b>
          </li>`;
        })}
      </ul>
      <p class="told" aria-hidden="true">${told === null ? "Point at a slot to read what is in it." : slotText(told, written.get(told)?.prepare ?? NOTHING, written.get(told)?.header ?? NOTHING, log.get(told))}</p>
    </section>`;
  }

  /** @param {Event} event */
  #point(event) {
    const item = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("li"));
    this.#tell(item ? Number(item.dataset.slot) : null);
  }

  /** @param {number | null} slot */
  #tell(slot) {
    if (slot === this.#slot) return;
    this.#slot = slot;
    this.requestUpdate();
  }

  /**
   * Arrows go from slot to slot.
   * @param {KeyboardEvent} event
   * @param {number[]} places
   */
  #keyed(event, places) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -16, ArrowDown: 16 }[event.key];
    if (step === undefined || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const now = places.indexOf(this.#slot ?? places[0] ?? 0);
    const next = places[Math.min(places.length - 1, Math.max(0, now + step))];
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`[data-slot="${next}"]`))?.focus();
  }

  /** @param {Replica} replica */
  #superblock(replica) {
    const copies = this.#diskOf(replica.id)?.superblocks ?? [];
    if (copies.length === 0) return nothing;
    const newest = Math.max(...copies.map(({ sequence }) => sequence ?? 0));
    return html`<section aria-label="Superblock of replica ${replica.id}">
      <h3><vsr-term word="superblock">Superblock</vsr-term> <span class="soft small">${copies.length} copies, two equal ones are enough</span></h3>
      <table class="num">
        <thead>
          <tr><th scope="col">copy</th><th scope="col">write</th><th scope="col">view</th><th scope="col">log_view</th><th scope="col">committed</th><th scope="col">checkpoint</th></tr>
        </thead>
        <tbody>
          ${copies.map(
            (copy) => html`<tr>
              <td>${copy.copy + 1}${copy.state !== "whole" ? html`, <b>${copy.state}</b>` : copy.sequence === newest ? "" : html` <span class="soft">older</span>`}</td>
              <td>${copy.sequence ?? "–"}</td>
              <td>${copy.view ?? "–"}</td>
              <td>${copy.log_view ?? "–"}</td>
              <td>${copy.commit_max ?? "–"}</td>
              <td>${copy.checkpoint ?? "–"}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </section>`;
  }
}

/** @param {DiskBlock} block */
function hurt({ state }) {
  return state === "damaged" ? html`<svg viewBox="0 0 20 20" preserveAspectRatio="none" aria-hidden="true">${crack(0, 0, 20, 20)}</svg>` : nothing;
}

/**
 * @param {number} place
 * @param {DiskBlock} prepare
 * @param {DiskBlock} header
 * @param {import("../types.js").LogEntry | undefined} entry what the replica itself takes to be there
 * @returns {string}
 */
export function slotText(place, prepare, header, entry) {
  if (prepare.state === "empty" && header.state === "empty") {
    return entry ? `Slot ${place}: nothing on disk; in memory ${entryText({ ...entry, damaged: false })}.` : `Slot ${place}: never written.`;
  }
  const words = { empty: "never written", whole: "whole", damaged: "damaged", astray: "that of another slot" };
  const of = (/** @type {DiskBlock} */ { op, view }) => (op === null ? "" : ` of op ${op}${view === null ? "" : `, view ${view}`}`);
  const memory = entry ? ` In memory ${entryText({ ...entry, damaged: false })}.` : "";
  return `Slot ${place}: prepare${of(prepare)}: ${words[prepare.state]}; header${of(header)}: ${words[header.state]}.${memory}`;
}

customElements.define("vsr-disk", DiskPanel);
