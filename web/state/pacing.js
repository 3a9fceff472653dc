/**
 * When nothing happens, and how far one may skip then. A stretch is quiet while only heartbeats and retries travel and
 * no replica or client changes; skipping stops before a timer that decides. Pure: must never know the clock.
 */

/** @typedef {import("../types.js").Frame} Frame */
/** @typedef {import("../types.js").Packet} Packet */

const REQUEST = 0;
const COMMIT = 5;
/** Sends that changed nothing for this long are repetitions. */
const STALE_TICKS = 30;
/** How many ticks before a deciding timer skipping ends. */
const LEAD_TICKS = 3;
/** Virtual ticks a second at the height of a skip. */
export const SKIP_TICKS_PER_SECOND = 320;

const TIMERS_THAT_DECIDE = new Set(["heartbeat-wait", "view-change-wait", "abdicate", "probe"]);

/**
 * @param {Frame} frame
 * @returns {string} equal as long as no replica and no client changes
 */
export function signatureOf(frame) {
  const replicas = frame.replicas.map((replica) =>
    [
      replica.up,
      replica.paused,
      replica.status,
      replica.view,
      replica.log_view,
      replica.head,
      replica.held,
      replica.commit_min,
      replica.commit_max,
      replica.leave_votes.length,
      replica.log_votes.length,
    ].join(),
  );
  const clients = frame.clients.map((client) => [client.state, client.request, client.replies].join());
  const groups = (frame.groups ?? []).map((group) => [group.view, group.primary, group.commit_max, group.head].join());
  return `${replicas.join(";")}|${clients.join(";")}|${groups.join(";")}`;
}

/**
 * @param {Frame} frame
 * @param {Packet[]} packets
 * @param {number} unchangedTicks for how long the signature has stood
 * @returns {boolean}
 */
export function isQuiet(frame, packets, unchangedTicks) {
  if (unchangedTicks >= STALE_TICKS) return true;
  return packets.every((packet) => packet.kind === COMMIT || packet.isHeld || isRetry(frame, packet));
}

/**
 * @param {Frame} frame
 * @param {Packet} packet
 * @returns {boolean}
 */
function isRetry(frame, packet) {
  if (packet.kind !== REQUEST) return false;
  const client = frame.clients[Number(packet.from.slice(1))];
  return client !== undefined && client.attempts > 1;
}

/**
 * @param {Frame} frame
 * @returns {number} ticks that may pass before a timer decides something
 */
export function skippableTicks(frame) {
  let least = Number.POSITIVE_INFINITY;
  for (const replica of frame.replicas) {
    if (!replica.up || replica.paused) continue;
    for (const { timer, left } of replica.timers) {
      if (TIMERS_THAT_DECIDE.has(timer)) least = Math.min(least, left);
    }
  }
  return Math.max(0, least - LEAD_TICKS);
}
