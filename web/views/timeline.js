/**
 * The scrubber, painted with who led, crashes, cuts, replies and violations; the other branches as rails below it.
 * Going to a tick is the conductor's work. Must never keep a place of its own.
 */

import { css, html, nothing, svg } from "lit";
import { clockText } from "../format.js";
import { comparePositions, positionText } from "../link.js";
import { historyOf, pathTo } from "../state/branches.js";
import { liveOf } from "../state.js";
import { hueOf, shared, View } from "./view.js";

/** @typedef {import("../state/branches.js").Branch} Branch */

const WIDTH = 1000;
/** The scale shows at least this much, so that the start is not a single block. */
const TICKS_LEAST = 200;
const RAILS_MAX = 3;

/** Where one is, was and could be. */
export class Timeline extends View {
  /** @override */
  static styles = [
    shared,
    css`
      .scrub {
        position: relative;
        height: 34px;
        border: 1px solid var(--rule);
        border-radius: 7px;
        overflow: hidden;
        cursor: pointer;
        touch-action: none;
        background: var(--sheet);
      }
      svg {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
      }
      .span {
        fill: color-mix(in oklab, var(--h) 30%, var(--sheet));
      }
      .span.nobody {
        fill: url(#hatch);
      }
      .span-text {
        fill: var(--h);
      }
      .reply {
        stroke: var(--soft);
        stroke-width: 1;
      }
      .act {
        fill: var(--ink);
      }
      .rim {
        fill: var(--sheet);
      }
      .bad {
        fill: var(--bad);
      }
      .future {
        fill: var(--sheet);
        fill-opacity: 0.62;
      }
      .hand {
        fill: var(--ink);
      }
      .labels {
        position: absolute;
        inset: 0;
        pointer-events: none;
        font-size: 12px;
        line-height: 1;
      }
      .labels span {
        position: absolute;
        top: 4px;
        color: var(--h);
        white-space: nowrap;
      }
      .rails {
        display: grid;
        gap: 3px;
        margin-top: 5px;
      }
      .rail {
        position: relative;
        display: block;
        width: 100%;
        height: 24px;
        min-height: 24px;
        padding: 0;
        border: 0;
        background: none;
        border-radius: 5px;
        text-align: left;
        overflow: hidden;
      }
      .rail b {
        position: absolute;
        top: 3px;
        font: 400 13px/18px var(--sans);
        color: var(--soft);
        padding: 0 6px;
        white-space: nowrap;
      }
      .rail:hover b {
        color: var(--ink);
        text-decoration: underline;
      }
      .thread {
        stroke: var(--edge);
        stroke-width: 2;
        vector-effect: non-scaling-stroke;
      }
    `,
  ];

  #isDragging = false;

