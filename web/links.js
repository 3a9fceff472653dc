/** What lies on a link's directions, found and worded. Pure: must never know the DOM. */

import { islandsOf } from "./geometry.js";

/** @typedef {import("./types.js").Frame} Frame */
/** @typedef {import("./types.js").Link} Link */

/** Nine replicas and eight clients have 216 directions; each drawing asks for most of them. @type {WeakMap<Frame, Map<string, Link>>} */
const indexes = new WeakMap();

/**
 * @param {Frame} frame
 * @param {string} from
 * @param {string} to
 * @returns {Link | undefined}
 */
export function linkOf(frame, from, to) {
  let index = indexes.get(frame);
  if (!index) {
    index = new Map(frame.links.map((link) => [`${link.from}to${link.to}`, link]));
    indexes.set(frame, index);
  }
  return index.get(`${from}to${to}`);
}

/**
 * @param {Link | undefined} link
 * @returns {boolean}
 */
export function isBlocked(link) {
  return link !== undefined && (link.cut || link.partitioned);
}

/**
 * @param {Frame} frame
 * @returns {number[][]} groups of replicas with a wall around each; one if there is none
 */
export function islandsIn(frame) {
  return islandsOf(frame.replica_count, (a, b) => isBlocked(linkOf(frame, String(a), String(b))));
}

/**
 * @param {Link | undefined} link
 * @returns {string} what is done to one direction, in words
 */
export function linkWords(link) {
  if (!link) return "";
  const words = [];
  if (link.cut) words.push("cut");
  if (link.partitioned) words.push("partitioned by the fault profile");
  const until = link.clogged_until === null ? "until healed" : `until tick ${link.clogged_until}`;
  if (link.clogged) words.push(`clogged, ${link.waiting} waiting, ${until}`);
  if (link.filtered.length > 0) words.push(`filters ${link.filtered.join(", ")}`);
  if (link.held_kinds.length > 0) words.push(`holds ${link.held_kinds.join(", ")}`);
  if (link.extra_delay_ticks > 0) words.push(`slower by ${link.extra_delay_ticks * 10} ms`);
  return words.length === 0 ? "" : `${link.from} to ${link.to} ${words.join(", ")}`;
}
