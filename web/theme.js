/** Light, dark, or as the system has it; the choice is remembered where storage is allowed. Must never read the run. */

const KEY = "vsr-theme";

/**
 * @param {import("./state.js").Store} store
 * @param {string | null} asked by the query
 * @returns {() => void} lets go of it
 */
export function followTheme(store, asked) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = asked ?? read();
  if (kept === "light" || kept === "dark") store.setTheme(kept);
  const show = () => {
    const { theme } = store.state;
    const isDark = theme === "dark" || (theme === "system" && system.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  };
  let last = store.state.theme;
  const stop = store.subscribe(({ theme }) => {
    if (theme === last) return;
    last = theme;
    write(theme);
    show();
  });
  system.addEventListener("change", show);
  show();
  return () => {
    stop();
    system.removeEventListener("change", show);
  };
}

/** @returns {string | null} */
function read() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function write(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Refused: the choice holds for this visit.
  }
}
