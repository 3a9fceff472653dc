/**
 * One link, both directions: what lies on each, and forms for cut, clog, delay, filter and hold. Each form appends an
 * act. Must never judge whether an act is possible.
 */

import { css, html, nothing } from "lit";
import { linkOf, linkWords } from "../links.js";
import { REPLICA_KINDS } from "../words.js";
import "./term.js";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").Link} Link */

const CLIENT_KINDS = { up: ["Request"], down: ["Reply", "Eviction"] };

/** Both directions of a link. */
export class LinkPanel extends View {
  /** @override */
  static properties = { ...View.properties, a: { type: String }, b: { type: String } };

  /** @override */
  static styles = [
    shared,
    css`
      section {
        border-top: 1px solid var(--rule);
        padding: 12px 0 14px;
      }
      h3 {
        margin: 0 0 6px;
      }
      .row {
        margin: 6px 0;
      }
      fieldset {
        border: 0;
        padding: 0;
        margin: 8px 0 0;
      }
      legend {
        padding: 0;
        margin-bottom: 4px;
        color: var(--soft);
      }
      .kinds {
        display: grid;
        grid-template-columns: 1fr 1fr;
        gap: 0 10px;
      }
      input[type="number"] {
        width: 76px;
      }
      p.state {
        color: var(--soft);
        margin-bottom: 6px;
      }
    `,
  ];

  constructor() {
    super();
    this.a = "";
    this.b = "";
  }

  /** @override */
  get restMs() {
    return 120;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame];
  }

  /** @override */
  render() {
    const { frame } = this.state;
    if (!frame) return nothing;
    const { a, b } = this;
    const isClient = a.startsWith("c");
    const ends = isClient ? `client ${a.slice(1)} and replica ${b}` : `replicas ${a} and ${b}`;
    const isCut = linkOf(frame, a, b)?.cut || linkOf(frame, b, a)?.cut;
    return html`<h2>Link between ${ends}</h2>
      ${
        isClient
          ? nothing
          : html`<div class="row">
              <button @click=${() => this.app.run.act(`cut.${a}-${b}`)}>Cut both ways</button>
              ${isCut ? html`<button @click=${() => this.app.run.act(`join.${a}-${b}`)}>Join both ways</button>` : nothing}
            </div>`
      }
      ${this.#direction(a, b)} ${this.#direction(b, a)}`;
  }

  /**
   * @param {string} from
   * @param {string} to
   */
  #direction(from, to) {
    const { frame } = this.state;
    const link = frame ? linkOf(frame, from, to) : undefined;
    if (!link) return nothing;
    const name = `${from}to${to}`;
    const way = `${from} to ${to}`;
    const isReplica = !from.startsWith("c") && !to.startsWith("c");
    const kinds = isReplica ? REPLICA_KINDS : from.startsWith("c") ? CLIENT_KINDS.up : CLIENT_KINDS.down;
    const words = linkWords(link).replace(`${from} to ${to} `, "");
    const { run } = this.app;
    return html`<section aria-label="From ${from} to ${to}">
      <h3>${from} → ${to}</h3>
      <p class="state num">${words === "" ? "open" : words}; ${link.in_flight} under way</p>
      <div class="row">
        ${
          isReplica
            ? link.cut
              ? html`<button @click=${() => run.act(`join.${from}-${to}`)}>Join ${way}</button>`
              : html`<button @click=${() => run.act(`mute.${from}-${to}`)}>Cut ${way}</button>`
            : nothing
        }
        <button @click=${() => run.act(`release.${name}`)} ?disabled=${link.held_kinds.length === 0}>Release held</button>
        <button @click=${() => run.act(`clog.${name}.1`)} ?disabled=${!link.clogged}>Unclog</button>
      </div>
      ${this.#number(`Clog ${way}`, "clog", `ticks; 0 is until healed`, 200, (ticks) => run.act(`clog.${name}.${ticks}`))}
      ${this.#number(`Delay ${way}`, "delay", `ticks more; 0 is none`, 20, (ticks) => run.act(`delay.${name}.${ticks}`))}
      <fieldset>
        <legend><vsr-term word="filter">Filter</vsr-term> ${way}: loses what is ticked</legend>
        <div class="kinds">
          ${kinds.map(
            (kind) =>
              html`<label class="check small"
                ><input type="checkbox" .checked=${link.filtered.includes(kind)} @change=${(/** @type {Event} */ event) => this.#filter(link, kind, event)} />${kind}</label
              >`,
          )}
        </div>
      </fieldset>
      <div class="row">
        <label class="small soft" for="hold-${name}"><vsr-term word="hold">Hold</vsr-term> ${way}</label>
        <select id="hold-${name}" @change=${(/** @type {Event} */ event) => this.#hold(name, event)}>
          <option value="">a type…</option>
          ${kinds.map((kind) => html`<option value=${kind}>${kind}</option>`)}
        </select>
      </div>
    </section>`;
  }

  /**
   * @param {string} label
   * @param {string} id
   * @param {string} unit
   * @param {number} value
   * @param {(ticks: number) => void} work
   */
  #number(label, id, unit, value, work) {
    return html`<form
      class="row"
      @submit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const form = /** @type {HTMLFormElement} */ (event.currentTarget);
        const field = /** @type {HTMLInputElement} */ (form.elements.namedItem(id));
        work(Number(field.value));
      }}
    >
      <button>${label}</button>
      <input name=${id} type="number" min="0" max="1000000" .defaultValue=${String(value)} aria-label="${label}, ${unit}" />
      <span class="small soft">${unit}</span>
    </form>`;
  }

  /**
   * @param {Link} link
   * @param {string} kind
   * @param {Event} event
   */
  #filter(link, kind, event) {
    const isOn = /** @type {HTMLInputElement} */ (event.target).checked;
    const kinds = isOn ? [...link.filtered, kind] : link.filtered.filter((other) => other !== kind);
    void this.app.run.act(`filter.${link.from}to${link.to}.${kinds.length === 0 ? "none" : kinds.join("-")}`);
  }

  /**
   * @param {string} name
   * @param {Event} event
   */
  #hold(name, event) {
    const select = /** @type {HTMLSelectElement} */ (event.target);
    if (select.value !== "") void this.app.run.act(`hold.${name}.${select.value}`);
    select.value = "";
  }
}

customElements.define("vsr-link-panel", LinkPanel);
