/**
 * The page's own words: message kinds and their classes, timers, statuses, the glossary. What happened is worded by the
 * engine; this names what stands on the page. Must never know the store.
 */

import { groupNameOf, isShown } from "./groups.js";

/** @typedef {"replication" | "client" | "view-change" | "repair" | "heartbeat"} PacketClass */

/** Message kinds by their number in the engine. */
export const KINDS = /** @type {const} */ ([
  "Request",
  "Prepare",
  "PrepareOk",
  "Reply",
  "Eviction",
  "Commit",
  "StartViewChange",
  "DoViewChange",
  "StartView",
  "RequestStartView",
  "RequestPrepares",
  "RepairPrepare",
  "RepairDone",
]);

/** Kinds that travel between replicas, for filters. */
export const REPLICA_KINDS = KINDS.filter((kind) => kind !== "Request" && kind !== "Reply" && kind !== "Eviction");

/** @type {PacketClass[]} */
const CLASSES = [
  "client",
  "replication",
  "replication",
  "client",
  "client",
  "heartbeat",
  "view-change",
  "view-change",
  "view-change",
  "view-change",
  "repair",
  "repair",
  "repair",
];

/** Kinds that answer or acknowledge; drawn hollow. */
const ANSWERS = new Set([2, 3, 12]);

/**
 * @param {number} kind
 * @returns {PacketClass}
 */
export function classOf(kind) {
  return CLASSES[kind] ?? "repair";
}

/**
 * @param {number} kind
 * @returns {boolean}
 */
export function isAnswer(kind) {
  return ANSWERS.has(kind);
}

/**
 * @param {number} kind
 * @param {number} op -1 for none
 * @returns {string} `Prepare 7`
 */
export function packetText(kind, op) {
  const name = KINDS[kind] ?? "message";
  return isAboutOp(kind) && op >= 0 ? `${name} ${op}` : name;
}

/**
 * @param {number} kind
 * @returns {boolean} whether a packet of this kind is about one op
 */
export function isAboutOp(kind) {
  return kind === 1 || kind === 2 || kind === 3 || kind === 11;
}

/**
 * @param {import("./types.js").LogEntry} entry
 * @returns {boolean} the disk could not give it back
 */
export function isDamaged(entry) {
  return entry.damaged === true || /** @type {string} */ (entry.state) === "damaged";
}

/**
 * @param {import("./types.js").Replica} replica
 * @returns {boolean} a hundredth of a second and more, or on its way there
 */
export function isClockOff({ clock }) {
  return clock !== undefined && (Math.abs(clock.offset_micros) >= 10_000 || clock.drift_ppm !== 0);
}

/**
 * @param {import("./types.js").Replica} replica
 * @returns {string[]} what is wrong with its disk, in words
 */
export function diskTroubles({ disk, log }) {
  const damaged = log.filter(isDamaged).length;
  return [
    damaged > 0 ? `${damaged} damaged on disk` : "",
    disk?.lies ? "its disk lies" : "",
    disk?.tears ? "its next crash tears" : "",
    (disk?.slow_factor ?? 1) > 1 ? "its disk is slow" : "",
  ].filter((text) => text !== "");
}

/** @type {Record<string, string>} */
const STATES = {
  committed: "committed",
  prepared: "prepared",
  writing: "being written",
  header: "its header alone",
  missing: "missing",
  unproven: "held, not vouched for yet",
};

/**
 * @param {import("./types.js").LogEntry} entry
 * @returns {string} `op 5 of view 1, committed, damaged on disk`
 */
export function entryText(entry) {
  const view = entry.view === null ? "" : ` of view ${entry.view}`;
  const state = STATES[entry.state] ?? entry.state;
  return `op ${entry.op}${view}, ${state}${isDamaged(entry) ? ", damaged on disk" : ""}`;
}

/**
 * @param {import("./types.js").Frame} frame
 * @param {number} replica
 * @returns {Set<number>} ops at which a property is violated that this replica is concerned in
 */
export function brokenOps({ violations, group, groups }, replica) {
  const isHere = (/** @type {import("./types.js").Violation} */ violation) =>
    violation.op !== null && violation.replicas.includes(replica) && isShown({ group: groupNameOf(groups, violation.group) }, { group });
  return new Set(violations.filter(isHere).map(({ op }) => op ?? 0));
}

/** What clients ask for, by the engine's names. @type {Record<string, string>} */
export const PLANES = { partition: "messages", metadata: "metadata", mixed: "messages and metadata", uniform: "anything, evenly" };

/** @type {Record<string, string>} */
const TIMERS = {
  heartbeat: "next heartbeat",
  "heartbeat-wait": "heartbeat wait",
  "view-change-wait": "view-change wait",
  "start-view-change-resend": "vote again",
  "do-view-change-resend": "send its log again",
  "prepare-resend": "send prepares again",
  abdicate: "give up leading",
  probe: "ask who leads",
  "repair-retry": "ask for missing ops again",
};

/**
 * @param {string} timer
 * @returns {string}
 */
