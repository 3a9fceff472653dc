/**
 * The page's one store: what is shown, what is selected, which dialog is open. State changes only through the named
 * actions here and in the conductor, each replacing parts of an otherwise frozen object. Must never know the DOM or
 * call the engine.
 */

/**
 * @typedef {import("./link.js").Position} Position
 * @typedef {import("./state/branches.js").Branch} Branch
 * @typedef {{ kind: "none" } | { kind: "replicas", ids: number[] } | { kind: "client", id: number }
 *   | { kind: "link", a: string, b: string } | { kind: "packet", key: string }} Selection
 * @typedef {"run" | "inspector" | "faults" | "protocol" | "checks" | "events"} Tab
 * @typedef {"system" | "light" | "dark"} Theme
 * @typedef {{ id: number, tone: "plain" | "good" | "warn" | "bad", text: string }} Notice
 * @typedef {{ step: string, title: string, text: string, verbs: { label: string, verb: string, isMain?: boolean }[] }} Caption
 */

/**
 * @typedef {object} State
 * @property {"loading" | "ready" | "failed"} phase
 * @property {string} failure why the engine cannot start
 * @property {import("./types.js").Frame | null} frame
 * @property {import("./types.js").Packet[]} packets
 * @property {import("./types.js").EventRow[]} rows events up to the shown place; appended to in place
 * @property {number} rowsVersion rises when `rows` changes
 * @property {Position} shown
 * @property {boolean} isPlaying
 * @property {number} pace ticks a second
 * @property {boolean} skipsQuiet
 * @property {boolean} isSkipping
 * @property {{ from: number, to: number, at: number } | null} seeking
 * @property {Branch[]} branches
 * @property {number} branch
 * @property {boolean} canUndo
 * @property {boolean} canRedo
 * @property {string | null} group the group that was chosen; the engine's own choice if none was
 * @property {import("./types.js").Story | null} story of the run, in words
 * @property {Set<string>} takes keys of a link that the engine knows, of those that not every one does
 * @property {Selection} selection
 * @property {number | null} lit an op pointed at: its cells, packets and events are lit
 * @property {Tab} tab
 * @property {boolean} isDrawerOpen
 * @property {"share" | "keys" | null} dialog
 * @property {Theme} theme
 * @property {boolean} hasKeys
 * @property {Notice[]} notices
 * @property {{ is: "verified" | "differs", at: string } | null} proof
 * @property {{ link: string, text: string } | null} broken
 * @property {{ link: string, tick: number, text: string } | null} trap
 * @property {{ link: string, theirs: string, ours: string } | null} epoch
 * @property {string | null} runError
 * @property {Caption | null} caption
 * @property {string} said
 */

/** @returns {State} */
export function initialState() {
  return {
    phase: "loading",
    failure: "",
    frame: null,
    packets: [],
    rows: [],
    rowsVersion: 0,
    shown: { tick: 0, step: 0 },
    isPlaying: false,
    pace: 2,
    skipsQuiet: true,
    isSkipping: false,
    seeking: null,
    branches: [],
    branch: 0,
    canUndo: false,
    canRedo: false,
    group: null,
    story: null,
    takes: new Set(),
    selection: { kind: "none" },
    lit: null,
    tab: "inspector",
    isDrawerOpen: false,
    dialog: null,
    theme: "system",
    hasKeys: true,
    notices: [],
    proof: null,
    broken: null,
    trap: null,
    epoch: null,
    runError: null,
    caption: null,
    said: "",
  };
}

/** At most one message in this time reaches the live region. */
const SAY_MS = 2000;
const NOTICE_MS = 7000;

/** Holds the state and tells who listens. */
export class Store {
  #state = initialState();
  /** @type {Set<(state: State) => void>} */
  #listeners = new Set();
  #notices = 0;
  #saidAt = Number.NEGATIVE_INFINITY;
  /** @type {string | null} */
  #waiting = null;

  /** @returns {Readonly<State>} */
  get state() {
    return this.#state;
  }

