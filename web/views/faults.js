/**
 * Faults that strike by dice: the profile, each rate as a slider with its number, load, crash and restart, settle; and
 * what follows from them in a sentence. Each change is an act. Must never know how a fault is made.
 */

import { css, html, nothing } from "lit";
import { durationText, percentText } from "../format.js";
import { shared, View } from "./view.js";

/**
 * @typedef {object} Rate
 * @property {string} key in the frame
 * @property {string} set the name that `set` takes
 * @property {string} label
 * @property {"percent" | "ticks" | "count"} unit
 * @property {number} max
 */

/** @type {{ title: string, rates: Rate[] }[]} */
const GROUPS = [
  {
    title: "Packets",
    rates: [
      { key: "loss_per_million", set: "loss", label: "lost", unit: "percent", max: 500_000 },
      { key: "replay_per_million", set: "replay", label: "sent twice", unit: "percent", max: 500_000 },
      { key: "delay_min_ticks", set: "delay-min", label: "shortest delay", unit: "ticks", max: 50 },
      { key: "delay_mean_ticks", set: "delay-mean", label: "mean delay", unit: "ticks", max: 100 },
      { key: "link_capacity", set: "capacity", label: "packets a link holds", unit: "count", max: 128 },
    ],
  },
  {
    title: "Partitions",
    rates: [
      { key: "partition_per_million", set: "partition", label: "begin, a tick", unit: "percent", max: 50_000 },
      { key: "unpartition_per_million", set: "unpartition", label: "end, a tick", unit: "percent", max: 200_000 },
    ],
  },
  {
    title: "Clogs",
    rates: [
      { key: "clog_per_million", set: "clog", label: "begin, a tick", unit: "percent", max: 50_000 },
      { key: "clog_mean_ticks", set: "clog-mean", label: "mean length", unit: "ticks", max: 1000 },
    ],
  },
  {
    title: "Replicas",
    rates: [
      { key: "crash_per_million", set: "crash", label: "crash, a tick", unit: "percent", max: 50_000 },
      { key: "restart_per_million", set: "restart", label: "restart, a tick", unit: "percent", max: 200_000 },
    ],
  },
];

const PROFILES = ["none", "light", "heavy"];

