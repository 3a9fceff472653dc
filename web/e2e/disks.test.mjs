/**
 * Disks, as a person damages and sees them: each verb its act, the cracked cell wherever an op is drawn, the rates with
 * what follows from them, and swarm with every value it drew. It must never ask the engine directly.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";
import { Person, QUICK } from "./person.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

/** Seven ops are on all disks, and nothing moves. */
const QUIET = "v=1&seed=7&load=0&heartbeat=6&heartbeat-wait=18&probe=20&repair-retry=20&slots=32&do=1.warm.6&at=204";

test("each verb of a disk has its button, and its button its act", async () => {
  const person = await Person.calm(site);
  await person.open(QUIET);
  await person.replica(1, "backup").click();
  await person.button("Disk…").click();
  const { page } = person;
  const verbs = page.getByRole("list", { name: "Verbs of the disk of replica 1" });
  const press = (/** @type {string} */ name) => person.acts(verbs.getByRole("button", { name, exact: true }));
  assert.equal(await press("Rot op 7"), "205.corrupt.1.op7.prepare");
  await page.getByRole("spinbutton", { name: "op", exact: true }).fill("5");
  await page.getByRole("combobox", { name: "Part of the op" }).selectOption("both");
  assert.equal(await press("Rot op 5"), "206.corrupt.1.op5.both");
  assert.equal(await press("Erase op 5"), "207.punch.1.op5");
  await page.getByRole("spinbutton", { name: "op", exact: true }).fill("4");
  await page.getByRole("spinbutton", { name: "Op whose place it took" }).fill("2");
  assert.equal(await press("Misplace op 4"), "208.misdirect.1.op4.op2");
  assert.equal(await press("Tear next crash"), "209.tear.1");
  assert.equal(await verbs.getByRole("button", { name: "Tear next crash" }).isDisabled(), true);
  assert.equal(await press("Lie about writes"), "210.lie.1");
  assert.equal(await press("Stop lying"), "211.lie.1.off");
  assert.equal(await press("Slow down"), "212.slow.1.20");
  await page.getByText("Every operation takes 20 times as long now.").waitFor();
  assert.equal(await press("Usual speed"), "213.slow.1.1");
  await page.getByRole("combobox", { name: "Replica whose disk is meant" }).selectOption("2");
  await page.getByRole("list", { name: "Verbs of the disk of replica 2" }).waitFor();
  await person.close();
});

test("an act that finds nothing to do says why at once", async () => {
  const person = await Person.calm(site);
  await person.open(QUIET);
  await person.replica(1, "backup").click();
  await person.button("Disk…").click();
  await person.page.getByRole("spinbutton", { name: "op", exact: true }).fill("90");
  assert.match(await person.acts(person.button("Erase op 90")), /\.punch\.1\.op90$/);
  await person.page.getByRole("status").getByText("Not done: the disk of replica 1 holds nothing of op 90 there.").waitFor();
  await person.close();
});

test("a damaged op is cracked in matrix, journal and stage until it is repaired", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(QUIET.replace("&at=204", "&act=200.corrupt.1.op5.prepare&at=204"));
  const damaged = page.getByRole("row", { name: /replica 1/ }).getByRole("cell", { name: "op 5 of view 0, committed, damaged on disk" });
  await damaged.waitFor();
  assert.equal(await damaged.locator(".crack").count(), 1, "by its shape, not by colour");
  assert.equal(await page.getByRole("cell", { name: /damaged/ }).count(), 1);
  await person.replica(1, "backup, view 0, committed 7 of 7, 1 damaged on disk").click();
  const journal = page.getByRole("region", { name: "Journal of replica 1" });
  const slot = journal.getByRole("listitem").filter({ hasText: "Slot 5:" });
  await slot.getByText("Slot 5: prepare of op 5, view 0: damaged; header of op 5, view 0: whole.").waitFor();
  assert.equal(await slot.locator(".crack").count(), 1);
  assert.equal(await journal.getByRole("listitem").count(), 32, "every slot is there");
  const copies = page.getByRole("region", { name: "Superblock of replica 1" });
  assert.equal(await copies.getByRole("row").count(), 5, "a heading and four copies");
  assert.match(await person.acts(person.button("Crash replica 1")), /\.crash\.1$/);
  await page.getByRole("cell", { name: "op 5 of view 0, its header alone, damaged on disk" }).waitFor();
  assert.match(await person.acts(person.button("Restart replica 1")), /\.restart\.1$/);
  await person.playUntil(person.replica(1, "backup, view 0, committed 7 of 7$"));
  assert.equal(await page.getByRole("cell", { name: /damaged/ }).count(), 0, "the others had it");
  await person.close();
});

