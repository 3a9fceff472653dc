/**
 * The cluster as a list of real buttons: replicas, clients, links that something lies on, packets under way. What the
 * stage draws, without a picture. Must never offer less than the stage does.
 */

import { css, html, nothing } from "lit";
import { groupText, isShown } from "../groups.js";
import { linkWords } from "../links.js";
import { isAboutOp, packetText, roleInTruth } from "../words.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../types.js").Packet} Packet */

const PACKETS_MAX = 40;

/** Buttons for everything that can be selected. */
export class Roster extends View {
  /** @override */
  static styles = [
    shared,
    css`
      section {
        margin-bottom: 16px;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 3px;
      }
      li button {
        width: 100%;
        display: flex;
        gap: 10px;
        align-items: baseline;
        text-align: left;
        border-color: transparent;
        background: none;
        padding: 3px 8px;
        margin: 0 -8px;
      }
      li button:hover {
        background: var(--wash);
        border-color: transparent;
      }
      li button.lit {
        border-color: var(--ink);
        background: var(--press);
      }
      b {
        color: var(--h);
        font-weight: 600;
        min-width: 12px;
      }
      .grow {
        flex: 1;
        white-space: normal;
      }
      .pairs {
        display: flex;
        flex-wrap: wrap;
        margin: 0 -8px;
      }
      .pairs button {
        padding: 0 8px;
        min-height: 26px;
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 250;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.lit];
  }

  /** @override */
  render() {
    const { frame, packets } = this.state;
    if (!frame) return nothing;
    const { store } = this.app;
    const touched = frame.links.filter((link) => linkWords(link) !== "");
    return html`<section>
        <h2>Replicas</h2>
        <ul>
          ${frame.replicas.map(
            (replica) => html`<li>
              <button class=${hueOf(replica.view)} aria-label="Select replica ${replica.id}" @click=${() => store.selectReplica(replica.id, false)}>
                <b>${replica.id}</b>
                <span class="grow">${roleInTruth(replica, frame.replicas)}</span>
                <span class="soft num">view ${replica.view}${replica.up ? `, committed ${replica.commit_min} of ${replica.head}` : ""}</span>
              </button>
            </li>`,
          )}
        </ul>
      </section>
      <section>
        <h3>Clients</h3>
        <ul>
          ${frame.clients.map(
            (client) => html`<li>
              <button aria-label="Select client ${client.id}" @click=${() => store.selectClient(client.id)}>
                <span class="grow">client ${client.id}: ${client.state}</span>
                <span class="soft num">${client.replies} ${client.replies === 1 ? "reply" : "replies"}</span>
              </button>
            </li>`,
          )}
        </ul>
      </section>
      ${
        touched.length === 0
          ? nothing
          : html`<section>
              <h3>Links in trouble</h3>
              <ul>
                ${touched.map(
                  (link) => html`<li>
                    <button aria-label="Select link ${link.from} to ${link.to}" @click=${() => this.#selectLink(link.from, link.to)}>
                      <span class="grow">${linkWords(link)}</span>
                    </button>
                  </li>`,
                )}
              </ul>
            </section>`
      }
      <section>
        <h3>Links</h3>
        <p class="pairs">
          ${pairsOf(frame.replica_count).map(
            ([a, b]) => html`<button class="quiet num" aria-label="Select link ${a}–${b}" @click=${() => store.selectLink(a, b)}>${a}–${b}</button>`,
          )}
        </p>
      </section>
      <section>
        <h3>Packets under way <span class="soft small num">${packets.length}</span></h3>
        <ul>
          ${packets.slice(0, PACKETS_MAX).map(
            (packet) => html`<li>
              <button class="${hueOf(packet.view)} ${this.#isLit(packet) ? "lit" : ""}" aria-label="Select packet ${packet.key}" @click=${() => store.selectPacket(packet.key)}>
                <span class="grow">${packetText(packet.kind, packet.op)}</span>
                <span class="soft num">${groupOf(packet, frame)}${packet.from} → ${packet.to}, due at ${packet.due}</span>
              </button>
            </li>`,
          )}
        </ul>
      </section>`;
  }

  /**
   * @param {Packet} packet
   * @returns {boolean} about the op that is pointed at
   */
  #isLit({ kind, op, group }) {
    const { lit, frame } = this.state;
    return lit !== null && op === lit && isAboutOp(kind) && isShown({ group }, frame);
  }

  /**
   * @param {string} from
   * @param {string} to
   */
  #selectLink(from, to) {
    const isClient = from.startsWith("c") || to.startsWith("c");
    if (isClient) this.app.store.selectLink(from.startsWith("c") ? from : to, from.startsWith("c") ? to : from);
    else this.app.store.selectLink(from < to ? from : to, from < to ? to : from);
  }
}

/**
 * @param {Packet} packet
 * @param {import("../types.js").Frame} frame
 * @returns {string} whose it is, where it is not of the group that is shown
 */
function groupOf({ group }, frame) {
  return group === null || isShown({ group }, frame) ? "" : `${groupText(group)}, `;
}

/**
 * @param {number} count
 * @returns {[string, string][]}
 */
function pairsOf(count) {
  const pairs = /** @type {[string, string][]} */ ([]);
  for (let a = 0; a < count; a += 1) for (let b = a + 1; b < count; b += 1) pairs.push([String(a), String(b)]);
  return pairs;
}

customElements.define("vsr-roster", Roster);
