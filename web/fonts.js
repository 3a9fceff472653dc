/**
 * Swaps the page's own type in after the first paint; until then, and where it does not come, the system's serves.
 * Must never delay anything.
 */

/** @type {{ family: string, file: string, weight: string }[]} */
const FACES = [
  { family: "Source Sans 3", file: "source-sans-3-latin-400-normal.woff2", weight: "400" },
  { family: "Source Sans 3", file: "source-sans-3-latin-600-normal.woff2", weight: "600" },
  { family: "Source Serif 4", file: "source-serif-4-latin-600-normal.woff2", weight: "600" },
];

/** Loads them all at once, so that the page is set anew only once. */
export async function loadFonts() {
  const faces = FACES.map(({ family, file, weight }) => {
    const address = new URL(`./fonts/${file}`, import.meta.url).href;
    return new FontFace(family, `url(${address}) format("woff2")`, { weight, display: "swap" });
  });
  try {
    const loaded = await Promise.all(faces.map((face) => face.load()));
    for (const face of loaded) document.fonts.add(face);
  } catch {
    // Without them the page is set in the system's type.
  }
}
