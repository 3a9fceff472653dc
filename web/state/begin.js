/** What the store holds when a run begins, whatever run was shown before. Must never know the store. */

/**
 * @param {import("./branches.js").Branch} root
 * @param {import("./branches.js").Branch[]} others the runs before, which stay
 * @param {{ story: () => import("../types.js").Story | null, takes: Set<string> }} sim
 * @returns {Partial<import("../state.js").State>}
 */
export function freshRun(root, others, sim) {
  return {
    phase: "ready",
    branches: [...others, root],
    branch: root.id,
    broken: null,
    trap: null,
    runError: null,
    proof: null,
    epoch: null,
    caption: null,
    isPlaying: false,
    group: null,
    story: sim.story(),
    takes: sim.takes,
    selection: { kind: "none" },
    lit: null,
    shown: { tick: 0, step: 0 },
  };
}