/** Sliders over the dice. */
export class Faults extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        padding: 16px 18px 24px;
      }
      section {
        margin-bottom: 18px;
      }
      .rate {
        display: grid;
        grid-template-columns: 128px minmax(0, 1fr) 66px;
        gap: 10px;
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
      .choice {
        display: inline-flex;
        border: 1px solid var(--edge);
        border-radius: 8px;
        overflow: hidden;
        margin-bottom: 12px;
      }
      .choice button {
        border: 0;
        border-radius: 0;
        min-width: 70px;
      }
      .choice button[aria-pressed="true"] {
        background: var(--ink);
        color: var(--on);
      }
      .follows {
        border-left: 3px solid var(--rule);
        padding: 2px 0 2px 12px;
        color: var(--soft);
        margin: 0 0 8px;
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame?.faults && JSON.stringify(state.frame.faults), state.frame?.workload.load_per_million, state.frame === null];
  }

  /** @override */
  render() {
    const { frame } = this.state;
    if (!frame) return nothing;
    const { run } = this.app;
    return html`<section>
        <h2>Fault profile</h2>
        <div class="choice" role="group" aria-label="Fault profile">
          ${PROFILES.map(
            (name) =>
              html`<button aria-pressed=${frame.faults.profile === name} @click=${() => run.act(`profile.${name}`)}>${name}</button>`,
          )}
        </div>
        ${followsFrom(frame).map((text) => html`<p class="follows">${text}</p>`)}
      </section>
      ${GROUPS.map(
        (group) => html`<section>
          <h3>${group.title}</h3>
          ${group.rates.map((rate) => this.#rate(rate, Number(frame.faults[rate.key] ?? 0)))}
          ${group.title === "Replicas" ? this.#crashPrimary(frame.faults.crash_primary === true) : nothing}
        </section>`,
      )}
      <section>
        <h3>Requests</h3>
        ${this.#rate({ key: "load_per_million", set: "", label: "a client asks, a tick", unit: "percent", max: 300_000 }, frame.workload.load_per_million)}
      </section>
      <section>
        <h3>Settle</h3>
        <p class="soft">Faults stop, a part of the cluster heals, and it must come to agree within a bounded time.</p>
        <p class="row"><button @click=${() => run.act("settle")}>Settle</button></p>
      </section>`;
  }

  /** @param {boolean} isOn */
  #crashPrimary(isOn) {
    const change = (/** @type {Event} */ event) => {
      const { checked } = /** @type {HTMLInputElement} */ (event.target);
      void this.app.run.act(`set.crash-primary.${checked ? "yes" : "no"}`);
    };
    return html`<label class="check"><input type="checkbox" .checked=${isOn} @change=${change} /><span>crash the primary too</span></label>`;
  }

  /**
   * @param {Rate} rate
   * @param {number} value
   */
  #rate(rate, value) {
    const words = rate.unit === "percent" ? percentText(value) : rate.unit === "ticks" ? durationText(value) : String(value);
    const position = rate.unit === "percent" ? Math.round(1000 * Math.sqrt(value / rate.max)) : value;
    const max = rate.unit === "percent" ? 1000 : rate.max;
    const id = `rate-${rate.key}`;
    return html`<div class="rate num">
      <label for=${id}>${rate.label}</label>
      <input id=${id} type="range" min="0" max=${max} .value=${String(position)} aria-valuetext=${words} @input=${this.#preview(rate)} @change=${this.#set(rate)} />
      <output for=${id}>${words}</output>
    </div>`;
  }

  /** @param {Rate} rate */
  #preview(rate) {
    return (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      const value = valueOf(rate, Number(input.value));
      const output = input.nextElementSibling;
      if (output) output.textContent = rate.unit === "percent" ? percentText(value) : rate.unit === "ticks" ? durationText(value) : String(value);
    };
  }

  /** @param {Rate} rate */
  #set(rate) {
    return (/** @type {Event} */ event) => {
      const value = valueOf(rate, Number(/** @type {HTMLInputElement} */ (event.target).value));
      void this.app.run.act(rate.set === "" ? `load.${value}` : `set.${rate.set}.${value}`);
    };
  }
}

/**
 * Small rates matter most, so a slider's travel is the root of its rate.
 * @param {Rate} rate
 * @param {number} position
 * @returns {number}
 */
function valueOf(rate, position) {
  if (rate.unit !== "percent") return position;
  const value = rate.max * (position / 1000) ** 2;
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.round(value / digits) * digits;
}

/**
 * @param {import("../types.js").Frame} frame
 * @returns {string[]} what the settings mean, where it is not plain
 */
function followsFrom(frame) {
  const { faults, knobs, quorums } = frame;
  const sentences = [];
  const wait = knobs.heartbeat_wait_ticks ?? 500;
  const beat = knobs.heartbeat_ticks ?? 50;
  const mean = Number(faults.delay_mean_ticks ?? 0);
  const loss = Number(faults.loss_per_million ?? 0) / 1_000_000;
  if (mean * 3 + beat > wait) sentences.push("Packets can take longer than the heartbeat wait: expect view changes.");
  const missed = loss ** Math.floor(wait / beat);
  if (missed > 0.001) sentences.push("So many packets are lost that backups will sometimes miss a living primary.");
  if (Number(faults.partition_per_million ?? 0) > 0 && Number(faults.unpartition_per_million ?? 0) === 0) {
    sentences.push("Partitions begin but never end.");
  }
  if (Number(faults.crash_per_million ?? 0) > 0 && Number(faults.restart_per_million ?? 0) === 0) {
    sentences.push(`Replicas crash and stay down, until ${quorums.view_change} are left.`);
  }
  return sentences;
}

customElements.define("vsr-faults", Faults);
