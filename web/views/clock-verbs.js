/**
 * A replica's clock: how far it is off, and by how much it is to be. Shown where the engine has clocks. Must never know
 * who reads them.
 */

import { css, html, nothing } from "lit";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").Replica} Replica */

/** A day, and a tenth, as the engine has them. */
const OFFSET_MS_MAX = 86_400_000;
const DRIFT_PPM_MAX = 100_000;

/** The clock of the selected replica, or of the first. */
export class ClockVerbs extends View {
  /** @override */
  static styles = [
    shared,
    css`
      section {
        margin-bottom: 18px;
      }
      input[type="number"] {
        width: 96px;
      }
      .now {
        color: var(--soft);
        margin-bottom: 6px;
      }
      .field {
        display: grid;
        grid-template-columns: 64px 96px minmax(0, 1fr);
        gap: 8px;
        align-items: center;
        margin-bottom: 6px;
      }
      .field label {
        color: var(--soft);
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched({ frame, selection }) {
    return [selection, frame?.replicas.map(({ clock }) => (clock ? `${clock.offset_micros} ${clock.drift_ppm}` : "")).join()];
  }

  /** @override */
  render() {
    const { frame, selection } = this.state;
    const id = selection.kind === "replicas" ? (selection.ids[0] ?? 0) : 0;
    const replica = frame?.replicas[id];
    if (!replica?.clock) return nothing;
    return html`<section aria-label="Clock">
      <h2>Clock</h2>
      <p class="now num">Replica ${id}: ${clockText(replica)}</p>
      <form @submit=${(/** @type {SubmitEvent} */ event) => this.#submit(event, id)}>
        <p class="field">
          <label for="offset">ahead by</label>
          <input id="offset" type="number" min=${-OFFSET_MS_MAX} max=${OFFSET_MS_MAX} step="1" value="500" aria-describedby="offset-hint" />
          <span class="soft" id="offset-hint">ms; less than 0 is behind</span>
        </p>
        <p class="field">
          <label for="drift">gains</label>
          <input id="drift" type="number" min=${-DRIFT_PPM_MAX} max=${DRIFT_PPM_MAX} step="1" value="0" aria-describedby="drift-hint" />
          <span class="soft" id="drift-hint">millionths; less than 0 loses</span>
        </p>
        <p class="row"><button>Set the clock of ${id}</button></p>
      </form>
    </section>`;
  }

  /**
   * @param {SubmitEvent} event
   * @param {number} id
   */
  #submit(event, id) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const number = (/** @type {string} */ name) => Math.round(Number(/** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value));
    void this.app.run.act(skewAct(id, number("offset"), number("drift")));
  }
}

/**
 * @param {number} replica
 * @param {number} ms
 * @param {number} ppm
 * @returns {string} `skew.2.500`, `skew.2.m500.d20`
 */
function skewAct(replica, ms, ppm) {
  const signed = (/** @type {number} */ value) => `${value < 0 ? "m" : ""}${Math.abs(value)}`;
  return `skew.${replica}.${signed(ms)}${ppm === 0 ? "" : `.d${signed(ppm)}`}`;
}

/**
 * @param {Replica} replica
 * @returns {string}
 */
export function clockText({ clock }) {
  if (!clock) return "";
  const ms = clock.offset_micros / 1000;
  const offset = ms === 0 ? "right" : `${Math.abs(ms)} ms ${ms > 0 ? "ahead" : "behind"}`;
  const drift = clock.drift_ppm;
  return drift === 0 ? offset : `${offset}, ${drift > 0 ? "gains" : "loses"} ${Math.abs(drift)} millionths`;
}

customElements.define("vsr-clock-verbs", ClockVerbs);
