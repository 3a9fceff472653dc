/**
 * A replica's clock: how far it is off, and by how much it is to be. Shown where the engine has clocks. Must never know
 * who reads them.
 */

import { css, html, nothing } from "lit";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").Replica} Replica */

const OFFSET_MS_MAX = 3_600_000;

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
      <form class="row" @submit=${(/** @type {SubmitEvent} */ event) => this.#submit(event, id)}>
        <input name="offset" type="number" min=${-OFFSET_MS_MAX} max=${OFFSET_MS_MAX} step="1" .defaultValue="500" aria-label="Offset of replica ${id}, ms; negative is behind" />
        <span class="soft">ms ahead</span>
        <button>Set its clock</button>
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
    const value = Math.round(Number(/** @type {HTMLInputElement} */ (form.elements.namedItem("offset")).value));
    void this.app.run.act(skewAct(id, value));
  }
}

/**
 * @param {number} replica
 * @param {number} ms
 * @returns {string} `skew.2.500`, `skew.2.m500`
 */
export function skewAct(replica, ms) {
  return `skew.${replica}.${ms < 0 ? "m" : ""}${Math.abs(ms)}`;
}

/**
 * @param {Replica} replica
 * @returns {string}
 */
export function clockText({ clock }) {
  if (!clock) return "";
  const ms = clock.offset_micros / 1000;
  const offset = ms === 0 ? "right" : `${Math.abs(ms)} ms ${ms > 0 ? "ahead" : "behind"}`;
  return clock.drift_ppm === 0 ? offset : `${offset}, drifts by ${clock.drift_ppm} millionths`;
}

customElements.define("vsr-clock-verbs", ClockVerbs);
