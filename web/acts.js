/**
 * Acts as the page writes and words them. Which arguments are possible is the engine's to say. Pure: must never know
 * the store or the DOM.
 */

import { listText } from "./format.js";

/**
 * @param {number[]} side
 * @param {number} count
 * @returns {number[]} the others
 */
export function restOf(side, count) {
  return Array.from({ length: count }, (_, id) => id).filter((id) => !side.includes(id));
}

/**
 * @param {"cut" | "mute" | "join"} verb
 * @param {number[]} side
 * @param {number[]} other
 * @returns {string} `cut.01-2`
 */
export function sidesAct(verb, side, other) {
  return `${verb}.${side.join("")}-${other.join("")}`;
}

/**
 * A verb means partition 0 where it names no group.
 * @param {string} act
 * @param {import("./types.js").Frame} frame
 * @returns {string} the act on the group that is shown
 */
export function inGroup(act, { group, groups }) {
  return group === undefined || group === "g0" || (groups?.length ?? 0) < 2 ? act : `${act}.${group}`;
}

/** @type {Record<string, (args: string[]) => string>} */
const WORDS = {
  crash: ([replica]) => `crash ${replica}`,
  restart: ([replica]) => `restart ${replica}`,
  pause: ([replica]) => `pause ${replica}`,
  resume: ([replica]) => `resume ${replica}`,
  cut: ([sides]) => `cut ${sidesText(sides)}`,
  mute: ([sides]) => `cut ${sidesText(sides, "→")}`,
  join: ([sides]) => `join ${sidesText(sides)}`,
  clog: ([link]) => `clog ${linkText(link)}`,
  delay: ([link, ticks]) => (ticks === "0" ? `no delay on ${linkText(link)}` : `delay ${linkText(link)}`),
  filter: ([link, kinds]) => (kinds === "none" ? `no filter on ${linkText(link)}` : `filter ${linkText(link)}`),
  hold: ([link, kind]) => `hold ${kind ?? "packets"} on ${linkText(link)}`,
  release: ([link]) => `release ${linkText(link)}`,
  drop: ([link, number]) => `drop packet ${linkText(link)} no. ${number}`,
  dup: ([link, number]) => `duplicate packet ${linkText(link)} no. ${number}`,
  deliver: ([link, number]) => `deliver packet ${linkText(link)} no. ${number}`,
  heal: () => "heal",
  corrupt: ([replica, op]) => `rot ${op?.replace("op", "op ")} on ${replica}`,
  punch: ([replica, op]) => `erase ${op?.replace("op", "op ")} on ${replica}`,
  misdirect: ([replica, op]) => `misplace ${op?.replace("op", "op ")} on ${replica}`,
  tear: ([replica]) => `tear the next crash of ${replica}`,
  lie: ([replica, off]) => (off === "off" ? `disk of ${replica} is honest` : `disk of ${replica} lies`),
  slow: ([replica, factor]) => (factor === "1" ? `disk of ${replica} at its speed` : `slow disk of ${replica}`),
  skew: ([replica]) => `set the clock of ${replica}`,
  mutate: ([mutation, off]) => (off === "off" ? `restore ${mutation}` : `mutate ${mutation}`),
  write: ([client]) => `write from client ${client?.slice(1)}`,
  load: ([rate]) => (rate === "0" ? "stop requests" : "change load"),
  profile: ([name]) => `faults ${name}`,
  set: ([name]) => `set ${name}`,
  settle: () => "settle",
};

/**
 * @param {string} text with or without its tick
 * @returns {string} a few words, for the name of a branch
 */
export function actWords(text) {
  const [verb = "", ...args] = text.replace(/^\d+\./, "").split(".");
  return WORDS[verb]?.(args) ?? verb;
}

/**
 * @param {string | undefined} sides
 * @param {string} mark
 * @returns {string}
 */
function sidesText(sides, mark = "|") {
  return (sides ?? "").split("-").map((side) => listText([...side].map(Number))).join(` ${mark} `);
}

/**
 * @param {string | undefined} link
 * @returns {string}
 */
function linkText(link) {
  return (link ?? "").replace("to", " → ");
}
