/**
 * The stage: the ring of replicas, clients beside it, links with what lies on them, walls, and a canvas of packets
 * above. Everything on it can be selected by mouse, touch and keyboard. Must never do more than select and cut.
 */

import { html, nothing, svg } from "lit";
import { restOf, sidesAct } from "../acts.js";
import { arcPath, between, laneOf, layoutOf, leftOf, OBSTACLE, placeOf, round, wallPath } from "../geometry.js";
import { isShown } from "../groups.js";
import { isBlocked, islandsIn, linkOf, linkWords } from "../links.js";
import { decidingTimer, diskTroubles, isClockOff, isDamaged, roleInTruth } from "../words.js";
import { alarmSign, badge, clockSign, crack, diskSign } from "./glyphs.js";
import { clockText } from "./clock-verbs.js";
import { PacketPainter } from "./packets.js";
import { stageStyles } from "./stage-styles.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../types.js").Frame} Frame */
/** @typedef {import("../types.js").Replica} Replica */
/** @typedef {import("../types.js").Link} Link */
/** @typedef {import("../geometry.js").Point} Point */

/** Ops shown as cells below a replica. */
const CELLS = 8;
/** Beyond this many lines, clients' links that carry nothing are left out. */
const CLIENT_LINES_MAX = 12;

/** The cluster, drawn. */
export class Stage extends View {
  /** @override */
  static styles = [
    shared,
    stageStyles,
  ];

