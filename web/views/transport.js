/**
 * Play, step, pace, and where in virtual time one is. Must never advance anything itself.
 */

import { css, html, nothing, svg } from "lit";
import { clockText, PACES, paceText } from "../format.js";
import { comparePositions, positionText } from "../link.js";
import { liveOf } from "../state.js";
import { shared, View } from "./view.js";

const ICONS = {
  play: svg`<path d="M4 2.2v11.6L13.6 8z" fill="currentColor"/>`,
  pause: svg`<path d="M3.6 2.5h3.1v11H3.6zM9.3 2.5h3.1v11H9.3z" fill="currentColor"/>`,
  event: svg`<path d="M3 2.6v10.8L10 8z" fill="currentColor"/><circle cx="12.6" cy="8" r="1.7" fill="currentColor"/>`,
  tick: svg`<path d="M3 2.6v10.8L10 8z" fill="currentColor"/><path d="M12.5 2.6v10.8" stroke="currentColor" stroke-width="2"/>`,
};

/** The buttons below the stage. */
export class Transport extends View {
  /** @override */
  static styles = [
    shared,
    css`
      .bar {
        display: flex;
        gap: 6px;
        align-items: center;
        flex-wrap: wrap;
      }
      .icon {
        padding: 0;
        width: 34px;
        min-height: 32px;
        display: inline-grid;
        place-items: center;
      }
      .icon svg {
        width: 15px;
        height: 15px;
      }
      .icon.main {
        width: 44px;
      }
      .flip svg {
        transform: scaleX(-1);
      }
      .pace {
        display: flex;
        gap: 8px;
        align-items: center;
        padding-left: 10px;
      }
      .pace input {
        width: 104px;
      }
      .pace output {
        min-width: 96px;
        color: var(--soft);
      }
      .skip {
        color: var(--soft);
      }
      .skip-text {
        min-width: 136px;
        padding: 1px 9px;
        margin-left: -6px;
        border-radius: 20px;
      }
      .skips {
        color: var(--ink);
        background: var(--mark);
      }
      .grow {
        flex: 1;
      }
      .where {
        display: flex;
        gap: 12px;
        align-items: center;
        font-size: 16px;
      }
      .where small {
        font-size: 14px;
        color: var(--soft);
      }
      @media (max-width: 820px) {
        .pace output {
          min-width: 0;
        }
        .pace input {
          width: 76px;
        }
        .pace {
          padding-left: 2px;
        }
        .skip {
          order: 9;
        }
      }
      @media (max-width: 460px) {
        .word {
          display: none;
        }
      }
    `,
  ];

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.isPlaying, state.pace, state.skipsQuiet, state.isSkipping, state.shown, state.branches, state.seeking];
  }

  /** @override */
  render() {
    const { isPlaying, pace, skipsQuiet, isSkipping, shown, seeking } = this.state;
    const { run } = this.app;
    const isPast = comparePositions(shown, liveOf(this.state)) < 0;
    const index = Math.max(0, PACES.indexOf(pace));
    return html`<div class="bar" role="group" aria-label="Transport">
      ${icon("One event back", ICONS.event, () => run.stepEventBack(), "flip", shown.tick === 0 && shown.step === 0)}
      ${icon(isPlaying ? "Pause" : "Play", isPlaying ? ICONS.pause : ICONS.play, () => run.togglePlay(), "main")}
      ${icon("Step one event", ICONS.event, () => run.stepEvent())}
      ${icon("Step one tick", ICONS.tick, () => run.stepTicks(1))}
      <span class="pace">
        <input
          type="range"
          aria-label="Pace"
          aria-valuetext=${paceText(pace)}
          min="0"
          max=${PACES.length - 1}
          step="1"
          .value=${String(index)}
          @input=${(/** @type {Event} */ event) => run.setPace(PACES[Number(valueOf(event))] ?? pace)}
        />
        <output class="num">${paceText(pace)}</output>
      </span>
      <label class="check skip">
        <input type="checkbox" .checked=${skipsQuiet} @change=${(/** @type {Event} */ event) => this.app.store.setSkipsQuiet(/** @type {HTMLInputElement} */ (event.target).checked)} />
        <span class="skip-text ${isSkipping ? "skips" : ""}">${isSkipping ? "quiet: running fast" : "skip quiet"}</span>
      </label>
      <span class="grow"></span>
      ${seeking ? html`<span class="soft small num">replaying ${seeking.at} of ${seeking.to}</span>` : nothing}
      <span class="where num">
        ${clockText(shown.tick)} <small><span class="word">tick </span><span>${positionText(shown)}</span></small>
      </span>
      ${isPast ? html`<button class="main" @click=${() => run.returnToLive()}>Return to live</button>` : nothing}
    </div>`;
  }
}

/**
 * @param {string} name
 * @param {unknown} drawing
 * @param {() => void} work
 * @param {string} kind
 * @param {boolean} isOff
 */
function icon(name, drawing, work, kind = "", isOff = false) {
  return html`<button class="icon ${kind}" aria-label=${name} title=${name} ?disabled=${isOff} @click=${work}>
    <svg viewBox="0 0 16 16" aria-hidden="true">${drawing}</svg>
  </button>`;
}

/**
 * @param {Event} event
 * @returns {string}
 */
function valueOf(event) {
  return /** @type {HTMLInputElement} */ (event.target).value;
}

customElements.define("vsr-transport", Transport);
