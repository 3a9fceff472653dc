/**
 * Small drawings with one meaning each, as SVG: badges of a replica's status, shapes of packet classes, marks on links.
 * The stage, the legend and the lists share them. Must never know the store.
 */

import { svg } from "lit";

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
