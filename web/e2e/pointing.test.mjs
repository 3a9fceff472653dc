/**
 * What is lit, told and in reach: a cell of the log matrix lights its packets and events, stories read as words, rows that
 * are too wide say so. It must never ask the engine directly.
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

// Packets that take long, and one request: its Prepares are under way.
const SLOW = "v=1&seed=7&load=0&delay-min=20&delay-mean=20&act=1.warm.1_300.write.c0&at=344";

/** @param {Person} person */
async function litPackets(person) {
  const packets = person.page.getByRole("button", { name: /^Select packet/ });
  const lit = [];
  for (const packet of await packets.all()) {
    if (await packet.evaluate((button) => button.classList.contains("lit"))) lit.push(await packet.innerText());
  }
  return lit.map((text) => text.split("\n")[0]);
}

/**
 * @param {import("playwright-core").Page} page
 * @returns {Promise<number>} dots of the canvas that are painted
 */
function inkOn(page) {
  return page.locator("vsr-stage canvas").evaluate((node) => {
    const canvas = /** @type {HTMLCanvasElement} */ (node);
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext("2d", { willReadFrequently: true });
    context?.drawImage(canvas, 0, 0);
    const { data } = context?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: new Uint8ClampedArray() };
    let count = 0;
    for (let index = 3; index < data.length; index += 4) if ((data[index] ?? 0) > 200) count += 1;
    return count;
  });
}

test("pointing at a cell of the matrix lights its packets and its events, on the stage too", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(SLOW);
  await page.getByRole("button", { name: /^Select packet/ }).filter({ hasText: "Prepare" }).first().waitFor();
  assert.deepEqual(await litPackets(person), []);
  const before = await inkOn(page);
  const cell = page.getByRole("row", { name: /replica 0/ }).getByRole("cell", { name: "op 3 of view 0, prepared" });
  await cell.hover();
  await page.locator("vsr-events li.lit").first().waitFor();
  assert.ok((await inkOn(page)) > before + 100, "rings and names around its packets");
  const lit = await litPackets(person);
  assert.ok(lit.length >= 2 && lit.every((text) => text === "Prepare 3"), lit.join());
  await page.getByRole("heading", { name: "Replicas" }).hover();
  await page.locator("vsr-events li.lit").first().waitFor({ state: "detached" });
  assert.deepEqual(await litPackets(person), []);
  await person.close();
});

test("the keyboard walks the matrix and lights what it stands on", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(SLOW);
  const cells = page.locator("vsr-matrix td[tabindex='0']");
  assert.equal(await cells.count(), 1, "one cell takes part in the order of Tab");
  await cells.focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const at = await page.locator("vsr-matrix").evaluate((matrix) => ({ .../** @type {HTMLElement} */ (matrix.shadowRoot?.activeElement).dataset }));
  assert.deepEqual(at, { op: "3", row: "1" });
  assert.ok((await litPackets(person)).includes("Prepare 3"));
  assert.equal((await person.place()).tick, 344, "arrows stay with the matrix");
  await person.close();
});

test("a story tells its steps in words, and so do the rows it makes", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open("v=1&story=a1&at=650");
  await person.tab("Run");
  const story = page.getByRole("region", { name: "Story" });
  await story.getByRole("heading", { name: "The longest log is lying" }).waitFor();
  const steps = await story.getByRole("listitem").allInnerTexts();
  assert.equal(steps.length, 12);
  assert.ok(steps.every((step) => /^[A-Z0-9][^_]*: [a-z0-9]/.test(step)), steps.join("\n"));
  assert.equal(await story.locator("[aria-current='step']").count(), 1);
  const rows = await person.log.getByRole("button", { name: /the story: / }).allInnerTexts();
  assert.ok(rows.length > 0);
  assert.ok(rows.every((row) => !/expect-|when-|warm\.|\.to\d/.test(row)), rows.join("\n"));
  await person.close();
});

test("on a phone a toolbar that runs out of the page shows where it goes on", async () => {
  const person = await Person.calm(site, { viewport: { width: 390, height: 844 } });
  const { page } = person;
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  await person.link(0, 1).focus();
  await page.keyboard.press("Enter");
  const bar = page.locator("vsr-actions vsr-strip");
  await bar.locator(".right").waitFor();
  assert.equal(await bar.locator(".left").count(), 0, "it starts at its start");
  for (let presses = 0; presses < 6 && (await bar.locator(".right").count()) > 0; presses += 1) {
    await bar.locator(".right").click();
    await page.waitForTimeout(400);
  }
  await bar.locator(".left").waitFor();
  const heal = await person.button("Heal all links").boundingBox();
  assert.ok(heal && heal.x + heal.width <= 390, "the last button came into sight");
  await person.close();
});

test("the legend names what is on the stage, and the list of signs names all", async () => {
  const person = await Person.calm(site, { viewport: { width: 1440, height: 900 } });
  const { page } = person;
  const signs = () => page.getByRole("region", { name: "Cluster" }).getByRole("list", { name: "Legend" }).getByRole("listitem").allInnerTexts();
  const rare = ["wall between sides", "clog, with what waits", "crashed", "damaged op", "cut, one way or both", "paused", "filter", "hold"];
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  assert.deepEqual((await signs()).filter((sign) => rare.includes(sign)), []);
  const acts = "205.crash.0_205.clog.1to2.0_205.cut.1-2_205.corrupt.1.op3.both_205.pause.2_205.filter.0to1.Prepare_205.hold.1to0.Commit";
  await person.open(`v=1&seed=7&${QUICK}&act=${acts}&at=206`);
  const said = await signs();
  assert.deepEqual(rare.filter((word) => word !== "wall between sides" && !said.includes(word)), []);
  await person.open(`v=1&seed=7&${QUICK}&act=205.cut.0-12&at=206`);
  assert.ok((await signs()).includes("wall between sides"));
  await person.button("Keys").click();
  await page.getByRole("dialog").waitFor();
  const all = await page.getByRole("dialog").getByRole("list", { name: "Legend" }).getByRole("listitem").allInnerTexts();
  assert.deepEqual(rare.filter((word) => !all.includes(word)), []);
  await person.close();
});
