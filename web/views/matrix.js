/**
 * The log matrix: a row a replica, a column an op; hue is the view, filled is committed, hollow is prepared, cracked is
 * damaged on disk. Pointing at a cell lights its op everywhere. Must never show what no replica and no disk says.
 */

import { css, html, nothing } from "lit";
import { brokenOps, entryText, isAboutOp, isDamaged } from "../words.js";
import { crack } from "./glyphs.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../types.js").Replica} Replica */
/** @typedef {import("../types.js").LogEntry} LogEntry */

const CELL = 26;
const SIZE = { width: 24, height: 19 };

/** Rows of cells. */
export class Matrix extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        padding: 9px 20px 10px;
        min-width: 0;
      }
      table {
        border-spacing: 2px;
        border-collapse: separate;
        margin-left: -2px;
      }
      th {
        font-weight: 400;
        text-align: left;
        color: var(--soft);
        font-size: 13.5px;
        padding: 0 10px 0 0;
        white-space: nowrap;
      }
      th b {
        color: var(--ink);
        font-weight: 600;
      }
      thead th {
        font-size: 12px;
        color: var(--faint);
        text-align: center;
        padding: 0;
      }
      thead th.lit {
        color: var(--ink);
        font-weight: 600;
      }
      thead th:first-child {
        text-align: left;
      }
      td {
        padding: 0;
      }
      .c {
        position: relative;
        display: grid;
        place-items: center;
        width: 24px;
        height: 19px;
        border-radius: 4px;
        border: 1.5px solid var(--h);
        color: var(--h);
        font-size: 11.5px;
        line-height: 1;
      }
      .c b {
        font-weight: 400;
      }
      .committed {
        background: var(--h);
        color: var(--on);
      }
      .header,
      .writing {
        border-style: dashed;
      }
      .unproven {
        border-style: dotted;
      }
      .none {
        border: 1px dotted var(--rule);
      }
      .missing {
        border: 1.5px dashed var(--edge);
        color: var(--edge);
      }
      .folded {
        border: 0;
        background: var(--rule);
      }
      .saved .c::after {
        content: "";
        position: absolute;
        inset: -3px -3.5px -3px auto;
        width: 3px;
        background: var(--ink);
      }
      .c svg {
        position: absolute;
        inset: -1.5px;
        width: 24px;
        height: 19px;
        overflow: visible;
      }
      .gap {
        fill: none;
        stroke: var(--paper);
        stroke-width: 4.2;
      }
      .crack {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.5;
        stroke-linejoin: round;
        stroke-linecap: round;
      }
      .bad .c {
        outline: 2px solid var(--bad);
        outline-offset: 1px;
      }
      .lit .c,
      td:focus-visible .c {
        outline: 2px solid var(--ink);
        outline-offset: 1px;
      }
      td[tabindex]:focus-visible {
        outline: none;
      }
      td.says {
        padding-left: 12px;
        font-size: 13.5px;
        color: var(--soft);
        white-space: nowrap;
      }
      tr.down .c {
        --h: var(--faint);
      }
      .wrap {
        overflow: hidden;
      }
      @media (max-width: 820px) {
        :host {
          padding: 6px 12px;
        }
        th {
          padding-right: 6px;
        }
        .word,
        td.says {
          display: none;
        }
        .c,
        .c svg {
          width: 21px;
          height: 16px;
        }
      }
    `,
  ];

  #width = 600;
  #resize = new ResizeObserver(([entry]) => {
    if (!entry) return;
    this.#width = entry.contentRect.width;
    this.requestUpdate();
  });
  /** The one cell of many that takes part in the order of Tab. */
  #at = { row: 0, op: 1 };
  /** The op where the keyboard was; the head of the longest log, if it was nowhere. @type {number | null} */
  #op = null;

  /** @override */
  get restMs() {
    return 110;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.selection, state.lit];
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.#resize.observe(this);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#resize.disconnect();
  }

  /** @override */
  render() {
    const { frame } = this.state;
    if (!frame) return nothing;
    const isNarrow = this.#width < 640;
    const room = this.#width - (isNarrow ? 40 : 310);
    const count = Math.max(4, Math.floor(room / (isNarrow ? 23 : CELL)));
    const newest = Math.max(count, ...frame.replicas.map((replica) => replica.head + 1));
    const ops = Array.from({ length: count }, (_, index) => newest - count + 1 + index);
    const lit = this.state.lit ?? this.#selectedOp();
    const first = ops[0] ?? 1;
    const head = Math.max(...frame.replicas.map((replica) => replica.head));
    this.#at = { row: Math.min(this.#at.row, frame.replica_count - 1), op: Math.min(newest, Math.max(first, this.#op ?? head)) };
    return html`<div class="wrap">
      <table
        aria-label="Log matrix"
        class="num"
        @pointerover=${(/** @type {Event} */ event) => this.#light(event)}
        @pointerleave=${() => this.app.store.light(null)}
        @focusin=${(/** @type {Event} */ event) => this.#light(event)}
        @focusout=${() => this.app.store.light(null)}
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.#keyed(event, first, newest)}
      >
        <thead>
          <tr>
            <th scope="col"><span class="word">log, by </span>op</th>
            ${ops.map((op) => html`<th scope="col" class=${op === lit ? "lit" : ""}>${op}</th>`)}
            <th class="unseen" scope="col">frontiers</th>
          </tr>
        </thead>
        <tbody>
          ${frame.replicas.map((replica, row) => {
            const byOp = new Map(replica.log.map((entry) => [entry.op, entry]));
            const broken = brokenOps(frame, replica.id);
            return html`<tr class=${replica.up ? "" : "down"}>
              <th scope="row"><span class="word">replica </span><b>${replica.id}</b></th>
              ${ops.map((op) => {
                const marks = [op === lit ? "lit" : "", broken.has(op) ? "bad" : "", op > 0 && op === replica.checkpoint ? "saved" : ""];
                return this.#cell(byOp.get(op), row, op, marks.join(" "), op <= replica.checkpoint);
              })}
              <td class="says">${frontiers(replica)}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
  }

  /** @returns {number | null} the op of the selected packet */
  #selectedOp() {
    const { selection, packets } = this.state;
    if (selection.kind !== "packet") return null;
    const packet = packets.find(({ key }) => key === selection.key);
    return packet && isAboutOp(packet.kind) && packet.op >= 0 ? packet.op : null;
  }

  /**
   * @param {LogEntry | undefined} entry
   * @param {number} row
   * @param {number} op
   * @param {string} kind
   * @param {boolean} isSaved the checkpoint has it
   */
  #cell(entry, row, op, kind, isSaved) {
    const isHere = this.#at.row === row && this.#at.op === op;
    const view = entry?.view ?? null;
    const isFolded = isSaved && view === null && !(entry && isDamaged(entry));
    const state = isFolded ? "folded" : entry ? (view === null ? "missing" : `${entry.state} ${hueOf(view)}`) : "none";
    const text = isFolded ? `op ${op}, in the checkpoint` : entry ? entryText(entry) : "nothing";
    return html`<td class=${kind} data-op=${op} data-row=${row} tabindex=${isHere ? 0 : -1}>
      <span class="c ${state}" title=${text === "nothing" ? nothing : text}
        ><b aria-hidden="true">${view}</b>${
          entry && isDamaged(entry) ? html`<svg viewBox="0 0 ${SIZE.width} ${SIZE.height}" aria-hidden="true">${crack(0, 0, SIZE.width, SIZE.height)}</svg>` : nothing
        }<span class="unseen">${text}</span></span
      >
    </td>`;
  }

  /** Pointing at a cell lights its op everywhere. @param {Event} event */
  #light(event) {
    const cell = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("td[data-op]"));
    this.app.store.light(cell ? Number(cell.dataset.op) : null);
  }

  /**
   * Arrows go from cell to cell, so that Tab need not pass them all.
   * @param {KeyboardEvent} event
   * @param {number} first
   * @param {number} newest
   */
  #keyed(event, first, newest) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const rows = this.state.frame?.replica_count ?? 1;
    const row = Math.min(rows - 1, Math.max(0, this.#at.row + (step[0] ?? 0)));
    this.#op = Math.min(newest, Math.max(first, this.#at.op + (step[1] ?? 0)));
    this.#at = { row, op: this.#op };
    this.requestUpdate();
    void this.updateComplete.then(() => this.#focusCell());
  }

  #focusCell() {
    const { row, op } = this.#at;
    /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`td[data-row="${row}"][data-op="${op}"]`))?.focus();
  }
}

/**
 * @param {Replica} replica
 * @returns {string}
 */
function frontiers(replica) {
  if (replica.up) return `head ${replica.head}, committed ${replica.commit_min}`;
  return `down, with op ${replica.log[replica.log.length - 1]?.op ?? 0} on disk`;
}

customElements.define("vsr-matrix", Matrix);
