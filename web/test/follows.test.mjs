/** What follows from settings: each sentence comes with its cause, and goes with it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { followsFromFaults, followsFromKnobs } from "../follows.js";

/**
 * @param {Record<string, unknown>} faults
 * @param {Record<string, number>} knobs
 * @param {number} replicas
 * @returns {any}
 */
function frame(faults, knobs = {}, replicas = 3) {
  return {
    faults: { delay_mean_ticks: 4, partition_mode: "none", atlas: true, ...faults },
    knobs: { heartbeat_ticks: 50, heartbeat_wait_ticks: 500, view_change_wait_ticks: 500, abdicate_ticks: 1000, pipeline_max: 8, ...knobs },
    quorums: { replication: 2, view_change: 2, nack: 2 },
    replica_count: replicas,
  };
}

test("calm settings need no sentence", () => {
  assert.deepEqual(followsFromFaults(frame({})), []);
  assert.deepEqual(followsFromKnobs(frame({})), []);
});

for (const [cause, faults, sentence] of /** @type {[string, Record<string, unknown>, RegExp][]} */ ([
  ["long delays", { delay_mean_ticks: 200 }, /longer than the heartbeat wait: expect view changes/],
  ["heavy loss", { loss_per_million: 600_000 }, /miss a living primary/],
  ["partitions that never end", { partition_per_million: 1, partition_mode: "uniform-size" }, /never end/],
  ["partitions of no kind", { partition_per_million: 1, unpartition_per_million: 1 }, /no.* kind/i],
  ["crashes without restarts", { crash_per_million: 1 }, /stay down, until 2 are left/],
  ["torn writes without crashes", { tear_per_million: 1 }, /only in a crash/],
  ["lies under the atlas", { lie_per_million: 1 }, /no disk lie by dice/],
  ["slow disks", { slow_per_million: 1 }, /5 to 50 times/],
  ["rot without the atlas", { rot_per_million: 1, atlas: false }, /last copy/],
])) {
  test(`${cause} have one`, () => {
    const said = followsFromFaults(frame(faults));
    assert.equal(said.length, 1, said.join(" "));
    assert.match(said[0] ?? "", sentence);
  });
}

test("a lone replica has nobody to repair it", () => {
  assert.match(followsFromFaults(frame({ rot_per_million: 1 }, {}, 1))[0] ?? "", /lone replica/);
  assert.deepEqual(followsFromFaults(frame({ rot_per_million: 1 })), []);
});

for (const [cause, knobs, sentence] of /** @type {[string, Record<string, number>, RegExp][]} */ ([
  ["a wait of less than two heartbeats", { heartbeat_wait_ticks: 90 }, /two heartbeats/],
  ["a short view-change wait", { view_change_wait_ticks: 10 }, /none starts/],
  ["a short abdication wait", { abdicate_ticks: 5 }, /before acks/],
  ["a pipeline of one", { pipeline_max: 1 }, /One op at a time/],
])) {
  test(`${cause} has one`, () => {
    const said = followsFromKnobs(frame({}, knobs));
    assert.equal(said.length, 1, said.join(" "));
    assert.match(said[0] ?? "", sentence);
  });
}