test("slots of the journal are told in words, by pointer and by keyboard", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(QUIET.replace("&at=204", "&act=200.misdirect.1.op6.op7&at=204"));
  await person.replica(1, "backup").click();
  const journal = page.getByRole("region", { name: "Journal of replica 1" });
  const told = journal.locator(".told");
  await journal.locator("[data-slot='7']").hover();
  await told.getByText("prepare of op 6, view 0: that of another slot; header of op 7").waitFor();
  await journal.locator("[data-slot='0']").focus();
  await page.keyboard.press("ArrowRight");
  await told.getByText("Slot 1: prepare of op 1, view 0: whole").waitFor();
  await page.keyboard.press("ArrowDown");
  await told.getByText("Slot 17: never written.").waitFor();
  await person.close();
});

test("rates of disks are settings of the script, and say what follows from them", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(QUIET);
  await person.tab("Faults");
  const disks = page.getByRole("region", { name: "Disks, by dice" });
  const set = async (/** @type {string} */ name, /** @type {string} */ position) => {
    const before = (await person.place()).acts.join("_");
    await disks.getByRole("slider", { name, exact: true }).fill(position);
    return person.lastAct(before);
  };
  assert.equal(await set("tear in a crash", "1000"), "205.set.tear.1000000");
  await page.getByText("Writes tear only in a crash, and nothing crashes by itself.").waitFor();
  assert.equal(await set("rot, a write", "500"), "206.set.rot.50000");
  assert.equal(await set("go astray, a write", "500"), "207.set.misdirect.50000");
  assert.equal(await set("begin to lie, a tick", "1000"), "208.set.lie.20000");
  await page.getByText("The fault atlas lets no disk lie by dice").waitFor();
  assert.equal(await set("turn slow, a tick", "1000"), "209.set.slow.20000");
  assert.equal(await person.acts(disks.getByRole("checkbox", { name: /^fault atlas/ })), "210.set.atlas.no");
  await page.getByText("Without the fault atlas damage may take the last copy of an op.").waitFor();
  assert.equal(await page.getByText("The fault atlas lets no disk lie by dice").count(), 0);
  const parted = page.getByRole("region", { name: "Partitions, by dice" });
  const before = (await person.place()).acts.join("_");
  await parted.getByRole("combobox", { name: "who is parted" }).selectOption("isolate-single");
  assert.equal(await person.lastAct(before), "211.set.partition-mode.isolate-single");
  await person.close();
});

test("swarm draws everything and prints every value", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(QUIET);
  await person.tab("Run");
  const { link } = await person.place();
  await page.getByRole("combobox", { name: "Fault profile to start with" }).selectOption("swarm");
  await person.elsewhere(link);
  assert.match((await person.place()).link, /^v=1&seed=7&faults=swarm&at=0&/, "nothing given stands in the way of what is drawn");
  await page.getByRole("button", { name: "All of them" }).click();
  const shown = await page.locator("vsr-faults").evaluate((panel) => panel.shadowRoot?.querySelectorAll(".drawn dt").length);
  assert.ok(Number(shown) >= 38, `${shown} values`);
  for (const name of ["who is parted", "writes tear in a crash", "heartbeat wait", "a client asks again after"]) {
    await page.getByRole("term").filter({ hasText: name }).waitFor();
  }
  await person.close();
});

test("swarm chosen in a running run is an act", async () => {
  const person = await Person.calm(site);
  await person.open(QUIET);
  await person.tab("Faults");
  assert.equal(await person.acts(person.page.getByRole("group", { name: "Fault profile" }).getByRole("button", { name: "swarm" })), "205.profile.swarm");
  await person.page.getByText("Every value that swarm drew from seed 7").waitFor();
  await person.close();
});

test("the knobs of the protocol are acts, with a sentence each", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  await person.tab("Protocol");
  const knob = page.getByRole("slider", { name: "heartbeat wait", exact: true });
  const before = (await person.place()).acts.join("_");
  await knob.fill("9");
  assert.equal(await person.lastAct(before), "205.set.heartbeat-wait.9");
  await page.getByText("Fewer than two heartbeats fit into the heartbeat wait").waitFor();
  const hints = await page.locator("vsr-protocol").evaluate((panel) => {
    const sliders = [...(panel.shadowRoot?.querySelectorAll("input[type=range]") ?? [])];
    return sliders.map((slider) => panel.shadowRoot?.getElementById(slider.getAttribute("aria-describedby") ?? "")?.textContent ?? "");
  });
  assert.ok(hints.length >= 12 && hints.every((hint) => hint.length > 20), hints.join(" | "));
  await person.close();
});
