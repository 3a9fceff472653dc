/**
 * The page's way in. A stand-in until the page lands: it loads one wasm instance and says so.
 */

import { html, render } from "lit";
import { loadEngine } from "./sim.js";

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
try {
  await loadEngine();
  render(html`<p id="state">The engine is loaded.</p>`, main);
} catch (error) {
  render(html`<p id="state">The engine cannot start: ${String(error)}</p>`, main);
  throw error;
}
