/**
 * A person at the page: opens links, finds things by role and name, presses and types, and looks at where the run stands
 * through the read-only door of the page's element. It must never reach into a panel, wait for a length of time, or
 * change a run in a way that a person cannot.
 */

import { copyFile, mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dist } from "../server.mjs";

/** Timers short enough that a view change is a matter of half a virtual second. */
export const QUICK =
  "load=0.2&retry=30&delay-min=2&delay-mean=2&heartbeat=6&heartbeat-wait=18&view-change-wait=60&vote-resend=10&vote-expiry=60&prepare-resend=20&abdicate=120&probe=20&repair-retry=20";

/**
 * @typedef {object} Place where the page stands
 * @property {number} tick
 * @property {number} live the farthest tick of the shown branch
 * @property {string} hash
 * @property {string} link
 * @property {string[]} acts
 */

/** @typedef {import("playwright-core").Locator} Locator */

/** One visit to the page, in a browser context of its own. */
export class Person {
  /**
   * @param {import("./harness.mjs").WatchedPage} watched
   * @param {string} url
   */
  constructor(watched, url) {
    this.page = watched.page;
    this.complaints = watched.complaints;
    this.picture = watched.picture;
    this.close = watched.close;
    this.url = url;
    this.page.setDefaultTimeout(20_000);
  }

  /**
   * A visit with reduced motion, so that nothing moves until it is told to.
   * @param {import("./harness.mjs").Site} site
   * @param {import("playwright-core").BrowserContextOptions} [options]
   */
  static async calm(site, options = {}) {
    return new Person(await site.open({ reducedMotion: "reduce", ...options }), site.url);
  }

  /**
   * Opens a link and waits until the page stands where the link says.
   * @param {string} fragment without `#`
   * @param {string} query
   */
  async open(fragment, query = "") {
    await this.page.goto("about:blank");
    await this.page.goto(`${this.url}${query}${fragment === "" ? "" : `#${fragment}`}`);
    await this.stands();
  }

  /** Waits until a run is open and no replay is under way. */
  async stands() {
    await this.page.waitForFunction(() => {
      const app = /** @type {any} */ (document.querySelector("vsr-app"));
      return Boolean(app?.runHash) && !app.isSeeking;
    });
  }

  /** @returns {Promise<Place>} */
  async place() {
    const place = await this.page.evaluate(() => {
      const app = /** @type {any} */ (document.querySelector("vsr-app"));
      return { tick: app.tick, live: app.liveTick, hash: app.runHash, link: app.link };
    });
    const acts = /[#&]act=([^&]*)/.exec(`#${place.link}`)?.[1];
    return { ...place, acts: acts ? acts.split("_") : [] };
  }

  /** @returns {Promise<number[]>} */
  checkpoints() {
    return this.page.evaluate(() => /** @type {any} */ (document.querySelector("vsr-app")).checkpointTicks);
  }

  /**
   * @param {string | RegExp} name
   * @returns {Locator}
   */
  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /**
   * @param {number} id
   * @param {string} is the beginning of what its name says: `primary, view 1`
   * @returns {Locator} a replica on the stage
   */
  replica(id, is = "") {
    return this.page.getByRole("button", { name: new RegExp(`^Replica ${id}, ${is}`) });
  }

  /**
   * @param {number} a
   * @param {number} b
   * @param {string} is
   * @returns {Locator} a link on the stage
   */
  link(a, b, is = "") {
    return this.page.getByRole("button", { name: new RegExp(`^Link ${a}–${b}${is}`) });
  }

  /** @returns {Locator} */
  get timeline() {
    return this.page.getByRole("slider", { name: "Timeline" });
  }

  /** @returns {Locator} */
  get log() {
    return this.page.getByRole("region", { name: "Event log" });
  }

  /** @param {string} name of a tab */
  async tab(name) {
    await this.page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
  }

  /** Plays as fast as the page can, until something is seen; then stands still. @param {Locator} seen */
  async playUntil(seen) {
    const pace = this.page.getByRole("slider", { name: "Pace" });
    if ((await pace.getAttribute("aria-valuetext")) !== "1 s = 1 s") {
      await pace.fill("6");
    }
    await this.button("Play").click();
    await seen.waitFor();
    await this.button("Pause").click();
  }

  /** @param {number} count of virtual seconds to go */
  async seconds(count) {
    const { tick } = await this.place();
    await this.page.locator("body").press(count > 0 ? "Shift+ArrowRight" : "Shift+ArrowLeft");
    await this.at(tick + 100 * Math.sign(count));
    if (Math.abs(count) > 1) await this.seconds(count - Math.sign(count));
  }

  /** Waits until the page stands elsewhere than at this link. @param {string} link */
  async elsewhere(link) {
    await this.page.waitForFunction((before) => {
      const app = /** @type {any} */ (document.querySelector("vsr-app"));
      return app.link !== before && !app.isSeeking;
    }, link);
  }

  /** Waits until a tick is shown. @param {number} tick */
  async at(tick) {
    await this.page.waitForFunction((wanted) => {
      const app = /** @type {any} */ (document.querySelector("vsr-app"));
      return app.tick === wanted && !app.isSeeking;
    }, tick);
  }

  /**
   * Presses what appends an act, and waits until the link carries it.
   * @param {Locator} control
   * @returns {Promise<string>} the act, with its tick
   */
  async acts(control) {
    const before = (await this.place()).acts.join("_");
    await control.click();
    return this.lastAct(before);
  }

  /**
   * @param {string} before the acts of the link until now, joined
   * @returns {Promise<string>} the last act, once there is another
   */
  async lastAct(before) {
    await this.page.waitForFunction((known) => {
      const { link } = /** @type {any} */ (document.querySelector("vsr-app"));
      return (/[#&]act=([^&]*)/.exec(`#${link}`)?.[1] ?? "") !== known;
    }, before);
    return (await this.place()).acts.at(-1) ?? "";
  }
}

const buildDir = fileURLToPath(new URL("../build/", import.meta.url));

/**
 * The same engine in Node, where no page has touched it.
 * @param {string} name of the instance
 * @returns {Promise<any>} what wasm-bindgen made, with its memory
 */
export async function engine(name) {
  // Below web/ the file is a module to every Node; in dist/ it would be one to a recent Node only.
  await mkdir(buildDir, { recursive: true });
  await copyFile(`${dist}sim-wasm.js`, `${buildDir}sim-wasm.js`);
  const glue = await import(new URL(`../build/sim-wasm.js?n=${name}`, import.meta.url).href);
  const { memory } = glue.initSync({ module: await readFile(`${dist}sim-wasm_bg.wasm`) });
  return { ...glue, memory };
}

/** @returns {Promise<(link: string) => string>} replays a link from its start to the place it names; gives the hash there */
export async function replayer() {
  const glue = await engine("replayer");
  return (link) => {
    const { tick, step } = glue.read_link(link);
    const run = new glue.Playground(link);
    run.advance_to(tick, step);
    const hash = run.hash();
    run.free();
    return hash;
  };
}
