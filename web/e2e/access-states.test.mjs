/**
 * What axe finds in the rarer states of the page: damaged disks, a violation, many groups. It must never excuse a rule.
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

/** With a rotten, a lost and a misplaced op, a disk that lies and a slow one, and a clock that is ahead. */
const DISKS =
  "v=1&seed=7&load=0&slots=32&do=1.warm.6&act=200.corrupt.1.op5.prepare_201.punch.1.op3_202.misdirect.2.op6.op7_203.lie.2_204.slow.0.20_205.skew.0.500&at=230";
/** The longest log wins: a rule is out, and what a client was told is lost. */
const VIOLATED = "v=1&story=a1&mutations=M06&at=1640";
const GROUPS = `v=1&seed=7&partitions=8&${QUICK}&at=204`;

for (const [form, viewport] of /** @type {const} */ ([
  ["wide", { width: 1440, height: 900 }],
  ["narrow", { width: 390, height: 844 }],
])) {
  test(`axe finds nothing serious in damaged disks, a violation and many groups, on the ${form} page`, async () => {
    const person = await Person.calm(site, { viewport });
    await person.open(GROUPS);
    await isClean(person, "many groups", { part: "main" });
    await person.open(VIOLATED);
    await person.tab("Checks");
    await isClean(person, "a violation", { part: "main" });
    await person.open(DISKS);
    await person.page.keyboard.press("2");
    await person.tab("Inspector");
    await person.page.getByRole("region", { name: "Superblock of replica 1" }).waitFor();
    await isClean(person, "damaged disks", { part: "main" });
    await person.tab("Faults");
    await isClean(person, "what can be done to a disk", PANELS);
    await person.close();
  });
}

test("axe finds no weak colour in them on the dark page", async () => {
  const person = await Person.calm(site, { viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
  for (const [state, link] of Object.entries({ "many groups": GROUPS, "a violation": VIOLATED, "damaged disks": DISKS })) {
    await person.open(link);
    await person.tab("Checks");
    await isClean(person, state, { rules: COLOURS });
  }
  await person.close();
});
