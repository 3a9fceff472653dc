/**
 * Paints packets under way on a canvas above the stage: where virtual time puts them, waiting behind a clog, or bursting
 * where they were lost. It also says which packet is near a point. Must never change the state.
 */

import { behindObstacle, between, laneOf, OBSTACLE, placeOf, progressOf } from "../geometry.js";
import { isShown } from "../groups.js";
import { classOf, isAboutOp, isAnswer, KINDS, packetText } from "../words.js";
import { hueIndex } from "./view.js";

/** @typedef {import("../types.js").Packet} Packet */
/** @typedef {import("../geometry.js").Point} Point */
/** @typedef {{ packet: Packet, x: number, y: number, isQueued: boolean, isOther: boolean }} Placed isQueued: behind another one; isOther: of another group */

const BURST_MS = 900;
/** Slower than this, packets carry their names. */
const LABEL_PACE = 12;
const LABELS_MAX = 9;
/** More replicas than this leave no room for names. */
const CROWD = 5;
/** How much of a packet is left to see that belongs to another group, or to another op than the one pointed at. */
const FAINT = { group: 0.28, op: 0.22 };

/** Paints onto one canvas. */
export class PacketPainter {
  #canvas;
  #context;
  /** @type {string[]} */
  #hues = [];
  #ink = "";
  #halo = "";
  /** @type {Placed[]} */
  #placed = [];
  /** Where losses burst: where the packet was last seen. @type {WeakMap<object, Point>} */
  #spots = new WeakMap();

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
  }

  /** Takes the theme's colours anew. */
  readColours() {
    const style = getComputedStyle(this.#canvas);
    this.#hues = [0, 1, 2, 3, 4].map((hue) => style.getPropertyValue(`--v${hue}`).trim());
    this.#ink = style.getPropertyValue("--ink").trim();
    this.#halo = style.getPropertyValue("--stage").trim();
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /**
   * @param {Point} point
   * @param {number} reach
   * @returns {Packet | null}
   */
  near(point, reach) {
    let best = null;
    let bestDistance = reach;
    for (const { packet, x, y, isOther } of this.#placed) {
      // What is faint is no target: it would stand before the link that it is on.
      if (isOther) continue;
      const distance = Math.hypot(x - point.x, y - point.y);
      if (distance < bestDistance) [best, bestDistance] = [packet, distance];
    }
    return best;
  }

  /**
   * @param {object} scene
   * @param {import("../geometry.js").Layout} scene.layout
   * @param {Packet[]} scene.packets
   * @param {import("../types.js").Link[]} scene.links
   * @param {{ row: import("../types.js").EventRow, at: number }[]} scene.bursts
   * @param {number} scene.now virtual time in ticks
   * @param {number} scene.time of the page, for bursts
   * @param {number} scene.pace
   * @param {string | null} scene.selected
   * @param {string | null} scene.group the shown one
   * @param {number | null} scene.lit op that is pointed at
   */
  paint({ layout, packets, links, bursts, now, time, pace, selected, group, lit }) {
    const context = this.#context;
    if (!context) return;
    context.clearRect(0, 0, layout.width, layout.height);
    const shown = { group: group ?? undefined };
    const seen = bursts.filter(({ row }) => isShown(row, shown));
    for (const burst of seen) this.#locate(layout, burst);
    this.#placed = place(layout, packets, links, now).map((each) => ({ ...each, isOther: !isShown(each.packet, shown) }));
    const size = Math.max(3.4, Math.min(5.6, layout.radius / 7.5));
    const isNamed = pace <= LABEL_PACE && layout.width > 520 && layout.replicas.length <= CROWD;
    let names = 0;
    for (const { packet, x, y, isQueued, isOther } of this.#placed) {
      const isLit = lit !== null && packet.op === lit && !isOther && isAboutOp(packet.kind);
      const isSelected = packet.key === selected || isLit;
      const strength = isSelected ? 1 : isOther ? FAINT.group : lit !== null ? FAINT.op : 1;
      this.#drawPacket(context, packet, x, y, size, isSelected, strength);
      const isLoud = classOf(packet.kind) !== "heartbeat" && strength === 1;
      if (isSelected || (isNamed && isLoud && !isQueued && names < LABELS_MAX)) {
        names += 1;
        const isLeftwards = placeOf(layout, packet.to).x < placeOf(layout, packet.from).x - layout.radius;
        this.#name(context, packetText(packet.kind, packet.op), x, y, isLeftwards ? -size : size);
      }
    }
    // Of several losses at one place only the last is named: names on names cannot be read.
    const last = new Map(seen.map((burst) => [`${burst.row.fate}${burst.row.to}`, burst]));
    for (const burst of seen) {
      const isLast = last.get(`${burst.row.fate}${burst.row.to}`) === burst;
      this.#drawBurst(context, burst, time, isNamed && isLast);
    }
  }

  /**
   * @param {import("../geometry.js").Layout} layout
   * @param {{ row: import("../types.js").EventRow }} burst
   */
  #locate(layout, burst) {
    const { row } = burst;
    if (this.#spots.has(burst) || row.from === null || row.to === null) return;
    const { a, b } = laneOf(layout, row.from, row.to);
    const seen = this.#placed.find(({ packet }) => packet.key === row.packet);
    const isAtEnd = row.fate === "target-down" || row.fate === "inbox-full";
    const isAtWall = row.fate === "cut" || row.fate === "partitioned" || row.fate === "filtered";
    this.#spots.set(burst, isAtEnd ? between(a, b, 0.98) : seen && !isAtWall ? seen : between(a, b, OBSTACLE));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Packet} packet
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {boolean} isSelected
   * @param {number} strength 0 to 1
   */
  #drawPacket(context, packet, x, y, size, isSelected, strength) {
    const kind = classOf(packet.kind);
    const colour = packet.from.startsWith("c") ? this.#ink : (this.#hues[hueIndex(packet.view)] ?? this.#ink);
    context.globalAlpha = strength * (kind === "heartbeat" ? 0.5 : 1);
    context.fillStyle = colour;
    context.strokeStyle = colour;
    context.lineWidth = 1.8;
    context.beginPath();
    shape(context, kind, x, y, size);
    if (kind === "heartbeat") context.fill();
    else if (kind === "client" || kind === "repair" || isAnswer(packet.kind)) {
      context.save();
      context.fillStyle = this.#halo;
      context.fill();
      context.restore();
      context.stroke();
    } else context.fill();
    context.globalAlpha = 1;
    if (!isSelected) return;
    context.strokeStyle = this.#ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, size + 6, 0, 2 * Math.PI);
    context.stroke();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {number} size negative: the name stands on the left
   */
  #name(context, text, x, y, size) {
    const start = x + size + Math.sign(size) * 6;
    context.textAlign = size < 0 ? "right" : "left";
    context.font = `12px ${getComputedStyle(this.#canvas).fontFamily}`;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.strokeStyle = this.#halo;
    context.lineWidth = 4;
    context.strokeText(text, start, y);
    context.fillStyle = this.#ink;
    context.fillText(text, start, y);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{ row: import("../types.js").EventRow, at: number }} burst
   * @param {number} time
   * @param {boolean} isNamed
   */
  #drawBurst(context, burst, time, isNamed) {
    const { row, at } = burst;
    const age = (time - at) / BURST_MS;
    const spot = this.#spots.get(burst);
    if (age >= 1 || !spot) return;
    const { x, y } = spot;
    const inner = 4 + age * 5;
    const outer = 8 + age * 9;
    context.globalAlpha = 1 - age;
    context.strokeStyle = this.#ink;
    context.lineWidth = 1.8;
    context.lineCap = "round";
    context.beginPath();
    for (let ray = 0; ray < 8; ray += 1) {
      const angle = (ray * Math.PI) / 4;
      context.moveTo(x + inner * Math.cos(angle), y + inner * Math.sin(angle));
      context.lineTo(x + outer * Math.cos(angle), y + outer * Math.sin(angle));
    }
    context.stroke();
    if (isNamed && row.kind !== null && row.kind !== "Commit") {
      this.#name(context, `${row.kind}${row.op === null ? "" : ` ${row.op}`} lost`, x + 8, y, 4);
    }
    context.globalAlpha = 1;
  }
}

