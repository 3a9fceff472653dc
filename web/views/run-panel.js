/**
 * The run: seed, sizes, load, fault profile and rates to start with, reset, undo, branches, opening another run. Each
 * change starts again as a new branch. Must never check a value: the engine says what was wrong.
 */

import { css, html, nothing } from "lit";
import { countText, durationText } from "../format.js";
import { pairsOf, positionText, valueOf } from "../link.js";
import { branchOf } from "../state.js";
import { PLANES } from "../words.js";
import "./term.js";
import { shared, View } from "./view.js";

/** The largest seed has 64 bits; dice of 32 read better and are as many as anybody throws. */
const DICE = 2 ** 32;
const PROFILES = ["none", "light", "heavy", "swarm"];
const FILE_BYTES_MAX = 16 * 1024;

/** Fields that start a run. */
export class RunPanel extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        padding: 16px 18px 24px;
      }
      section {
        margin-bottom: 20px;
      }
      .field {
        display: grid;
        grid-template-columns: 128px minmax(0, 1fr);
        gap: 8px;
        align-items: center;
        margin-bottom: 7px;
      }
      .field > label {
        color: var(--soft);
      }
      .seed {
        display: flex;
        gap: 6px;
      }
      .seed input {
        flex: 1;
      }
      input[type="number"] {
        width: 84px;
      }
      .bad {
        color: var(--bad);
        margin: 0 0 10px;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li button {
        width: 100%;
        text-align: left;
        border: 0;
        background: none;
        padding: 3px 8px;
        margin: 0 -8px;
        white-space: normal;
        display: flex;
        gap: 10px;
      }
      li button:hover {
        background: var(--wash);
      }
      li [aria-current="true"] {
        font-weight: 600;
      }
      .drawn {
        margin: -2px 0 10px;
      }
      .grow {
        flex: 1;
      }
      ol {
        margin: 8px 0 0;
        padding: 0;
        list-style: none;
        counter-reset: step;
      }
      ol li {
        display: grid;
        grid-template-columns: 22px minmax(0, 1fr);
        gap: 8px;
        padding: 3px 0;
        color: var(--soft);
        counter-increment: step;
      }
      ol li::before {
        content: counter(step);
        text-align: right;
        color: var(--faint);
      }
      ol .done::before {
        content: "✓";
        color: var(--ok);
      }
      ol [aria-current] {
        color: var(--ink);
        font-weight: 600;
      }
      .hash {
        word-break: break-all;
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 150;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.branches, state.branch, state.runError, state.proof, state.canUndo, state.canRedo];
  }

  /** @override */
  render() {
    const { frame, runError, branches, branch, proof, canUndo, canRedo } = this.state;
    if (!frame) return nothing;
    const { run } = this.app;
    const link = branchOf(this.state)?.cluster ?? "";
    const isSwarm = frame.faults.profile === "swarm";
    const drawn = (/** @type {unknown} */ perMillion) => (isSwarm ? String(Number(perMillion ?? 0) / 1_000_000) : "0");
    const crash = valueOf(link, "crash") ?? drawn(frame.faults.crash_per_million);
    const restart = valueOf(link, "restart") ?? drawn(frame.faults.restart_per_million);
    return html`${this.#story(frame)}
      <section aria-label="New run">
        <h2>Start another run</h2>
        ${runError === null ? nothing : html`<p class="bad" role="alert">${runError}</p>`}
        <div class="field">
          <label for="seed"><vsr-term word="seed">seed</vsr-term></label>
          <span class="seed">
            <input id="seed" aria-label="Seed" type="text" inputmode="numeric" autocomplete="off" .value=${frame.seed} @change=${this.#on("seed")} />
            <button @click=${() => run.startRun({ seed: Math.floor(Math.random() * DICE) })} aria-label="Throw the dice for a seed">Dice</button>
          </span>
        </div>
        ${this.#number("replicas", "Replicas", "1 to 9", frame.replica_count, 1, 9, 1)}
        ${this.#number("clients", "Clients", "1 to 8", frame.client_count, 1, 8, 1)}
        ${this.#groups(link, frame)}
        ${this.#number("load", "Load", "chance that an idle client asks, a tick", frame.workload.load_per_million / 1_000_000, 0, 1, 0.001)}
        <div class="field">
          <label for="faults">faults</label>
          <select id="faults" aria-label="Fault profile to start with" @change=${(/** @type {Event} */ event) => this.#profile(event, link)}>
            ${PROFILES.map((name) => html`<option value=${name} ?selected=${(valueOf(link, "faults") ?? "none") === name}>${name}</option>`)}
          </select>
        </div>
        ${isSwarm ? html`<p class="small soft drawn">Swarm draws every value from the seed. <button class="link" @click=${() => this.app.store.showTab("faults")}>All of them</button></p>` : nothing}
        ${this.#number("slots", "Journal slots", "16 or more, a power of two is usual", frame.knobs.journal_slots ?? 0, 16, 1_048_576, 1)}
        ${this.#number("crash", "Crash rate", "0 to 1, a tick", crash, 0, 1, 0.001)}
        ${this.#number("restart", "Restart rate", "0 to 1, a tick", restart, 0, 1, 0.001)}
        <div class="row">
          <button @click=${() => run.startRun({})}>Reset</button>
          <button ?disabled=${!canUndo} @click=${() => run.undo()}>Undo</button>
          <button ?disabled=${!canRedo} @click=${() => run.redo()}>Redo</button>
        </div>
      </section>
      <section>
        <h2>This run</h2>
        <dl class="num">
          <dt>replies</dt>
          <dd>${countText(frame.totals.replies ?? 0)}</dd>
          <dt>commits</dt>
          <dd>${countText(frame.totals.commits ?? 0)}</dd>
          <dt>view changes</dt>
          <dd>${countText(frame.totals.view_changes ?? 0)}</dd>
          <dt>messages delivered, lost</dt>
          <dd>${countText(frame.totals.delivered ?? 0)}, ${countText(frame.totals.lost ?? 0)}</dd>
          <dt>virtual time</dt>
          <dd>${durationText(frame.tick)}</dd>
          <dt><vsr-term word="hash">hash</vsr-term></dt>
          <dd class="mono hash" data-hash=${frame.hash}>${frame.hash}</dd>
        </dl>
        ${
          proof === null
            ? nothing
            : html`<p class="soft">${proof.is === "verified" ? `Verified: this build gives the link’s hash at tick ${proof.at}.` : `Differs: this build gives another hash at tick ${proof.at}.`}</p>`
        }
      </section>
      <section>
        <h2>Branches</h2>
        <ul>
          ${branches.map(
            (other) => html`<li>
              <button aria-current=${other.id === branch} @click=${() => run.switchBranch(other.id)}>
                <span class="grow">${other.name}</span>
                <span class="soft num">${other.parent === null ? "" : `from ${positionText(other.fork)} `}to ${positionText(other.live)}</span>
              </button>
            </li>`,
          )}
        </ul>
      </section>
      <section>
        <h2>Open a run</h2>
        <form class="row" @submit=${this.#paste}>
          <input name="link" type="text" aria-label="Link of a run" placeholder="paste a link" autocomplete="off" />
          <button>Open</button>
          <label class="small soft">or a file <input type="file" accept=".txt,.vsr,text/plain" aria-label="File of a run" @change=${this.#file} /></label>
        </form>
      </section>`;
  }

  /** @param {import("../types.js").Frame} frame */
  #story(frame) {
    const { story } = this.state;
    if (!story || story.steps.length === 0) return nothing;
    const { done } = frame.story;
    return html`<section aria-label="Story">
      <h2>${story.title ?? "A story"}</h2>
      ${story.source === null ? nothing : html`<p class="soft small">After ${story.source}.</p>`}
      <ol class="num">
        ${story.steps.map(
          (step, index) => html`<li class=${index < done ? "done" : ""} aria-current=${index === done ? "step" : nothing}><span>${step}${index < done ? html`<span class="unseen">, done</span>` : nothing}</span></li>`,
        )}
      </ol>
    </section>`;
  }

  /**
   * Groups and shards, where the engine has more than one of each.
   * @param {string} link
   * @param {import("../types.js").Frame} frame
   */
  #groups(link, frame) {
    const { takes } = this.state;
    const groups = frame.groups ?? [];
    const partitions = groups.filter(({ plane }) => plane === "partition").length;
    const shards = 1 + Math.max(0, ...groups.map(({ shard }) => shard));
    const plane = valueOf(link, "plane") ?? frame.workload.plane ?? "partition";
    return html`${takes.has("partitions") ? this.#number("partitions", "Partitions", "1 to 8", valueOf(link, "partitions") ?? partitions, 1, 8, 1) : nothing}
      ${takes.has("shards") ? this.#number("shards", "Shards", "1 to 4, of each replica", valueOf(link, "shards") ?? shards, 1, 4, 1) : nothing}
      ${
        takes.has("plane")
          ? html`<div class="field">
              <label for="plane">clients ask for</label>
              <select id="plane" aria-label="What clients ask for" @change=${this.#on("plane")}>
                ${Object.entries(PLANES).map(([name, text]) => html`<option value=${name} ?selected=${plane === name}>${text}</option>`)}
              </select>
            </div>`
          : nothing
      }
      ${takes.has("retention") ? this.#number("retention", "Kept messages", "by each partition", frame.workload.retention ?? 128, 1, 65_536, 1) : nothing}`;
  }

  /**
   * Swarm draws what is not given: values of the run before would stand in its way.
   * @param {Event} event
   * @param {string} link
   */
  #profile(event, link) {
    const faults = /** @type {HTMLSelectElement} */ (event.target).value;
    const given = faults === "swarm" ? pairsOf(link).filter(([key]) => key !== "v" && key !== "seed") : [];
    void this.app.run.startRun({ ...Object.fromEntries(given.map(([key]) => [key, null])), faults });
  }

  /**
   * @param {string} key
   * @param {string} name
   * @param {string} unit
   * @param {number | string} value
   * @param {number} min
   * @param {number} max
   * @param {number} step
   */
  #number(key, name, unit, value, min, max, step) {
    return html`<div class="field">
      <label for=${key}>${name.toLowerCase()}</label>
      <span><input id=${key} aria-label="${name}, ${unit}" type="number" min=${min} max=${max} step=${step} .value=${String(value)} @change=${this.#on(key)} /></span>
    </div>`;
  }

  /** @param {string} key */
  #on(key) {
    return (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLInputElement} */ (event.target);
      void this.app.run.startRun({ [key]: value.trim() });
    };
  }

  /** @param {SubmitEvent} event */
  #paste(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("link"));
    const text = field.value.trim();
    if (text !== "") this.#open(text);
  }

  /** @param {Event} event */
  async #file(event) {
    const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];
    if (!file) return;
    // The engine refuses what is longer before it reads it; so does the page, before it loads a film.
    const text = await file.slice(0, FILE_BYTES_MAX + 1).text();
    this.#open(text.trim());
  }

  /** @param {string} text an address or a fragment alone */
  #open(text) {
    const mark = text.indexOf("#");
    void this.app.run.open(mark < 0 ? text : text.slice(mark + 1), { isCalm: true });
  }
}

customElements.define("vsr-run-panel", RunPanel);
