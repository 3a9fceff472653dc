/**
 * The golden table's arithmetic, on made-up hashes.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, fold, readLines } from "../table.mjs";

const run = { name: "swarm-1", link: "v=1&seed=1", ticks: 100, hash: "00000000000000aa" };
const everywhere = new Map([[run.name, run.hash]]);

test("equal hashes everywhere are equal", () => {
  const { equal, different } = compare({ pinned: [run], native: [run], node: everywhere, chromium: everywhere });
  assert.deepEqual({ equal, different }, { equal: 1, different: 0 });
});

test("one platform that differs makes the Run differ", () => {
  const chromium = new Map([[run.name, "00000000000000ab"]]);
  const { lines, different } = compare({ pinned: [run], native: [run], node: everywhere, chromium });
  assert.equal(different, 1);
  assert.match(lines[1], /DIFFERENT$/);
});

test("a Run that is not pinned, and a pinned Run that is gone, differ", () => {
  const unpinned = compare({ pinned: [], native: [run], node: everywhere, chromium: everywhere });
  assert.equal(unpinned.different, 1);
  const gone = compare({ pinned: [run], native: [], node: new Map(), chromium: new Map() });
  assert.equal(gone.different, 1);
});

test("a pinned Run under a changed link differs, even with the same hash", () => {
  const other = { ...run, link: "v=1&seed=2" };
  const { lines, different } = compare({ pinned: [other], native: [run], node: everywhere, chromium: everywhere });
  assert.equal(different, 1);
  assert.match(lines[1], /ANOTHER RUN$/);
});

test("a fold depends on the order and keeps leading zeros", () => {
  assert.equal(fold([]), "cbf29ce484222325");
  assert.notEqual(fold(["00000000000000aa", "00000000000000ab"]), fold(["00000000000000ab", "00000000000000aa"]));
  assert.match(fold(["0000000000000000"]), /^[0-9a-f]{16}$/);
});

test("empty lines are no Runs", () => {
  assert.deepEqual(readLines('{"name":"a"}\n\n'), [{ name: "a" }]);
});
