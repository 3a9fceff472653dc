/**
 * What a person does to the cluster by mouse: each control appends its act to the link, and the cluster answers. It must
 * never ask the engine directly.
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

// A packet is taken before the link that it is on: at this tick none is under way.
const RUNNING = `v=1&seed=7&${QUICK}&at=204`;
// Packets that take long, and one request: its Prepares are under way.
const SLOW = "v=1&seed=7&load=0&delay-min=20&delay-mean=20&act=1.warm.1_300.write.c0&at=344";

test("the primary crashes by a click, the next one leads, and the dead one rejoins", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await person.replica(0, "primary, view 0").click();
  assert.equal(await person.acts(person.button("Crash replica 0")), "205.crash.0");
  await person.replica(0, "crashed").waitFor();
  await person.playUntil(person.replica(1, "primary, view 1"));
  assert.match(await person.acts(person.button("Restart replica 0")), /\.restart\.0$/);
  await person.playUntil(person.replica(0, "backup, view 1"));
  const row = person.page.getByRole("row", { name: /replica 0 / });
  await row.getByRole("cell", { name: /head \d+, committed [1-9]/ }).waitFor();
  await person.close();
});

test("0 cut from 1 and 2: the others go on without it, and after Heal it follows them", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await person.replica(0, "primary, view 0").click();
  assert.equal(await person.acts(person.button("Cut off 0, both ways")), "205.cut.0-12");
  await person.link(0, 1, ": 0 to 1 cut; 1 to 0 cut").waitFor();
  await person.link(0, 2, ": 0 to 2 cut; 2 to 0 cut").waitFor();
  await person.playUntil(person.replica(1, "primary, view 1"));
  await person.replica(0, "thinks it leads, view 0").waitFor();
  assert.match(await person.acts(person.button("Heal all links")), /\.heal$/);
  await person.playUntil(person.replica(0, "backup, view 1"));
  assert.equal(await person.link(0, 1, "$").count(), 1, "nothing lies on the link");
  assert.equal(await person.button("Heal all links").isDisabled(), true);
  await person.close();
});

test("a link cut one way: its other direction still carries packets", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await person.link(0, 1).click();
  assert.equal(await person.acts(person.button("Cut link 0 to 1, one way")), "205.mute.0-1");
  await person.link(0, 1, ": 0 to 1 cut$").waitFor();
  await person.playUntil(person.log.getByRole("button", { name: /replica 0 did not reach 1 with .*: the link is cut/ }).first());
  assert.match(await person.acts(person.button("Join link 0–1 again")), /\.join\.0-1$/);
  await person.link(0, 1, "$").waitFor();
  await person.close();
});

test("a cluster that cannot commit says why, whichever way one came there", async () => {
  const person = await Person.calm(site);
  const why = person.page.getByText("Why is nothing committing?");
  await person.open(`v=1&seed=7&${QUICK}&act=205.cut.0-12_230.cut.1-2&at=420`);
  await why.waitFor();
  const said = await why.locator("..").innerText();
  await person.page.keyboard.press("Home");
  await why.waitFor({ state: "detached" });
  await person.page.keyboard.press("End");
  await person.at(420);
  assert.equal(await why.locator("..").innerText(), said);
  await person.button("Heal all links").click();
  await person.playUntil(person.log.getByRole("button", { name: /has the reply/ }).last());
  await why.waitFor({ state: "detached" });
  await person.close();
});

test("what a replica sends, or hears, is cut by one button each", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await person.replica(2, "backup").click();
  assert.equal(await person.acts(person.button("Cut what 2 sends, one way")), "205.mute.2-01");
  await person.link(0, 2, ": 2 to 0 cut$").waitFor();
  assert.equal(await person.acts(person.button("Join 2 again")), "206.join.2-01");
  await person.link(0, 2, "$").waitFor();
  assert.equal(await person.acts(person.button("Cut what 2 hears, one way")), "207.mute.01-2");
  await person.link(0, 2, ": 0 to 2 cut$").waitFor();
  await person.close();
});

test("behind a clog packets wait, with their count on the link, and then come all at once", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await person.link(0, 1).click();
  assert.equal(await person.acts(person.button("Clog link 0 to 1")), "205.clog.0to1.200");
  await person.link(0, 1, ": 0 to 1 clogged").waitFor();
  await person.seconds(1);
  const name = (await person.link(0, 1).getAttribute("aria-label")) ?? "";
  const waiting = Number(/0 to 1 clogged, (\d+) waiting, until tick 405/.exec(name)?.[1]);
  assert.ok(waiting >= 3, name);
  const drawn = person.page.getByRole("group", { name: "Cluster, drawn" }).getByText(String(waiting), { exact: true });
  assert.equal(await drawn.count(), 1, "the count is on the link");
  await person.seconds(1);
  await person.link(0, 1, "$").waitFor();
  const burst = person.log.getByRole("button", { name: /^405\s*, step \d+\s+replica 1 / });
  await burst.first().waitFor();
  assert.ok((await burst.count()) > 5, "they all came at tick 405");
  await person.close();
});

test("each act has its button, and its button its act", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  const { page } = person;

  await person.replica(1, "backup").click();
  assert.equal(await person.acts(person.button("Pause replica 1")), "205.pause.1");
  await person.replica(1, "paused").waitFor();
  assert.equal(await person.acts(person.button("Resume replica 1")), "206.resume.1");
  await person.replica(1, "backup").waitFor();

  // By keyboard: a heartbeat may lie before the link by now.
  await person.link(0, 2).focus();
  await page.keyboard.press("Enter");
  assert.equal(await person.acts(person.button("Delay link 0 to 2")), "207.delay.0to2.20");
  await person.link(0, 2, ": 0 to 2 slower by 200 ms").waitFor();
  const there = page.getByRole("region", { name: "From 0 to 2" });
  assert.equal(await person.acts(there.getByRole("checkbox", { name: "Prepare", exact: true })), "208.filter.0to2.Prepare");
  await person.link(0, 2, ": .*filters Prepare").waitFor();
  assert.equal(await person.acts(there.getByRole("checkbox", { name: "Prepare", exact: true })), "209.filter.0to2.none");
  const before = (await person.place()).acts.length;
  await there.getByRole("combobox", { name: "Hold 0 to 2" }).selectOption("Commit");
  await person.link(0, 2, ": .*holds Commit").waitFor();
  assert.equal((await person.place()).acts[before], "210.hold.0to2.Commit");
  await person.seconds(1);
  assert.match(await person.acts(there.getByRole("button", { name: "Release held" })), /\.release\.0to2$/);
  assert.match(await person.acts(there.getByRole("button", { name: "Delay 0 to 2" })), /\.delay\.0to2\.20$/);
  await there.getByRole("spinbutton", { name: /^Clog 0 to 2/ }).fill("0");
  assert.match(await person.acts(there.getByRole("button", { name: "Clog 0 to 2" })), /\.clog\.0to2\.0$/);
  assert.match(await person.acts(person.button("Heal all links")), /\.heal$/);
  await person.link(0, 2, "$").waitFor();

  await page.locator("body").press("Escape");
  assert.match(await person.acts(person.button("Write a request")), /\.write\.c0$/);
  await person.close();
});

test("one packet is dropped, another delivered at once, another sent twice", async () => {
  const person = await Person.calm(site);
  const packet = person.page.getByRole("button", { name: /^Select packet/ }).filter({ hasText: "Prepare" });
  for (const [button, verb] of [
    ["Drop this packet", "drop"],
    ["Duplicate this packet", "dup"],
    ["Deliver this packet now", "deliver"],
  ]) {
    await person.open(SLOW);
    await packet.first().waitFor();
    const key = ((await packet.first().getAttribute("aria-label")) ?? "").replace("Select packet ", "");
    await packet.first().click();
    assert.equal(await person.acts(person.button(button ?? "")), `345.${verb}.${key}`);
    if (verb === "drop") await person.log.getByRole("button", { name: /dropped by hand/ }).waitFor();
  }
  await person.close();
});
