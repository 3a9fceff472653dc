/**
 * Rules taken out, and what comes of it: several at once, each an act; a violation in the one red on stage, matrix and
 * timeline, with its sentence and its tick; and a run that goes on past it. It must never ask the engine directly.
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

/** The next primary knows least: without the merge of logs it starts without a committed op. */
const LOSES = "v=1&story=a3&mutations=M08";

/** @param {Person} person */
function rules(person) {
  return person.page.getByRole("region", { name: "Rules" });
}

test("rules are taken out one by one, several at once, and each says what it is for", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  await person.tab("Protocol");
  const boxes = rules(person).getByRole("checkbox");
  assert.ok((await boxes.count()) >= 12);
  for (const box of await boxes.all()) {
    assert.match((await box.evaluate((input) => /** @type {HTMLInputElement} */ (input).labels?.[0]?.textContent)) ?? "", /\w+ .*\. M\d\d/);
  }
  assert.equal(await person.acts(rules(person).getByRole("checkbox", { name: /M03$/ })), "205.mutate.M03");
  assert.equal(await person.acts(rules(person).getByRole("checkbox", { name: /M09$/ })), "206.mutate.M09");
  await page.getByText("without M03, M09").waitFor();
  assert.equal(await person.acts(rules(person).getByRole("checkbox", { name: /M03$/ })), "207.mutate.M03.off");
  await page.getByText("without M09").waitFor();
  await person.close();
});

test("a violation stops the run, stands in red wherever it belongs, and the run goes on past it", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(`${LOSES}&at=560`);
  assert.equal(await page.locator("vsr-timeline .bad").count(), 0);
  await person.replica(1, ".*concerned in a violation").waitFor({ state: "detached" });
  const pace = page.getByRole("slider", { name: "Pace" });
  await pace.fill("6");
  await person.button("Play").click();
  await person.replica(1, ".*concerned in a violation").waitFor();
  await person.button("Play").waitFor();
  const said = await page.getByRole("status").getByText(/^I3 is violated at tick \d+\./).innerText();
  const tick = Number(/\d\d+/.exec(said)?.[0]);
  assert.equal(await page.locator("vsr-timeline .bad").count(), 1);
  assert.ok((await page.locator("vsr-matrix td.bad").count()) >= 1, "its cell");
  await person.tab("Checks");
  const panel = page.getByRole("tabpanel");
  await panel.getByText("1 started view 1 with head 2, but view 0 committed op 3").first().waitFor();
  const row = person.log.getByRole("button", { name: new RegExp(`^${tick}.* I3 commits only rise: 1 started view 1`) });
  await row.waitFor();
  await person.page.keyboard.press("Home");
  await person.at(0);
  await page.keyboard.press("End");
  await panel.getByRole("button", { name: `Go to tick ${tick}` }).first().click();
  await person.at(tick);
  await panel.getByRole("button", { name: "Go on past it" }).first().click();
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector("vsr-app")).tick > 700);
  await person.button("Pause").click();
  await person.close();
});

test("the same schedule with the rule in force violates nothing", async () => {
  const person = await Person.calm(site);
  await person.open("v=1&story=a3&at=900");
  assert.equal(await person.page.locator("vsr-timeline .bad").count(), 0);
  assert.equal(await person.page.getByRole("button", { name: /concerned in a violation/ }).count(), 0);
  await person.close();
});

test("a clock is set by hand, ahead and behind, and says how far it is off", async () => {
  const person = await Person.calm(site);
  const { page } = person;
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  await person.replica(2, "backup").click();
  await person.button("Disk…").click();
  const clock = page.getByRole("region", { name: "Clock" });
  assert.equal(await person.acts(clock.getByRole("button", { name: "Set the clock of 2" })), "205.skew.2.500");
  await clock.getByText("Replica 2: 500 ms ahead").waitFor();
  await clock.getByRole("spinbutton", { name: "ahead by" }).fill("-500");
  await clock.getByRole("spinbutton", { name: "gains" }).fill("20");
  assert.equal(await person.acts(clock.getByRole("button", { name: "Set the clock of 2" })), "206.skew.2.m500.d20");
  await clock.getByText(/Replica 2: \d+(\.\d+)? ms behind, gains 20 millionths/).waitFor();
  await person.tab("Inspector");
  await page.getByRole("region", { name: "Replica 2", exact: true }).getByText(/ms behind, gains 20 millionths/).waitFor();
  await person.close();
});
