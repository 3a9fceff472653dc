/**
 * The first five seconds: the page opens on an episode that moves, the primary dies, the next one leads, and a caption
 * says who and why. It must never wait for real seconds: the page's clock is driven.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";
import { Person } from "./person.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

/**
 * Lets the page's own time pass, frame by frame.
 * @param {Person} person
 * @param {number} ms
 */
async function pass(person, ms) {
  await person.page.clock.runFor(ms);
  await person.stands();
}

test("the episode moves by itself, and within five seconds replica 1 leads view 1", async () => {
  const person = new Person(await site.open(), site.url);
  await person.page.clock.install();
  await person.open("");
  await person.page.clock.pauseAt(Date.now() + 60_000);
  const start = await person.place();
  await person.page.reload();
  await person.stands();
  const caption = person.page.getByRole("article", { name: "Caption" });
  await caption.getByText("Replica 0 leads.").waitFor();

  /** @type {string[]} */
  const titles = [];
  for (let ms = 0; ms < 5000; ms += 100) {
    await pass(person, 100);
    const title = await caption.getByRole("heading").innerText();
    if (title !== titles.at(-1)) titles.push(title);
    if (ms === 1000) assert.ok((await person.place()).tick > start.tick, "it moves");
    if (ms === 3000) await person.replica(0, "crashed").waitFor();
  }
  assert.deepEqual(titles, [
    "Replica 0 leads.",
    "Replica 0, the primary, is dead.",
    "A quorum leaves for view 1.",
    "Replica 1 leads now.",
  ]);
  await person.replica(1, "primary, view 1").waitFor();
  assert.match(await caption.innerText(), /0 died, .*1 = view 1 mod 3/);

  const act = await person.acts(caption.getByRole("button", { name: "Your turn: cut a link" }));
  assert.match(act, /\.cut\.1-2$/);
  await person.link(1, 2, ": .*cut").waitFor();
  await caption.getByText("You cut 1 from 2.").waitFor();
  await person.close();
});

test("under reduced motion it opens paused, with the same caption", async () => {
  const person = await Person.calm(site);
  await person.open("");
  const caption = person.page.getByRole("article", { name: "Caption" });
  await caption.getByText("Replica 0 leads.").waitFor();
  await person.page.clock.install();
  await person.page.clock.runFor(3000);
  assert.equal((await person.place()).tick, 0);
  await caption.getByRole("button", { name: "Play" }).click();
  await person.page.waitForFunction(() => /** @type {any} */ (document.querySelector("vsr-app")).tick > 0);
  await person.close();
});
