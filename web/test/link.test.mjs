/** The page's helpers over a link's text. They must agree with the engine's grammar, never redo its judgement. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { actsAfter, actsOf, actsUpTo, clusterOf, comparePositions, mergeLink, pairsOf, parsePosition, positionText, runOf, valueOf } from "../link.js";

const link = "v=1&seed=211&replicas=3&act=40.crash.0_55.heal&at=60&epoch=1&hash=9f3ac01277aa01de";

test("pairs keep their order and tolerate a hash sign", () => {
  assert.deepEqual(pairsOf("#v=1&seed=7"), [["v", "1"], ["seed", "7"]]);
  assert.deepEqual(pairsOf(""), []);
  assert.deepEqual(pairsOf("v"), [["v", ""]]);
});

test("merging replaces in place, adds at the end and removes", () => {
  assert.equal(mergeLink("v=1&seed=7&faults=none", { seed: 9 }), "v=1&seed=9&faults=none");
  assert.equal(mergeLink("v=1&seed=7", { loss: 0.02 }), "v=1&seed=7&loss=0.02");
  assert.equal(mergeLink("v=1&seed=7&act=1.heal", { act: null }), "v=1&seed=7");
  assert.equal(mergeLink("v=1", { act: null }), "v=1");
});

test("a seed above 2^53 is carried as text", () => {
  assert.equal(mergeLink("v=1&seed=1", { seed: "18446744073709551615" }), "v=1&seed=18446744073709551615");
});

test("the run is the link without a place, the cluster is the run without what was done", () => {
  assert.equal(runOf(link), "v=1&seed=211&replicas=3&act=40.crash.0_55.heal");
  assert.equal(clusterOf(link), "v=1&seed=211&replicas=3");
  assert.equal(clusterOf("v=1&story=opening&seed=2"), "v=1&seed=2");
});

test("acts split by tick", () => {
  const acts = actsOf(link);
  assert.deepEqual(acts, ["40.crash.0", "55.heal"]);
  assert.deepEqual(actsUpTo(acts, 40), ["40.crash.0"]);
  assert.deepEqual(actsAfter(acts, 40), ["55.heal"]);
  assert.deepEqual(actsOf("v=1"), []);
});

test("positions read and write as links do", () => {
  assert.deepEqual(parsePosition("1234.7"), { tick: 1234, step: 7 });
  assert.deepEqual(parsePosition("1234"), { tick: 1234, step: 0 });
  assert.equal(parsePosition("12x"), null);
  assert.equal(positionText({ tick: 5, step: 0 }), "5");
  assert.equal(positionText({ tick: 5, step: 2 }), "5.2");
  assert.equal(valueOf(link, "at"), "60");
});

test("a whole tick stands behind the events in it", () => {
  const places = [{ tick: 6, step: 1 }, { tick: 5, step: 0 }, { tick: 5, step: 9 }, { tick: 5, step: 1 }];
  places.sort(comparePositions);
  assert.deepEqual(places.map(positionText), ["5.1", "5.9", "5", "6.1"]);
});
