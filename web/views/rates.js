/**
 * A setting as a slider with its name and its number, for every panel that has some. Must never know what a setting
 * does.
 */

import { css, html } from "lit";
import { live } from "lit/directives/live.js";
import { durationText, percentText } from "../format.js";

/**
 * @typedef {object} Rate
 * @property {string} key in the frame
 * @property {string} set the name that `set` takes
 * @property {string} label
 * @property {"percent" | "ticks" | "count"} unit
 * @property {number} [min]
 * @property {number} max
 * @property {string} [hint] one sentence on what it is for
 */

/** Positions of a slider over a rate. */
const TRAVEL = 1000;

/** For the shadow root of a panel with sliders. */
export const rateStyles = css`
  .rate {
    display: grid;
    grid-template-columns: 128px minmax(0, 1fr) 66px;
    gap: 0 10px;
    align-items: center;
    min-height: 30px;
  }
  .rate label {
    color: var(--soft);
  }
  .rate output {
    text-align: right;
  }
  .rate input {
    width: 100%;
  }
  .rate .hint {
    grid-column: 1 / 4;
    font-size: 13.5px;
    color: var(--soft);
    margin-bottom: 9px;
  }
  .rate:has(.hint) label {
    color: var(--ink);
  }
  .follows {
    border-left: 3px solid var(--edge);
    padding: 2px 0 2px 12px;
    color: var(--ink);
    margin: 0 0 8px;
  }
`;

/**
 * @param {Rate} rate
 * @param {number} value
 * @param {(value: number) => void} work what a new value is handed to
 */
export function rateRow(rate, value, work) {
  const words = textOf(rate, value);
  const id = `rate-${rate.key}`;
  const isPercent = rate.unit === "percent";
  const position = isPercent ? Math.round(TRAVEL * Math.sqrt(value / rate.max)) : value;
  const preview = (/** @type {Event} */ event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const output = input.nextElementSibling;
    if (output) output.textContent = textOf(rate, valueAt(rate, Number(input.value)));
  };
  const change = (/** @type {Event} */ event) => work(valueAt(rate, Number(/** @type {HTMLInputElement} */ (event.target).value)));
  return html`<div class="rate num">
    <label for=${id}>${rate.label}</label>
    <input
      id=${id}
      type="range"
      min=${isPercent ? 0 : (rate.min ?? 0)}
      max=${isPercent ? TRAVEL : rate.max}
      .value=${live(String(position))}
      aria-valuetext=${words}
      aria-describedby=${rate.hint === undefined ? "" : `hint-${rate.key}`}
      @input=${preview}
      @change=${change}
    />
    <output for=${id} .textContent=${live(words)}></output>
    ${rate.hint === undefined ? "" : html`<span class="hint" id="hint-${rate.key}">${rate.hint}</span>`}
  </div>`;
}

/**
 * @param {Rate} rate
 * @param {number} value
 * @returns {string}
 */
function textOf(rate, value) {
  if (rate.unit === "percent") return percentText(value);
  return rate.unit === "ticks" ? durationText(value) : String(value);
}

/**
 * Small rates matter most, so a slider's travel is the root of its rate.
 * @param {Rate} rate
 * @param {number} position
 * @returns {number}
 */
function valueAt(rate, position) {
  if (rate.unit !== "percent") return position;
  const value = rate.max * (position / TRAVEL) ** 2;
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.round(value / digits) * digits;
}