  /**
   * @param {(state: State) => void} listener
   * @returns {() => void} ends it
   */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * For actions only; views call those.
   * @param {Partial<State>} change
   */
  change(change) {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener(this.#state);
  }

  /**
   * @param {number} id
   * @param {boolean} isAdded keep what was selected
   */
  selectReplica(id, isAdded) {
    this.#select(toggleReplica(this.#state.selection, id, isAdded));
  }

  /** @param {number[]} ids */
  selectReplicas(ids) {
    this.#select(ids.length === 0 ? { kind: "none" } : { kind: "replicas", ids });
  }

  /** @param {number} id */
  selectClient(id) {
    this.#select({ kind: "client", id });
  }

  /**
   * @param {string} a
   * @param {string} b
   */
  selectLink(a, b) {
    this.#select({ kind: "link", a, b });
  }

  /** @param {string} key */
  selectPacket(key) {
    this.#select({ kind: "packet", key });
  }

  /** Nothing is selected; a drawer closes with it. */
  clearSelection() {
    this.change({ selection: { kind: "none" }, isDrawerOpen: false });
  }

  /** @param {number | null} lit an op */
  light(lit) {
    if (lit !== this.#state.lit) this.change({ lit });
  }

  /** @param {Selection} selection */
  #select(selection) {
    this.change({ selection });
  }

  /** @param {Tab} tab */
  showTab(tab) {
    this.change({ tab, isDrawerOpen: true });
  }

  /** The panels, on a narrow page. */
  closeDrawer() {
    this.change({ isDrawerOpen: false });
  }

  /** @param {"share" | "keys" | null} dialog */
  showDialog(dialog) {
    this.change({ dialog });
  }

  /** @param {boolean} skipsQuiet */
  setSkipsQuiet(skipsQuiet) {
    this.change({ skipsQuiet, isSkipping: false });
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    this.change({ theme });
  }

  /** @param {boolean} hasKeys */
  setKeys(hasKeys) {
    this.change({ hasKeys });
  }

  /**
   * @param {string} text
   * @param {Notice["tone"]} tone
   */
  notify(text, tone = "plain") {
    this.#notices += 1;
    const notice = { id: this.#notices, tone, text };
    this.change({ notices: [...this.#state.notices.slice(-2), notice] });
    setTimeout(() => this.dismiss(notice.id), NOTICE_MS);
  }

  /** @param {number} id */
  dismiss(id) {
    const notices = this.#state.notices.filter((notice) => notice.id !== id);
    if (notices.length !== this.#state.notices.length) this.change({ notices });
  }

  /** The message about a broken link was read. */
  dismissBroken() {
    this.change({ broken: null });
  }

  /** The message about another epoch was read. */
  dismissEpoch() {
    this.change({ epoch: null });
  }

  /**
   * Tells people who do not see the stage; the last of several that come at once is said.
   * @param {string} text
   */
  say(text) {
    const wait = this.#saidAt + SAY_MS - performance.now();
    const isWaiting = this.#waiting !== null;
    this.#waiting = text;
    if (isWaiting) return;
    setTimeout(() => this.#sayNow(), Math.max(0, wait));
  }

  #sayNow() {
    const said = this.#waiting ?? "";
    this.#waiting = null;
    this.#saidAt = performance.now();
    this.change({ said });
  }
}

/**
 * @param {Selection} selection
 * @param {number} id
 * @param {boolean} isAdded
 * @returns {Selection}
 */
export function toggleReplica(selection, id, isAdded) {
  const before = selection.kind === "replicas" ? selection.ids : [];
  if (!isAdded) return before.length === 1 && before[0] === id ? { kind: "none" } : { kind: "replicas", ids: [id] };
  const ids = before.includes(id) ? before.filter((other) => other !== id) : [...before, id].sort((a, b) => a - b);
  return ids.length === 0 ? { kind: "none" } : { kind: "replicas", ids };
}

/**
 * @param {State} state
 * @returns {Branch | null} the branch that is shown
 */
export function branchOf(state) {
  return state.branches.find((branch) => branch.id === state.branch) ?? null;
}

/**
 * @param {State} state
 * @returns {Position} the farthest place of the shown branch
 */
export function liveOf(state) {
  return branchOf(state)?.live ?? state.shown;
}
