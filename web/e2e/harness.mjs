/**
 * What every browser test stands on: the built page behind the static server, the system's Chromium, and pages that
 * fail their test on anything that a person's browser console would show.
 *
 * It must never download a browser, and never reach another host than the server it started.
 */

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { dist, serve } from "../server.mjs";

/** Where pictures for a person's eye go; git ignores it. */
export const pictures = fileURLToPath(new URL("./pictures/", import.meta.url));

// Without these, a Chromium at rest looks up hosts of its maker, which a closed network refuses one by one.
const quietFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * @typedef {object} Site
 * @property {string} url the page's address
 * @property {import("playwright-core").Browser} browser
 * @property {(options?: import("playwright-core").BrowserContextOptions) => Promise<WatchedPage>} open a page in a
 *   context of its own, at no address yet
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} WatchedPage
 * @property {import("playwright-core").Page} page
 * @property {string[]} complaints what went wrong in it so far: console errors, exceptions, requests to other hosts
 * @property {(name: string) => Promise<string>} picture takes one and returns its path
 * @property {() => Promise<void>} close closes it, and throws if there are complaints
 */

/**
 * Serves the built page and starts the browser.
 * @returns {Promise<Site>}
 */
export async function openSite() {
  if (!existsSync(join(dist, "index.html"))) {
    throw new Error("the page is not built: run `cargo xtask test build` first");
  }
  const server = await serve();
  const browser = await chromium.launch({ executablePath: findChromium(), args: quietFlags });
  return {
    url: server.url,
    browser,
    open: (options = {}) => openPage(browser, server.url, options),
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {import("playwright-core").BrowserContextOptions} options
 * @returns {Promise<WatchedPage>}
 */
async function openPage(browser, url, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      complaints.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  // Chromium fetches some of its own accord, so what leaves for elsewhere is stopped as well as told.
  await context.route(
    (address) => /^(https?|wss?):$/.test(address.protocol) && address.origin !== new URL(url).origin,
    async (route) => {
      complaints.push(`request to another host: ${route.request().url()}`);
      await route.abort();
    },
  );
  return {
    page,
    complaints,
    picture: async (name) => {
      await mkdir(pictures, { recursive: true });
      const path = join(pictures, `${name}.png`);
      await page.screenshot({ path, fullPage: true });
      return path;
    },
    close: async () => {
      await context.close();
      if (complaints.length > 0) throw new Error(`the page complained:\n${complaints.join("\n")}`);
    },
  };
}

/** @returns {string} the browser that `cargo xtask` found, or the first on PATH */
function findChromium() {
  const named = process.env.VSR_CHROMIUM;
  if (named) return named;
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (found === undefined) throw new Error("no Chromium: install one, or name it in VSR_CHROMIUM");
  return found;
}
