/** How the stage looks: strokes, shapes and hues of replicas, links and what lies on them. Styles alone. */

import { css } from "lit";

/** For the stage's shadow root. */
export const stageStyles = css`
  :host {
    position: relative;
    min-height: 0;
    overflow: hidden;
    background: var(--stage);
    touch-action: manipulation;
    user-select: none;
    -webkit-user-select: none;
  }
  svg,
  canvas {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
  }
  canvas {
    pointer-events: none;
  }
  text {
    font-family: var(--sans);
  }
  [role="button"] {
    cursor: pointer;
    outline: none;
  }
  .track {
    fill: none;
    stroke: var(--rule);
    stroke-width: 3;
  }
  .arc {
    fill: none;
    stroke: var(--h);
    stroke-width: 3.4;
    stroke-linecap: round;
  }
  .arc.ends {
    stroke-width: 5;
  }
  .back {
    fill: var(--stage);
  }
  .disc {
    fill: color-mix(in oklab, var(--h) 13%, var(--stage));
    stroke: var(--h);
    stroke-width: 1.3;
  }
  .primary .disc {
    stroke-width: 2.8;
    fill: color-mix(in oklab, var(--h) 20%, var(--stage));
  }
  .change .disc {
    stroke-dasharray: 7 4;
    stroke-width: 2;
  }
  .recovering .disc {
    stroke-dasharray: 1.5 4.5;
    stroke-linecap: round;
    stroke-width: 2.4;
  }
  .paused .disc {
    stroke-dasharray: 12 3 3 3;
    fill: none;
  }
  .crashed {
    --h: var(--faint);
  }
  .crashed .disc {
    stroke-dasharray: 3 6;
    fill: none;
  }
  .ring {
    fill: none;
    stroke: transparent;
    stroke-width: 2;
  }
  [aria-pressed="true"] .ring {
    stroke: var(--ink);
  }
  [role="button"]:focus-visible .ring {
    stroke: var(--accent);
    stroke-dasharray: 3 3;
  }
  .number {
    fill: var(--h);
    font-weight: 600;
    text-anchor: middle;
  }
  .view {
    fill: var(--h);
    text-anchor: middle;
  }
  .role {
    fill: var(--soft);
    text-anchor: middle;
    paint-order: stroke;
    stroke: var(--stage);
    stroke-width: 5px;
    stroke-linejoin: round;
  }
  .shelf {
    fill: var(--stage);
  }
  .badge {
    fill: var(--h);
  }
  .badge.open {
    fill: none;
    stroke: var(--h);
    stroke-width: 2.2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .cell {
    fill: none;
    stroke: var(--rule);
    stroke-width: 1;
  }
  .cell.known {
    stroke: var(--h);
  }
  .cell.done {
    fill: var(--h);
    stroke: var(--h);
  }
  .cell.lit {
    stroke: var(--ink);
    stroke-width: 2;
  }
  .gap {
    fill: none;
    stroke: var(--stage);
    stroke-width: 3.6;
  }
  .crack {
    fill: none;
    stroke: var(--ink);
    stroke-width: 1.4;
    stroke-linejoin: round;
  }
  .disk-sign {
    fill: var(--stage);
    stroke: var(--ink);
    stroke-width: 1.5;
  }
  .disk-sign circle,
  .clock-sign .under {
    stroke: none;
  }
  .clock-sign {
    fill: var(--stage);
    stroke: var(--ink);
    stroke-width: 1.5;
    stroke-linecap: round;
  }
  .clock-sign path {
    fill: none;
  }
  .broken {
    fill: none;
    stroke: var(--bad);
    stroke-width: 3;
  }
  .alarm {
    fill: var(--bad);
    stroke: var(--stage);
    stroke-width: 2.5;
    stroke-linejoin: round;
    paint-order: stroke;
  }
  .alarm .mark {
    stroke: var(--on);
    stroke-width: 2;
    stroke-linecap: round;
  }
  .line {
    fill: none;
    stroke: var(--edge);
    stroke-width: 1.1;
  }
  .line.off {
    stroke-dasharray: 2 6;
  }
  .line.client {
    stroke-opacity: 0.38;
  }
  .line.client.asks {
    stroke-opacity: 0.85;
  }
  .hit {
    fill: transparent;
  }
  .link {
    cursor: pointer;
    outline: none;
  }
  .link:hover .glow {
    stroke: color-mix(in oklab, var(--ink) 9%, transparent);
  }
  .glow {
    fill: none;
    stroke: transparent;
    stroke-width: 9;
    stroke-linecap: round;
  }
  .link[data-selected="true"] .glow {
    stroke: color-mix(in oklab, var(--ink) 20%, transparent);
  }
  .link:focus-visible .glow {
    stroke: color-mix(in oklab, var(--accent) 45%, transparent);
  }
  .bar {
    stroke: var(--ink);
    stroke-width: 2.6;
    stroke-linecap: round;
  }
  .bar.given {
    stroke-dasharray: 2 3.4;
  }
  .clog {
    stroke: var(--ink);
    stroke-opacity: 0.3;
    stroke-width: 7;
    stroke-linecap: round;
  }
  .count {
    fill: var(--ink);
  }
  .count-text {
    fill: var(--on);
    font-size: 11.5px;
    font-weight: 600;
    text-anchor: middle;
  }
  .sign {
    fill: var(--stage);
    stroke: var(--ink);
    stroke-width: 1.6;
    stroke-linejoin: round;
  }
  .sign-text {
    fill: var(--ink);
    font-size: 11.5px;
    text-anchor: middle;
  }
  .wall {
    fill: none;
    stroke: var(--ink);
    stroke-width: 2.6;
    stroke-dasharray: 0.1 7;
    stroke-linecap: round;
    pointer-events: none;
  }
  .stroke {
    stroke: var(--ink);
    stroke-width: 2;
    stroke-dasharray: 6 5;
    pointer-events: none;
  }
  .box {
    fill: var(--sheet);
    stroke: var(--edge);
    stroke-width: 1.2;
  }
  .box.waits {
    stroke: var(--ink);
    stroke-width: 1.8;
  }
  .box-text {
    fill: var(--soft);
    text-anchor: middle;
  }
`;
