/**
 * When the browser or the engine gives out: a trap, a hidden tab, a refused clipboard, no storage, no wasm. It must never
 * pretend: the trap is one of the machine's own, in the page's own instance.
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

const RUNNING = `v=1&seed=7&${QUICK}&act=205.crash.0&at=240`;

test("after a trap the page says so, keeps the link, and reloads just before", async () => {
  const person = await Person.calm(site);
  // The real module, with a switch: once thrown, the next advance runs into an unreachable instruction.
  await person.page.addInitScript(() => {
    // (module (func (export "trap") unreachable))
    const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0, 10, 5, 1, 3, 0, 0, 11]);
    const trap = /** @type {() => void} */ (new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports["trap"]);
    const whole = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (source, imports) => {
      const made = await whole(source, imports);
      const real = made.instance.exports;
      const exports = { ...real };
      let calls = 0;
      for (const [name, value] of Object.entries(real)) {
        if (typeof value !== "function" || !/advance|frame|hash|link|act|plan|tick|events|packets/.test(name)) continue;
        exports[name] = (/** @type {unknown[]} */ ...args) => {
          if (/** @type {any} */ (window).hasTrapped === made) calls += 1;
          if (/** @type {any} */ (window).trapNext && /advance/.test(name)) {
            /** @type {any} */ (window).trapNext = false;
            /** @type {any} */ (window).hasTrapped = made;
            trap();
          }
          return value(...args);
        };
      }
      Object.defineProperty(window, "callsAfterTrap", { configurable: true, get: () => calls });
      return { module: made.module, instance: /** @type {any} */ ({ exports }) };
    };
  });
  await person.open(RUNNING);
  const before = await person.place();
  await person.page.evaluate(() => {
    /** @type {any} */ (window).trapNext = true;
  });
  await person.button("Step one tick").click();
  const banner = person.page.getByRole("alert").filter({ hasText: "The engine stopped after tick 240." });
  await banner.waitFor();
  const text = await banner.innerText();
  assert.match(text, /unreachable/);
  assert.match(text, /#v=1&seed=7&.*act=205\.crash\.0&at=240/);
  assert.match((await person.place()).link, /act=205\.crash\.0&at=240/);
  await person.button("Step one tick").click();
  await person.button("Step one event").click();
  await person.page.keyboard.press("Home");
  assert.equal(await person.page.evaluate(() => /** @type {any} */ (window).callsAfterTrap), 0, "a trapped instance is never called again");
  await banner.getByRole("button", { name: "Reload just before" }).click();
  await banner.waitFor({ state: "detached" });
  await person.at(240);
  assert.equal((await person.place()).hash, before.hash);
  await person.replica(0, "crashed").waitFor();
  await person.seconds(1);
  await person.close();
});

test("a hidden tab stands still, and does not catch up afterwards", async () => {
  const person = new Person(await site.open(), site.url);
  await person.page.clock.install();
  // Playwright keeps every tab visible; a hidden one gets no animation frames, and this is all that the page may go by.
  await person.page.addInitScript(() => {
    /** @type {FrameRequestCallback[]} */
    let kept = [];
    const real = requestAnimationFrame;
    Object.assign(window, {
      requestAnimationFrame: (/** @type {FrameRequestCallback} */ work) =>
        real((time) => {
          if (/** @type {any} */ (window).isHidden) kept.push(work);
          else work(time);
        }),
      show: () => {
        Object.assign(window, { isHidden: false });
        for (const work of kept) real(work);
        kept = [];
      },
    });
  });
  await person.open(`v=1&seed=7&${QUICK}`);
  await person.page.clock.pauseAt(Date.now() + 60_000);
  await person.page.clock.runFor(3000);
  await person.page.evaluate(() => Object.assign(window, { isHidden: true }));
  const before = await person.place();
  assert.ok(before.tick > 0);
  await person.page.clock.runFor(60_000);
  assert.equal((await person.place()).tick, before.tick);
  await person.page.evaluate(() => /** @type {any} */ (window).show());
  await person.page.clock.runFor(200);
  assert.ok((await person.place()).tick <= before.tick + 2, "what was missed is let go");
  await person.page.clock.runFor(3000);
  assert.ok((await person.place()).tick > before.tick);
  await person.close();
});

test("a refused clipboard leaves the link selected and says so", async () => {
  const person = await Person.calm(site);
  await person.page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new DOMException("no", "NotAllowedError")) } });
  });
  await person.open(RUNNING);
  await person.button("Share").click();
  const dialog = person.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Copy link" }).click();
  await dialog.getByText("The clipboard was refused. The link is selected").waitFor();
  const selected = await person.page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    const field = /** @type {HTMLTextAreaElement} */ (element);
    return field.value.slice(field.selectionStart, field.selectionEnd);
  });
  assert.ok(selected.startsWith(`${site.url}#v=1&seed=7`), selected);
  await person.close();
});

test("a page without a clipboard at all does the same", async () => {
  const person = await Person.calm(site);
  await person.page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await person.open(RUNNING);
  await person.button("Share").click();
  await person.page.getByRole("dialog").getByRole("button", { name: "Copy link" }).click();
  await person.page.getByText("The clipboard was refused. The link is selected").waitFor();
  await person.close();
});

test("storage that throws does not break the page", async () => {
  const person = await Person.calm(site);
  await person.page.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get: () => {
        throw new DOMException("refused", "SecurityError");
      },
    });
  });
  await person.open(RUNNING);
  await person.button(/^Theme: system/).click();
  await person.button(/^Theme: light/).click();
  await person.button(/^Theme: dark/).waitFor();
  assert.equal(await person.page.evaluate(() => document.documentElement.dataset["theme"]), "dark");
  await person.close();
});

test("without wasm the page says what is missing", async () => {
  const person = await Person.calm(site);
  await person.page.addInitScript(() => Reflect.deleteProperty(window, "WebAssembly"));
  await person.page.goto(site.url);
  const alert = person.page.getByRole("alert");
  await alert.getByText("The engine cannot start.").waitFor();
  assert.match(await alert.innerText(), /WebAssembly/);
  await person.close();
});
