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
  const { tick, step, text, view, replica, number, group = null } = row;
  return { tick, step, kind, text, view, replica, number, group };
}

/**
 * @param {EventRow} row
 * @returns {string | null}
 */
function kindOf(row) {
  if (row.class === "violation") return "violation";
  if (row.class === "client" && row.replica === null) return row.op === null ? null : "reply";
  if (!row.big) return null;
  if (row.class === "view-change") return "view";
  if (row.class !== "fault") return null;
  if (row.replica === null) return "link";
  return /restart|resum|boot/.test(row.text) ? "restart" : "crash";
}

/**
 * The spans that something big begins, one for each group that it is about.
 * @param {Span[]} spans those before
 * @param {EventRow} row
 * @param {number} replicaCount
 * @param {string[]} names of all groups; none where there is one alone
 * @returns {Span[]}
 */
export function spansAfter(spans, row, replicaCount, names = []) {
  const all = names.length === 0 ? [null] : names;
  const groups = row.group == null ? all : [row.group];
  return groups.flatMap((group) => {
    const last = spans.findLast((span) => span.group == null || span.group === group) ?? null;
    const span = spanAfter(last, row, replicaCount);
    return span === null ? [] : [group === null ? span : { ...span, group }];
  });
}

/**
 * Who leads after something big: a view that starts has its head as the row's op; from when its primary crashes, or a
 * newer view is entered, nobody leads.
 * @param {Span | null} last
 * @param {EventRow} row
 * @param {number} replicaCount
 * @returns {Span | null} nothing where it stays as it was
 */
export function spanAfter(last, row, replicaCount) {
  const led = last?.view ?? null;
  const isView = row.class === "view-change" && row.view !== null;
  if (isView && row.op !== null && row.view !== led) return { from: row.tick, view: row.view };
  const isLeft = isView && row.op === null && led !== null && (row.view ?? 0) > led;
  const isLost = kindOf(row) === "crash" && led !== null && row.replica === led % replicaCount;
  return isLeft || isLost ? { from: row.tick, view: null } : null;
}
