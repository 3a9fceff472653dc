/** Groups by name: metadata and the partitions, as frames, rows and packets mean them. Pure: must never know the DOM. */

/** @typedef {import("./types.js").GroupSummary} GroupSummary */

/**
 * @param {string} name `meta`, `g0`
 * @returns {string} `metadata`, `partition 0`
 */
export function groupText(name) {
  return name === "meta" ? "metadata" : name.replace(/^g(?=\d)/, "partition ");
}

/**
 * Rows and packets name a group by its id; a person by its place among those alive.
 * @param {GroupSummary[] | undefined} groups
 * @param {string | number | null | undefined} said
 * @returns {string | null} its name, or what was said of one that is no more; nothing where nothing was said
 */
export function groupNameOf(groups, said) {
  if (said === null || said === undefined || groups === undefined) return null;
  const found = groups.find(({ id, name }) => name === said || String(id) === String(said));
  return found?.name ?? String(said);
}

/**
 * @param {{ group?: string | null }} what a row or a packet
 * @param {{ group?: string | undefined } | null} frame
 * @returns {boolean} of the group that is shown, or of none
 */
export function isShown({ group }, frame) {
  return group === undefined || group === null || frame?.group === undefined || group === frame.group;
}