  /** @override */
  get restMs() {
    return 60;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.shown, state.branches, state.branch, state.frame?.group];
  }

  /** @override */
  updated() {
    for (const label of this.renderRoot.querySelectorAll("[data-left]")) {
      const element = /** @type {HTMLElement} */ (label);
      element.style.setProperty("left", `${element.dataset.left}%`);
    }
  }

  get #end() {
    return Math.max(TICKS_LEAST, liveOf(this.state).tick);
  }

  /** @override */
  render() {
    const { branches, branch, shown } = this.state;
    if (branches.length === 0) return nothing;
    const live = liveOf(this.state);
    const end = this.#end;
    const x = (/** @type {number} */ tick) => Math.round((tick / end) * WIDTH * 10) / 10;
    const { marks, spans } = historyOf(branches, branch, this.state.frame?.group);
    const others = railsOf(branches, branch);
    return html`<div
        class="scrub"
        role="slider"
        tabindex="0"
        aria-label="Timeline"
        aria-valuemin="0"
        aria-valuemax=${live.tick}
        aria-valuenow=${shown.tick}
        aria-valuetext="tick ${positionText(shown)}, ${clockText(shown.tick)}, of ${live.tick}"
        @pointerdown=${this.#pressed}
        @pointermove=${this.#dragged}
        @pointerup=${this.#released}
        @pointercancel=${this.#released}
        @keydown=${this.#keyed}
      >
        <svg viewBox="0 0 ${WIDTH} 34" preserveAspectRatio="none" aria-hidden="true">
          <defs>
            <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="1.6" height="6" fill="var(--rule)" />
            </pattern>
          </defs>
          ${spans.map((span, index) => {
            const from = x(span.from);
            const to = x(spans[index + 1]?.from ?? live.tick);
            const hue = span.view === null ? "nobody" : hueOf(span.view);
            return svg`<rect class="span ${hue}" x=${from} y="0" width=${Math.max(0, to - from)} height="34"/>`;
          })}
          ${sparse(marks, x).map(([mark, at]) => drawMark(mark, at))}
          <rect class="future" x=${x(shown.tick)} y="0" width=${Math.max(0, x(live.tick) - x(shown.tick))} height="34" />
          <rect class="hand" x=${Math.min(WIDTH - 2.5, x(shown.tick))} y="0" width="2.5" height="34" />
        </svg>
        <div class="labels" aria-hidden="true">
          ${spans.map((span, index) => {
            const to = spans[index + 1]?.from ?? live.tick;
            if (span.view === null || (to - span.from) / end < 0.07) return nothing;
            return html`<span class=${hueOf(span.view)} data-left=${(span.from / end) * 100 + 0.6}>view ${span.view}</span>`;
          })}
        </div>
      </div>
      ${
        others.length === 0
          ? nothing
          : html`<div class="rails" role="group" aria-label="Other branches">
              ${others.slice(0, RAILS_MAX).map(({ other, from }) => this.#rail(other, from, x, end))}
            </div>`
      }`;
  }

  /**
   * @param {Branch} branch
   * @param {number} start where it goes another way
   * @param {(tick: number) => number} x
   * @param {number} end
   */
  #rail(branch, start, x, end) {
    const from = Math.min(start, end);
    const to = Math.min(end, Math.max(from, branch.live.tick));
    const left = Math.min(80, (from / end) * 100 + 0.4);
    return html`<button class="rail" @click=${() => this.app.run.switchBranch(branch.id)} aria-label="Go to branch ${branch.id}: ${branch.name}">
      <svg viewBox="0 0 ${WIDTH} 24" preserveAspectRatio="none" aria-hidden="true">
        <path class="thread" fill="none" d="M${x(from)} 0V2H${Math.max(x(from) + 3, x(to))}" />
      </svg>
      <b data-left=${left}>${branch.name}, to tick ${branch.live.tick}</b>
    </button>`;
  }

  /** @param {PointerEvent} event */
  #pressed(event) {
    this.#isDragging = true;
    const scrub = /** @type {HTMLElement} */ (event.currentTarget);
    scrub.setPointerCapture(event.pointerId);
    this.#goTo(event, scrub);
  }

  /** @param {PointerEvent} event */
  #dragged(event) {
    if (this.#isDragging) this.#goTo(event, /** @type {HTMLElement} */ (event.currentTarget));
  }

  #released() {
    this.#isDragging = false;
  }

  /**
   * @param {PointerEvent} event
   * @param {HTMLElement} scrub
   */
  #goTo(event, scrub) {
    const box = scrub.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const tick = Math.min(liveOf(this.state).tick, Math.round(part * this.#end));
    void this.app.run.seek({ tick, step: 0 });
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const live = liveOf(this.state);
    const { shown } = this.state;
    const far = Math.max(10, Math.round(live.tick / 20));
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -far, PageUp: far };
    const step = steps[event.key];
    const isEnd = event.key === "Home" || event.key === "End";
    if (event.shiftKey || (step === undefined && !isEnd)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Home") void this.app.run.seek({ tick: 0, step: 0 });
    else if (event.key === "End") void this.app.run.returnToLive();
    else if (step !== undefined) {
      const isPast = comparePositions(shown, live) < 0;
      if (step > 0 && !isPast) return;
      const tick = Math.min(live.tick, Math.max(0, shown.tick + step));
      void this.app.run.seek({ tick, step: 0 });
    }
  }
}

/**
 * The futures that are not the shown one, the newest first, each from where it goes another way.
 * @param {Branch[]} branches
 * @param {number} shown
 * @returns {{ other: Branch, from: number }[]}
 */
function railsOf(branches, shown) {
  const path = pathTo(branches, shown);
  const run = path[0]?.run;
  return branches
    .filter((other) => other.id !== shown)
    .map((other) => {
      const place = path.indexOf(other);
      const from = place >= 0 ? (path[place + 1]?.fork.tick ?? 0) : other.run === run ? other.fork.tick : 0;
      return { other, from };
    })
    .filter(({ other, from }) => other.live.tick > from)
    .reverse();
}

/**
 * Marks that would lie on each other are drawn once.
 * @param {import("../state/branches.js").Mark[]} marks
 * @param {(tick: number) => number} x
 * @returns {[import("../state/branches.js").Mark, number][]}
 */
function sparse(marks, x) {
  /** @type {Map<string, [import("../state/branches.js").Mark, number]>} */
  const places = new Map();
  for (const mark of marks) {
    const at = Math.round(x(mark.tick) / 2) * 2;
    places.set(`${mark.kind}${at}`, [mark, at]);
  }
  return [...places.values()];
}

/**
 * @param {import("../state/branches.js").Mark} mark
 * @param {number} x
 */
function drawMark(mark, x) {
  switch (mark.kind) {
    case "violation":
      return svg`<rect class="bad" x=${x - 2} y="0" width="4" height="34"/>`;
    case "reply":
      return svg`<line class="reply" x1=${x} x2=${x} y1="26" y2="34" vector-effect="non-scaling-stroke"/>`;
    case "crash":
      return svg`<rect class="act" x=${x - 1.6} y="16" width="3.2" height="12"/>`;
    case "restart":
      return svg`<rect class="act" x=${x - 1.6} y="16" width="3.2" height="3.4"/><rect class="act" x=${x - 1.6} y="24.6" width="3.2" height="3.4"/>`;
    case "link":
      return svg`<rect class="act" x=${x - 3.2} y="20" width="6.4" height="3.4"/>`;
    default:
      return nothing;
  }
}

customElements.define("vsr-timeline", Timeline);
