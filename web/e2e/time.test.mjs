/**
 * Time travel: stepping by event, scrubbing, branches. Wherever the page stands, its hash is that of a fresh replay of its
 * link in an engine that never went back. It must never compare the page with itself alone.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";
import { engine, Person, QUICK, replayer } from "./person.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
/** @type {(link: string) => string} */
let replay;
before(async () => {
  site = await openSite();
  replay = await replayer();
});
after(() => site?.close());

const LONG = `v=1&seed=11&replicas=5&clients=3&faults=heavy&crash=0.003&restart=0.02&${QUICK.replace(/load=[^&]*|delay[^&]*/g, "").replace(/&+/g, "&").replace(/^&/, "")}&load=0.1&at=3000`;

/** @param {Person} person */
async function isAsReplayed(person) {
  const place = await person.place();
  assert.equal(place.hash, replay(place.link), `the hash at tick ${place.tick}`);
  return place;
}

/**
 * @param {string} link
 * @returns {string} the place it names
 */
function placeOf(link) {
  return /at=([^&]*)/.exec(link)?.[1] ?? "";
}

/**
 * Presses on the timeline.
 * @param {Person} person
 * @param {number} part of its width
 */
async function scrub(person, part) {
  const { tick } = await person.place();
  const box = await person.timeline.boundingBox();
  assert.ok(box);
  await person.timeline.click({ position: { x: Math.round(box.width * part), y: box.height / 2 } });
  await person.page.waitForFunction((before) => {
    const app = /** @type {any} */ (document.querySelector("vsr-app"));
    return app.tick !== before && !app.isSeeking;
  }, tick);
}

test("one request, step by step: Request, Prepare, PrepareOk, Reply", async () => {
  const person = await Person.calm(site);
  await person.open("v=1&seed=7&load=0&act=1.warm.1&at=102");
  const filter = person.page.getByRole("group", { name: "Filter events" });
  await filter.getByRole("button", { name: "packets" }).click();
  assert.match(await person.acts(person.button("Write a request")), /\.write\.c0$/);
  /** @type {string[]} */
  const seen = [];
  for (let step = 0; step < 40 && !seen.some((text) => /has the reply to request 2/.test(text)); step += 1) {
    const { link } = await person.place();
    await person.button("Step one event").click();
    await person.elsewhere(link);
    const rows = await person.log.getByRole("button").evaluateAll((buttons) => buttons.map((row) => row.getAttribute("title") ?? ""));
    for (const row of rows) if (!seen.includes(row)) seen.push(row);
    if (step % 6 === 0) await isAsReplayed(person);
  }
  const order = [
    /^Client 0 sent to 0: Request 2/,
    /^Replica 0 received from client 0: Request 2/,
    /^Replica 0 sent to [12]: Prepare of op 3/,
    /^Replica [12] received from 0: Prepare of op 3/,
    /^Replica [12] sent to 0: PrepareOk of op 3/,
    /^Replica 0 received from [12]: PrepareOk of op 3/,
    /^Replica 0 committed op 3/,
    /^Replica 0 sent to client 0: the Reply of op 3/,
    /^Client 0 received from 0: the Reply of op 3/,
    /^Client 0 has the reply to request 2/,
  ].map((pattern) => seen.findIndex((text) => pattern.test(text)));
  assert.ok(order.every((index, at) => index >= 0 && (at === 0 || index > (order[at - 1] ?? 0))), `${order}\n${seen.join("\n")}`);
  await person.close();
});

test("a step back undoes a step on, event by event", async () => {
  const person = await Person.calm(site);
  await person.open(`v=1&seed=7&${QUICK}&at=150`);
  /** @type {string[]} */
  const there = [];
  for (let step = 0; step < 12; step += 1) {
    const { link } = await person.place();
    there.push(placeOf(link));
    await person.button("Step one event").click();
    await person.elsewhere(link);
  }
  const back = [];
  for (let step = 0; step < 12; step += 1) {
    const { link } = await person.place();
    await person.button("One event back").click();
    await person.elsewhere(link);
    back.unshift(placeOf((await person.place()).link));
  }
  assert.deepEqual(back, there);
  await person.close();
});

