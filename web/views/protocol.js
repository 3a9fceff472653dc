/**
 * The protocol: its knobs, each with a sentence on what it is for, and its rules, which can be taken out several at once.
 * Each change is an act. Must never know what a knob or a mutation does.
 */

import { css, html, nothing } from "lit";
import { followsFromKnobs } from "../follows.js";
import { countText } from "../format.js";
import { rateRow, rateStyles } from "./rates.js";
import "./term.js";
import { shared, View } from "./view.js";

/** @typedef {import("./rates.js").Rate} Rate */
/** @typedef {import("../types.js").Mutation} Mutation */

/** @type {{ title: string, rates: Rate[] }[]} */
const GROUPS = [
  {
    title: "Leading",
    rates: [
      { key: "heartbeat_ticks", set: "heartbeat", label: "heartbeat", unit: "ticks", min: 1, max: 200, hint: "How often the primary says that it still leads. Often costs packets, seldom costs time to notice." },
      { key: "heartbeat_wait_ticks", set: "heartbeat-wait", label: "heartbeat wait", unit: "ticks", min: 2, max: 2000, hint: "How long a backup waits for it before it votes to leave the view." },
      { key: "abdicate_ticks", set: "abdicate", label: "abdicate", unit: "ticks", min: 1, max: 4000, hint: "How long a primary leads without a commit before it falls silent, so that another may try." },
    ],
  },
  {
    title: "Changing views",
    rates: [
      { key: "view_change_wait_ticks", set: "view-change-wait", label: "view-change wait", unit: "ticks", min: 1, max: 2000, hint: "How long a view change may take before its replicas try the view after." },
      { key: "vote_resend_ticks", set: "vote-resend", label: "vote again", unit: "ticks", min: 1, max: 500, hint: "How often a vote is sent again, for the case that it was lost." },
      { key: "vote_expiry_ticks", set: "vote-expiry", label: "votes expire", unit: "ticks", min: 1, max: 2000, hint: "After this a vote to leave no longer counts, so that old votes do not add up to a quorum." },
    ],
  },
  {
    title: "Replicating",
    rates: [
      { key: "prepare_resend_ticks", set: "prepare-resend", label: "prepare again", unit: "ticks", min: 1, max: 500, hint: "When a prepare without a quorum of acks is sent again." },
    ],
  },
  {
    title: "Recovering and repair",
    rates: [
      { key: "probe_ticks", set: "probe", label: "ask who leads", unit: "ticks", min: 1, max: 500, hint: "How often a replica that restarted asks." },
      { key: "probe_attempts_max", set: "probe-attempts", label: "asks at most", unit: "count", min: 1, max: 50, hint: "After so many questions without an answer it votes for another view itself." },
      { key: "repair_retry_ticks", set: "repair-retry", label: "ask for ops again", unit: "ticks", min: 1, max: 500, hint: "When missing ops that did not come are asked for again, of another replica." },
      { key: "repair_chunk_max", set: "repair-chunk", label: "ops at a time", unit: "count", min: 1, max: 128, hint: "How many missing ops one question may name." },
      { key: "state_chunk_bytes", set: "state-chunk", label: "state at a time", unit: "count", min: 16, max: 4096, hint: "How many bytes of a checkpoint's state one message carries to a replica that fell behind." },
    ],
  },
];

/** Sized once, when a run starts. @type {[string, string][]} */
const FIXED = [
  ["journal_slots", "journal slots"],
  ["pipeline_max", "ops waiting for a quorum at most"],
  ["sessions_max", "sessions at most"],
];

/** Knobs and rules. */
export class Protocol extends View {
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
      .lead {
        color: var(--soft);
        margin-bottom: 10px;
      }
      .keep {
        white-space: nowrap;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        display: grid;
        grid-template-columns: 24px minmax(0, 1fr) auto;
        gap: 1px 8px;
        padding: 9px 0;
        border-top: 1px solid var(--rule);
      }
      li input {
        margin-top: 3px;
      }
      li label {
        font-weight: 600;
        cursor: pointer;
      }
      .id,
      .hits {
        color: var(--faint);
        font-weight: 400;
        font-size: 14px;
      }
      li p {
        grid-column: 2 / 4;
        color: var(--soft);
        font-size: 14px;
      }
      li.on p b {
        color: var(--ink);
      }
      li p b {
        font-weight: 600;
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched({ frame }) {
    return [frame && JSON.stringify([frame.knobs, frame.mutations, frame.faults.delay_mean_ticks])];
  }

  /** @override */
  render() {
    const { frame } = this.state;
    if (!frame) return nothing;
    const { run } = this.app;
    return html`${this.#mutations(frame.mutations ?? [])}
      <h2>Knobs</h2>
      ${followsFromKnobs(frame).map((text) => html`<p class="follows">${text}</p>`)}
      ${GROUPS.map(
        ({ title, rates }) => html`<section aria-label=${title}>
          <h3>${title}</h3>
          ${rates
            .filter(({ key }) => frame.knobs[key] !== undefined)
            .map((rate) => rateRow(rate, frame.knobs[rate.key] ?? 0, (value) => run.act(`set.${rate.set}.${value}`)))}
        </section>`,
      )}
      <section aria-label="Sizes">
        <h3>Sizes</h3>
        <p class="lead">Rings and tables are sized once. The run panel starts a run with others.</p>
        <dl class="num">
          ${FIXED.filter(([key]) => frame.knobs[key] !== undefined).map(
            ([key, label]) => html`<dt>${label}</dt>
              <dd>${countText(frame.knobs[key] ?? 0)}</dd>`,
          )}
        </dl>
      </section>`;
  }

  /** @param {Mutation[]} mutations */
  #mutations(mutations) {
    if (mutations.length === 0) return nothing;
    const on = mutations.filter((mutation) => mutation.on).length;
    return html`<section aria-label="Rules">
      <h2>Rules to take out</h2>
      <p class="lead">
        Each rule is needed. Tick one to take it out, as a <span class="keep"><vsr-term word="mutation">mutation</vsr-term>,</span> and let the run go on until a check notices. Several may be out at once${on === 0 ? "" : `: ${on} ${on === 1 ? "is" : "are"} now`}.
      </p>
      <ul>
        ${mutations.map((mutation) => this.#mutation(mutation))}
      </ul>
    </section>`;
  }

  /** @param {Mutation} mutation */
  #mutation({ id, on, hits, rule, instead, oracles }) {
    const change = (/** @type {Event} */ event) => {
      const { checked } = /** @type {HTMLInputElement} */ (event.target);
      void this.app.run.act(checked ? `mutate.${id}` : `mutate.${id}.off`);
    };
    return html`<li class=${on ? "on" : ""}>
      <input type="checkbox" id=${id} .checked=${on} aria-describedby="instead-${id}" @change=${change} />
      <label for=${id}>${sentence(rule)} <span class="id">${id}</span></label>
      <span class="hits num">${hits > 0 ? `taken ${countText(hits)}×` : ""}</span>
      <p id="instead-${id}"><b>Without it:</b> ${instead}${/[.!?]$/.test(instead) ? "" : "."} ${oracles.length === 0 ? "" : `Watch ${oracles.join(", ")}.`}</p>
    </li>`;
  }
}

/** @param {string} text */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

customElements.define("vsr-protocol", Protocol);
