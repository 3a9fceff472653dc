/**
 * Small drawings with one meaning each, as SVG: badges of a replica's status, shapes of packet classes, marks on links.
 * The stage, the legend and the lists share them. Must never know the store.
 */

import { svg } from "lit";
import { round } from "../geometry.js";

/**
 * @param {string} role as `roleOf` says
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @returns {unknown}
 */
export function badge(role, x, y, size) {
  const s = size;
  const place = `translate(${x} ${y})`;
  switch (role) {
    case "primary":
    case "thinks it leads":
      return svg`<path class="badge" transform=${place} d="M${-s} ${s * 0.55}L${-s * 0.86} ${-s * 0.5}L${-s * 0.4} ${s * 0.05}L0 ${-s * 0.8}L${s * 0.4} ${s * 0.05}L${s * 0.86} ${-s * 0.5}L${s} ${s * 0.55}Z"/>`;
    case "view change":
      return svg`<path class="badge" transform=${place} d="M0 ${-s * 0.8}L${s * 0.8} ${s * 0.6}L${-s * 0.8} ${s * 0.6}Z"/>`;
    case "starting":
    case "recovering":
      return svg`<path class="badge open" transform=${place} d="M${s * 0.66} ${-s * 0.2}A${s * 0.7} ${s * 0.7} 0 1 0 ${s * 0.5} ${s * 0.5}M${s * 0.8} ${-s * 0.85}L${s * 0.68} ${-s * 0.15}L${s * 0.02} ${-s * 0.36}"/>`;
    case "paused":
      return svg`<path class="badge open" transform=${place} d="M${-s * 0.36} ${-s * 0.6}V${s * 0.6}M${s * 0.36} ${-s * 0.6}V${s * 0.6}"/>`;
    case "crashed":
      return svg`<path class="badge open" transform=${place} d="M${-s * 0.6} ${-s * 0.6}L${s * 0.6} ${s * 0.6}M${s * 0.6} ${-s * 0.6}L${-s * 0.6} ${s * 0.6}"/>`;
    default:
      return svg``;
  }
}

/**
 * A disk that lies, tears, is slow or holds something damaged.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @returns {unknown}
 */
export function diskSign(x, y, size) {
  const s = size;
  return svg`<g class="disk-sign" transform="translate(${x} ${y})"><circle r=${round(s * 1.5)}/>
    <path d="M${round(-s)} ${round(-s * 0.55)}A${s} ${round(s * 0.4)} 0 0 1 ${s} ${round(-s * 0.55)}V${round(s * 0.55)}A${s} ${round(s * 0.4)} 0 0 1 ${round(-s)} ${round(s * 0.55)}Z"/>
    <path d="M${round(-s)} ${round(-s * 0.55)}A${s} ${round(s * 0.4)} 0 0 0 ${s} ${round(-s * 0.55)}"/></g>`;
}

/**
 * A clock that is not right.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @returns {unknown}
 */
export function clockSign(x, y, size) {
  const s = size;
  return svg`<g class="clock-sign" transform="translate(${x} ${y})"><circle class="under" r=${round(s * 1.5)}/><circle r=${round(s)}/><path d="M0 ${round(-s * 0.6)}V0L${round(s * 0.5)} ${round(s * 0.3)}"/></g>`;
}

/**
 * A property is violated here.
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @returns {unknown}
 */
export function alarmSign(x, y, size) {
  const s = size;
  return svg`<g class="alarm" transform="translate(${x} ${y})"><path d="M0 ${round(-s)}L${s} ${round(s * 0.8)}H${round(-s)}Z"/><path class="mark" d="M0 ${round(-s * 0.35)}V${round(s * 0.2)}M0 ${round(s * 0.45)}V${round(s * 0.5)}"/></g>`;
}

/**
 * A crack through a cell, from its upper to its lower edge: what is damaged.
 * @param {number} x of the cell's left edge
 * @param {number} y of its upper edge
 * @param {number} width
 * @param {number} height
 * @returns {unknown} a gap in the colour of the ground, and the crack in ink
 */
export function crack(x, y, width, height) {
  const at = (/** @type {number} */ across, /** @type {number} */ down) => `${round(x + width * across)} ${round(y + height * down)}`;
  const path = `M${at(0.88, -0.06)}L${at(0.64, 0.44)}L${at(0.84, 0.56)}L${at(0.62, 1.06)}`;
  return svg`<path class="gap" d=${path}/><path class="crack" d=${path}/>`;
}

/**
 * @param {import("../words.js").PacketClass} kind
 * @returns {unknown} the shape of a packet class, in a box of 16 × 14
 */
export function packetShape(kind) {
  switch (kind) {
    case "replication":
      return svg`<circle cx="8" cy="7" r="4.6" fill="currentColor"/>`;
    case "client":
      return svg`<rect x="3.8" y="2.8" width="8.4" height="8.4" fill="none" stroke="currentColor" stroke-width="1.7"/>`;
    case "view-change":
      return svg`<path d="M8 1.6l5.2 9.4H2.8z" fill="currentColor"/>`;
    case "repair":
      return svg`<path d="M8 1.6l5.2 5.4L8 12.4 2.8 7z" fill="none" stroke="currentColor" stroke-width="1.7"/>`;
    default:
      return svg`<circle cx="8" cy="7" r="2.4" fill="currentColor" opacity=".55"/>`;
  }
}