  /** @type {PacketPainter | null} */
  #painter = null;
  /** @type {import("../geometry.js").Layout | null} */
  #layout = null;
  #size = { width: 0, height: 0 };
  #frame = 0;
  #resize = new ResizeObserver(([entry]) => entry && this.#measure(entry.contentRect));
  /** A line being drawn, and the link it began on: a short one selects that. @type {{ from: Point, to: Point, link: SVGElement | null } | null} */
  #stroke = null;
  #isWide = matchMedia("(min-width: 1241px)");
  #isCalm = matchMedia("(prefers-reduced-motion: reduce)");

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame, state.selection, state.lit, state.theme, state.caption === null];
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.#resize.observe(this);
    const loop = (/** @type {number} */ time) => {
      this.#frame = requestAnimationFrame(loop);
      this.#paint(time);
    };
    this.#frame = requestAnimationFrame(loop);
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    this.#resize.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  /** @param {{ width: number, height: number }} size */
  #measure({ width, height }) {
    this.#size = { width, height };
    this.requestUpdate();
  }

  /** @override */
  updated() {
    const canvas = this.renderRoot.querySelector("canvas");
    if (!canvas) return;
    this.#painter ??= new PacketPainter(canvas);
    this.#painter.readColours();
    const { width, height } = this.#size;
    if (canvas.clientWidth > 0 && this.#sized !== `${width}x${height}`) {
      this.#sized = `${width}x${height}`;
      this.#painter.resize(width, height);
    }
  }

  #sized = "";

  /** @param {number} time */
  #paint(time) {
    const { frame, pace, selection, lit, caption } = this.state;
    if (!this.#painter || !this.#layout || !frame) return;
    const group = frame.group ?? null;
    // While a caption leads, what it does not speak of stays away.
    const packets = caption ? this.state.packets.filter((packet) => isShown(packet, frame)) : this.state.packets;
    this.#painter.paint({
      layout: this.#layout,
      packets,
      links: frame.links,
      bursts: this.app.run.bursts,
      now: this.#isCalm.matches ? frame.tick : this.app.run.now,
      time,
      pace,
      selected: selection.kind === "packet" ? selection.key : null,
      group,
      lit,
    });
  }

  /** @override */
  render() {
    const { frame } = this.state;
    const { width, height } = this.#size;
    if (!frame || width === 0) return nothing;
    // Why nothing commits, and on a wide page actions, legend and caption, lie above the stage: what they cover is kept free.
    const right = this.state.caption ? 330 : 215;
    const margin = this.#isWide.matches ? { left: 28, right, top: 86, bottom: 18 } : { left: 8, right: 8, top: width < 520 ? 54 : 42, bottom: 8 };
    const layout = layoutOf(width, height, frame.replica_count, frame.client_count, margin);
    this.#layout = layout;
    return html`
      <svg
        role="group"
        aria-label="Cluster, drawn"
        viewBox="0 0 ${width} ${height}"
        @pointerdown=${this.#pressed}
        @pointermove=${this.#dragged}
        @pointerup=${this.#released}
        @pointercancel=${this.#released}
        @click=${this.#clicked}
      >
        <g aria-hidden="true">${this.#clientLines(frame, layout)}${this.#links(frame, layout, "drawn")}</g>
        <g>${frame.replicas.map((replica) => this.#replica(replica, frame, layout))}</g>
        <g>${frame.clients.map((client) => this.#client(client, layout))}</g>
        <g>${this.#links(frame, layout, "held")}</g>
        <g>${this.#walls(frame, layout)}</g>
        ${this.#stroke ? svg`<line class="stroke" x1=${this.#stroke.from.x} y1=${this.#stroke.from.y} x2=${this.#stroke.to.x} y2=${this.#stroke.to.y}/>` : nothing}
      </svg>
      <canvas aria-hidden="true"></canvas>
    `;
  }

  /**
   * @param {Replica} replica
   * @param {Frame} frame
   * @param {import("../geometry.js").Layout} layout
   */
  #replica(replica, frame, layout) {
    const { x, y } = placeOf(layout, String(replica.id));
    const r = layout.radius;
    const role = roleInTruth(replica, frame.replicas);
    const timer = replica.up && !replica.paused ? decidingTimer(replica) : null;
    const left = timer ? timer.left / Math.max(1, timer.of) : 0;
    const { selection } = this.state;
    const isSelected = selection.kind === "replicas" && selection.ids.includes(replica.id);
    const kind = { "view change": "change", "thinks it leads": "primary", starting: "recovering" }[role] ?? role;
    const log = replica.up ? `, committed ${replica.commit_min} of ${replica.head}` : "";
    const isBroken = frame.violations.some(({ replicas }) => replicas.includes(replica.id));
    const disk = diskTroubles(replica);
    const troubles = isClockOff(replica) ? [...disk, `its clock ${clockText(replica)}`] : disk;
    const name = `Replica ${replica.id}, ${role}, view ${replica.view}${log}${troubles.map((text) => `, ${text}`).join("")}${isBroken ? ", concerned in a violation" : ""}`;
    const font = (/** @type {number} */ size) => round(Math.max(10, size * (r / 46)));
    return svg`<g class="${kind} ${hueOf(replica.view)}" role="button" tabindex="0" aria-label=${name} aria-pressed=${isSelected}
        data-replica=${replica.id} @keydown=${this.#keyed}>
      <circle class="back" cx=${round(x)} cy=${round(y)} r=${round(r + 8)}/>
      <circle class="ring" cx=${round(x)} cy=${round(y)} r=${round(r + 10)}/>
      ${isBroken ? svg`<circle class="broken" cx=${round(x)} cy=${round(y)} r=${round(r + 14)}/>` : nothing}
      <circle class="track" cx=${round(x)} cy=${round(y)} r=${round(r + 4)}/>
      ${timer ? svg`<path class="arc ${left < 0.1 ? "ends" : ""}" d=${arcPath({ x, y }, r + 4, left)}/>` : nothing}
      <circle class="disc" cx=${round(x)} cy=${round(y)} r=${round(r - 4)}/>
      ${badge(role, round(x), round(y - r * 0.56), Math.max(5, r * 0.2))}
      <text class="number" x=${round(x)} y=${round(y + r * 0.24)} font-size=${font(30)}>${replica.id}</text>
      <text class="view" x=${round(x)} y=${round(y + r * 0.57)} font-size=${font(12.5)}>view ${replica.view}</text>
      ${this.#cells(replica, frame, x, y + r + 13, r)}
      ${disk.length > 0 ? diskSign(round(x + r * 0.86), round(y + r * 0.86), Math.max(6, r * 0.19)) : nothing}
      ${isClockOff(replica) ? clockSign(round(x - r * 0.86), round(y + r * 0.86), Math.max(6, r * 0.18)) : nothing}
      ${isBroken ? alarmSign(round(x + r * 0.86), round(y - r * 0.86), Math.max(8, r * 0.24)) : nothing}
      ${(role === "backup" || role === "crashed") && layout.replicas.length > 5 ? nothing : svg`<text class="role" x=${round(x)} y=${round(y + r + 34)} font-size=${Math.max(11.5, font(13.5))}>${role}</text>`}
    </g>`;
  }

  /**
   * The end of a replica's log, as cells.
   * @param {Replica} replica
   * @param {Frame} frame
   * @param {number} x
   * @param {number} y
   * @param {number} r
   */
  #cells(replica, frame, x, y, r) {
    const newest = Math.max(CELLS, ...frame.replicas.map((other) => other.head));
    const first = newest - CELLS + 1;
    const width = Math.max(3.4, (r * 1.7) / CELLS);
    const start = x - (width * CELLS) / 2;
    const shelf = svg`<rect class="shelf" x=${round(start - 2)} y=${round(y - 3)} width=${round(width * CELLS + 4)} height="11"/>`;
    const cells = Array.from({ length: CELLS }, (_, index) => {
      const op = first + index;
      const entry = op <= replica.head ? entryAt(replica, op) : undefined;
      const state = !entry || entry.state === "missing" ? "" : entry.state === "committed" ? "done" : "known";
      const hue = entry?.view == null ? "" : hueOf(entry.view);
      const isLit = op === this.state.lit;
      const left = start + index * width + 0.7;
      return svg`<rect class="cell ${state} ${replica.up ? hue : ""} ${isLit ? "lit" : ""}" x=${round(left)} y=${round(y)} width=${round(width - 1.4)} height="5" rx="1"/>
        ${entry && isDamaged(entry) ? crack(left, y - 2, width - 1.4, 9) : nothing}`;
    });
    return [shelf, ...cells];
  }

  /**
   * @param {import("../types.js").Client} client
   * @param {import("../geometry.js").Layout} layout
   */
  #client(client, layout) {
    const { x, y } = placeOf(layout, `c${client.id}`);
    const s = layout.clientSize;
    const isAlone = layout.clients.length === 1;
    const { selection } = this.state;
    const isSelected = selection.kind === "client" && selection.id === client.id;
    const isWaiting = client.state === "waiting" || client.state === "registering";
    const label = isWaiting ? `waits for a reply from ${client.target}` : "has nothing to ask";
    const half = s + (layout.width < 520 ? 6 : 14);
    return svg`<g role="button" tabindex="0" aria-label="Client ${client.id}, ${label}" aria-pressed=${isSelected} data-client=${client.id} @keydown=${this.#keyed}>
      <rect class="ring" x=${round(x - half - 4)} y=${round(y - s - 4)} width=${round(half * 2 + 8)} height=${round(s * 2 + 8)} rx="11"/>
      <rect class="box ${isWaiting ? "waits" : ""}" x=${round(x - half)} y=${round(y - s)} width=${round(half * 2)} height=${round(s * 2)} rx="8"/>
      <text class="box-text" x=${round(x)} y=${round(y + (isWaiting && s > 15 ? -1 : 4.5))} font-size=${layout.width < 520 ? 11.5 : 13}>${isAlone ? "client" : `client ${client.id}`}</text>
      ${isWaiting && s > 15 ? svg`<text class="box-text" x=${round(x)} y=${round(y + 13)} font-size="11">${client.state === "registering" ? "registers" : `asks ${client.request}`}</text>` : nothing}
    </g>`;
  }

  /**
   * @param {Frame} frame
   * @param {import("../geometry.js").Layout} layout
   */
  #clientLines(frame, layout) {
    const isCrowded = frame.client_count * frame.replica_count > CLIENT_LINES_MAX;
    return frame.clients.flatMap((client) =>
      frame.replicas.map((replica) => {
        const asks = client.target === replica.id;
        if (isCrowded && !asks) return nothing;
        const [a, b] = [`c${client.id}`, String(replica.id)];
        return [this.#line(frame, layout, a, b, `client ${asks ? "asks" : ""}`), this.#handle(frame, layout, a, b)];
      }),
    );
  }

  /**
   * Links are drawn below the replicas and held above them, so that they come after them for the keyboard.
   * @param {Frame} frame
   * @param {import("../geometry.js").Layout} layout
   * @param {"drawn" | "held"} part
   */
  #links(frame, layout, part) {
    const lines = [];
    for (let a = 0; a < frame.replica_count; a += 1) {
      for (let b = a + 1; b < frame.replica_count; b += 1) {
        lines.push(part === "drawn" ? this.#line(frame, layout, String(a), String(b), "") : this.#handle(frame, layout, String(a), String(b)));
      }
    }
    return lines;
  }

  /**
   * @param {Frame} frame
   * @param {import("../geometry.js").Layout} layout
   * @param {string} a
   * @param {string} b
   * @param {string} kind
   */
  #line(frame, layout, a, b, kind) {
    const there = linkOf(frame, a, b);
    const back = linkOf(frame, b, a);
    const { start, end } = middleOf(layout, a, b);
    const isOff = isBlocked(there) && isBlocked(back);
    return svg`<path class="line ${kind} ${isOff ? "off" : ""}" d="M${round(start.x)} ${round(start.y)}L${round(end.x)} ${round(end.y)}"/>
      ${there ? this.#onLane(there, laneOf(layout, a, b)) : nothing}${back ? this.#onLane(back, laneOf(layout, b, a)) : nothing}`;
  }

  /**
   * What of a link can be selected.
   * @param {Frame} frame
   * @param {import("../geometry.js").Layout} layout
   * @param {string} a
   * @param {string} b
   */
  #handle(frame, layout, a, b) {
    const { selection } = this.state;
    const isSelected = selection.kind === "link" && selection.a === a && selection.b === b;
    const isClient = a.startsWith("c");
    const { start, end } = middleOf(layout, a, b);
    const words = [linkWords(linkOf(frame, a, b)), linkWords(linkOf(frame, b, a))].filter((text) => text !== "").join("; ");
    const name = `Link ${a}–${b}${words === "" ? "" : `: ${words}`}`;
    return svg`<g class="link" role=${isClient ? "presentation" : "button"} tabindex=${isClient ? nothing : 0} aria-label=${isClient ? nothing : name}
        aria-pressed=${isClient ? nothing : isSelected} data-selected=${isSelected} data-link="${a}-${b}" @keydown=${this.#keyed}>
      <path class="glow" d="M${round(start.x)} ${round(start.y)}L${round(end.x)} ${round(end.y)}"/><polygon class="hit" points=${bandOf(start, end)}/>
    </g>`;
  }

  /**
   * What lies on one direction of a link.
   * @param {Link} link
   * @param {{ a: Point, b: Point } | undefined} lane
   */
  #onLane(link, lane) {
    if (!lane) return nothing;
    const { a, b } = lane;
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const side = { x: (-(b.y - a.y) / length) * 9, y: ((b.x - a.x) / length) * 9 };
    const middle = between(a, b, OBSTACLE);
    const marks = [];
    if (isBlocked(link)) {
      marks.push(
        svg`<line class="bar ${link.cut ? "" : "given"}" x1=${round(middle.x - side.x * 0.45)} y1=${round(middle.y - side.y * 0.45)} x2=${round(middle.x + side.x)} y2=${round(middle.y + side.y)}/>`,
      );
    }
    if (link.clogged) {
      const until = between(a, b, OBSTACLE - 0.05);
      marks.push(
        svg`<line class="clog" x1=${round(a.x)} y1=${round(a.y)} x2=${round(until.x)} y2=${round(until.y)}/>`,
      );
    }
    if (link.clogged && link.waiting > 0) {
      const spot = { x: middle.x + side.x * 1.4, y: middle.y + side.y * 1.4 };
      marks.push(
        svg`<circle class="count" cx=${round(spot.x)} cy=${round(spot.y)} r="9"/><text class="count-text" x=${round(spot.x)} y=${round(spot.y + 4)}>${link.waiting}</text>`,
      );
    }
    if (link.filtered.length > 0 || link.held_kinds.length > 0) {
      const spot = between(a, b, OBSTACLE + 0.12);
      const shape = link.filtered.length > 0 ? "M-7 -6H7L1.6 1V7H-1.6V1Z" : "M-6 -6H6V6H-6ZM-2 -2V2M2 -2V2";
      marks.push(svg`<path class="sign" transform="translate(${round(spot.x + side.x)} ${round(spot.y + side.y)})" d=${shape}/>`);
    }
    if (link.extra_delay_ticks > 0) {
      const spot = between(a, b, OBSTACLE - 0.2);
      marks.push(
        svg`<text class="sign-text" x=${round(spot.x + side.x * 1.7)} y=${round(spot.y + side.y * 1.7 + 4)}>+${link.extra_delay_ticks * 10} ms</text>`,
      );
    }
    return marks;
  }

  /**
   * @param {Frame} frame
   * @param {import("../geometry.js").Layout} layout
   */
  #walls(frame, layout) {
    const islands = islandsIn(frame);
    if (islands.length < 2) return nothing;
    const largest = islands.reduce((best, island) => (island.length > best.length ? island : best));
    return islands.map((island) => {
      const path = island === largest && islands.length > 1 && islands.length === 2 && island.length !== 1 ? null : wallPath(layout, island);
      return path ? svg`<path class="wall" d=${path}/>` : nothing;
    });
  }

  /** @param {PointerEvent} event */
  #pressed(event) {
    const point = this.#pointOf(event);
    const reach = event.pointerType === "touch" ? 24 : 13;
    const packet = this.#painter?.near(point, reach);
    const target = targetOf(event);
    if (packet && !target?.dataset.replica) {
      this.app.store.selectPacket(packet.key);
      return;
    }
    const link = target?.dataset.link === undefined ? null : target;
    if (target && !link) {
      this.#select(target, event.shiftKey || event.ctrlKey || event.metaKey);
      return;
    }
    if (event.button !== 0) return;
    this.#stroke = { from: point, to: point, link };
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  #dragged(event) {
    if (!this.#stroke) return;
    this.#stroke = { ...this.#stroke, to: this.#pointOf(event) };
    this.requestUpdate();
  }

  /** @param {PointerEvent} event */
  #released(event) {
    const stroke = this.#stroke;
    this.#stroke = null;
    this.requestUpdate();
    const { frame } = this.state;
    if (!stroke || !this.#layout || !frame) return;
    const length = Math.hypot(stroke.to.x - stroke.from.x, stroke.to.y - stroke.from.y);
    if (length < 12 && stroke.link) this.#select(stroke.link, false);
    else if (length < 12) this.app.store.clearSelection();
    if (length < this.#layout.radius * 2.5 || event.type === "pointercancel") return;
    const side = leftOf(this.#layout, stroke.from, stroke.to);
    const other = restOf(side, frame.replica_count);
    if (side.length === 0 || other.length === 0) return;
    const [small, large] = side.length <= other.length ? [side, other] : [other, side];
    this.app.store.selectReplicas(small);
    void this.app.run.act(sidesAct("cut", small, large));
  }

  /**
   * Assistive technology presses without a pointer.
   * @param {MouseEvent} event
   */
  #clicked(event) {
    const target = event.detail === 0 ? targetOf(event) : null;
    if (target) this.#select(target, event.shiftKey);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    this.#select(/** @type {SVGElement} */ (event.currentTarget), event.shiftKey);
  }

  /**
   * @param {SVGElement} target
   * @param {boolean} isAdded
   */
  #select({ dataset }, isAdded) {
    const { store } = this.app;
    if (dataset.replica !== undefined) store.selectReplica(Number(dataset.replica), isAdded);
    else if (dataset.client !== undefined) store.selectClient(Number(dataset.client));
    else if (dataset.link !== undefined) {
      const [a = "", b = ""] = dataset.link.split("-");
      store.selectLink(a, b);
    }
  }

  /** @param {PointerEvent} event */
  #pointOf(event) {
    const box = this.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
}

/**
 * @param {import("../geometry.js").Layout} layout
 * @param {string} a
 * @param {string} b
 * @returns {{ start: Point, end: Point }} the line between both lanes
 */
function middleOf(layout, a, b) {
  const there = laneOf(layout, a, b);
  const back = laneOf(layout, b, a);
  return { start: between(there.a, back.b, 0.5), end: between(there.b, back.a, 0.5) };
}

/**
 * A link is thin; this is what a finger hits, and what gives the link a size.
 * @param {Point} start
 * @param {Point} end
 * @returns {string} a polygon's points
 */
function bandOf(start, end) {
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const side = { x: (-(end.y - start.y) / length) * 13, y: ((end.x - start.x) / length) * 13 };
  const corners = [
    [start.x + side.x, start.y + side.y],
    [end.x + side.x, end.y + side.y],
    [end.x - side.x, end.y - side.y],
    [start.x - side.x, start.y - side.y],
  ];
  return corners.map(([x, y]) => `${round(x ?? 0)},${round(y ?? 0)}`).join(" ");
}

/**
 * @param {Event} event
 * @returns {SVGElement | null}
 */
function targetOf(event) {
  const element = /** @type {Element} */ (event.composedPath()[0]);
  return /** @type {SVGElement | null} */ (element.closest("[data-replica], [data-client], [data-link]"));
}

/**
 * @param {Replica} replica
 * @param {number} op
 */
function entryAt(replica, op) {
  return replica.log.find((entry) => entry.op === op);
}

customElements.define("vsr-stage", Stage);
