/**
 * The tree of branches: each a list of acts, with the place where it left its parent. Acting in the past adds one and
 * keeps the old future. Pure transitions: must never know the store or the simulator.
 */

import { actsUpTo, mergeLink, positionText } from "../link.js";

/**
 * @typedef {import("../link.js").Position} Position
 * @typedef {{ tick: number, step: number, kind: string, text: string, view: number | null, replica: number | null, number: number, group?: string | null }} Mark
 *   something the timeline paints
 * @typedef {{ from: number, view: number | null, group?: string | null }} Span from this tick on, this view led; null: nobody did.
 *   Without a group it is about all
 * @typedef {object} Branch
 * @property {number} id
 * @property {string} name in plain words
 * @property {string} cluster the link of its run without acts
 * @property {number} run branches of one run share an engine; another run has another number
 * @property {number | null} parent
 * @property {Position} fork where it left its parent
 * @property {string[]} acts all of them, from the start of the run
 * @property {Position} live the farthest place reached
 * @property {Mark[]} marks what happened after the fork; appended to in place
 * @property {Span[]} spans who led after the fork; appended to in place
 */

/**
 * @param {number} id
 * @param {number} run
 * @param {string} cluster
 * @param {string[]} acts
 * @param {string} name
 * @returns {Branch} the first branch of a run
 */
export function rootBranch(id, run, cluster, acts, name) {
  const start = { tick: 0, step: 0 };
  return { id, run, name, cluster, parent: null, fork: start, acts, live: start, marks: [], spans: [{ from: 0, view: 0 }] };
}

/**
 * @param {Branch} parent
 * @param {number} id
 * @param {Position} at
 * @param {string} name
 * @returns {Branch} a branch that leaves `parent` at a place, with the acts done until then
 */
export function forkBranch(parent, id, at, name) {
  return {
    id,
    run: parent.run,
    name,
    cluster: parent.cluster,
    parent: parent.id,
    fork: at,
    acts: actsUpTo(parent.acts, at.tick),
    live: at,
    marks: [],
    spans: [],
  };
}

/**
 * @param {Branch} branch
 * @param {Position | null} at nothing for the run alone
 * @returns {string} the link that plays it
 */
export function linkOf(branch, at) {
  return mergeLink(branch.cluster, { act: branch.acts.join("_") || null, at: at === null ? null : positionText(at) });
}

/**
 * @param {Branch[]} branches
 * @param {number} id
 * @returns {Branch[]} from the root down to the branch itself
 */
export function pathTo(branches, id) {
  /** @type {Branch[]} */
  const path = [];
  let next = branches.find((branch) => branch.id === id);
  while (next) {
    path.unshift(next);
    const parent = next.parent;
    next = parent === null ? undefined : branches.find((branch) => branch.id === parent);
  }
  return path;
}

/**
 * @param {Branch[]} branches
 * @param {number} id
 * @returns {import("../sim/checkpoints.js").Ancestor[]} whose checkpoints are this branch's past, and until when
 */
export function lineageOf(branches, id) {
  const path = pathTo(branches, id);
  let until = Number.POSITIVE_INFINITY;
  const lineage = [];
  for (let index = path.length - 1; index >= 0; index -= 1) {
    const branch = path[index];
    if (!branch) continue;
    lineage.push({ branch: branch.id, until });
    // Inside a tick that is under way, only the ticks before it are shared.
    until = Math.min(until, branch.fork.step > 0 ? branch.fork.tick - 1 : branch.fork.tick);
  }
  return lineage;
}

/**
 * Marks or spans along the line from the root, each branch until the next one leaves it.
 * @param {Branch[]} branches
 * @param {number} id
 * @param {string | null | undefined} group what is about another one is left out; all, if none is given
 * @returns {{ marks: Mark[], spans: Span[] }}
 */
export function historyOf(branches, id, group = null) {
  const path = pathTo(branches, id);
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Span[]} */
  const spans = [];
  const isHere = (/** @type {{ group?: string | null }} */ each) => group == null || each.group == null || each.group === group;
  path.forEach((branch, index) => {
    const leaves = path[index + 1]?.fork.tick ?? Number.POSITIVE_INFINITY;
    for (const mark of branch.marks) if (mark.tick <= leaves && isHere(mark)) marks.push(mark);
    for (const span of branch.spans) if (span.from <= leaves && isHere(span)) spans.push(span);
  });
  return { marks, spans };
}

/**
 * @param {Branch[]} branches
 * @param {number} id
 * @param {Partial<Branch>} change
 * @returns {Branch[]}
 */
export function changeBranch(branches, id, change) {
  return branches.map((branch) => (branch.id === id ? { ...branch, ...change } : branch));
}
