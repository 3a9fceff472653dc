/**
 * Links: shared, opened elsewhere and verified; and every kind of broken one, with a message of its own beside a cluster
 * that works. It must never repeat the engine's own tests of the grammar: here a person reads the words on the page.
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

/** @param {Person} person */
const alert = (person) => person.page.getByRole("alert");

/** @returns {Promise<string>} a fragment that a person made by clicks and copied from the share dialog */
async function copied() {
  const person = await Person.calm(site, { permissions: ["clipboard-read", "clipboard-write"] });
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  await person.replica(0, "primary").click();
  await person.acts(person.button("Crash replica 0"));
  await person.playUntil(person.replica(1, "primary, view 1"));
  await person.button("Share").click();
  const dialog = person.page.getByRole("dialog", { name: "Share this run" });
  await dialog.getByRole("button", { name: "Copy link" }).click();
  await dialog.getByText("Copied.").waitFor();
  const address = await person.page.evaluate(() => navigator.clipboard.readText());
  assert.equal(address, await dialog.getByRole("textbox", { name: "Link" }).inputValue());
  assert.ok(address.startsWith(`${site.url}#v=1&`), address);
  assert.match(address, /[A-Za-z0-9]$/);
  assert.match(await dialog.innerText(), new RegExp(`${address.length} characters`));
  await dialog.getByRole("button", { name: "Close" }).click();
  await person.close();
  return address.slice(site.url.length + 1);
}

test("a copied link replays elsewhere and is verified; a changed one differs", async () => {
  const link = await copied();
  const replay = await replayer();
  assert.equal(/hash=([0-9a-f]{16})/.exec(link)?.[1], replay(link));

  const friend = await Person.calm(site);
  await friend.open(link);
  await friend.page.getByText("verified", { exact: true }).waitFor();
  await friend.replica(0, "crashed").waitFor();
  await friend.replica(1, "primary, view 1").waitFor();
  assert.equal(await alert(friend).count(), 0);
  assert.equal((await friend.place()).link, link);

  const other = link.replace(/hash=(.)/, (_, digit) => `hash=${digit === "0" ? "1" : "0"}`);
  await friend.open(other);
  await alert(friend).getByText("The replay differs.").waitFor();
  assert.equal(await friend.page.getByText("verified", { exact: true }).count(), 0);
  await friend.close();
});

test("a link to a place inside a tick is verified there", async () => {
  const person = await Person.calm(site);
  await person.open(`v=1&seed=7&${QUICK}&at=204`);
  for (let step = 0; step < 3; step += 1) {
    const { link } = await person.place();
    await person.button("Step one event").click();
    await person.elsewhere(link);
  }
  const { link } = await person.place();
  assert.match(link, /at=\d+\.\d+/);
  await person.open(link);
  await person.page.getByText("verified", { exact: true }).waitFor();
  assert.equal((await person.place()).link, link);
  await person.close();
});

