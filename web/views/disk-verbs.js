/**
 * What can be done to one replica's disk, each with a sentence on what follows: rot, erase, misplace an op, tear the next
 * crash, lie, be slow. Each appends an act. Must never judge whether an act is possible.
 */

import { css, html, nothing } from "lit";
import { inGroup } from "../acts.js";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").Replica} Replica */

const SLOW_FACTOR = 20;
const PARTS = ["prepare", "header", "both"];

/** Verbs of the disk of the selected replica, or of the one chosen here. */
export class DiskVerbs extends View {
  /** @override */
  static styles = [
    shared,
    css`
      .field {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 8px;
        align-items: center;
        margin-bottom: 8px;
      }
      .field label {
        color: var(--soft);
      }
      input[type="number"] {
        width: 76px;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        display: grid;
        grid-template-columns: 128px minmax(0, 1fr);
        gap: 2px 12px;
        align-items: center;
        padding: 5px 0;
        border-top: 1px solid var(--rule);
      }
      li button {
        justify-self: start;
      }
      li p {
        color: var(--soft);
        font-size: 14px;
        text-wrap: pretty;
      }
      .state {
        margin-bottom: 8px;
      }
      .hurt {
        font-weight: 600;
      }
    `,
  ];

  /** What was typed; nothing means the replica's last op, and one beside it. @type {{ op: string | null, other: string | null }} */
  #typed = { op: null, other: null };
  #part = "prepare";

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.selection];
  }

  /** @override */
  render() {
    const { frame, selection } = this.state;
    if (!frame) return nothing;
    const id = selection.kind === "replicas" ? (selection.ids[0] ?? 0) : 0;
    const replica = frame.replicas[id];
    if (!replica) return nothing;
    const last = replica.log[replica.log.length - 1]?.op ?? 1;
    const op = opOf(this.#typed.op) ?? last;
    const other = opOf(this.#typed.other) ?? (op > 1 ? op - 1 : op + 1);
    const act = (/** @type {string} */ text) => this.app.run.act(inGroup(text, frame));
    const { lies = false, tears = false, slow_factor: factor = 1 } = replica.disk ?? {};
    return html`<div class="field">
        <label for="replica">of replica</label>
        <select id="replica" aria-label="Replica whose disk is meant" @change=${this.#choose}>
          ${frame.replicas.map((each) => html`<option value=${each.id} ?selected=${each.id === id}>${each.id}</option>`)}
        </select>
        <span class="soft">${stateOf(replica)}</span>
      </div>
      <div class="field">
        <label for="op">op</label>
        <input id="op" type="number" min="1" .value=${this.#typed.op ?? String(op)} @input=${(/** @type {Event} */ event) => this.#type(event, "op")} />
        <label for="part">its</label>
        <select id="part" aria-label="Part of the op" @change=${this.#choosePart}>
          ${PARTS.map((part) => html`<option value=${part} ?selected=${part === this.#part}>${part === "both" ? "prepare and header" : part}</option>`)}
        </select>
      </div>
      <ul aria-label="Verbs of the disk of replica ${id}">
        ${row(`Rot op ${op}`, () => act(`corrupt.${id}.op${op}.${this.#part}`), `Its ${this.#part === "both" ? "prepare and header" : this.#part} no longer match${this.#part === "both" ? "" : "es"} the checksum. ${id} notices when it reads, at its next start.`)}
        ${row(`Erase op ${op}`, () => act(`punch.${id}.op${op}`), "Gone from both rings, as if it had never been written there.")}
        <li>
          <button @click=${() => act(`misdirect.${id}.op${op}.op${other}`)}>Misplace op ${op}</button>
          <p>
            The write of its prepare landed where op
            <input type="number" min="1" aria-label="Op whose place it took" .value=${this.#typed.other ?? String(other)} @input=${(/** @type {Event} */ event) => this.#type(event, "other")} />
            belongs. Both are lost there.
          </p>
        </li>
        ${row("Tear next crash", () => act(`tear.${id}`), tears ? "Armed: the next crash tears what is being written." : "The next crash leaves every write under way unreadable.", tears)}
        ${row(lies ? "Stop lying" : "Lie about writes", () => act(lies ? `lie.${id}.off` : `lie.${id}`), lies ? "It lies now: what it calls durable is lost with a crash." : "Says that writes are durable and keeps them in its cache. A crash loses them.")}
        ${row(factor > 1 ? "Usual speed" : "Slow down", () => act(factor > 1 ? `slow.${id}.1` : `slow.${id}.${SLOW_FACTOR}`), factor > 1 ? `Every operation takes ${factor} times as long now.` : `Every operation takes ${SLOW_FACTOR} times as long: acknowledgements come late.`)}
      </ul>`;
  }

  /** @param {Event} event */
  #choose(event) {
    this.#typed = { op: null, other: null };
    this.app.store.selectReplicas([Number(/** @type {HTMLSelectElement} */ (event.target).value)]);
  }

  /** @param {Event} event */
  #choosePart(event) {
    this.#part = /** @type {HTMLSelectElement} */ (event.target).value;
    this.requestUpdate();
  }

  /**
   * @param {Event} event
   * @param {"op" | "other"} which
   */
  #type(event, which) {
    this.#typed[which] = /** @type {HTMLInputElement} */ (event.target).value;
    this.requestUpdate();
  }
}

/**
 * @param {string | null} typed
 * @returns {number | null}
 */
function opOf(typed) {
  const value = Number(typed);
  return Number.isSafeInteger(value) && value > 0 ? value : null;
}

/**
 * @param {string} label
 * @param {() => void} work
 * @param {string} text
 * @param {boolean} isOff
 */
function row(label, work, text, isOff = false) {
  return html`<li>
    <button ?disabled=${isOff} @click=${work}>${label}</button>
    <p>${text}</p>
  </li>`;
}

/**
 * @param {Replica} replica
 * @returns {string} how its disk is, in a few words
 */
export function stateOf(replica) {
  const { lies = false, tears = false, slow_factor: factor = 1 } = replica.disk ?? {};
  const damaged = replica.log.filter((entry) => entry.damaged === true).length;
  const words = [
    lies ? "lies" : "honest",
    factor > 1 ? `${factor} times as slow` : "",
    tears ? "tears at its next crash" : "",
    damaged > 0 ? `${damaged} damaged ${damaged === 1 ? "op" : "ops"}` : "undamaged",
  ];
  return words.filter((word) => word !== "").join(", ");
}

customElements.define("vsr-disk-verbs", DiskVerbs);
