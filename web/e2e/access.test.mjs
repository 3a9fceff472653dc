/**
 * What axe finds: nothing serious or critical, wide and narrow, light and dark, in each state of the page. It must never
 * excuse a rule.
 */

import { AxeBuilder } from "@axe-core/playwright";
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

/** With a cut, a clog, a crashed replica and a view change behind it. */
const TROUBLE = `v=1&seed=7&${QUICK}&act=205.crash.0_300.clog.1to2.0_305.hold.2to1.Commit_310.delay.1to2.20_315.mute.1-0&at=340`;

/**
 * @param {Person} person
 * @param {string} state
 */
async function isClean(person, state) {
  const { violations } = await new AxeBuilder({ page: person.page }).analyze();
  const grave = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
  assert.deepEqual(grave, [], state);
}

for (const [form, viewport] of /** @type {const} */ ([
  ["wide", { width: 1440, height: 900 }],
  ["narrow", { width: 390, height: 844 }],
])) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`axe finds nothing serious on the ${form} ${colorScheme} page`, async () => {
      const person = await Person.calm(site, { viewport, colorScheme });
      await person.open("");
      await isClean(person, "the opening");
      await person.open(TROUBLE);
      await isClean(person, "in trouble");
      await person.tab("Inspector");
      await person.page.keyboard.press("2");
      await person.page.getByRole("region", { name: "Replica 1" }).waitFor();
      await isClean(person, "a replica inspected");
      for (const tab of ["Run", "Faults", "Checks"]) {
        await person.tab(tab);
        await isClean(person, tab);
      }
      if (form === "narrow") {
        await person.tab("Events");
        await isClean(person, "Events");
        await person.button("Close the panel").click();
      }
      await person.page.keyboard.press("Home");
      await person.at(0);
      await isClean(person, "in the past");
      await person.button("Share").click();
      await person.page.getByRole("dialog").waitFor();
      await isClean(person, "the share dialog");
      await person.page.keyboard.press("Escape");
      await person.button("Keys").click();
      await isClean(person, "the list of keys");
      await person.open("v=1&colour=red");
      await person.page.getByRole("alert").waitFor();
      await isClean(person, "a broken link");
      await person.close();
    });
  }
}
