/**
 * Several groups in one cluster: which of them is shown, what stays the same whichever it is, and how many a run starts
 * with. It must never ask the engine directly, but for which keys its links take.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";
import { engine, Person, QUICK } from "./person.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

const { read_link: readLink } = await engine("groups");
/** @param {string} key */
function waitsFor(key) {
  try {
    readLink(`v=1&${key}`);
    return { skip: false };
  } catch {
    return { skip: `the engine has no ${key} yet` };
  }
}

const TWO = `v=1&seed=7&partitions=2&${QUICK}&at=204`;

/**
 * @param {Person} person
 * @param {string} name
 */
function groupTab(person, name) {
  return person.page.getByRole("tablist", { name: "Shown group" }).getByRole("tab", { name: new RegExp(`^${name}`) });
}

/** @param {Person} person */
async function matrix(person) {
  return person.page.getByRole("table", { name: "Log matrix" }).innerText();
}

test("each group has a tab, and the shown one its log, while the run stays the same", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(TWO);
  const names = await page.getByRole("tablist", { name: "Shown group" }).getByRole("tab").allInnerTexts();
  assert.deepEqual(names.map((name) => name.replace(/\s*view \d+$/, "").trim()), ["metadata", "partition 0", "partition 1"]);
  assert.equal(await groupTab(person, "partition 0").getAttribute("aria-selected"), "true");
  const before = await person.place();
  const log = await matrix(person);
  await groupTab(person, "partition 1").click();
  await page.waitForFunction((known) => /** @type {any} */ (document.querySelector("vsr-page"))?.shadowRoot.querySelector("vsr-matrix").shadowRoot.querySelector("table").innerText !== known, log);
  assert.equal(await groupTab(person, "partition 1").getAttribute("aria-selected"), "true");
  assert.deepEqual(await person.place(), before, "choosing what to look at changes nothing");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await groupTab(person, "metadata").getAttribute("aria-selected"), "true");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((known) => /** @type {any} */ (document.querySelector("vsr-page"))?.shadowRoot.querySelector("vsr-matrix").shadowRoot.querySelector("table").innerText === known, log);
  await person.close();
});

test("the shown group stays shown in the past and back, and its hashes too", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(TWO);
  await groupTab(person, "partition 1").click();
  const [before, log] = [await person.place(), await matrix(person)];
  await page.locator("body").press("Home");
  await person.at(0);
  assert.equal(await groupTab(person, "partition 1").getAttribute("aria-selected"), "true");
  await page.locator("body").press("End");
  await person.at(204);
  assert.equal(await groupTab(person, "partition 1").getAttribute("aria-selected"), "true");
  assert.deepEqual(await person.place(), before);
  assert.equal(await matrix(person), log);
  await person.close();
});

test("what is done to a log is done to that of the shown group", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(`v=1&seed=7&partitions=2&${QUICK.replace("load=0.2", "load=0")}&at=204`);
  assert.equal(await person.acts(person.button("Write a request")), "205.write.c0");
  await groupTab(person, "partition 1").click();
  assert.equal(await person.acts(person.button("Write a request")), "206.write.c0.g1");
  await person.seconds(1);
  await page.getByRole("row", { name: /replica 0/ }).getByRole("cell", { name: /^op 1 of view 0/ }).waitFor();
  await person.replica(1, "backup").click();
  await person.button("Disk…").click();
  assert.match(await person.acts(person.button(/^Rot op \d+$/)), /\.corrupt\.1\.op\d+\.prepare\.g1$/);
  await page.getByRole("cell", { name: /damaged on disk/ }).waitFor();
  await groupTab(person, "partition 0").click();
  await page.getByRole("cell", { name: /damaged on disk/ }).waitFor({ state: "detached" });
  await person.close();
});

test("the log of events is that of the shown group, and of all on demand", async () => {
  const person = await Person.calm(site);
  await person.open(TWO);
  const others = person.log.getByText(/^(partition 1|metadata): $/);
  assert.equal(await others.count(), 0);
  await person.button("other groups").click();
  await others.first().waitFor();
  await person.close();
});

test("a run starts with as many partitions as are asked for", async () => {
  const person = await Person.calm(site);
  await person.open(TWO);
  await person.tab("Run");
  const { link } = await person.place();
  const field = person.page.getByRole("spinbutton", { name: /^Partitions/ });
  await field.fill("3");
  await field.press("Enter");
  await person.elsewhere(link);
  assert.ok((await person.place()).link.includes("&partitions=3&"));
  await groupTab(person, "partition 2").waitFor();
  await person.close();
});

test("a run starts with as many shards as are asked for", waitsFor("shards=2"), async () => {
  const person = await Person.calm(site);
  await person.open(TWO);
  await person.tab("Run");
  const { link } = await person.place();
  const field = person.page.getByRole("spinbutton", { name: /^Shards/ });
  await field.fill("2");
  await field.press("Enter");
  await person.elsewhere(link);
  assert.ok((await person.place()).link.includes("&shards=2&"));
  await person.close();
});

test("clients ask of the plane that is chosen, at the start and on the way", waitsFor("plane=mixed"), async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(TWO);
  await person.tab("Run");
  const { link } = await person.place();
  await page.getByRole("combobox", { name: "What clients ask for" }).selectOption("metadata");
  await person.elsewhere(link);
  await person.stands();
  assert.ok((await person.place()).link.includes("&plane=metadata&"));
  await person.seconds(3);
  await person.tab("Faults");
  const before = (await person.place()).acts.join("_");
  await page.getByRole("region", { name: "Requests, by dice" }).getByRole("combobox", { name: "they ask for" }).selectOption("mixed");
  assert.equal(await person.lastAct(before), "301.set.plane.mixed");
  await person.close();
});
