/**
 * What the golden table and the benchmark ask of the wasm facade: the one place here to change when its calls change.
 *
 * The function runs in Node as it is, and in a page as its own source text. So it must never use anything but its
 * arguments and what every browser has.
 */

/**
 * Runs `link` for `ticks` ticks in a wasm instance of its own.
 * @param {object} run
 * @param {string} run.glue the address of the wasm-bindgen module, not used before: each address is one instance
 * @param {Uint8Array} [run.wasm] the bytes of the wasm module, where the glue cannot fetch them itself
 * @param {string} run.link the Run
 * @param {number} run.ticks how far to go
 * @returns {Promise<{hash: string, seconds: number}>} the run hash there, and the time that advancing took
 */
export async function advance({ glue, wasm, link, ticks }) {
  const module = await import(glue);
  if (wasm === undefined) await module.default();
  else module.initSync({ module: wasm });
  const playground = new module.Playground(link);
  const started = performance.now();
  playground.advance_ticks(ticks);
  const seconds = (performance.now() - started) / 1000;
  return { hash: playground.hash(), seconds };
}
