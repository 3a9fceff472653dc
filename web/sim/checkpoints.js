/**
 * The table of memory checkpoints: images of a wasm memory as lists of shared 64 KiB pages, found by lineage and tick,
 * thinned evenly to a budget. Pure data: must never know wasm, the clock or the page.
 */

/** Size of a page of an image. */
export const PAGE_BYTES = 65_536;

/**
 * @typedef {{ bytes: Uint8Array, owners: number }} Page one page and the number of images that share it
 * @typedef {{ tick: number, branch: number, pages: Page[] }} Checkpoint
 * @typedef {{ branch: number, until: number }} Ancestor a branch, and the last tick at which it is one's own past
 */

/** Most of a memory that was only reserved; never counted, never given back. @type {Page} */
const ZERO = { bytes: new Uint8Array(PAGE_BYTES), owners: 1 };

/** Checkpoints of one run, in order of tick. */
export class CheckpointTable {
  /** @param {number} budgetBytes */
  constructor(budgetBytes) {
    this.budgetBytes = budgetBytes;
    /** @type {Checkpoint[]} */
    this.entries = [];
    this.bytes = 0;
  }

  /**
   * Keeps an image. Pages equal to those of `before` are shared with it.
   * @param {number} tick
   * @param {number} branch
   * @param {Uint8Array} image a whole number of pages; copied where it changed
   * @param {Checkpoint | null} before the image to compare with, the nearest one taken
   * @returns {Checkpoint}
   */
  add(tick, branch, image, before) {
    const pages = diffPages(image, before ? before.pages : []);
    for (const page of pages) {
      if (page.owners === 0) this.bytes += page.bytes.byteLength;
      page.owners += 1;
    }
    const entry = { tick, branch, pages };
    const place = this.entries.findIndex((other) => other.tick > tick);
    this.entries.splice(place < 0 ? this.entries.length : place, 0, entry);
    this.#thin();
    return entry;
  }

  /**
   * The last checkpoint at or before a tick on a line of branches.
   * @param {number} tick
   * @param {Ancestor[]} lineage
   * @returns {Checkpoint | null}
   */
  nearest(tick, lineage) {
    for (let index = this.entries.length - 1; index >= 0; index -= 1) {
      const entry = this.entries[index];
      if (entry && entry.tick <= tick && isOf(entry, lineage)) return entry;
    }
    return null;
  }

  /** @param {Checkpoint} entry */
  remove(entry) {
    const place = this.entries.indexOf(entry);
    if (place < 0) return;
    this.entries.splice(place, 1);
    for (const page of entry.pages) {
      page.owners -= 1;
      if (page.owners === 0) this.bytes -= page.bytes.byteLength;
    }
  }

  #thin() {
    while (this.bytes > this.budgetBytes && this.entries.length > 2) {
      const victim = this.entries[thinnest(this.entries.map((entry) => entry.tick))];
      if (!victim) return;
      this.remove(victim);
    }
  }
}

/**
 * Which of many ticks is missed least: the one whose neighbours stand closest. The first and the last stay.
 * @param {number[]} ticks ascending, three or more
 * @returns {number} its index
 */
export function thinnest(ticks) {
  let best = 1;
  let bestGap = Number.POSITIVE_INFINITY;
  for (let index = 1; index < ticks.length - 1; index += 1) {
    const gap = (ticks[index + 1] ?? 0) - (ticks[index - 1] ?? 0);
    if (gap < bestGap) {
      best = index;
      bestGap = gap;
    }
  }
  return best;
}

/**
 * @param {Checkpoint} entry
 * @param {Ancestor[]} lineage
 * @returns {boolean}
 */
function isOf(entry, lineage) {
  return lineage.some(({ branch, until }) => branch === entry.branch && entry.tick <= until);
}

/**
 * @param {Uint8Array} image
 * @param {Page[]} before
 * @returns {Page[]} the pages of `image`; an unchanged one is the very page of `before`
 */
export function diffPages(image, before) {
  const pages = [];
  for (let start = 0; start < image.byteLength; start += PAGE_BYTES) {
    const now = image.subarray(start, start + PAGE_BYTES);
    const old = before[start / PAGE_BYTES] ?? ZERO;
    pages.push(isEqual(now, old.bytes) ? old : { bytes: now.slice(), owners: 0 });
  }
  return pages;
}

/**
 * @param {Uint8Array} a
 * @param {Uint8Array} b as every page, whole words at a whole word
 * @returns {boolean}
 */
function isEqual(a, b) {
  if (a.byteLength !== b.byteLength) return false;
  // Measured on 18 MiB: 64-bit words take a fifth of the time of 32-bit ones.
  const words = new BigInt64Array(a.buffer, a.byteOffset, a.byteLength / 8);
  const others = new BigInt64Array(b.buffer, b.byteOffset, b.byteLength / 8);
  for (let index = 0; index < words.length; index += 1) {
    if (words[index] !== others[index]) return false;
  }
  return true;
}

/**
 * Writes an image back.
 * @param {Checkpoint} entry
 * @param {Uint8Array} memory at least as large as the image
 */
export function restoreInto(entry, memory) {
  entry.pages.forEach((page, index) => memory.set(page.bytes, index * PAGE_BYTES));
}
