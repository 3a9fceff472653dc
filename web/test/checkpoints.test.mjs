/** The table of memory checkpoints: sharing, lineage, thinning, restoring. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CheckpointTable, diffPages, PAGE_BYTES, restoreInto, thinnest } from "../sim/checkpoints.js";

/**
 * @param {number[]} values one byte for each page
 * @returns {Uint8Array}
 */
function image(values) {
  const bytes = new Uint8Array(values.length * PAGE_BYTES);
  values.forEach((value, page) => bytes.fill(value, page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
  return bytes;
}

const own = [{ branch: 1, until: Number.POSITIVE_INFINITY }];

test("unchanged pages are shared and counted once", () => {
  const table = new CheckpointTable(100 * PAGE_BYTES);
  const first = table.add(0, 1, image([1, 2, 3]), null);
  const second = table.add(10, 1, image([1, 9, 3]), first);
  assert.equal(table.bytes, 4 * PAGE_BYTES);
  assert.equal(second.pages[0], first.pages[0]);
  assert.notEqual(second.pages[1], first.pages[1]);
  table.remove(first);
  assert.equal(table.bytes, 3 * PAGE_BYTES);
});

test("a memory that grew keeps its new pages", () => {
  const before = diffPages(image([1]), []);
  const after = diffPages(image([1, 2]), before);
  assert.equal(after.length, 2);
  assert.equal(after[0], before[0]);
});

test("a difference in the last word of a page is seen", () => {
  const bytes = image([0]);
  const before = diffPages(bytes, []);
  bytes[PAGE_BYTES - 1] = 1;
  assert.notEqual(diffPages(bytes, before)[0], before[0]);
});

test("restoring gives the bytes back", () => {
  const table = new CheckpointTable(100 * PAGE_BYTES);
  const entry = table.add(5, 1, image([7, 8]), null);
  const memory = image([0, 0, 0]);
  restoreInto(entry, memory);
  assert.equal(memory[0], 7);
  assert.equal(memory[2 * PAGE_BYTES - 1], 8);
  assert.equal(memory[2 * PAGE_BYTES], 0);
});

test("the nearest checkpoint is one's own past, never a sibling's", () => {
  const table = new CheckpointTable(100 * PAGE_BYTES);
  for (const tick of [0, 10, 20]) table.add(tick, 1, image([tick]), null);
  table.add(15, 2, image([99]), null);
  assert.equal(table.nearest(19, own)?.tick, 10);
  const fork = [{ branch: 2, until: Number.POSITIVE_INFINITY }, { branch: 1, until: 12 }];
  assert.equal(table.nearest(19, fork)?.branch, 2);
  assert.equal(table.nearest(14, fork)?.tick, 10);
  assert.equal(table.nearest(25, fork)?.tick, 15);
  assert.equal(table.nearest(5, [{ branch: 3, until: 100 }]), null);
});

test("checkpoints taken out of order stand in order", () => {
  const table = new CheckpointTable(100 * PAGE_BYTES);
  for (const tick of [30, 10, 20]) table.add(tick, 1, image([tick]), null);
  assert.deepEqual(table.entries.map((entry) => entry.tick), [10, 20, 30]);
});

test("thinning keeps to the budget, the ends, and an even spread", () => {
  const table = new CheckpointTable(8 * PAGE_BYTES);
  for (let tick = 0; tick <= 400; tick += 10) table.add(tick, 1, image([tick % 251]), null);
  const ticks = table.entries.map((entry) => entry.tick);
  assert.ok(table.bytes <= 8 * PAGE_BYTES);
  assert.equal(ticks[0], 0);
  assert.equal(ticks.at(-1), 400);
  const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
  assert.ok(Math.max(...gaps) <= 160, `gaps ${gaps}`);
});

test("the tick that is missed least has the nearest neighbours", () => {
  assert.equal(thinnest([0, 10, 11, 12, 50]), 2);
  assert.equal(thinnest([0, 100, 101]), 1);
});
