/** Groups by name, whatever rows and packets call them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inGroup } from "../acts.js";
import { groupNameOf, groupText, isShown } from "../groups.js";

/** @type {any[]} */
const GROUPS = [
  { id: "0", name: "meta", plane: "metadata" },
  { id: "1", name: "g0", plane: "partition" },
  { id: "1794", name: "g1", plane: "partition" },
];

test("ids and names give the name, and nothing gives nothing", () => {
  assert.equal(groupNameOf(GROUPS, 1794), "g1");
  assert.equal(groupNameOf(GROUPS, "0"), "meta");
  assert.equal(groupNameOf(GROUPS, "g0"), "g0");
  assert.equal(groupNameOf(GROUPS, 77), "77", "one that is no more");
  assert.equal(groupNameOf(GROUPS, null), null);
  assert.equal(groupNameOf(undefined, 0), null, "an engine of one group");
  assert.equal(groupText("meta"), "metadata");
  assert.equal(groupText("g12"), "partition 12");
});

test("what is of another group is not shown, what is of none is", () => {
  assert.equal(isShown({ group: "g0" }, { group: "g1" }), false);
  assert.equal(isShown({ group: "g1" }, { group: "g1" }), true);
  assert.equal(isShown({ group: null }, { group: "g1" }), true);
  assert.equal(isShown({ group: "g0" }, {}), true);
});

test("a verb names its group where it is not partition 0", () => {
  const frame = (/** @type {string} */ group) => /** @type {any} */ ({ group, groups: GROUPS });
  assert.equal(inGroup("write.c0", frame("g0")), "write.c0");
  assert.equal(inGroup("write.c0", frame("g1")), "write.c0.g1");
  assert.equal(inGroup("corrupt.1.op5.both", frame("meta")), "corrupt.1.op5.both.meta");
  assert.equal(inGroup("write.c0", /** @type {any} */ ({})), "write.c0");
});
