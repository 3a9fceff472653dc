/**
 * The golden table: every Run's hash as pinned in `golden.json`, as the native binary just computed it, in wasm under
 * Node and in wasm in Chromium. `cargo xtask golden` calls it with the native binary's output.
 *
 * Usage: node web/golden.mjs NATIVE.jsonl [--bless]. It must never know what is in a link.
 */

import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openSite } from "./e2e/harness.mjs";
import { advance } from "./facade.mjs";
import { compare, fold, readLines } from "./table.mjs";
import { dist } from "./server.mjs";

const tablePath = fileURLToPath(new URL("../golden.json", import.meta.url));
const buildDir = fileURLToPath(new URL("./build/", import.meta.url));

/** @typedef {import("./table.mjs").GoldenRun} GoldenRun */

const [nativePath, ...flags] = process.argv.slice(2);
if (nativePath === undefined || flags.some((flag) => flag !== "--bless")) {
  console.error("usage: node web/golden.mjs NATIVE.jsonl [--bless]");
  process.exit(2);
}
/** @type {GoldenRun[]} */
const native = readLines(await readFile(nativePath, "utf8"));
if (native.length === 0) throw new Error("the native binary printed no golden Run");
if (flags.includes("--bless")) await writeFile(tablePath, `${JSON.stringify(native, null, 2)}\n`);
const pinned = JSON.parse(await readFile(tablePath, "utf8").catch(missingTable));

const node = await hashes(native, await nodeRunner());
const site = await openSite();
const chromium = await hashes(native, await chromiumRunner(site));
await site.close();

const { lines, equal, different } = compare({ pinned, native, node, chromium });
console.log(lines.join("\n"));
console.log(different === 0 ? `${equal} Runs, all equal` : `${different} of ${equal + different} Runs differ`);
console.log(`golden: ${equal} equal, ${different} different`);
process.exitCode = different === 0 ? 0 : 1;

/**
 * @param {GoldenRun[]} runs
 * @param {(link: string, ticks: number) => Promise<string>} hashOf
 * @returns {Promise<Map<string, string>>} by name; what threw is its message, which equals no hash
 */
async function hashes(runs, hashOf) {
  const found = new Map();
  for (const run of runs) {
    try {
      const links = run.links ?? [run.link ?? ""];
      const each = [];
      for (const link of links) each.push(await hashOf(link, run.ticks));
      found.set(run.name, run.links ? fold(each) : each[0]);
    } catch (error) {
      found.set(run.name, String(error).split("\n")[0]);
    }
  }
  return found;
}

/** @returns {Promise<(link: string, ticks: number) => Promise<string>>} */
async function nodeRunner() {
  // Below web/ the file is a module to every Node; in dist/ it would be one to a recent Node only.
  await mkdir(buildDir, { recursive: true });
  await copyFile(`${dist}sim-wasm.js`, `${buildDir}sim-wasm.js`);
  const wasm = await readFile(`${dist}sim-wasm_bg.wasm`);
  let instances = 0;
  return async (link, ticks) => {
    instances += 1;
    const glue = new URL(`./build/sim-wasm.js?n=${instances}`, import.meta.url).href;
    return (await advance({ glue, wasm, link, ticks })).hash;
  };
}

/**
 * @param {import("./e2e/harness.mjs").Site} site
 * @returns {Promise<(link: string, ticks: number) => Promise<string>>}
 */
async function chromiumRunner(site) {
  const { page } = await site.open();
  await page.goto(site.url);
  let instances = 0;
  return async (link, ticks) => {
    instances += 1;
    const glue = new URL(`sim-wasm.js?n=golden-${instances}`, site.url).href;
    return (await page.evaluate(advance, { glue, link, ticks })).hash;
  };
}

/** @returns {string} */
function missingTable() {
  console.log("there is no golden.json yet: `cargo xtask golden --bless` writes it");
  return "[]";
}