/**
 * @param {import("../geometry.js").Layout} layout
 * @param {Packet[]} packets
 * @param {import("../types.js").Link[]} links
 * @param {number} now
 * @returns {Omit<Placed, "isOther">[]}
 */
function place(layout, packets, links, now) {
  /** @type {Map<string, number>} */
  const queues = new Map();
  const byLane = new Map(links.map((link) => [`${link.from}to${link.to}`, link]));
  return packets.map((packet) => {
    const { a, b } = laneOf(layout, packet.from, packet.to);
    const lane = `${packet.from}to${packet.to}`;
    const link = byLane.get(lane);
    const isStopped = packet.isHeld || packet.isWaiting || link?.clogged === true;
    const place = queues.get(lane) ?? 0;
    if (isStopped) queues.set(lane, place + 1);
    const progress = progressOf(packet.sent, packet.due, now);
    // What a wall or a filter will take is taken when due; until then it stands before it.
    const isLost = link !== undefined && (link.cut || link.partitioned || link.filtered.includes(KINDS[packet.kind] ?? ""));
    const reach = isLost ? Math.min(progress, OBSTACLE - 0.03) : progress;
    const spot = between(a, b, behindObstacle(reach, isStopped, Math.min(place, 8)));
    return { packet, ...spot, isQueued: isStopped && place > 0 };
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../words.js").PacketClass} kind
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function shape(context, kind, x, y, size) {
  switch (kind) {
    case "client":
      context.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
      break;
    case "view-change":
      context.moveTo(x, y - size * 1.25);
      context.lineTo(x + size * 1.2, y + size * 0.85);
      context.lineTo(x - size * 1.2, y + size * 0.85);
      context.closePath();
      break;
    case "repair":
      context.moveTo(x, y - size * 1.3);
      context.lineTo(x + size * 1.3, y);
      context.lineTo(x, y + size * 1.3);
      context.lineTo(x - size * 1.3, y);
      context.closePath();
      break;
    default:
      context.arc(x, y, kind === "heartbeat" ? size * 0.55 : size, 0, 2 * Math.PI);
  }
}
