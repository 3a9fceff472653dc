/**
 * Several groups in one cluster: which of them is shown, what stays the same whichever it is, and how many a run starts
 * with. It must never ask the engine directly, but for whether it has groups at all.
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

const { Playground } = await engine("groups");
const options = { skip: typeof Playground.prototype.select_group === "function" ? false : "the engine has one group" };

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

test("each group has a tab, and the shown one its log, while the run stays the same", options, async () => {
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

test("the shown group stays shown in the past and back, and its hashes too", options, async () => {
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

test("what is done to a log is done to that of the shown group", options, async () => {
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

test("the log of events is that of the shown group, and of all on demand", options, async () => {
  const person = await Person.calm(site);
  await person.open(TWO);
  const others = person.log.getByText(/^(partition 1|metadata): $/);
  assert.equal(await others.count(), 0);
  await person.button("other groups").click();
  await others.first().waitFor();
  await person.close();
});

test("a run starts with as many partitions and shards as are asked for, and asks of either plane", options, async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(TWO);
  await person.tab("Run");
  const fill = async (/** @type {RegExp} */ name, /** @type {string} */ value) => {
    const { link } = await person.place();
    const field = page.getByRole("spinbutton", { name });
    await field.fill(value);
    await field.press("Enter");
    await person.elsewhere(link);
    await person.stands();
  };
  await fill(/^Partitions/, "3");
  await fill(/^Shards/, "2");
  const { link } = await person.place();
  await page.getByRole("combobox", { name: "What clients ask for" }).selectOption("mixed");
  await person.elsewhere(link);
  await person.stands();
  const made = (await person.place()).link;
  for (const pair of ["partitions=3", "shards=2", "plane=mixed"]) assert.ok(made.includes(`&${pair}&`), made);
  await groupTab(person, "partition 2").waitFor();
  await person.seconds(3);
  await groupTab(person, "metadata").click();
  await page.getByRole("cell", { name: /^op 1 of view 0/ }).first().waitFor();
  await person.close();
});