test("a link of another epoch asks what to do", async () => {
  const link = await copied();
  const person = await Person.calm(site);
  await person.open(link.replace(/epoch=\d+/, "epoch=77"));
  const banner = alert(person).filter({ hasText: "made by another build" });
  await banner.waitFor();
  assert.match(await banner.innerText(), /epoch 77/);
  assert.match((await banner.getByRole("link", { name: /epoch 77/ }).getAttribute("href")) ?? "", /^v\/77\/#v=1&/);
  await banner.getByRole("button", { name: "Replay anyway" }).click();
  await banner.waitFor({ state: "detached" });
  await person.replica(1, "primary, view 1").waitFor();

  await person.open(link.replace(/epoch=\d+/, "epoch=77"));
  await banner.getByRole("button", { name: "Start fresh" }).click();
  await banner.waitFor({ state: "detached" });
  await person.replica(0, "primary, view 0").waitFor();
  assert.deepEqual((await person.place()).acts, []);
  await person.close();
});

/** What is wrong with each, and what its message must say. @type {[string, string, RegExp][]} */
const BROKEN = [
  ["a pair without a value", "v=1&seed", /link: seed; expected a key, =, and a value/],
  ["an unknown key", "v=1&colour=red", /colour: no key of a link; expected one of v, seed/],
  ["a key given twice", "v=1&seed=1&seed=2", /seed: given twice; expected each key once/],
  ["a seed over 2^64", "v=1&seed=18446744073709551616", /seed: 18446744073709551616; expected .*2\^64/],
  ["a seed that is no number", "v=1&seed=lucky", /seed: lucky; expected a whole number/],
  ["no replica", "v=1&replicas=0", /replicas: 0; expected .*1 to 9/],
  ["ten replicas", "v=1&replicas=10", /replicas: 10; expected .*1 to 9/],
  ["a probability over 1", "v=1&crash=1.5", /crash: 1\.5; expected a probability from 0 to 1/],
  ["an act on a replica that does not exist", "v=1&act=9.crash.7", /act, action 9\.crash\.7: replica 7; expected .*0 to 2/],
  ["an act cut off", "v=1&act=20.crash.1_31.cra", /act, action 2 \(31\.cra\): cra; expected a verb/],
  ["a link cut off", "v=1&act=20.crash.", /link: '\.' at its end; expected a letter or digit/],
  ["a bad hash", "v=1&at=5&hash=12345", /hash: 12345; expected 16 hex digits/],
  ["more than 16 KiB", `v=1&act=${"9.heal_".repeat(2500)}9.heal`, /link: \d+ bytes; expected at most 16384/],
  ["another form", "v=2&seed=1", /v: 2; expected v=1/],
  ["no form", "seed=1", /v: missing; expected v=1/],
  ["a foreign character", "v=1&seed=1%20", /link: the character '%' at place 11; expected letters, digits/],
];

test("each broken link has its own message, beside a default cluster that works", async () => {
  const person = await Person.calm(site);
  /** @type {Set<string>} */
  const messages = new Set();
  for (const [what, link, words] of BROKEN) {
    await person.open(link);
    const banner = alert(person).filter({ hasText: "This link cannot be opened." });
    await banner.waitFor();
    const text = (await banner.innerText()).replace(/\s+/g, " ");
    assert.match(text, words, what);
    messages.add(text.replace(link, ""));
    await person.replica(0, "primary, view 0").waitFor();
    await person.replica(2, "backup, view 0").waitFor();
    const act = await person.acts(person.button("Write a request"));
    assert.match(act, /\.write\.c0$/, what);
    await banner.getByRole("button", { name: "Close" }).click();
    await banner.waitFor({ state: "detached" });
  }
  assert.equal(messages.size, BROKEN.length);
  await person.close();
});

test("a link pasted into the run panel is opened, and a broken one refused in words", async () => {
  const person = await Person.calm(site);
  await person.open("v=1");
  await person.tab("Run");
  const field = person.page.getByRole("textbox", { name: "Link of a run" });
  await field.fill("https://example.org/playground/#v=1&seed=99&at=40");
  await person.button("Open").click();
  await person.at(40);
  assert.match((await person.place()).link, /seed=99&/);
  await field.fill("v=1&seed=x");
  await person.button("Open").click();
  await alert(person).filter({ hasText: "seed: x; expected" }).waitFor();
  await person.close();
});

test("a bad number in the run panel is refused in words, and the run goes on as it was", async () => {
  const person = await Person.calm(site);
  await person.open("v=1&seed=5&at=40");
  await person.tab("Run");
  for (const [name, value, words] of /** @type {const} */ ([
    ["Seed", "18446744073709551616", /seed: .*2\^64/],
    ["Seed", "seven", /seed: seven/],
    ["Replicas, 1 to 9", "10", /replicas: 10; expected .*1 to 9/],
    ["Clients, 1 to 8", "0", /clients: 0; expected .*1 to 8/],
    ["Crash rate, 0 to 1, a tick", "1.5", /crash: 1\.5; expected a probability/],
  ])) {
    const field = person.page.getByLabel(name, { exact: true });
    await field.fill(value);
    await field.press("Tab");
    await alert(person).filter({ hasText: words }).waitFor();
  }
  assert.match((await person.place()).link, /seed=5&/);
  const seed = person.page.getByLabel("Seed", { exact: true });
  await seed.fill("18446744073709551615");
  await seed.press("Tab");
  await alert(person).waitFor({ state: "detached" });
  assert.match((await person.place()).link, /seed=18446744073709551615&/);
  await person.close();
});
