/**
 * The page starts: it loads its engine and has nothing to complain of. It must never test what one panel does.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { advance } from "../facade.mjs";
import { openSite } from "./harness.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

test("the page loads without a complaint", async () => {
  const { page, picture, close } = await site.open();
  const loaded = page.waitForResponse((response) => response.url().endsWith("/sim-wasm_bg.wasm"));
  await page.goto(site.url);
  assert.equal((await loaded).status(), 200);
  await page.locator("main > *").first().waitFor();
  await picture("smoke");
  await close();
});

test("the policy of the page allows no inline script", async () => {
  const { page, complaints } = await site.open();
  await page.goto(site.url);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ranInline = true";
    document.head.append(script);
    return "ranInline" in window;
  });
  assert.equal(ran, false);
  assert.match(complaints.join("\n"), /Content Security Policy/);
});

test("two instances of the engine do not share a run", async () => {
  const { page, close } = await site.open();
  await page.goto(site.url);
  const glue = (/** @type {string} */ name) => new URL(`sim-wasm.js?n=${name}`, site.url).href;
  const run = (/** @type {string} */ name, /** @type {number} */ ticks) =>
    page.evaluate(advance, { glue: glue(name), link: "v=1", ticks });
  const [first, second, third] = [await run("a", 300), await run("b", 600), await run("c", 300)];
  assert.equal(first.hash, third.hash);
  assert.notEqual(first.hash, second.hash);
  await close();
});
