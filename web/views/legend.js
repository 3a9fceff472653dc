/**
 * The grammar of the stage in a few lines: a word and its sign each. Must never name a sign that is not drawn.
 */

import { css, html, svg } from "lit";
import { badge, crack, diskSign, packetShape } from "./glyphs.js";
import { shared, View } from "./view.js";

/** @type {{ text: string, sign: unknown }[]} */
const SIGNS = [
  { text: "replication", sign: packetShape("replication") },
  { text: "request, reply", sign: packetShape("client") },
  { text: "view change", sign: packetShape("view-change") },
  { text: "repair", sign: packetShape("repair") },
  { text: "heartbeat", sign: packetShape("heartbeat") },
  { text: "hue and number: the view", sign: svg`<rect class="v0" x="0" y="3" width="7" height="8"/><rect class="v1" x="9" y="3" width="7" height="8"/>` },
  { text: "arc: time left to wait", sign: svg`<path class="arc" d="M8 1.5A5.5 5.5 0 1 1 2.6 8"/>` },
  { text: "primary", sign: badge("primary", 8, 7.6, 6) },
  { text: "crashed", sign: badge("crashed", 8, 7, 6.5) },
  { text: "cut, one way or both", sign: svg`<path class="thin" d="M0 7H16"/><path class="bar" d="M10 2L6 12"/>` },
  { text: "wall between sides", sign: svg`<path class="wall" d="M8 0.6Q4 7 8 13.6"/>` },
  { text: "clog, with what waits", sign: svg`<path class="clog" d="M2 9H10"/><circle class="count" cx="11.6" cy="5" r="4.2"/><path class="on" d="M11.6 2.8V7.2"/>` },
  { text: "op: committed, prepared", sign: svg`<rect class="v0" x="0.6" y="3.6" width="6.4" height="6.8" rx="1.4"/><rect class="hollow" x="9.1" y="3.6" width="6.2" height="6.8" rx="1.4"/>` },
  { text: "damaged op", sign: svg`<rect class="v0" x="1" y="2.4" width="14" height="9.2" rx="2"/>${crack(1, 2.4, 14, 9.2)}` },
  { text: "disk in trouble", sign: diskSign(8, 7, 5) },
];

/** A list of words, each with its sign. */
export class Legend extends View {
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
      .disk-sign circle {
        stroke: none;
      }
    `,
  ];

  /** @override */
  render() {
    return html`<ul aria-label="Legend">
      ${SIGNS.map(({ text, sign }) => html`<li>${text}<svg viewBox="0 0 16 14" aria-hidden="true">${sign}</svg></li>`)}
    </ul>`;
  }
}

customElements.define("vsr-legend", Legend);