export function timerText(timer) {
  return TIMERS[timer] ?? timer;
}

/** The timers whose end changes what a replica is, in the order in which they decide. */
export const DECIDING = ["view-change-wait", "heartbeat-wait", "abdicate", "probe", "heartbeat"];

/**
 * @param {import("./types.js").Replica} replica
 * @returns {{ timer: string, left: number, of: number } | null} the timer that decides next
 */
export function decidingTimer(replica) {
  for (const name of DECIDING) {
    const found = replica.timers.find(({ timer }) => timer === name);
    if (found) return found;
  }
  return null;
}

/**
 * @param {import("./types.js").Replica} replica
 * @returns {string} what it is, in one or two words
 */
export function roleOf(replica) {
  if (!replica.up) return "crashed";
  if (replica.paused) return "paused";
  if (replica.status === "view-change") return "view change";
  if (replica.status === "recovering" || replica.status === "recovering-head") return "recovering";
  if (replica.status === "booting") return "starting";
  return replica.primary ? "primary" : "backup";
}

/**
 * @param {import("./types.js").Replica} replica
 * @param {import("./types.js").Replica[]} all
 * @returns {string} the same, with the truth where the replica is wrong about itself
 */
export function roleInTruth(replica, all) {
  const role = roleOf(replica);
  if (role !== "primary") return role;
  const isReplaced = all.some((other) => other.up && other.status === "normal" && other.view > replica.view);
  return isReplaced ? "thinks it leads" : role;
}

/**
 * A row of the log says what its process did; apart from the log it needs to say who.
 * @param {import("./types.js").EventRow} row
 * @returns {string}
 */
export function rowText(row) {
  if (row.replica !== null) return `Replica ${row.replica} ${row.text}`;
  if (row.client !== null) return `Client ${row.client} ${row.text}`;
  return row.text.charAt(0).toUpperCase() + row.text.slice(1);
}

/** @type {Record<string, string>} */
export const GLOSSARY = {
  view: "A period with one leader. Views are numbered; when a leader is lost, the replicas move to the next number.",
  primary: "The replica that leads a view: number (view mod replicas). It gives every request its place in the log.",
  backup: "A replica that follows the primary: it stores what the primary sends and says so.",
  op: "A position in the log: op 1 is the first entry. Every replica must hold the same entry at the same op.",
  log: "The list of operations, in one order for all. Agreeing on it is what the protocol is for.",
  head: "The last op in a replica’s log, committed or not.",
  held: "How far the replica has the entries themselves, not only their headers.",
  commit: "An op is committed once a quorum holds it on disk. From then on it must never be lost or changed.",
  checkpoint: "A saved state up to some op. The journal’s slots before it may be used again.",
  prepare: "The message by which the primary offers an op, and the log entry itself.",
  quorum: "Enough replicas that any two such groups share a member, so that nothing agreed is forgotten.",
  heartbeat: "A short message by which the primary says that it still leads.",
  "heartbeat wait": "How long a backup hears nothing from the primary before it votes to leave the view.",
  "view change": "How replicas move to the next primary: vote to leave, bring their logs, adopt the one that was chosen.",
  "view-change wait": "How long a view change may take before its replicas try the view after.",
  log_view: "The last view whose log this replica has adopted. It tells whose log is the newest, not the longest.",
  recovering: "Restarted from its disk; it asks who leads before it does anything else.",
  incarnation: "How often this replica has started. It tells answers to this life from answers to an earlier one.",
  session: "A client’s number under which its requests count, so that a request sent twice runs once.",
  journal: "The replica’s log on disk: a ring of slots that are used again after a checkpoint.",
  hash: "One number that stands for everything that happened so far. The same run gives the same hash anywhere.",
  clog: "The link keeps packets back and lets them go together later. Nothing is lost.",
  cut: "The link loses every packet, until it is healed.",
  filter: "The link loses packets of the chosen types and lets the others pass.",
  hold: "The link parks packets of a type until they are released.",
  seed: "The number that all dice of the run come from. The same seed gives the same run.",
  tick: "The step of simulated time: 10 ms.",
  superblock: "What a replica knows of itself, in four copies on its disk: view, log_view, how far it has committed. Two equal copies are enough to start.",
  damaged: "The disk cannot give it back: rotten, torn, erased, or another op stands in its place. The others hold it, and repair it.",
  "fault atlas": "A plan that lets dice damage only so much that the others can still repair it. What you do by hand is not held by it.",
  group: "A log of its own with its own views and primary. Metadata is one group, and each partition is one.",
  metadata: "The group that knows streams, topics, partitions and users.",
  partition: "The group that holds the messages of one partition.",
  shard: "A part of a replica with a mailbox of its own. Each group lives on one of them.",
  mutation: "A rule of the protocol taken out on purpose, to see that it is needed and that a check notices.",
  pipeline: "How many ops a primary offers before the first of them is committed.",
  digest: "A checksum of the replica’s state. Replicas at the same commit must have the same one.",
};
