/**
 * Everything by keyboard alone: Tab, arrows, Enter, and the page's keys. It must never touch the mouse.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";
import { Person, QUICK, replayer } from "./person.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

const RUNNING = `v=1&seed=7&${QUICK}&at=204`;

/**
 * Presses keys, and waits for the act that comes of them.
 * @param {Person} person
 * @param {string[]} keys
 */
async function actsBy(person, ...keys) {
  const before = (await person.place()).acts.join("_");
  for (const key of keys) await person.page.keyboard.press(key);
  return person.lastAct(before);
}

/**
 * Goes on with Tab until something has the focus.
 * @param {Person} person
 * @param {RegExp} name
 */
async function tabTo(person, name) {
  for (let presses = 0; presses < 120; presses += 1) {
    await person.page.keyboard.press("Tab");
    const focused = await focusedName(person);
    if (name.test(focused)) return;
  }
  assert.fail(`Tab never came to ${name}`);
}

/**
 * @param {Person} person
 * @returns {Promise<string>} the name of what has the focus
 */
function focusedName(person) {
  return person.page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? "";
  });
}

test("crash, restart, cut and heal by the page's keys", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  assert.equal(await actsBy(person, "1", "c"), "205.crash.0");
  await person.replica(0, "crashed").waitFor();
  assert.equal(await actsBy(person, "c"), "206.restart.0");
  assert.equal(await actsBy(person, "Escape", "1", "Shift+Digit2", "x"), "207.cut.01-2");
  await person.link(0, 2, ": .*cut").waitFor();
  assert.equal(await actsBy(person, "h"), "208.heal");
  await person.link(0, 2, "$").waitFor();
  await person.close();
});

test("crash, cut, clog and heal by Tab and Enter", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await tabTo(person, /^Replica 0, primary/);
  await person.page.keyboard.press("Enter");
  await tabTo(person, /^Crash replica 0$/);
  assert.equal(await actsBy(person, "Enter"), "205.crash.0");
  assert.equal(await focusedName(person), "Restart replica 0", "the focus stays on the button");
  assert.equal(await actsBy(person, "Space"), "206.restart.0");

  await person.page.keyboard.press("Escape");
  await person.page.locator("body").evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    /** @type {HTMLElement | null} */ (element)?.blur();
  });
  await tabTo(person, /^Link 0–2$/);
  await person.page.keyboard.press("Enter");
  await tabTo(person, /^Cut link 0–2, both ways$/);
  assert.equal(await actsBy(person, "Enter"), "207.cut.0-2");
  await tabTo(person, /^Clog link 0 to 2$/);
  assert.equal(await actsBy(person, "Enter"), "208.clog.0to2.200");
  await tabTo(person, /^Heal all links$/);
  assert.equal(await actsBy(person, "Enter"), "209.heal");
  await person.close();
});

test("play, step, scrub, go back and return to live", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  const replay = await replayer();
  const live = await person.place();
  for (const [key, arrives] of /** @type {const} */ ([
    ["ArrowRight", /at=\d+\.1&/],
    ["ArrowLeft", /at=20\d\.\d+&/],
    ["Shift+ArrowLeft", /at=10\d&/],
    ["Home", /at=0&/],
    ["End", /at=\d+\.1&/],
    ["Home", /at=0&/],
    ["l", /at=\d+\.1&/],
    ["Shift+ArrowRight", /at=30\d&/],
  ])) {
    const { link } = await person.place();
    await person.page.keyboard.press(key);
    await person.elsewhere(link);
    const place = await person.place();
    assert.match(place.link, arrives, key);
    assert.equal(place.hash, replay(place.link), key);
  }
  assert.ok((await person.place()).tick > live.tick);

  await tabTo(person, /^Timeline$/);
  for (const key of ["ArrowLeft", "PageDown", "Home", "ArrowRight", "PageUp", "End"]) {
    const { link } = await person.place();
    await person.page.keyboard.press(key);
    await person.elsewhere(link);
    const place = await person.place();
    assert.equal(place.hash, replay(place.link), key);
  }

  await person.page.keyboard.press("Shift+ArrowLeft");
  await person.button("Return to live").waitFor();
  assert.match(await actsBy(person, "3", "c"), /\.crash\.2$/);
  await person.page.getByRole("group", { name: "Other branches" }).getByRole("button").waitFor();

  await person.page.keyboard.press("]");
  await person.page.keyboard.press("]");
  const { tick } = await person.place();
  await person.page.keyboard.press("Space");
  await person.page.waitForFunction((from) => /** @type {any} */ (document.querySelector("vsr-app")).tick > from, tick);
  await person.page.keyboard.press("Space");
  await person.button("Play").waitFor();
  await person.close();
});

test("the log is one stop for Tab, and arrows go through its rows", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await tabTo(person, /^Event log$/);
  const tickOf = async () => Number.parseInt(await focusedName(person), 10);
  await person.page.keyboard.press("ArrowUp");
  let last = await tickOf();
  assert.ok(last > 190);
  for (let row = 0; row < 30; row += 1) {
    await person.page.keyboard.press("ArrowUp");
    const tick = await tickOf();
    assert.ok(tick <= last, `${tick} after ${last}`);
    last = tick;
  }
  assert.ok(last < 190);
  await person.page.keyboard.press("ArrowDown");
  assert.ok((await tickOf()) >= last);
  await person.page.keyboard.press("Enter");
  await person.button("Return to live").waitFor();
  await tabTo(person, /^Event log$/);
  await person.page.keyboard.press("Tab");
  assert.doesNotMatch(await focusedName(person), /^\d+/);
  await person.close();
});

test("share by keyboard, and Escape gives the focus back", async () => {
  const person = await Person.calm(site, { permissions: ["clipboard-read", "clipboard-write"] });
  await person.open(RUNNING);
  await tabTo(person, /^Share$/);
  await person.page.keyboard.press("Enter");
  const dialog = person.page.getByRole("dialog", { name: "Share this run" });
  await dialog.waitFor();
  assert.equal(await focusedName(person), "Copy link");
  await person.page.keyboard.press("Enter");
  await dialog.getByText("Copied.").waitFor();
  await person.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  assert.equal(await focusedName(person), "Share");
  await person.close();
});

test("keys never take a letter from a field or Space from a button, and can be switched off", async () => {
  const person = await Person.calm(site);
  await person.open(RUNNING);
  await person.page.keyboard.press("1");
  await person.tab("Run");
  const field = person.page.getByRole("textbox", { name: "Link of a run" });
  await field.focus();
  await person.page.keyboard.type("c x h l 12");
  assert.equal(await field.inputValue(), "c x h l 12");
  assert.deepEqual((await person.place()).acts, []);

  await person.button("Keys").focus();
  await person.page.keyboard.press("Space");
  const dialog = person.page.getByRole("dialog", { name: "Keys and signs" });
  await dialog.getByRole("checkbox", { name: "use these keys" }).focus();
  await person.page.keyboard.press("Space");
  await person.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await person.page.keyboard.press("c");
  await person.page.keyboard.press("h");
  assert.deepEqual((await person.place()).acts, []);
  await person.page.keyboard.press("?");
  await dialog.waitFor();
  await person.close();
});
