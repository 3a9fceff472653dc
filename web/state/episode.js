/**
 * The opening episode: captions bound to what is seen, and a pace track of its own, so that within five seconds a
 * stranger sees a leader die and the next one lead. Reads frames alone: must never call the engine or the DOM.
 */

import { listText } from "../format.js";
import { actsOf, parsePosition, tickOf, valueOf } from "../link.js";

/** @typedef {import("../types.js").Frame} Frame */
/** @typedef {import("../state.js").Caption} Caption */

/** Seconds until the primary crashes, and ticks a second while backups wait, while the next view forms. */
const SECONDS_TO_CRASH = 2;
/** Where the engine's opening story crashes the primary; only the pace stands on it. */
const CRASH_TICK = 24;
const WAIT_PACE = 14;
const CHANGE_PACE = 8;

/** One showing of the episode. */
export class Episode {
  /** @type {Caption | null} */
  caption = null;
  #crashAt;
  #start;
  #step = "";
  #isReleased = false;
  #isActed = false;
  /** @type {[number, number] | null} */
  #cut = null;

  /** @param {string} link */
  constructor(link) {
    const crash = actsOf(link).find((act) => act.includes(".crash."));
    this.#start = parsePosition(valueOf(link, "at") ?? "")?.tick ?? 0;
    this.#crashAt = crash ? tickOf(crash) : CRASH_TICK;
  }

  /** A person took the dial: the track ends. */
  release() {
    this.#isReleased = true;
  }

  /**
   * @param {import("../state.js").State} state
   * @returns {number | null} ticks a second, or nothing where the person's own pace holds
   */
  pace(state) {
    if (this.#isReleased || !state.frame) return null;
    if (this.#step === "flow") return Math.max(2, (this.#crashAt - this.#start) / SECONDS_TO_CRASH);
    if (this.#step === "crashed") return WAIT_PACE;
    return this.#step === "change" ? CHANGE_PACE : null;
  }

  /** @param {Frame} frame */
  watch(frame) {
    const dead = frame.replicas.find((replica) => !replica.up);
    const leader = frame.replicas.find((replica) => replica.up && replica.primary && replica.status === "normal");
    const isChanging = frame.replicas.some((replica) => replica.up && replica.status === "view-change");
    if (this.#isActed) return this.#watchCut(frame);
    if (!dead) return this.#show("flow", flowCaption(frame));
    if (leader && leader.view > 0) return this.#show("started", startedCaption(frame, dead.id, leader));
    if (isChanging) return this.#show("change", changeCaption(frame));
    this.#show("crashed", crashedCaption(frame, dead.id));
  }

  /**
   * @param {string} verb
   * @param {import("../state.js").State} state
   * @returns {string | null} the act to do
   */
  follow(verb, { frame }) {
    if (!frame) return null;
    this.#isActed = true;
    if (verb !== "cut") return verb;
    const leader = frame.replicas.find((replica) => replica.up && replica.primary && replica.status === "normal");
    const backup = frame.replicas.find((replica) => replica.up && replica.id !== leader?.id);
    if (!leader || !backup) return null;
    this.#cut = [leader.id, backup.id];
    return `cut.${leader.id}-${backup.id}`;
  }

  /** @param {Frame} frame */
  #watchCut(frame) {
    const cut = this.#cut;
    if (!cut) return this.#show("free", freeCaption());
    const [a, b] = cut;
    const link = frame.links.find(({ from, to }) => from === String(a) && to === String(b));
    if (link?.cut) return this.#show("cut", cutCaption(frame, a, b));
    if (this.#step === "cut") this.#show("free", freeCaption());
  }

  /**
   * @param {string} step
   * @param {Omit<Caption, "step">} caption
   */
  #show(step, caption) {
    if (this.#step === step) return;
    this.#step = step;
    this.caption = { step, ...caption };
  }
}

/**
 * @param {Frame} frame
 * @returns {Omit<Caption, "step">}
 */
function flowCaption(frame) {
  const leader = frame.replicas.find((replica) => replica.primary)?.id ?? 0;
  const others = frame.replicas.filter((replica) => replica.id !== leader).map((replica) => replica.id);
  return {
    title: `Replica ${leader} leads.`,
    text: `It gives every request its place in the log; ${listText(others)} store it and say so. In a moment ${leader} will crash.`,
    verbs: [],
  };
}

/**
 * @param {Frame} frame
 * @param {number} dead
 * @returns {Omit<Caption, "step">}
 */
function crashedCaption(frame, dead) {
  const alive = frame.replicas.filter((replica) => replica.up).map((replica) => replica.id);
  return {
    title: `Replica ${dead}, the primary, is dead.`,
    text: `${listText(alive)} wait for its heartbeat. When the arcs around them have run out, they vote to leave view 0.`,
    verbs: [],
  };
}

/**
 * @param {Frame} frame
 * @returns {Omit<Caption, "step">}
 */
function changeCaption(frame) {
  const view = Math.max(...frame.replicas.map((replica) => replica.view));
  const next = view % frame.replica_count;
  return {
    title: `A quorum leaves for view ${view}.`,
    text: `The next place on the ring is ${next}. It gathers the logs, so that nothing that was committed can be lost.`,
    verbs: [],
  };
}

/**
 * @param {Frame} frame
 * @param {number} dead
 * @param {import("../types.js").Replica} leader
 * @returns {Omit<Caption, "step">}
 */
function startedCaption(frame, dead, leader) {
  const count = frame.replica_count;
  return {
    title: `Replica ${leader.id} leads now.`,
    text: `${dead} died, and ${frame.quorums.view_change} of ${count} agreed to go on without it. Why ${leader.id}? ${leader.id} = view ${leader.view} mod ${count}: every view knows its leader.`,
    verbs: [{ label: "Your turn: cut a link", verb: "cut", isMain: true }],
  };
}

/**
 * @param {Frame} frame
 * @param {number} a
 * @param {number} b
 * @returns {Omit<Caption, "step">}
 */
function cutCaption(frame, a, b) {
  const dead = frame.replicas.filter((replica) => !replica.up).map((replica) => replica.id);
  const restart = dead.map((id) => ({ label: `Restart replica ${id}`, verb: `restart.${id}` }));
  return {
    title: `You cut ${a} from ${b}.`,
    text: `No ${frame.quorums.replication} replicas can reach each other, so nothing commits, and nothing is lost either. Heal the link, or bring back ${listText(dead)}.`,
    verbs: [{ label: "Heal", verb: "heal", isMain: true }, ...restart],
  };
}

/** @returns {Omit<Caption, "step">} */
function freeCaption() {
  return {
    title: "The cluster is yours.",
    text: "Select a replica, a link or a packet to see what can be done to it. Drag the timeline to go back and try something else.",
    verbs: [],
  };
}
