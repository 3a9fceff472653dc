/**
 * Bundles the page's own modules and Lit into `web/build/app.js`. Trunk runs it before it builds `index.html`.
 *
 * The wasm-bindgen module stays outside the bundle: one wasm instance belongs to each Run, so the page imports that
 * module by address, once for every instance (`./sim-wasm.js?n=1`). This file must never know what the page does.
 */

import { copyFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
// Trunk names the profile; run by hand, this makes the release bundle.
const isRelease = process.env.TRUNK_PROFILE !== "debug";

const fonts = [
  "source-sans-3/files/source-sans-3-latin-400-normal.woff2",
  "source-sans-3/files/source-sans-3-latin-600-normal.woff2",
  "source-serif-4/files/source-serif-4-latin-600-normal.woff2",
];

await mkdir(`${here}build/fonts`, { recursive: true });
for (const font of fonts) {
  await copyFile(`${here}node_modules/@fontsource/${font}`, `${here}build/fonts/${font.split("/").at(-1)}`);
}

await build({
  absWorkingDir: here,
  entryPoints: ["app.js"],
  outfile: "build/app.js",
  bundle: true,
  format: "esm",
  target: "es2022",
  external: ["./sim-wasm.js*"],
  minify: isRelease,
  sourcemap: isRelease ? false : "inline",
  // Lit's production build is the default condition; its development build warns on the console.
  conditions: isRelease ? [] : ["development"],
  legalComments: "none",
  logLevel: "warning",
});