test("a step back stops at every event, also at those that nothing is sent after", async () => {
  const person = await Person.calm(site);
  await person.open("v=1&seed=7&load=0&act=1.warm.1_101.write.c0&at=104");
  /** @type {string[]} */
  const there = [];
  for (let step = 0; step < 6; step += 1) {
    const { link } = await person.place();
    there.push(placeOf(link));
    await person.button("Step one event").click();
    await person.elsewhere(link);
  }
  const back = [];
  for (let step = 0; step < 6; step += 1) {
    const { link } = await person.place();
    await person.button("One event back").click();
    await person.elsewhere(link);
    back.unshift(placeOf((await person.place()).link));
  }
  assert.deepEqual(back.slice(1), there.slice(1));
  await person.close();
});

test("a row of the log leads to just after its event", async () => {
  const person = await Person.calm(site);
  await person.open("v=1&seed=7&load=0&act=1.warm.1_101.write.c0&at=108");
  const row = person.log.getByRole("button", { name: /replica \d appended op 3 to its log$/ }).last();
  const { link } = await person.place();
  await row.click();
  await person.elsewhere(link);
  await person.page.getByRole("cell", { name: "head 3, committed 2" }).nth(2).waitFor();
  await row.waitFor();
  await isAsReplayed(person);
  await person.close();
});

