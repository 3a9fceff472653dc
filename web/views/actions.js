/**
 * What can be done to what is selected, as buttons with words, beside the stage. Each appends an act. Must never keep a
 * state of its own.
 */

import { css, html, nothing } from "lit";
import { inGroup, restOf, sidesAct } from "../acts.js";
import { listText } from "../format.js";
import { linkOf } from "../links.js";
import { packetText } from "../words.js";
import "./strip.js";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").Frame} Frame */

/** How long a clog and a delay set from here last; the inspector offers others. */
const CLOG_TICKS = 200;
const DELAY_TICKS = 20;

/** A row of verbs. */
export class Actions extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        pointer-events: none;
      }
      .bar {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
        align-items: center;
      }
      .bar > *,
      vsr-strip > * {
        pointer-events: auto;
        flex: none;
      }
      .what {
        font: 600 15.5px/1.2 var(--serif);
        padding: 0 6px 0 2px;
        white-space: nowrap;
      }
      .hint {
        color: var(--soft);
        padding-left: 4px;
      }
      button {
        box-shadow: 0 1px 2px #0000000d;
      }
      button.quiet {
        box-shadow: none;
      }
      @media (max-width: 1240px) {
        :host {
          pointer-events: auto;
        }
        .hint {
          font-size: 13px;
          white-space: nowrap;
        }
      }
    `,
  ];

  #isNarrow = matchMedia("(max-width: 1240px)");
  #redraw = () => this.requestUpdate();

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.#isNarrow.addEventListener("change", this.#redraw);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#isNarrow.removeEventListener("change", this.#redraw);
  }

  /** @override */
  get restMs() {
    return 100;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.selection];
  }

  /** @override */
  render() {
    const { frame } = this.state;
    if (!frame) return nothing;
    const content = this.#content(frame);
    return this.#isNarrow.matches
      ? html`<vsr-strip role="toolbar" aria-label="Actions">${content}</vsr-strip>`
      : html`<div class="bar" role="toolbar" aria-label="Actions">${content}</div>`;
  }

  /** @param {Frame} frame */
  #content(frame) {
    const { selection } = this.state;
    switch (selection.kind) {
      case "replicas":
        return this.#replicas(selection.ids, frame);
      case "link":
        return this.#link(selection.a, selection.b, frame);
      case "packet":
        return this.#packet(selection.key);
      case "client":
        return this.#client(selection.id, frame);
      default:
        return html`${this.#button("Write a request", inGroup("write.c0", frame))}${this.#heal(frame)}
          <span class="hint">Select a replica, link or packet.</span>`;
    }
  }

  /**
   * @param {number[]} ids
   * @param {Frame} frame
   */
  #replicas(ids, frame) {
    const chosen = frame.replicas.filter((replica) => ids.includes(replica.id));
    const rest = restOf(ids, frame.replica_count);
    const names = listText(ids);
    const isCut = rest.some((other) => ids.some((id) => linkOf(frame, String(id), String(other))?.cut));
    const hasRest = rest.length > 0;
    return html`<span class="what">${ids.length === 1 ? "Replica" : "Replicas"} ${names}</span>
      ${chosen.map((replica) => {
        const tail = ids.length === 1 ? "" : ` ${replica.id}`;
        const name = (/** @type {string} */ verb) => `${verb} replica ${replica.id}`;
        // One button that changes its words, so that the focus stays on it.
        const power = replica.up ? "Crash" : "Restart";
        const halt = replica.paused ? "Resume" : "Pause";
        return html`${this.#button(`${power}${tail}`, `${power.toLowerCase()}.${replica.id}`, name(power))}
        ${replica.up ? this.#button(`${halt}${tail}`, `${halt.toLowerCase()}.${replica.id}`, name(halt)) : nothing}`;
      })}
      ${
        hasRest
          ? html`${this.#button("Cut off", sidesAct("cut", ids, rest), `Cut off ${names}, both ways`)}
            ${this.#button("Mute", sidesAct("mute", ids, rest), `Cut what ${names} sends, one way`)}
            ${this.#button("Deafen", sidesAct("mute", rest, ids), `Cut what ${names} hears, one way`)}
            ${isCut ? this.#button("Join", sidesAct("join", ids, rest), `Join ${names} again`) : nothing}`
          : nothing
      }
      ${ids.length === 1 ? html`<button class="quiet" title="What can be done to its disk and clock" @click=${() => this.app.store.showTab("faults")}>Disk…</button>` : nothing}
      ${this.#heal(frame)}`;
  }

  /**
   * @param {string} a
   * @param {string} b
   * @param {Frame} frame
   */
  #link(a, b, frame) {
    const isClient = a.startsWith("c");
    const there = linkOf(frame, a, b);
    const back = linkOf(frame, b, a);
    const isCut = there?.cut || back?.cut;
    const cuts = isClient
      ? nothing
      : html`${this.#button("Cut", `cut.${a}-${b}`, `Cut link ${a}–${b}, both ways`)}
        ${this.#button(`Cut ${a} → ${b}`, `mute.${a}-${b}`, `Cut link ${a} to ${b}, one way`)}
        ${this.#button(`Cut ${b} → ${a}`, `mute.${b}-${a}`, `Cut link ${b} to ${a}, one way`)}
        ${isCut ? this.#button("Join", `join.${a}-${b}`, `Join link ${a}–${b} again`) : nothing}`;
    return html`<span class="what">Link ${a} – ${b}</span>
      ${cuts}
      ${this.#button(`Clog ${a} → ${b}`, `clog.${a}to${b}.${CLOG_TICKS}`, `Clog link ${a} to ${b}`)}
      ${this.#button(`Clog ${b} → ${a}`, `clog.${b}to${a}.${CLOG_TICKS}`, `Clog link ${b} to ${a}`)}
      ${this.#button("Delay", `delay.${a}to${b}.${DELAY_TICKS}`, `Delay link ${a} to ${b}`)}
      ${this.#more()} ${this.#heal(frame)}`;
  }

  /** @param {string} key */
  #packet(key) {
    const packet = this.state.packets.find((other) => other.key === key);
    const [link = "", number = ""] = key.split(".");
    if (!packet) return html`<span class="what">Packet ${key}</span><span class="hint">has ended its way.</span>`;
    return html`<span class="what">${packetText(packet.kind, packet.op)}, ${packet.from} → ${packet.to}</span>
      ${this.#button("Drop", `drop.${link}.${number}`, "Drop this packet")}
      ${this.#button("Duplicate", `dup.${link}.${number}`, "Duplicate this packet")}
      ${this.#button("Deliver now", `deliver.${link}.${number}`, "Deliver this packet now")}
      ${this.#more()}`;
  }

  /**
   * @param {number} id
   * @param {Frame} frame
   */
  #client(id, frame) {
    return html`<span class="what">Client ${id}</span>
      ${this.#button("Write a request", inGroup(`write.c${id}`, frame), `Write a request from client ${id}`)} ${this.#more()}`;
  }

  #more() {
    return html`<button class="quiet" @click=${() => this.app.store.showTab("inspector")}>More…</button>`;
  }

  /** @param {Frame} frame */
  #heal(frame) {
    const isHurt = frame.links.some(
      (link) =>
        link.cut ||
        link.partitioned ||
        link.clogged ||
        link.filtered.length > 0 ||
        link.held_kinds.length > 0 ||
        link.extra_delay_ticks > 0,
    );
    return html`<button ?disabled=${!isHurt} aria-label="Heal all links" @click=${() => this.app.run.act("heal")}>Heal</button>`;
  }

  /**
   * @param {string} label
   * @param {string} act
   * @param {string} name
   */
  #button(label, act, name = label) {
    return html`<button aria-label=${name} title=${name === label ? nothing : name} @click=${() => this.app.run.act(act)}>${label}</button>`;
  }
}

customElements.define("vsr-actions", Actions);
