/**
 * Repeats the native benchmark's cases in Chromium and weighs the built page. `cargo xtask bench` calls it with the
 * native binary's output. A figure here is never a test.
 *
 * Usage: node web/bench.mjs NATIVE.jsonl [--json]
 */

import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { openSite } from "./e2e/harness.mjs";
import { advance } from "./facade.mjs";
import { dist } from "./server.mjs";
import { readLines } from "./table.mjs";

/** @typedef {{case: string, link: string, ticks: number, seconds: number, delivered: number}} Case */

const nativePath = process.argv[2];
if (nativePath === undefined) {
  console.error("usage: node web/bench.mjs NATIVE.jsonl [--json]");
  process.exit(2);
}
const isJson = process.argv.includes("--json");

/** @type {Case[]} */
const native = readLines(await readFile(nativePath, "utf8"));
const speeds = native.flatMap((one) => [speed("native", one)]);
const site = await openSite();
const { page } = await site.open();
await page.goto(site.url);
for (const [at, one] of native.entries()) {
  const glue = new URL(`sim-wasm.js?n=bench-${at}`, site.url).href;
  const { seconds } = await page.evaluate(advance, { glue, link: one.link, ticks: one.ticks });
  // The same Run delivers the same messages everywhere.
  speeds.push(speed("Chromium", { ...one, seconds }));
}
await site.close();
const sizes = await weigh(dist);

if (isJson) {
  for (const entry of [...speeds, ...sizes]) console.log(JSON.stringify(entry));
} else {
  console.log(`${"case".padEnd(24)} ${"where".padEnd(9)} ${"ticks/s".padStart(12)} ${"messages/s".padStart(12)}`);
  for (const entry of speeds) {
    const figures = [entry.ticksPerSecond, entry.messagesPerSecond].map((figure) => grouped(figure).padStart(12));
    console.log(`${entry.case.padEnd(24)} ${entry.where.padEnd(9)} ${figures.join(" ")}`);
  }
  console.log(`\n${"transfer".padEnd(24)} ${"bytes".padStart(12)} ${"gzip".padStart(12)}`);
  for (const entry of sizes) {
    const figures = [entry.bytes, entry.gzipBytes].map((figure) => grouped(figure).padStart(12));
    console.log(`${entry.size.padEnd(24)} ${figures.join(" ")}`);
  }
}

/**
 * @param {string} where
 * @param {Case} one
 */
function speed(where, one) {
  return {
    case: one.case,
    where,
    ticks: one.ticks,
    seconds: one.seconds,
    ticksPerSecond: Math.round(one.ticks / one.seconds),
    messagesPerSecond: Math.round(one.delivered / one.seconds),
  };
}

/**
 * The weight of everything that a visitor may load, by kind and in all.
 * @param {string} folder
 * @returns {Promise<{size: string, bytes: number, gzipBytes: number}[]>}
 */
async function weigh(folder) {
  /** @type {Map<string, {size: string, bytes: number, gzipBytes: number}>} */
  const byKind = new Map();
  const total = { size: "all", bytes: 0, gzipBytes: 0 };
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || extname(entry.name) === ".map") continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    const gzipBytes = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }).length;
    const kind = extname(path).slice(1) || relative(folder, path);
    const sum = byKind.get(kind) ?? { size: kind, bytes: 0, gzipBytes: 0 };
    byKind.set(kind, sum);
    for (const one of [sum, total]) {
      one.bytes += bytes.length;
      one.gzipBytes += gzipBytes;
    }
  }
  return [...byKind.values(), total];
}

/** @param {number} figure */
function grouped(figure) {
  return Math.round(figure).toLocaleString("en-US");
}