test("scrubbing back and forth lands on the same hash at the same tick", async () => {
  const person = await Person.calm(site);
  await person.open(LONG);
  const end = await isAsReplayed(person);
  /** @type {Map<number, string>} */
  const seen = new Map([[end.tick, end.hash]]);
  const look = async () => {
    const { tick, hash } = await isAsReplayed(person);
    assert.equal(seen.get(tick) ?? hash, hash, `the hash at tick ${tick} is another than before`);
    seen.set(tick, hash);
  };
  for (const part of [0.5, 0.1, 0.9, 0.5, 0.33, 0.1, 0.9]) {
    await scrub(person, part);
    await look();
  }
  await person.timeline.focus();
  for (const key of ["ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "PageDown", "PageUp", "Home", "End", "PageDown", "Home"]) {
    const { tick } = await person.place();
    await person.page.keyboard.press(key);
    await person.page.waitForFunction((before) => {
      const app = /** @type {any} */ (document.querySelector("vsr-app"));
      return app.tick !== before && !app.isSeeking;
    }, tick);
    await look();
  }
  await person.button("Return to live").click();
  await person.at(end.tick);
  await look();
  assert.equal(await person.button("Return to live").count(), 0);
  await person.close();
});

test("the timeline of an opened link is painted with every view that led", async () => {
  const person = await Person.calm(site);
  await person.open(`v=1&seed=7&${QUICK}&act=300.crash.0_500.restart.0_600.crash.1&at=900`);
  const labels = await person.timeline.getByText(/^view \d+$/).allInnerTexts();
  assert.deepEqual(labels, ["view 0", "view 1", "view 2"]);
  const before = await person.timeline.innerHTML();
  await person.page.keyboard.press("Home");
  await person.at(0);
  await person.page.keyboard.press("End");
  await person.at(900);
  assert.equal(await person.timeline.innerHTML(), before, "going there again paints nothing else");
  await person.close();
});

test("acting in the past starts a branch, and the old future keeps its hash", async () => {
  const person = await Person.calm(site);
  await person.open(`v=1&seed=7&${QUICK}&act=300.crash.0&at=500`);
  const old = await isAsReplayed(person);
  await scrub(person, 0.4);
  await person.button("Return to live").waitFor();
  const { tick } = await isAsReplayed(person);
  await person.replica(2).click();
  assert.equal(await person.acts(person.button("Crash replica 2")), `${tick + 1}.crash.2`);
  await person.replica(2, "crashed").waitFor();
  const rail = person.page.getByRole("group", { name: "Other branches" }).getByRole("button");
  await rail.waitFor();
  assert.deepEqual((await isAsReplayed(person)).acts, [`${tick + 1}.crash.2`]);
  await person.seconds(2);
  await person.replica(0, "primary, view 0").waitFor();
  await isAsReplayed(person);

  await rail.click();
  await person.at(old.tick);
  const back = await isAsReplayed(person);
  assert.equal(back.hash, old.hash);
  assert.deepEqual(back.acts, ["300.crash.0"]);
  await person.replica(0, "crashed").waitFor();

  await rail.click();
  await person.at(tick + 201);
  await person.replica(2, "crashed").waitFor();
  await isAsReplayed(person);
  await person.close();
});

test("undo goes back to before the act, redo forwards again", async () => {
  const person = await Person.calm(site);
  await person.open(`v=1&seed=7&${QUICK}&at=200`);
  await person.replica(0).click();
  await person.acts(person.button("Crash replica 0"));
  await person.seconds(1);
  const crashed = await isAsReplayed(person);
  await person.tab("Run");
  await person.button("Undo").click();
  await person.at(200);
  assert.deepEqual((await isAsReplayed(person)).acts, []);
  await person.replica(0, "primary").waitFor();
  await person.button("Redo").click();
  await person.at(crashed.tick);
  assert.equal((await isAsReplayed(person)).hash, crashed.hash);
  await person.close();
});

test("images of the memory, restored in any order, say the same as when they were taken", async () => {
  const { memory, Playground } = await engine("images");
  const run = new Playground(`v=1&seed=7&${QUICK}`);
  const image = () => new Uint8Array(memory.buffer).slice();
  const restore = (/** @type {Uint8Array} */ bytes) => new Uint8Array(memory.buffer).set(bytes);
  const look = () => JSON.stringify([run.frame(), run.events(0, 1000), run.verdict(), [...run.packets()]]);
  const first = image();
  const start = look();
  run.advance_ticks(30);
  const early = image();
  run.act("crash.2");
  run.advance_ticks(1);
  const crashed = image();
  const withCrash = look();
  restore(early);
  run.act("cut.0-12");
  run.advance_ticks(60);
  const withCut = look();
  const cut = image();
  for (const [bytes, said] of /** @type {const} */ ([[crashed, withCrash], [first, start], [cut, withCut], [crashed, withCrash]])) {
    restore(bytes);
    assert.equal(look(), said);
  }
});

test("from every checkpoint, going on and acting gives what a fresh replay gives", async () => {
  const person = await Person.calm(site);
  await person.open(LONG.replace("at=3000", "at=20000"));
  const end = await isAsReplayed(person);
  const all = await person.checkpoints();
  assert.ok(all.length >= 4, `checkpoints at ${all}`);
  await person.tab("Run");
  for (const [index, checkpoint] of all.entries()) {
    const next = all[index + 1] ?? end.tick;
    // Of many, some: each costs replays from the start. What is too near to the next cannot be hit on the timeline.
    if (next - checkpoint < 60 || (all.length > 8 && index % Math.ceil(all.length / 8) !== 0)) continue;
    await scrub(person, (checkpoint + (next - checkpoint) * 0.5) / end.tick);
    const { tick } = await isAsReplayed(person);
    assert.ok(tick >= checkpoint && tick < next, `tick ${tick} is between ${checkpoint} and ${next}`);
    await person.button("Write a request").click();
    await person.at(tick + 1);
    await isAsReplayed(person);
    await person.seconds(1);
    await isAsReplayed(person);
    await person.button(/^as opened/).click();
    await person.at(end.tick);
    assert.equal((await isAsReplayed(person)).hash, end.hash);
  }
  await person.close();
});
