/**
 * What is selected, whole: a replica's frontiers, timers, journal, votes and sessions; a packet's header and way; a
 * link's layers, with what can be done to each; a client. What changed since the tick before is marked. Must never know
 * more of a replica than its frame says.
 */

import { css, html, nothing } from "lit";
import { inGroup } from "../acts.js";
import { durationText, listText } from "../format.js";
import { classOf, KINDS, packetText, roleInTruth, rowText, timerText } from "../words.js";
import { clockText } from "./clock-verbs.js";
import "./disk.js";
import { stateOf } from "./disk-verbs.js";
import "./link-panel.js";
import "./roster.js";
import "./term.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../types.js").Frame} Frame */
/** @typedef {import("../types.js").Replica} Replica */

/** The rows of a replica, with the glossary's word for each. */
const FRONTIERS = /** @type {const} */ ([
  ["log_view", "log_view"],
  ["head", "head"],
  ["held", "held"],
  ["commit_min", "commit"],
  ["checkpoint", "checkpoint"],
  ["incarnation", "incarnation"],
]);

/** @type {Record<string, string>} */
const LABELS = { commit_min: "committed", head: "head", held: "held", checkpoint: "checkpoint", incarnation: "life no." };

/** The right-hand panel on what is selected. */
export class Inspector extends View {
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
      .lead {
        color: var(--soft);
        margin-bottom: 8px;
      }
      h2 {
        display: flex;
        gap: 10px;
        align-items: center;
        flex-wrap: wrap;
      }
      .tag {
        color: var(--h);
      }
      .new {
        background: var(--mark);
        border-radius: 4px;
        padding: 0 5px;
        margin-right: -5px;
      }
      .timer {
        margin: 0 0 7px;
      }
      .timer div {
        display: flex;
        justify-content: space-between;
        font-size: 14px;
        color: var(--soft);
      }
      progress {
        display: block;
        width: 100%;
        height: 6px;
        appearance: none;
        border: 0;
        border-radius: 4px;
        background: var(--rule);
        overflow: hidden;
      }
      progress::-webkit-progress-bar {
        background: var(--rule);
      }
      progress::-webkit-progress-value {
        background: var(--h);
      }
      progress::-moz-progress-bar {
        background: var(--h);
      }
      .pair {
        display: flex;
        gap: 8px;
        flex-wrap: wrap;
        margin-bottom: 14px;
      }
      .feed {
        display: grid;
        gap: 5px;
        font-size: 14px;
      }
      .feed button {
        display: grid;
        grid-template-columns: 54px 1fr;
        gap: 8px;
        white-space: normal;
        text-align: left;
        border: 0;
        padding: 2px 0;
        min-height: 24px;
        background: none;
      }
      .feed button:hover .x {
        text-decoration: underline;
        text-decoration-color: var(--edge);
      }
      .feed .num {
        color: var(--faint);
      }
    `,
  ];

  /** @type {Frame | null} */
  #last = null;
  /** @type {Frame | null} */
  #before = null;

  /** @override */
  get restMs() {
    return 110;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.selection];
  }

  /** @override */
  render() {
    const { frame, selection } = this.state;
    if (!frame) return nothing;
    if (frame !== this.#last) {
      this.#before = this.#last && frame.tick - this.#last.tick <= 1 && frame.tick >= this.#last.tick ? this.#last : null;
      this.#last = frame;
    }
    switch (selection.kind) {
      case "replicas":
        return selection.ids.map((id) => frame.replicas[id]).map((replica) => (replica ? this.#replica(replica, frame) : nothing));
      case "link":
        return html`<vsr-link-panel .app=${this.app} .a=${selection.a} .b=${selection.b}></vsr-link-panel>`;
      case "packet":
        return this.#packet(selection.key);
      case "client":
        return this.#client(selection.id, frame);
      default:
        return html`<vsr-roster .app=${this.app}></vsr-roster>`;
    }
  }

  /**
   * @param {Replica} replica
   * @param {Frame} frame
   */
  #replica(replica, frame) {
    const role = roleInTruth(replica, frame.replicas);
    const before = this.#before?.replicas[replica.id];
    const leads = replica.primary ? `${role} of view ${replica.view}` : `${role}, view ${replica.view}`;
    if (!replica.up) return this.#down(replica);
    return html`<section class=${hueOf(replica.view)} aria-label="Replica ${replica.id}">
      <h2>Replica ${replica.id} <span class="tag">${leads}</span></h2>
      <dl class="num">
        ${this.#row("view", "view", replica.view, before?.view, replica.durable_view)}
        ${FRONTIERS.map(([key, word]) =>
          this.#row(word, LABELS[key] ?? key, replica[key], before?.[key], key === "log_view" ? replica.durable_log_view : null),
        )}
        <dt>knows committed</dt>
        <dd>${replica.commit_max}</dd>
        <dt>writes under way</dt>
        <dd>${replica.writes_pending}</dd>
        ${replica.disk ? html`<dt>disk</dt><dd>${stateOf(replica)}</dd>` : nothing}
        ${replica.clock ? html`<dt>clock</dt><dd>${clockText(replica)}</dd>` : nothing}
        <dt><vsr-term word="digest">digest</vsr-term></dt>
        <dd class="mono">${replica.digest}</dd>
      </dl>
    </section>
    ${this.#timers(replica)} ${this.#votes(replica, frame)} <vsr-disk .app=${this.app} .replica=${replica}></vsr-disk>
    ${this.#sessions(replica)}
    ${this.#feed(replica)}`;
  }

  /**
   * Without power only the disk speaks.
   * @param {Replica} replica
   */
  #down(replica) {
    return html`<section class=${hueOf(replica.view)} aria-label="Replica ${replica.id}">
        <h2>Replica ${replica.id} <span class="tag">crashed</span></h2>
        <p class="lead">It has no memory now. This is what its disk holds, and what it will start from.</p>
        <dl class="num">
          <dt><vsr-term word="view">view</vsr-term></dt>
          <dd>${replica.durable_view}</dd>
          <dt><vsr-term word="log_view">log_view</vsr-term></dt>
          <dd>${replica.durable_log_view}</dd>
          <dt>knows committed</dt>
          <dd>${replica.commit_max}</dd>
          <dt>last op in the journal</dt>
          <dd>${replica.log[replica.log.length - 1]?.op ?? 0}</dd>
          <dt><vsr-term word="incarnation">life no.</vsr-term></dt>
          <dd>${replica.incarnation}</dd>
        </dl>
      </section>
      <vsr-disk .app=${this.app} .replica=${replica}></vsr-disk> ${this.#feed(replica)}`;
  }

  /**
   * @param {string} word
   * @param {string} label
   * @param {number} value
   * @param {number | undefined} before
   * @param {number | null} durable
   */
  #row(word, label, value, before, durable) {
    const isNew = before !== undefined && before !== value;
    const onDisk = durable !== null && durable !== value ? html` <span class="soft">(disk: ${durable})</span>` : nothing;
    return html`<dt><vsr-term word=${word}>${label}</vsr-term></dt>
      <dd>${isNew ? html`<span class="new">${before} → ${value}</span>` : value}${onDisk}</dd>`;
  }

  /** @param {Replica} replica */
  #timers(replica) {
    if (replica.timers.length === 0) return nothing;
    return html`<section class=${hueOf(replica.view)}>
      <h3>Timers</h3>
      ${replica.timers.map(
        ({ timer, left, of }) =>
          html`<div class="timer">
            <div class="num"><span>${timerText(timer)}</span><span>${left} of ${of} ticks</span></div>
            <progress aria-label=${timerText(timer)} max=${Math.max(1, of)} value=${left}></progress>
          </div>`,
      )}
    </section>`;
  }

