/**
 * The log matrix: a row a replica, a column an op; hue is the view, filled is committed, hollow is prepared. It is where
 * one sees that a log is longer, older or holed. Must never show what no replica says.
 */

import { css, html, nothing } from "lit";
import { packetText } from "../words.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../types.js").Replica} Replica */

const CELL = 26;

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
      thead th:first-child {
        text-align: left;
      }
      td {
        padding: 0;
      }
      .c {
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
      .lit .c {
        outline: 2px solid var(--ink);
        outline-offset: 1px;
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
      .more td,
      .more th {
        height: 8px;
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
        .c {
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

  /** @override */
  get restMs() {
    return 110;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.selection];
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
    const lit = this.#litOp();
    return html`<div class="wrap">
      <table aria-label="Log matrix" class="num">
        <thead>
          <tr>
            <th scope="col"><span class="word">log, by </span>op</th>
            ${ops.map((op) => html`<th scope="col">${op}</th>`)}
            <th class="unseen" scope="col">frontiers</th>
          </tr>
        </thead>
        <tbody>
          ${frame.replicas.map(
            (replica) => {
              const byOp = new Map(replica.log.map((entry) => [entry.op, entry]));
              return html`<tr class=${replica.up ? "" : "down"}>
              <th scope="row"><span class="word">replica </span><b>${replica.id}</b></th>
              ${ops.map((op) => this.#cell(byOp, op, op === lit))}
              <td class="says">${frontiers(replica)}</td>
            </tr>`;
            },
          )}
        </tbody>
      </table>
    </div>`;
  }

  /** @returns {number | null} the op of the selected packet */
  #litOp() {
    const { selection, packets } = this.state;
    if (selection.kind !== "packet") return null;
    const packet = packets.find(({ key }) => key === selection.key);
    return packet && packet.op >= 0 && /\d/.test(packetText(packet.kind, packet.op)) ? packet.op : null;
  }

  /**
   * @param {Map<number, import("../types.js").LogEntry>} byOp
   * @param {number} op
   * @param {boolean} isLit
   */
  #cell(byOp, op, isLit) {
    const entry = byOp.get(op);
    const lit = isLit ? "lit" : "";
    if (!entry) return html`<td class=${lit}><span class="c none"></span></td>`;
    if (entry.view === null) return html`<td class=${lit}><span class="c missing" title="op ${op} is missing"></span></td>`;
    const name = `op ${op} of view ${entry.view}, ${entry.state}`;
    return html`<td class=${lit}>
      <span class="c ${entry.state} ${hueOf(entry.view)}" title=${name}>${entry.view}</span>
    </td>`;
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
