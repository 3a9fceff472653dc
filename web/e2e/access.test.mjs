/**
 * What axe finds: nothing serious or critical, wide and narrow, light and dark, in each state of the page. It must never
 * excuse a rule.
 */

import { after, before, test } from "node:test";
import { COLOURS, isClean, PANELS } from "./axe.mjs";
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

test("axe finds nothing serious on the wide page", async () => {
  const person = await Person.calm(site, { viewport: { width: 1440, height: 900 } });
  await person.open("");
  await isClean(person, "the opening");
  await person.open(TROUBLE);
  await isClean(person, "in trouble");
  await person.page.keyboard.press("2");
  await person.page.getByRole("region", { name: "Replica 1", exact: true }).waitFor();
  await isClean(person, "a replica inspected", PANELS);
  for (const tab of ["Run", "Faults", "Protocol", "Checks"]) {
    await person.tab(tab);
    await isClean(person, tab, PANELS);
  }
  await person.page.keyboard.press("Escape");
  await person.tab("Inspector");
  await person.link(1, 2).focus();
  await person.page.keyboard.press("Enter");
  await person.page.getByRole("region", { name: "From 1 to 2" }).waitFor();
  await isClean(person, "a link inspected", PANELS);
  await person.page.keyboard.press("Home");
  await person.at(0);
  await person.button("Share").click();
  await person.page.getByRole("dialog").waitFor();
  await isClean(person, "the past, and the share dialog");
  await person.page.keyboard.press("Escape");
  await person.button("Keys").click();
  await isClean(person, "the list of keys", { part: "vsr-keys-dialog" });
  await person.open("v=1&colour=red");
  await person.page.getByRole("alert").waitFor();
  await isClean(person, "a broken link", { part: "vsr-banners" });
  await person.close();
});

test("axe finds nothing serious on the narrow page", async () => {
  const person = await Person.calm(site, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await person.open("");
  await isClean(person, "the opening");
  await person.open(TROUBLE);
  await person.page.keyboard.press("2");
  await person.tab("Inspector");
  await person.page.getByRole("region", { name: "Replica 1", exact: true }).waitFor();
  await isClean(person, "in trouble, a replica inspected");
  await person.tab("Events");
  await isClean(person, "Events", PANELS);
  await person.button("Close the panel").click();
  await person.button("Share").click();
  await person.page.getByRole("dialog").waitFor();
  await isClean(person, "the share dialog", { part: "vsr-share-dialog" });
  await person.close();
});

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]) {
  test(`axe finds no weak colour on the dark page, ${viewport.width} px wide`, async () => {
    const person = await Person.calm(site, { viewport, colorScheme: "dark" });
    await person.open(TROUBLE);
    await isClean(person, "in trouble", { rules: COLOURS });
    await person.page.keyboard.press("2");
    for (const tab of ["Inspector", "Run", "Faults", "Protocol", "Checks"]) {
      await person.tab(tab);
      await isClean(person, tab, { ...PANELS, rules: COLOURS });
    }
    await person.button("Share").click();
    await person.page.getByRole("dialog").waitFor();
    await isClean(person, "the share dialog", { part: "vsr-share-dialog", rules: COLOURS });
    await person.open("v=1&colour=red");
    await person.page.getByRole("alert").waitFor();
    await isClean(person, "a broken link", { part: "vsr-banners", rules: COLOURS });
    await person.close();
  });
}
