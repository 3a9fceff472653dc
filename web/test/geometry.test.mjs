/** Where things stand on the stage. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { arcPath, behindObstacle, islandsOf, laneOf, layoutOf, leftOf, OBSTACLE, progressOf, wallPath } from "../geometry.js";

const margin = { left: 8, right: 8, top: 12, bottom: 8 };

test("every replica and client stands inside the stage, at any size", () => {
  for (const [width, height] of [[360, 300], [390, 320], [820, 600], [1400, 700]]) {
    for (let replicas = 1; replicas <= 9; replicas += 1) {
      for (let clients = 1; clients <= 8; clients += 1) {
        const layout = layoutOf(width ?? 0, height ?? 0, replicas, clients, margin);
        for (const { x, y } of [...layout.replicas, ...layout.clients]) {
          assert.ok(x > 0 && x < (width ?? 0), `${replicas}×${clients} at ${width}: x ${x}`);
          assert.ok(y > 0 && y < (height ?? 0), `${replicas}×${clients} at ${width}×${height}: y ${y}`);
        }
      }
    }
  }
});

test("replicas do not lie on each other", () => {
  for (const [width, height] of [[360, 300], [1400, 700]]) {
    for (let count = 2; count <= 9; count += 1) {
      const { replicas, radius } = layoutOf(width ?? 0, height ?? 0, count, 1, margin);
      replicas.forEach((a, i) => {
        for (const b of replicas.slice(i + 1)) {
          const distance = Math.hypot(a.x - b.x, a.y - b.y);
          assert.ok(distance > radius * 2, `${count} at ${width}: ${distance} of ${radius * 2}`);
        }
      });
    }
  }
});

test("two directions of a link have lanes of their own", () => {
  const layout = layoutOf(800, 600, 3, 1, margin);
  const there = laneOf(layout, "0", "1");
  const back = laneOf(layout, "1", "0");
  assert.ok(Math.hypot(there.a.x - back.b.x, there.a.y - back.b.y) > 8);
});

test("a packet leaves when sent and arrives when due", () => {
  assert.equal(progressOf(10, 14, 10), 0);
  assert.equal(progressOf(10, 14, 12), 0.5);
  assert.equal(progressOf(10, 14, 99), 1);
  assert.equal(progressOf(10, 10, 10), 1);
});

test("what waits stands before the obstacle, one behind the other", () => {
  const first = behindObstacle(1, true, 0);
  const second = behindObstacle(1, true, 1);
  assert.ok(first < OBSTACLE && second < first);
  assert.equal(behindObstacle(0.9, false, 3), 0.9);
});

test("islands are what no frame crosses either way", () => {
  const cut = (/** @type {[number, number][]} */ pairs) => (/** @type {number} */ a, /** @type {number} */ b) =>
    pairs.some(([x, y]) => x === a && y === b);
  assert.deepEqual(islandsOf(3, cut([])), [[0, 1, 2]]);
  assert.deepEqual(islandsOf(3, cut([[0, 1], [1, 0], [0, 2], [2, 0]])), [[0], [1, 2]]);
  assert.deepEqual(islandsOf(3, cut([[0, 1], [0, 2]])), [[0, 1, 2]]);
});

test("a wall is drawn around neighbours only", () => {
  const layout = layoutOf(800, 600, 5, 1, margin);
  assert.match(wallPath(layout, [0, 1]) ?? "", /^M.*Q/);
  assert.match(wallPath(layout, [4, 0]) ?? "", /^M.*Q/);
  assert.equal(wallPath(layout, [0, 2]), null);
  assert.equal(wallPath(layout, [0, 1, 2, 3, 4]), null);
});

test("a drawn line parts the ring", () => {
  const layout = layoutOf(800, 600, 3, 1, margin);
  const left = leftOf(layout, { x: layout.center.x - 400, y: layout.center.y }, { x: layout.center.x + 400, y: layout.center.y });
  assert.deepEqual(left, [0]);
});

test("an arc of everything is no point", () => {
  assert.match(arcPath({ x: 0, y: 0 }, 10, 1), /A10 10 0 1 1 -?0(\.0)? -10|A10 10 0 1 1 -0/);
});