  /**
   * @param {Replica} replica
   * @param {Frame} frame
   */
  #votes(replica, frame) {
    const { quorums } = frame;
    const rows = [];
    if (replica.leave_votes.length > 0) {
      rows.push(html`<dt>votes to leave view ${replica.view}</dt>
        <dd>from ${listText(replica.leave_votes)}: ${replica.leave_votes.length} of ${quorums.view_change}</dd>`);
    }
    if (replica.log_votes.length > 0 && replica.status === "view-change") {
      rows.push(html`<dt>logs brought for view ${replica.view}</dt>
        <dd>by ${listText(replica.log_votes)}: ${replica.log_votes.length} of ${quorums.view_change}</dd>`);
    }
    for (const { op, from } of replica.acks.slice(0, 8)) {
      rows.push(html`<dt>op ${op} is held by</dt>
        <dd>${from.length === 0 ? "nobody yet" : listText(from)}: ${from.length} of ${quorums.replication}</dd>`);
    }
    if (rows.length === 0) return nothing;
    return html`<section>
      <h3><vsr-term word="quorum">Quorums</vsr-term> forming</h3>
      <dl class="num">${rows}</dl>
    </section>`;
  }

  /** @param {Replica} replica */
  #sessions(replica) {
    if (replica.sessions.length === 0) return nothing;
    return html`<section>
      <h3><vsr-term word="session">Sessions</vsr-term></h3>
      <dl class="num">
        ${replica.sessions.map(
          ({ client, session, request }) =>
            html`<dt>client ${client}, session ${session}</dt>
              <dd>request ${request}</dd>`,
        )}
      </dl>
    </section>`;
  }

  /** @param {Replica} replica */
  #feed(replica) {
    const { rows } = this.state;
    const found = [];
    for (let index = rows.length - 1; index >= 0 && found.length < 6 && rows.length - index < 800; index -= 1) {
      const row = rows[index];
      if (row && row.replica === replica.id && row.class !== "packet" && row.class !== "timer") found.push(row);
    }
    if (found.length === 0) return nothing;
    return html`<section>
      <h3>What just happened</h3>
      <div class="feed">
        ${found.map(
          (row) =>
            html`<button @click=${() => this.app.run.seek({ tick: row.tick, step: row.step })}>
              <span class="num">${row.tick}</span><span class="x">${row.text}</span>
            </button>`,
        )}
      </div>
    </section>`;
  }

  /** @param {string} key */
  #packet(key) {
    const packet = this.state.packets.find((other) => other.key === key);
    const end = packet ? null : this.state.rows.findLast((row) => row.packet === key && row.fate !== null);
    const [link = "", number = ""] = key.split(".");
    const start = this.state.rows.findLast((row) => row.packet === key);
    if (!packet) {
      return html`<section>
        <h2>Packet ${key}</h2>
        <p>${end ? rowText(end) : "It is not under way at this tick."}</p>
      </section>`;
    }
    const view = packet.from.startsWith("c") ? "" : `view ${packet.view}`;
    const kind = KINDS[packet.kind] ?? "";
    return html`<section class=${hueOf(packet.view)}>
        <h2>${packetText(packet.kind, packet.op)} ${view === "" ? nothing : html`<span class="tag">${view}</span>`}</h2>
        <dl class="num">
          <dt>from, to</dt>
          <dd>${packet.from} → ${packet.to}, no. ${packet.number}</dd>
          <dt>message</dt>
          <dd>${kind}, ${classOf(packet.kind)}</dd>
          ${packet.op >= 0 ? html`<dt><vsr-term word="op">op</vsr-term></dt><dd>${packet.op}</dd>` : nothing}
          <dt>sent at tick</dt>
          <dd>${packet.sent}</dd>
          <dt>due at tick</dt>
          <dd>${packet.due}, after ${durationText(packet.due - packet.sent)}</dd>
          <dt>now</dt>
          <dd>${packet.isHeld ? "held back" : packet.isWaiting ? "due, waits" : "under way"}</dd>
        </dl>
      </section>
      <div class="pair">
        <button @click=${() => this.app.run.act(`drop.${link}.${number}`)}>Drop it</button>
        <button @click=${() => this.app.run.act(`dup.${link}.${number}`)}>Send it twice</button>
        <button @click=${() => this.app.run.act(`deliver.${link}.${number}`)}>Deliver it now</button>
        <button @click=${() => this.app.run.act(`hold.${link}.${kind}`)}>Hold ${kind} on ${link.replace("to", " → ")}</button>
        <button @click=${() => this.app.store.selectLink(...linkEnds(packet.from, packet.to))}>Show its link</button>
      </div>
      ${start?.cause !== null && start?.cause !== undefined ? this.#cause(start.cause) : nothing}`;
  }

  /** @param {number} number */
  #cause(number) {
    const row = this.state.rows.findLast((other) => other.number === number);
    if (!row) return nothing;
    return html`<section>
      <h3>What caused it</h3>
      <div class="feed">
        <button @click=${() => this.app.run.seek({ tick: row.tick, step: row.step })}>
          <span class="num">${row.tick}</span><span class="x">${rowText(row)}</span>
        </button>
      </div>
    </section>`;
  }

  /**
   * @param {number} id
   * @param {Frame} frame
   */
  #client(id, frame) {
    const client = frame.clients[id];
    if (!client) return nothing;
    const isWaiting = client.state === "waiting" || client.state === "registering";
    return html`<section>
        <h2>Client ${id}</h2>
        <dl class="num">
          <dt>state</dt>
          <dd>${client.state}</dd>
          <dt><vsr-term word="session">session</vsr-term></dt>
          <dd>${client.session}</dd>
          <dt>request</dt>
          <dd>${client.request}${client.asks === null ? nothing : html`: ${client.asks}`}</dd>
          <dt>asks replica</dt>
          <dd>${client.target}</dd>
          ${
            isWaiting
              ? html`<dt>waits since tick</dt>
                  <dd>${client.since_tick ?? frame.tick}, ${durationText(frame.tick - (client.since_tick ?? frame.tick))}</dd>
                  <dt>sent again</dt>
                  <dd>${client.attempts} times</dd>`
              : nothing
          }
          <dt>replies</dt>
          <dd>${client.replies}</dd>
        </dl>
      </section>
      <div class="pair">
        <button @click=${() => this.app.run.act(inGroup(`write.c${id}`, frame))}>Write a request</button>
        ${frame.replicas.map(
          (replica) =>
            html`<button class="quiet" @click=${() => this.app.store.selectLink(`c${id}`, String(replica.id))}>link to ${replica.id}</button>`,
        )}
      </div>`;
  }
}

/**
 * @param {string} from
 * @param {string} to
 * @returns {[string, string]} as the stage names the link: clients first, then the lower number
 */
function linkEnds(from, to) {
  if (from.startsWith("c")) return [from, to];
  if (to.startsWith("c")) return [to, from];
  return Number(from) < Number(to) ? [from, to] : [to, from];
}

customElements.define("vsr-inspector", Inspector);
