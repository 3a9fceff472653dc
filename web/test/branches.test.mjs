/** The tree of branches: acts, lineage, history along a line. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeBranch, forkBranch, historyOf, lineageOf, pathTo, rootBranch } from "../state/branches.js";

const root = { ...rootBranch(1, 1, "v=1", ["10.crash.0", "40.restart.0"], "as opened"), live: { tick: 100, step: 0 } };

test("a fork takes the acts done until then", () => {
  const fork = forkBranch(root, 2, { tick: 30, step: 0 }, "crash 1 at 30");
  assert.deepEqual(fork.acts, ["10.crash.0"]);
  assert.deepEqual(fork.live, { tick: 30, step: 0 });
  assert.equal(fork.parent, 1);
  assert.equal(fork.run, 1);
});

test("the past of a branch is its parent's until the fork", () => {
  const child = forkBranch(root, 2, { tick: 30, step: 0 }, "");
  const grandchild = forkBranch(child, 3, { tick: 20, step: 0 }, "");
  const lineage = lineageOf([root, child, grandchild], 3);
  assert.deepEqual(lineage, [
    { branch: 3, until: Number.POSITIVE_INFINITY },
    { branch: 2, until: 20 },
    { branch: 1, until: 20 },
  ]);
});

test("a fork inside a tick shares only the ticks before it", () => {
  const child = forkBranch(root, 2, { tick: 30, step: 4 }, "");
  assert.equal(lineageOf([root, child], 2)[1]?.until, 29);
});

test("history runs along the line and leaves other futures out", () => {
  const mark = (/** @type {number} */ tick) => ({ tick, step: 0, kind: "crash", text: "", view: null, replica: 0, number: tick });
  const child = forkBranch(root, 2, { tick: 30, step: 0 }, "");
  let branches = [root, child];
  branches = changeBranch(branches, 1, { marks: [mark(10), mark(50)], spans: [{ from: 0, view: 0 }, { from: 60, view: 1 }] });
  branches = changeBranch(branches, 2, { marks: [mark(35)], spans: [{ from: 40, view: 2 }] });
  assert.deepEqual(historyOf(branches, 2).marks.map(({ tick }) => tick), [10, 35]);
  assert.deepEqual(historyOf(branches, 2).spans.map(({ view }) => view), [0, 2]);
  assert.deepEqual(historyOf(branches, 1).marks.map(({ tick }) => tick), [10, 50]);
  assert.deepEqual(pathTo(branches, 2).map(({ id }) => id), [1, 2]);
});
