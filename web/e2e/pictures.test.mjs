/**
 * Pictures for a person's eye, wide and narrow, light and dark: the opening, a run in trouble, the past with a branch,
 * after a crash, each panel, damaged disks, a violation. It must never judge them.
 */

import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";
import { Person, QUICK } from "./person.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

const RUN = `v=1&seed=7&${QUICK}`;
const TROUBLE = `${RUN}&clients=2&act=205.cut.0-12_230.clog.1to2.0_236.delay.2toc0.20&at=262`;
const DISKS =
  "v=1&seed=7&load=0&slots=32&do=1.warm.6&act=200.corrupt.1.op5.prepare_201.punch.1.op3_202.misdirect.2.op6.op7_203.lie.2_204.slow.0.20_205.skew.0.500&at=230";
const VIOLATED = "v=1&story=a1&mutations=M06&at=1640";
const GROUPS = `v=1&seed=7&partitions=3&clients=2&${QUICK.replace("delay-mean=2", "delay-mean=8")}&act=205.write.c0.g1_206.write.c1.g2_215.write.c0.g2_216.write.c1.g1_220.write.c0.g2&at=222`;
const CROWD = `v=1&seed=3&replicas=9&clients=8&faults=heavy&crash=0.002&restart=0.02&load=0.2&at=900`;

for (const [form, viewport] of /** @type {const} */ ([
  ["wide", { width: 1440, height: 900 }],
  ["narrow", { width: 390, height: 844 }],
])) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`pictures of the ${form} ${colorScheme} page`, async () => {
      const person = await Person.calm(site, { viewport, colorScheme });
      const { page } = person;
      const picture = (/** @type {string} */ name) => person.picture(`${form}-${colorScheme}-${name}`);
      await person.open("");
      await page.evaluate(() => document.fonts.ready);
      await picture("1-opening");
      await person.open("v=1&story=opening&at=70");
      await picture("2-after-a-crash");
      await person.open(TROUBLE);
      await picture("3-trouble");
      await person.link(1, 2).focus();
      await page.keyboard.press("Enter");
      await picture("4-a-link");

      await person.open(`${RUN}&act=300.crash.0&at=500`);
      await page.keyboard.press("Shift+ArrowLeft");
      await person.at(400);
      await page.keyboard.press("Shift+ArrowLeft");
      await person.at(300);
      await page.keyboard.press("Shift+ArrowLeft");
      await person.at(200);
      await page.keyboard.press("3");
      await person.acts(person.button("Crash replica 2"));
      await person.seconds(2);
      await page.keyboard.press("Shift+ArrowLeft");
      await person.at(301);
      await picture("5-the-past-with-a-branch");
      if (form === "narrow") await person.tab("Inspector");
      await picture("6-a-replica");
      for (const [tab, number] of /** @type {const} */ ([["Run", 7], ["Faults", 8], ["Checks", 9], ["Protocol", 14]])) {
        await person.tab(tab);
        await picture(`${number}-${tab.toLowerCase()}`);
      }
      await person.button("Share").click();
      await picture("10-share");
      await page.keyboard.press("Escape");
      await person.button("Keys").click();
      await picture("11-keys");
      await person.open(CROWD);
      await picture("12-a-crowd");
      await person.open("v=1&act=9.crash.7");
      await picture("13-a-broken-link");
      await person.open(DISKS);
      await page.locator("vsr-matrix td[data-row='1'][data-op='5']").hover();
      await picture("15-damaged-disks");
      await person.replica(1).focus();
      await page.keyboard.press("Enter");
      await person.tab("Inspector");
      await page.getByRole("region", { name: "Superblock of replica 1" }).scrollIntoViewIfNeeded();
      await page.locator("vsr-disk [data-slot='5']").hover();
      await picture("16-a-disk-in-full");
      await person.tab("Faults");
      await picture("17-what-can-be-done-to-a-disk");
      await person.open(VIOLATED);
      await picture("18-violated");
      await person.tab("Checks");
      await picture("19-a-violation");
      await person.open("v=1&story=a1&at=650");
      await person.tab("Run");
      await picture("20-a-story");
      await person.open("v=1&seed=7&faults=swarm&at=200");
      await person.tab("Faults");
      await picture("21-swarm");
      await person.open(GROUPS);
      await picture("22-groups");
      await page.getByRole("tab", { name: /^partition 2/ }).click();
      await picture("23-another-group");
      await person.close();
    });
  }
}
