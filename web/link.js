/**
 * Pure helpers over the text of a link's fragment: read a key, change some, split acts. The grammar itself belongs to
 * the engine, which alone says whether a link is good. Must never know the store, the DOM or the simulator.
 */

/** @typedef {{ tick: number, step: number }} Position a whole tick, or the n-th event inside one */

/**
 * @param {string} link a fragment, with or without `#`
 * @returns {[string, string][]} its pairs, in order
 */
export function pairsOf(link) {
  return link
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const cut = part.indexOf("=");
      return cut < 0 ? [part, ""] : [part.slice(0, cut), part.slice(cut + 1)];
    });
}

/**
 * @param {string} link
 * @param {string} key
 * @returns {string | null} the value of a key
 */
export function valueOf(link, key) {
  const found = pairsOf(link).find(([name]) => name === key);
  return found ? found[1] : null;
}

/**
 * Replaces, adds or removes keys. What is not named keeps its place.
 * @param {string} link
 * @param {Record<string, string | number | null>} changes null removes a key
 * @returns {string}
 */
export function mergeLink(link, changes) {
  const left = new Map(Object.entries(changes));
  const pairs = [];
  for (const [key, value] of pairsOf(link)) {
    if (!left.has(key)) {
      pairs.push([key, value]);
      continue;
    }
    const change = left.get(key);
    left.delete(key);
    if (change !== null && change !== undefined) pairs.push([key, String(change)]);
  }
  for (const [key, change] of left) {
    if (change !== null && change !== undefined) pairs.push([key, String(change)]);
  }
  return pairs.map(([key, value]) => `${key}=${value}`).join("&");
}

/** Keys that say where in a run one stands, not which run it is. */
const PLACE = { at: null, epoch: null, hash: null };

/**
 * @param {string} link
 * @returns {string} the run alone, without where one stands in it
 */
export function runOf(link) {
  return mergeLink(link, PLACE);
}

/**
 * @param {string} link
 * @returns {string} the cluster and its dice, without anything a person did
 */
export function clusterOf(link) {
  return mergeLink(link, { ...PLACE, act: null, story: null, do: null });
}

/**
 * @param {string} link
 * @returns {string[]} the person's acts, `731.crash.2`
 */
export function actsOf(link) {
  const acts = valueOf(link, "act");
  return acts === null || acts === "" ? [] : acts.split("_");
}

/**
 * @param {string} act
 * @returns {number} the tick it is done at
 */
export function tickOf(act) {
  return Number.parseInt(act, 10);
}

/**
 * @param {string[]} acts
 * @param {number} tick
 * @returns {string[]} those done at or before `tick`
 */
export function actsUpTo(acts, tick) {
  return acts.filter((act) => tickOf(act) <= tick);
}

/**
 * @param {string[]} acts
 * @param {number} tick
 * @returns {string[]} those still to come
 */
export function actsAfter(acts, tick) {
  return acts.filter((act) => tickOf(act) > tick);
}

/**
 * @param {string} text the value of `at`: `1234` or `1234.7`
 * @returns {Position | null}
 */
export function parsePosition(text) {
  const match = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text);
  return match ? { tick: Number(match[1]), step: Number(match[2] ?? 0) } : null;
}

/**
 * @param {Position} position
 * @returns {string} as people and links write it
 */
export function positionText(position) {
  return position.step > 0 ? `${position.tick}.${position.step}` : String(position.tick);
}

/**
 * @param {Position} a
 * @param {Position} b
 * @returns {number} negative if `a` comes first
 */
export function comparePositions(a, b) {
  return a.tick - b.tick || orderInTick(a.step) - orderInTick(b.step);
}

/**
 * A tick without a step is the whole tick, so it stands behind every step in it.
 * @param {number} step
 * @returns {number}
 */
function orderInTick(step) {
  return step === 0 ? Number.POSITIVE_INFINITY : step;
}
