/**
 * The keyboard: which key does what, and when a key is not ours. Must never take Space from a button or a letter from a
 * field.
 */

import { restOf, sidesAct } from "./acts.js";
import { PACES } from "./format.js";

/** As the dialog lists them. */
export const KEYS = [
  { keys: ["Space"], text: "play and pause" },
  { keys: ["←", "→"], text: "one event back, one event on" },
  { keys: ["Shift ←", "Shift →"], text: "one second of virtual time" },
  { keys: ["Home", "End"], text: "to the start, to the live end" },
  { keys: ["[", "]"], text: "slower, faster" },
  { keys: ["L"], text: "return to live" },
  { keys: ["1", "… 9"], text: "select replica 0 … 8; with Shift, add it" },
  { keys: ["C"], text: "crash the selected replicas, or restart them" },
  { keys: ["X"], text: "cut the selected replicas off, or the selected link" },
  { keys: ["H"], text: "heal all links" },
  { keys: ["Esc"], text: "select nothing" },
  { keys: ["?"], text: "this list" },
];

const SECOND_TICKS = 100;

/** @typedef {import("./state.js").Store} Store */
/** @typedef {import("./state/conductor.js").Conductor} Conductor */

/**
 * @param {Store} store
 * @param {Conductor} run
 * @returns {() => void} lets go of the keyboard
 */
export function listenToKeys(store, run) {
  const listener = (/** @type {KeyboardEvent} */ event) => {
    if (store.state.dialog !== null || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!store.state.hasKeys && event.key !== "?") return;
    if (isTaken(event)) return;
    if (press(event, store, run)) event.preventDefault();
  };
  window.addEventListener("keydown", listener);
  return () => window.removeEventListener("keydown", listener);
}

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} the focused element has its own use for the key
 */
function isTaken(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  if (target.matches("input:not([type=checkbox],[type=file]), textarea, select")) return true;
  const isPress = event.key === " " || event.key === "Enter";
  return isPress && target.closest("button, a, summary, label, input, [role=button]") !== null;
}

/**
 * @param {KeyboardEvent} event
 * @param {Store} store
 * @param {Conductor} run
 * @returns {boolean} whether the key did something
 */
function press(event, store, run) {
  const digit = /^Digit([1-9])$/.exec(event.code);
  const count = store.state.frame?.replica_count ?? 0;
  if (digit && Number(digit[1]) <= count) {
    store.selectReplica(Number(digit[1]) - 1, event.shiftKey);
    return true;
  }
  /** @type {Record<string, () => unknown>} */
  const table = {
    " ": () => run.togglePlay(),
    ArrowRight: () => (event.shiftKey ? run.stepTicks(SECOND_TICKS) : run.stepEvent()),
    ArrowLeft: () => (event.shiftKey ? run.stepTicks(-SECOND_TICKS) : run.stepEventBack()),
    Home: () => run.seek({ tick: 0, step: 0 }),
    End: () => run.returnToLive(),
    "[": () => changePace(store, run, -1),
    "]": () => changePace(store, run, 1),
    l: () => run.returnToLive(),
    c: () => crash(store, run),
    x: () => cut(store, run),
    h: () => run.act("heal"),
    "?": () => store.showDialog("keys"),
    Escape: () => store.clearSelection(),
  };
  const work = table[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!work) return false;
  work();
  return true;
}

/**
 * @param {Store} store
 * @param {Conductor} run
 * @param {number} by
 */
function changePace(store, run, by) {
  const index = PACES.indexOf(store.state.pace);
  const pace = PACES[Math.min(PACES.length - 1, Math.max(0, index + by))];
  if (pace !== undefined) run.setPace(pace);
}

/**
 * @param {Store} store
 * @param {Conductor} run
 */
async function crash(store, run) {
  const { selection, frame } = store.state;
  if (selection.kind !== "replicas" || !frame) return;
  for (const id of selection.ids) await run.act(`${frame.replicas[id]?.up ? "crash" : "restart"}.${id}`);
}

/**
 * @param {Store} store
 * @param {Conductor} run
 */
function cut(store, run) {
  const { selection, frame } = store.state;
  if (!frame) return;
  if (selection.kind === "link" && !selection.a.startsWith("c")) void run.act(`cut.${selection.a}-${selection.b}`);
  if (selection.kind !== "replicas") return;
  const rest = restOf(selection.ids, frame.replica_count);
  if (rest.length > 0) void run.act(sidesAct("cut", selection.ids, rest));
}
