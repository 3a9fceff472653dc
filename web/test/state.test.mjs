/** The store and the pure transitions around it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { actWords, restOf, sidesAct } from "../acts.js";
import { clockText, listText, paceText, percentText } from "../format.js";
import { initialState, Store, toggleReplica } from "../state.js";
import { markOf, spanAfter, spansAfter } from "../state/marks.js";
import { isQuiet, signatureOf, skippableTicks } from "../state/pacing.js";

/** @typedef {import("../types.js").Frame} Frame */

/**
 * @param {object} change
 * @returns {any}
 */
function replica(change) {
  return {
    id: 0, up: true, paused: false, status: "normal", primary: false, view: 0, log_view: 0, head: 0, held: 0,
    commit_min: 0, commit_max: 0, leave_votes: [], log_votes: [], timers: [], ...change,
  };
}

/**
 * @param {any[]} replicas
 * @param {any[]} clients
 * @returns {Frame}
 */
function frame(replicas, clients = []) {
  return /** @type {any} */ ({ replicas, clients });
}

test("a click selects one, a second click nothing, shift adds", () => {
  const one = toggleReplica({ kind: "none" }, 2, false);
  assert.deepEqual(one, { kind: "replicas", ids: [2] });
  assert.deepEqual(toggleReplica(one, 2, false), { kind: "none" });
  const two = toggleReplica(one, 0, true);
  assert.deepEqual(two, { kind: "replicas", ids: [0, 2] });
  assert.deepEqual(toggleReplica(two, 2, true), { kind: "replicas", ids: [0] });
  assert.deepEqual(toggleReplica(two, 1, false), { kind: "replicas", ids: [1] });
});

test("the store tells its listeners, and only those", () => {
  const store = new Store();
  const seen = /** @type {string[]} */ ([]);
  const leave = store.subscribe((state) => seen.push(state.tab));
  store.showTab("faults");
  leave();
  store.showTab("run");
  assert.deepEqual(seen, ["faults"]);
  assert.equal(store.state.tab, "run");
  assert.equal(initialState().tab, "inspector");
});

test("sides of a cut are digits before and behind a dash", () => {
  assert.deepEqual(restOf([0, 2], 4), [1, 3]);
  assert.equal(sidesAct("cut", [0, 1], [2]), "cut.01-2");
});

test("acts read as words for the name of a branch", () => {
  assert.equal(actWords("731.crash.2"), "crash 2");
  assert.equal(actWords("cut.01-2"), "cut 0 and 1 | 2");
  assert.equal(actWords("clog.0to2.200"), "clog 0 → 2");
  assert.equal(actWords("unknown.x"), "unknown");
});

test("numbers read as people say them", () => {
  assert.equal(clockText(731), "00:07.310");
  assert.equal(clockText(360_000), "60:00.000");
  assert.equal(paceText(2), "1 s = 20 ms");
  assert.equal(paceText(100), "1 s = 1 s");
  assert.equal(percentText(5000), "0.5 %");
  assert.equal(listText([0, 1, 2]), "0, 1 and 2");
});

test("heartbeats and retries are quiet, a prepare is not", () => {
  const clients = [{ attempts: 2, state: "waiting", request: 1, replies: 0 }];
  const still = frame([replica({})], clients);
  const packet = (/** @type {number} */ kind, from = "0") => /** @type {any} */ ({ kind, from, isHeld: false });
  assert.equal(isQuiet(still, [packet(5), packet(0, "c0")], 0), true);
  assert.equal(isQuiet(still, [packet(1)], 0), false);
  assert.equal(isQuiet(still, [packet(1)], 100), true);
});

test("skipping stops before a timer that decides", () => {
  const waits = replica({ timers: [{ timer: "heartbeat-wait", left: 40, of: 500 }, { timer: "heartbeat", left: 2, of: 50 }] });
  assert.equal(skippableTicks(frame([waits])), 37);
  assert.equal(skippableTicks(frame([replica({ ...waits, up: false })])), Number.POSITIVE_INFINITY);
  assert.equal(skippableTicks(frame([replica({ timers: [{ timer: "heartbeat-wait", left: 1, of: 9 }] })])), 0);
});

test("the signature changes with a replica and not with its timers", () => {
  const a = frame([replica({ timers: [{ timer: "heartbeat", left: 1, of: 2 }] })]);
  const b = frame([replica({})]);
  assert.equal(signatureOf(a), signatureOf(b));
  assert.notEqual(signatureOf(b), signatureOf(frame([replica({ head: 1 })])));
});

test("a view is led from its start until it is left or its primary crashes", () => {
  const row = (/** @type {object} */ change) =>
    /** @type {any} */ ({ tick: 9, class: "view-change", big: true, replica: 1, client: null, text: "", op: null, view: 1, ...change });
  const led = { from: 0, view: 0 };
  assert.deepEqual(spanAfter(led, row({}), 3), { from: 9, view: null });
  assert.deepEqual(spanAfter({ from: 9, view: null }, row({ op: 4 }), 3), { from: 9, view: 1 });
  assert.equal(spanAfter({ from: 9, view: 1 }, row({}), 3), null);
  const crash = { class: "fault", view: null, text: "crashed; no write was under way" };
  assert.deepEqual(spanAfter(led, row({ ...crash, replica: 0 }), 3), { from: 9, view: null });
  assert.equal(spanAfter(led, row({ ...crash, replica: 2 }), 3), null);
});

test("marks come from what is big, replies and violations", () => {
  const row = (/** @type {object} */ change) =>
    /** @type {any} */ ({ number: 1, tick: 1, step: 1, class: "decision", big: false, replica: null, client: null, text: "", op: null, view: null, ...change });
  assert.equal(markOf(row({})), null);
  assert.equal(markOf(row({ class: "client", client: 0, op: 3 }))?.kind, "reply");
  assert.equal(markOf(row({ class: "fault", big: true, replica: 0, text: "crashed; no write was under way" }))?.kind, "crash");
  assert.equal(markOf(row({ class: "fault", big: true, replica: 0, text: "restarts; this is its life 2" }))?.kind, "restart");
  assert.equal(markOf(row({ class: "fault", big: true, text: "by hand: cut 0 off from 1" }))?.kind, "link");
  assert.equal(markOf(row({ class: "violation" }))?.kind, "violation");
});

test("a view of one group begins and ends for that group alone", () => {
  const row = (/** @type {object} */ change) =>
    /** @type {any} */ ({ tick: 9, class: "view-change", big: true, replica: 1, client: null, text: "", op: 4, view: 1, ...change });
  const start = [{ from: 0, view: 0 }];
  const begun = spansAfter(start, row({ group: "g1" }), 3, ["g0", "g1"]);
  assert.deepEqual(begun, [{ from: 9, view: 1, group: "g1" }]);
  const crash = row({ class: "fault", text: "crashed; no write was under way", op: null, view: null, replica: 0, tick: 12 });
  assert.deepEqual(spansAfter([...start, ...begun], crash, 3, ["g0", "g1"]), [{ from: 12, view: null, group: "g0" }]);
  assert.deepEqual(spansAfter(start, crash, 3), [{ from: 12, view: null }]);
});
