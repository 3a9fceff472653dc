/**
 * The harness itself: a page that complains must fail its test. It must never depend on what the page shows.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSite } from "./harness.mjs";

/** @type {import("./harness.mjs").Site} */
let site;
before(async () => {
  site = await openSite();
});
after(() => site?.close());

test("a console error fails the page", async () => {
  const { page, close } = await site.open();
  await page.goto(site.url);
  await page.evaluate(() => console.error("it broke"));
  await assert.rejects(close, /console error: it broke/);
});

test("an exception fails the page", async () => {
  const { page, close } = await site.open();
  await page.goto(site.url);
  const thrown = page.waitForEvent("pageerror");
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error("it threw");
    });
  });
  await thrown;
  await assert.rejects(close, /exception: it threw/);
});

test("a request to another host fails the page and goes nowhere", async () => {
  const { page, close } = await site.open();
  await page.goto(site.url);
  const answered = await page.evaluate(() =>
    fetch("http://127.0.0.2:9/").then(
      () => true,
      () => false,
    ),
  );
  assert.equal(answered, false);
  await assert.rejects(close, /another host|Content Security Policy/);
});
