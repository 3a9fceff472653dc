/**
 * What follows from settings, in sentences, where it is not plain: packets slower than a wait, faults that never end,
 * rates that another setting keeps from doing anything. Pure: must never know the DOM.
 */

/** @typedef {import("./types.js").Frame} Frame */

/** What the engine's dice make of a slow disk: this many times as long. */
const SLOW_FACTORS = "5 to 50";

/**
 * @param {Frame} frame
 * @returns {string[]} what the fault settings mean
 */
export function followsFromFaults(frame) {
  return [...fromNetwork(frame), ...fromPower(frame), ...fromDisks(frame)];
}

/** @param {Frame} frame */
function fromNetwork({ faults, knobs }) {
  const sentences = [];
  const wait = knobs.heartbeat_wait_ticks ?? 500;
  const beat = knobs.heartbeat_ticks ?? 50;
  if (number(faults.delay_mean_ticks) * 3 + beat > wait) sentences.push("Packets can take longer than the heartbeat wait: expect view changes.");
  const missed = (number(faults.loss_per_million) / 1_000_000) ** Math.floor(wait / beat);
  if (missed > 0.001) sentences.push("So many packets are lost that backups will sometimes miss a living primary.");
  if (number(faults.partition_per_million) > 0) {
    if (faults.partition_mode === "none") sentences.push("No kind of partition is chosen, so none begins.");
    else if (number(faults.unpartition_per_million) === 0) sentences.push("Partitions begin but never end.");
  }
  return sentences;
}

/** @param {Frame} frame */
function fromPower({ faults, quorums }) {
  const isForGood = number(faults.crash_per_million) > 0 && number(faults.restart_per_million) === 0;
  return isForGood ? [`Replicas crash and stay down, until ${quorums.view_change} are left.`] : [];
}

/** @param {Frame} frame */
function fromDisks({ faults, replica_count: replicas }) {
  const sentences = [];
  const has = (/** @type {string} */ rate) => number(faults[`${rate}_per_million`]) > 0;
  if (has("tear") && !has("crash")) sentences.push("Writes tear only in a crash, and nothing crashes by itself.");
  if (has("lie") && faults.atlas === true) sentences.push("The fault atlas lets no disk lie by dice: switch it off for lies.");
  if ((has("rot") || has("misdirect")) && faults.atlas === true && replicas === 1) {
    sentences.push("A lone replica has nobody to repair it: the fault atlas lets nothing rot or go astray.");
  }
  if (has("slow")) sentences.push(`A slow disk takes ${SLOW_FACTORS} times as long: its replica acknowledges late, and prepares are sent again.`);
  if (faults.atlas === false && ["tear", "rot", "misdirect", "lie"].some(has)) {
    sentences.push("Without the fault atlas damage may take the last copy of an op. No protocol survives that: the cluster may stand still for good.");
  }
  return sentences;
}

/**
 * @param {Frame} frame
 * @returns {string[]} what the knobs of the protocol mean
 */
export function followsFromKnobs({ knobs, faults }) {
  const sentences = [];
  const beat = knobs.heartbeat_ticks ?? 1;
  const wait = knobs.heartbeat_wait_ticks ?? beat;
  const change = knobs.view_change_wait_ticks ?? 0;
  const mean = number(faults.delay_mean_ticks);
  if (wait < beat * 2) sentences.push("Fewer than two heartbeats fit into the heartbeat wait: one that is late begins a view change.");
  if (change < mean * 4 + 4) sentences.push("A view change takes three packets in a row. The wait may end before: views follow one another and none starts.");
  if ((knobs.abdicate_ticks ?? Number.POSITIVE_INFINITY) < mean * 2 + 2) sentences.push("A primary gives up before acks can come back.");
  if ((knobs.pipeline_max ?? 2) === 1) sentences.push("One op at a time: each waits for the one before to be committed.");
  return sentences;
}

/**
 * @param {unknown} value
 * @returns {number}
 */
function number(value) {
  return Number(value ?? 0);
}
