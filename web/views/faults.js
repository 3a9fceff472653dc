/**
 * Faults: the profile and what follows from the settings in sentences, verbs of one replica's disk and clock, and what
 * strikes by dice, each rate as a slider with its number. Each change is an act. Must never know how a fault is made.
 */

import { css, html, nothing } from "lit";
import { followsFromFaults } from "../follows.js";
import "./clock-verbs.js";
import "./disk-verbs.js";
import { drawnList } from "./drawn.js";
import { PLANES } from "../words.js";
import { rateRow, rateStyles } from "./rates.js";
import { shared, View } from "./view.js";

/** @typedef {import("./rates.js").Rate} Rate */

/** @type {{ title: string, text?: string, rates: Rate[] }[]} */
const GROUPS = [
  {
    title: "Packets",
    rates: [
      { key: "loss_per_million", set: "loss", label: "lost", unit: "percent", max: 500_000 },
      { key: "replay_per_million", set: "replay", label: "sent twice", unit: "percent", max: 500_000 },
      { key: "delay_min_ticks", set: "delay-min", label: "shortest delay", unit: "ticks", min: 1, max: 50 },
      { key: "delay_mean_ticks", set: "delay-mean", label: "mean delay", unit: "ticks", min: 1, max: 100 },
      { key: "link_capacity", set: "capacity", label: "packets a link holds", unit: "count", min: 1, max: 128 },
    ],
  },
  {
    title: "Partitions",
    rates: [
      { key: "partition_per_million", set: "partition", label: "begin, a tick", unit: "percent", max: 50_000 },
      { key: "unpartition_per_million", set: "unpartition", label: "end, a tick", unit: "percent", max: 200_000 },
      { key: "partition_stability_ticks", set: "partition-stability", label: "last at least", unit: "ticks", max: 500 },
      { key: "unpartition_stability_ticks", set: "unpartition-stability", label: "pause at least", unit: "ticks", max: 500 },
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
  {
    title: "Disks",
    rates: [
      { key: "tear_per_million", set: "tear", label: "tear in a crash", unit: "percent", max: 1_000_000 },
      { key: "rot_per_million", set: "rot", label: "rot, a write", unit: "percent", max: 200_000 },
      { key: "misdirect_per_million", set: "misdirect", label: "go astray, a write", unit: "percent", max: 200_000 },
      { key: "lie_per_million", set: "lie", label: "begin to lie, a tick", unit: "percent", max: 20_000 },
      { key: "slow_per_million", set: "slow", label: "turn slow, a tick", unit: "percent", max: 20_000 },
    ],
  },
];

/** @type {Rate} */
const LOAD = { key: "load_per_million", set: "", label: "a client asks, a tick", unit: "percent", max: 300_000 };

/** @type {Rate} */
const RATIO = { key: "ack_quorum_ratio_per_million", set: "ack-quorum-ratio", label: "new topics on disk", unit: "percent", max: 1_000_000 };

/** Settings that are words, under the sliders of their group. */
const CHOICES = [
  {
    title: "Partitions",
    set: "partition-mode",
    key: "partition_mode",
    label: "who is parted",
    options: { none: "nobody", "uniform-size": "a part of any size", "uniform-partition": "each by a coin", "isolate-single": "one alone" },
  },
  {
    title: "Partitions",
    set: "partition-symmetry",
    key: "partition_symmetry",
    label: "which way",
    options: { symmetric: "both ways", asymmetric: "one way" },
  },
];

/** Switches, under the sliders of their group. */
const SWITCHES = [
  { title: "Replicas", set: "crash-primary", key: "crash_primary", text: "crash the primary too" },
  {
    title: "Disks",
    set: "atlas",
    key: "atlas",
    text: "fault atlas: dice damage only what the others can repair, and lie never",
  },
];

const PROFILES = ["none", "light", "heavy", "swarm"];

/** Sliders over the dice. */
export class Faults extends View {
  /** @override */
  static styles = [
    shared,
    rateStyles,
    css`
      :host {
        padding: 16px 18px 24px;
      }
      section {
        margin-bottom: 18px;
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
      .choice button:focus-visible {
        outline-offset: -3px;
      }
      .word {
        display: grid;
        grid-template-columns: 128px minmax(0, 1fr);
        gap: 10px;
        align-items: center;
        min-height: 34px;
      }
      .word label {
        color: var(--soft);
      }
      label.check {
        padding: 4px 0;
      }
      summary {
        cursor: pointer;
        min-height: 26px;
        font-weight: 600;
      }
      .drawn h3 {
        margin: 12px 0 4px;
      }
      .drawn dl {
        font-size: 14px;
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched({ frame }) {
    return [frame && JSON.stringify([frame.faults, frame.knobs, frame.workload])];
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
        ${followsFromFaults(frame).map((text) => html`<p class="follows">${text}</p>`)}
        ${frame.faults.profile === "swarm" ? drawnList(frame) : nothing}
      </section>
      <section aria-label="Disk" id="disk">
        <h2>Disk</h2>
        <vsr-disk-verbs .app=${this.app}></vsr-disk-verbs>
      </section>
      <vsr-clock-verbs .app=${this.app}></vsr-clock-verbs>
      <h2>By dice</h2>
      ${GROUPS.map((group) => this.#group(group))}
      <section aria-label="Requests, by dice">
        <h3>Requests</h3>
        ${rateRow(LOAD, frame.workload.load_per_million, (value) => run.act(`load.${value}`))}
        ${this.#plane(frame)}
      </section>
      <section>
        <h3>Settle</h3>
        <p class="soft">Faults stop, a part of the cluster heals, and it must come to agree within a bounded time.</p>
        <p class="row"><button @click=${() => run.act("settle")}>Settle</button></p>
      </section>`;
  }

  /**
   * What clients ask for, where there is more than one thing.
   * @param {import("../types.js").Frame} frame
   */
  #plane({ workload }) {
    const { plane, ack_quorum_ratio_per_million: ratio } = workload;
    const { run } = this.app;
    if (plane === undefined) return nothing;
    return html`<div class="word">
        <label for="plane">they ask for</label>
        <select id="plane" @change=${(/** @type {Event} */ event) => run.act(`set.plane.${/** @type {HTMLSelectElement} */ (event.target).value}`)}>
          ${Object.entries(PLANES).map(([value, text]) => html`<option value=${value} ?selected=${plane === value}>${text}</option>`)}
        </select>
      </div>
      ${ratio === undefined ? nothing : rateRow(RATIO, ratio, (value) => run.act(`set.ack-quorum-ratio.${value}`))}`;
  }

  /** @param {{ title: string, text?: string, rates: Rate[] }} group */
  #group({ title, rates }) {
    const { frame } = this.state;
    if (!frame) return nothing;
    const { run } = this.app;
    const isKnown = (/** @type {{ key: string }} */ { key }) => frame.faults[key] !== undefined;
    return html`<section aria-label="${title}, by dice">
      <h3>${title}</h3>
      ${rates.filter(isKnown).map((rate) => rateRow(rate, Number(frame.faults[rate.key]), (value) => run.act(`set.${rate.set}.${value}`)))}
      ${CHOICES.filter((choice) => choice.title === title && isKnown(choice)).map(
        ({ set, key, label, options }) => html`<div class="word">
          <label for=${set}>${label}</label>
          <select id=${set} @change=${(/** @type {Event} */ event) => run.act(`set.${set}.${/** @type {HTMLSelectElement} */ (event.target).value}`)}>
            ${Object.entries(options).map(([value, text]) => html`<option value=${value} ?selected=${frame.faults[key] === value}>${text}</option>`)}
          </select>
        </div>`,
      )}
      ${SWITCHES.filter((each) => each.title === title && isKnown(each)).map(
        ({ set, key, text }) => html`<label class="check"
          ><input
            type="checkbox"
            .checked=${frame.faults[key] === true}
            @change=${(/** @type {Event} */ event) => run.act(`set.${set}.${/** @type {HTMLInputElement} */ (event.target).checked ? "yes" : "no"}`)}
          /><span>${text}</span></label
        >`,
      )}
    </section>`;
  }
}

customElements.define("vsr-faults", Faults);
