/** Numbers as people read them: times, sizes, rates, paces. Pure: must never know the page. */

/**
 * @param {number} tick
 * @returns {string} `00:07.310`
 */
export function clockText(tick) {
  const ms = tick * 10;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor(ms / 1000) % 60;
  return `${pad(minutes, 2)}:${pad(seconds, 2)}.${pad(ms % 1000, 3)}`;
}

/**
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
function pad(value, digits) {
  return String(value).padStart(digits, "0");
}

/** Ticks a second, from slow motion to a hundred times real time. */
export const PACES = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000];

/**
 * @param {number} ticksPerSecond
 * @returns {string} `1 s = 20 ms`
 */
export function paceText(ticksPerSecond) {
  const ms = ticksPerSecond * 10;
  return ms < 1000 ? `1 s = ${ms} ms` : `1 s = ${ms / 1000} s`;
}

/**
 * @param {number} ticks
 * @returns {string} a duration of virtual time
 */
export function durationText(ticks) {
  const ms = ticks * 10;
  return ms < 1000 ? `${ms} ms` : `${Number((ms / 1000).toFixed(2))} s`;
}

/**
 * @param {number} perMillion
 * @returns {string} `0.5 %`
 */
export function percentText(perMillion) {
  const percent = perMillion / 10_000;
  return `${Number(percent.toPrecision(3))} %`;
}

/**
 * @param {number} value
 * @returns {string} digits in groups of three
 */
export function countText(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/**
 * @param {number[]} ids
 * @returns {string} `0`, `0 and 1`, `0, 1 and 2`
 */
export function listText(ids) {
  if (ids.length < 2) return ids.join("");
  return `${ids.slice(0, -1).join(", ")} and ${ids[ids.length - 1]}`;
}
