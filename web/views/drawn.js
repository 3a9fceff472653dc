/**
 * Every value of the run in a list, as `swarm` drew it from the seed: sizes, network, crashes, disks, load, knobs. What
 * the engine adds is printed too, by its own name. Must never leave a value out.
 */

import { html } from "lit";
import { durationText, percentText } from "../format.js";
import { clockText } from "./clock-verbs.js";

/** @typedef {import("../types.js").Frame} Frame */

/** @type {Record<string, string>} */
const LABELS = {
  replica_count: "replicas",
  client_count: "clients",
  crash_primary: "crash the primary too",
  atlas: "fault atlas",
  load_per_million: "a client asks, a tick",
  loss_per_million: "packets lost",
  replay_per_million: "packets sent twice",
  link_capacity: "packets a link holds",
  partition_per_million: "partitions begin, a tick",
  unpartition_per_million: "partitions end, a tick",
  partition_stability_ticks: "partitions last at least",
  unpartition_stability_ticks: "pauses between last at least",
  partition_mode: "who is parted",
  partition_symmetry: "which way",
  clog_per_million: "clogs begin, a tick",
  clog_mean_ticks: "mean length of a clog",
  delay_min_ticks: "shortest delay",
  delay_mean_ticks: "mean delay",
  crash_per_million: "replicas crash, a tick",
  restart_per_million: "replicas restart, a tick",
  tear_per_million: "writes tear in a crash",
  rot_per_million: "written blocks rot",
  misdirect_per_million: "written prepares go astray",
  lie_per_million: "disks begin to lie, a tick",
  slow_per_million: "disks turn slow, a tick",
  offset_max_ms: "clocks are off by at most",
  drift_max_ppm: "clocks drift by at most",
  plane: "clients ask for",
  ack_quorum_ratio_per_million: "new topics kept on disk",
  shell: "request shell",
  retention: "messages a partition keeps",
  shard_count: "shards of a replica",
  channel_frames_max: "frames that wait between shards",
  retry_ticks: "a client asks again after",
};

/**
 * @param {Frame} frame
 * @returns {{ title: string, rows: [string, string][] }[]} names and values in words
 */
export function drawnValues(frame) {
  const { profile: _profile, ...faults } = frame.faults;
  const { running: _running, ...workload } = frame.workload;
  const { count: shard_count, ...shards } = frame.shards ?? { count: 1 };
  const sizes = { replica_count: frame.replica_count, client_count: frame.client_count, shard_count, ...shards };
  return [
    { title: "Sizes", rows: rowsOf(sizes) },
    { title: "Faults", rows: rowsOf(faults) },
    { title: "Requests", rows: rowsOf(workload) },
    { title: "Protocol", rows: rowsOf(frame.knobs) },
    ...(frame.replicas[0]?.clock ? [{ title: "Clocks", rows: frame.replicas.map((replica) => clockRow(replica)) }] : []),
  ];
}

/**
 * @param {Frame} frame
 */
export function drawnList(frame) {
  return html`<details class="drawn" open>
    <summary>Every value that swarm drew from seed ${frame.seed}</summary>
    <p class="soft small">As they stand now: what was changed since has its new value. Chosen in the midst of a run, swarm draws the network alone.</p>
    ${drawnValues(frame).map(
      ({ title, rows }) => html`<h3>${title}</h3>
        <dl class="num">
          ${rows.map(
            ([name, value]) => html`<dt>${name}</dt>
              <dd>${value}</dd>`,
          )}
        </dl>`,
    )}
  </details>`;
}

/**
 * @param {Record<string, unknown>} values
 * @returns {[string, string][]}
 */
function rowsOf(values) {
  return Object.entries(values).map(([key, value]) => [LABELS[key] ?? nameOf(key), textOf(key, value)]);
}

/**
 * @param {import("../types.js").Replica} replica
 * @returns {[string, string]}
 */
function clockRow(replica) {
  return [`replica ${replica.id}`, clockText(replica)];
}

/**
 * @param {string} key
 * @returns {string} `heartbeat_wait_ticks` reads *heartbeat wait*
 */
function nameOf(key) {
  return key.replace(/_(per_million|ticks|micros|ms|ppm|max)$/, "").replaceAll("_", " ");
}

/**
 * @param {string} key
 * @param {unknown} value
 * @returns {string}
 */
function textOf(key, value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value ?? "as usual");
  if (key.endsWith("_per_million")) return percentText(value);
  if (key.endsWith("_micros")) return `${value / 1000} ms`;
  if (key.endsWith("_ms")) return `${value} ms`;
  if (key.endsWith("_ppm")) return `${value} millionths`;
  return key.endsWith("_ticks") ? durationText(value) : String(value);
}
