/**
 * What the timeline paints, read off events and frames. Pure: must never know the store.
 */

/** @typedef {import("../types.js").EventRow} EventRow */
/** @typedef {import("./branches.js").Mark} Mark */
/** @typedef {import("./branches.js").Span} Span */

/**
 * @param {EventRow} row
 * @returns {Mark | null}
 */
export function markOf(row) {
  const kind = kindOf(row);
  if (kind === null) return null;
  const { tick, step, text, view, replica, number } = row;
  return { tick, step, kind, text, view, replica, number };
}

/**
 * @param {EventRow} row
 * @returns {string | null}
 */
function kindOf(row) {
  if (row.class === "violation") return "violation";
  if (row.class === "client" && row.replica === null) return row.op === null ? null : "reply";
  if (!row.big) return null;
  // A view that starts names the head of its log.
  if (row.class === "view-change") return row.op === null ? "view" : "lead";
  if (row.class !== "fault") return null;
  if (row.replica === null) return "link";
  return /restart|resum|boot/.test(row.text) ? "restart" : "crash";
}

/**
 * @param {import("../types.js").Frame} frame
 * @returns {number | null} the newest view that is led now
 */
export function ledView(frame) {
  let newest = null;
  for (const replica of frame.replicas) {
    const leads = replica.up && replica.primary && replica.status === "normal";
    if (leads && (newest === null || replica.view > newest)) newest = replica.view;
  }
  return newest;
}

/**
 * Who led along marks, for stretches that were passed over without a frame.
 * @param {Mark[]} marks all, from the start of the run
 * @param {number} after only what changed after this tick
 * @returns {Span[]}
 */
export function spansOf(marks, after) {
  /** Views by who leads them, as far as is known. @type {Map<number, number>} */
  const leaders = new Map([[0, 0]]);
  /** @type {Span[]} */
  let spans = [];
  for (const { kind, tick, replica, view } of marks) {
    if (replica === null) continue;
    if (kind === "lead" && view !== null) leaders.set(replica, view);
    else if (kind === "view" || kind === "crash") leaders.delete(replica);
    else continue;
    if (tick > after) spans = extendSpans(spans, tick, leaders.size === 0 ? null : Math.max(...leaders.values()));
  }
  return spans;
}

/**
 * @param {Span[]} spans
 * @param {number} tick
 * @param {number | null} view
 * @returns {Span[]} the same list if nothing changed
 */
export function extendSpans(spans, tick, view) {
  const last = spans[spans.length - 1];
  if (last && (last.view === view || last.from > tick)) return spans;
  if (last?.from === tick) return extendSpans(spans.slice(0, -1), tick, view);
  return [...spans, { from: tick, view }];
}
