/**
 * The simulator client: the one module that imports wasm. A stand-in until the page lands.
 */

let instances = 0;

/**
 * One wasm instance under an address of its own: two Runs side by side must not rewind each other.
 * @returns {Promise<Record<string, any>>} the wasm-bindgen module of that instance
 */
export async function loadEngine() {
  instances += 1;
  const address = new URL(`./sim-wasm.js?n=${instances}`, import.meta.url).href;
  const glue = await import(address);
  await glue.default();
  return glue;
}
