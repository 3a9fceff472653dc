/**
 * The grammar of the stage in a few lines: a word and its sign each; the rarer ones come with what they stand for. Must
 * never name a sign that is not drawn.
 */

import { css, html, svg } from "lit";
import { isBlocked, islandsIn } from "../links.js";
import { diskTroubles, isClockOff, isDamaged, roleOf } from "../words.js";
import { alarmSign, badge, clockSign, crack, diskSign, packetShape } from "./glyphs.js";
import { shared, View } from "./view.js";

/** @typedef {import("../types.js").Frame} Frame */

/**
 * Always, or while there is something of the kind on the stage: a page at rest needs few words.
 * @type {{ text: string, sign: unknown, when?: (frame: Frame) => boolean }[]}
 */
const SIGNS = [
  { text: "replication", sign: packetShape("replication") },
  { text: "request, reply", sign: packetShape("client") },
  { text: "view change", sign: packetShape("view-change") },
  { text: "repair", sign: packetShape("repair") },
  { text: "heartbeat", sign: packetShape("heartbeat") },
  { text: "hue and number: the view", sign: svg`<rect class="v0" x="0" y="3" width="7" height="8"/><rect class="v1" x="9" y="3" width="7" height="8"/>` },
  { text: "arc: time left to wait", sign: svg`<path class="arc" d="M8 1.5A5.5 5.5 0 1 1 2.6 8"/>` },
  { text: "op: committed, prepared", sign: svg`<rect class="v0" x="0.6" y="3.6" width="6.4" height="6.8" rx="1.4"/><rect class="hollow" x="9.1" y="3.6" width="6.2" height="6.8" rx="1.4"/>` },
  { text: "primary", sign: badge("primary", 8, 7.6, 6), when: () => false },
  { text: "in a view change", sign: badge("view change", 8, 7.4, 6), when: (frame) => hasRole(frame, "view change") },
  { text: "recovering", sign: badge("recovering", 8, 7, 6.4), when: (frame) => hasRole(frame, "recovering") },
  { text: "paused", sign: badge("paused", 8, 7, 6.5), when: (frame) => hasRole(frame, "paused") },
  { text: "crashed", sign: badge("crashed", 8, 7, 6.5), when: (frame) => hasRole(frame, "crashed") },
  { text: "cut, one way or both", sign: svg`<path class="thin" d="M0 7H16"/><path class="bar" d="M10 2L6 12"/>`, when: ({ links }) => links.some(isBlocked) },
  { text: "wall between sides", sign: svg`<path class="wall" d="M8 0.6Q4 7 8 13.6"/>`, when: (frame) => islandsIn(frame).length > 1 },
  { text: "clog, with what waits", sign: svg`<path class="clog" d="M2 9H10"/><circle class="count" cx="11.6" cy="5" r="4.2"/><path class="on" d="M11.6 2.8V7.2"/>`, when: ({ links }) => links.some(({ clogged }) => clogged) },
  { text: "filter", sign: svg`<path class="sign" d="M1.5 1.5H14.5L9.4 7.6V13H6.6V7.6Z"/>`, when: ({ links }) => links.some(({ filtered }) => filtered.length > 0) },
  { text: "hold", sign: svg`<path class="sign" d="M2.5 1.5H13.5V12.5H2.5ZM6.4 5V9M9.6 5V9"/>`, when: ({ links }) => links.some(({ held_kinds: held }) => held.length > 0) },
  { text: "saved in a checkpoint", sign: svg`<rect class="folded" x="1" y="2.4" width="11" height="9.2" rx="2"/><path class="bar" d="M14 1V13"/>`, when: ({ replicas }) => replicas.some(({ checkpoint }) => checkpoint > 0) },
  { text: "damaged op", sign: svg`<rect class="v0" x="1" y="2.4" width="14" height="9.2" rx="2"/>${crack(1, 2.4, 14, 9.2)}`, when: ({ replicas }) => replicas.some(({ log }) => log.some(isDamaged)) },
  { text: "disk in trouble", sign: diskSign(8, 7, 5), when: ({ replicas }) => replicas.some((replica) => diskTroubles(replica).length > 0) },
  { text: "clock not right", sign: clockSign(8, 7, 5), when: ({ replicas }) => replicas.some(isClockOff) },
  { text: "a check is violated", sign: alarmSign(8, 7.4, 6.6), when: ({ violations }) => violations.length > 0 },
];

/** A list of words, each with its sign. */
export class Legend extends View {
  /** @override */
  static properties = { ...View.properties, whole: { type: Boolean } };

  /** @override */
  static styles = [
    shared,
    css`
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 2px;
        color: var(--soft);
        font-size: 13.5px;
        justify-items: end;
      }
      li {
        display: flex;
        gap: 8px;
        align-items: center;
      }
      svg {
        width: 16px;
        height: 14px;
        color: var(--ink);
        --h: var(--ink);
        overflow: visible;
      }
      .v0 {
        fill: var(--v0);
      }
      .v1 {
        fill: var(--v1);
      }
      .folded {
        fill: var(--rule);
      }
      .hollow {
        fill: none;
        stroke: var(--v0);
        stroke-width: 1.4;
      }
      .arc {
        fill: none;
        stroke: var(--v0);
        stroke-width: 2.6;
        stroke-linecap: round;
      }
      .badge {
        fill: var(--ink);
      }
      .badge.open {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.8;
        stroke-linecap: round;
      }
      .thin {
        fill: none;
        stroke: var(--edge);
        stroke-width: 1.1;
      }
      .bar {
        stroke: var(--ink);
        stroke-width: 2.4;
        stroke-linecap: round;
      }
      .wall {
        fill: none;
        stroke: var(--ink);
        stroke-width: 2.2;
        stroke-dasharray: 0.1 3.2;
        stroke-linecap: round;
      }
      .clog {
        stroke: var(--ink);
        stroke-opacity: 0.3;
        stroke-width: 5;
        stroke-linecap: round;
      }
      .count {
        fill: var(--ink);
      }
      .on {
        stroke: var(--on);
        stroke-width: 1.4;
      }
      .gap {
        fill: none;
        stroke: var(--stage);
        stroke-width: 3.4;
      }
      .crack {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.3;
      }
      .disk-sign {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.4;
      }
      .disk-sign circle,
      .clock-sign .under {
        stroke: none;
      }
      .clock-sign {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.4;
      }
      .sign {
        fill: none;
        stroke: var(--ink);
        stroke-width: 1.4;
        stroke-linejoin: round;
      }
      .alarm {
        fill: var(--bad);
      }
      .alarm .mark {
        stroke: var(--on);
        stroke-width: 1.4;
      }
    `,
  ];

  constructor() {
    super();
    this.whole = false;
  }

  /** @override */
  get restMs() {
    return 250;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched({ frame }) {
    return [signsOf(frame, this.whole).map(({ text }) => text).join()];
  }

  /** @override */
  render() {
    return html`<ul aria-label="Legend">
      ${signsOf(this.state.frame, this.whole).map(({ text, sign }) => html`<li>${text}<svg viewBox="0 0 16 14" aria-hidden="true">${sign}</svg></li>`)}
    </ul>`;
  }
}

/**
 * @param {Frame | null} frame
 * @param {boolean} isWhole all of them
 */
function signsOf(frame, isWhole) {
  return SIGNS.filter(({ when }) => isWhole || when === undefined || (frame !== null && when(frame)));
}

/**
 * @param {Frame} frame
 * @param {string} role
 */
function hasRole({ replicas }, role) {
  return replicas.some((replica) => roleOf(replica) === role);
}

customElements.define("vsr-legend", Legend);
