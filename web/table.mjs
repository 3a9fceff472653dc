/**
 * The golden table's own arithmetic: reading, folding and comparing hashes. It must never run anything.
 */

/**
 * A golden Run as the native binary prints it. Where `links` stands instead of `link`, `hash` is the fold of theirs.
 * @typedef {{name: string, link?: string, links?: string[], ticks: number, hash: string}} GoldenRun
 */

/**
 * @param {string} text one JSON object a line
 * @returns {any[]}
 */
export function readLines(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));
}

/**
 * Folds hashes into one: FNV-1a of 64 bits over their bytes, most significant first.
 * @param {string[]} hashes 16 hexadecimal digits each
 * @returns {string} 16 hexadecimal digits
 */
export function fold(hashes) {
  let folded = 0xcbf29ce484222325n;
  for (const hash of hashes) {
    for (let at = 0; at < hash.length; at += 2) {
      const byte = BigInt(`0x${hash.slice(at, at + 2)}`);
      folded = BigInt.asUintN(64, (folded ^ byte) * 0x100000001b3n);
    }
  }
  return folded.toString(16).padStart(16, "0");
}

/**
 * @param {object} results
 * @param {GoldenRun[]} results.pinned
 * @param {GoldenRun[]} results.native
 * @param {Map<string, string>} results.node
 * @param {Map<string, string>} results.chromium
 * @returns {{lines: string[], equal: number, different: number}} the table to print, and its counts
 */
export function compare({ pinned, native, node, chromium }) {
  const pinnedByName = new Map(pinned.map((run) => [run.name, run]));
  const nativeByName = new Map(native.map((run) => [run.name, run]));
  const names = [...new Set([...nativeByName.keys(), ...pinnedByName.keys()])];
  const width = Math.max(4, ...names.map((name) => name.length));
  const row = (/** @type {string[]} */ cells) =>
    cells.map((cell, at) => cell.padEnd(at === 0 ? width : 16)).join("  ").trimEnd();
  const lines = [row(["Run", "pinned", "native", "Node", "Chromium", ""])];
  let equal = 0;
  for (const name of names) {
    const was = pinnedByName.get(name);
    const is = nativeByName.get(name);
    const cells = [was?.hash, is?.hash, node.get(name), chromium.get(name)].map((cell) => cell ?? "missing");
    const isSameRun = JSON.stringify({ ...was, hash: "" }) === JSON.stringify({ ...is, hash: "" });
    const isEqual = isSameRun && cells.every((cell) => cell === cells[0]);
    if (isEqual) equal += 1;
    const verdict = isEqual ? "equal" : cells.every((cell) => cell === cells[0]) ? "ANOTHER RUN" : "DIFFERENT";
    lines.push(row([name, ...cells, verdict]));
  }
  return { lines, equal, different: names.length - equal };
}
