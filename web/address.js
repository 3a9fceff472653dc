/**
 * The address bar: it carries the run once a person did something, seldom enough for every browser; a link pasted into
 * an open tab is opened. Must never read anything but the fragment and the query.
 */

/** Safari throws after a hundred changes in thirty seconds. */
const WRITE_MS = 500;

/**
 * @param {import("./state.js").Store} store
 * @param {import("./state/conductor.js").Conductor} run
 * @param {(link: string) => void} open
 * @returns {() => void} lets go of it
 */
export function followAddress(store, run, open) {
  let timer = 0;
  let writtenAt = 0;
  const write = () => {
    timer = 0;
    writtenAt = performance.now();
    if (store.state.trap || store.state.broken || store.state.seeking) return;
    try {
      const link = run.linkNow();
      if (link !== "" && `#${link}` !== location.hash) history.replaceState(null, "", `#${link}`);
    } catch {
      // A sandbox may refuse, and a browser that counts changes may be tired of them: the share dialog still has it.
    }
  };
  const stop = store.subscribe(() => {
    if (!run.hasActed || timer !== 0) return;
    timer = setTimeout(write, Math.max(0, writtenAt + WRITE_MS - performance.now()));
  });
  const changed = () => open(location.hash.slice(1));
  window.addEventListener("hashchange", changed);
  return () => {
    stop();
    clearTimeout(timer);
    window.removeEventListener("hashchange", changed);
  };
}
