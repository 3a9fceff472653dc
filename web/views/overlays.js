/**
 * What lies above the stage: the caption, why nothing commits, what is violated, passing messages, the live region, and
 * the banners for links that could not be opened and engines that stopped. Must never cover what can be selected without a
 * way to close it.
 */

import { css, html, nothing } from "lit";
import "./legend.js";
import { explain } from "./term.js";
import { shared, View } from "./view.js";

/** One caption in plain words, and one obvious verb. */
export class CaptionBox extends View {
  /** @override */
  static styles = [
    shared,
    css`
      article {
        position: relative;
        background: var(--sheet);
        border: 1px solid var(--rule);
        border-radius: 12px;
        padding: 15px 18px 16px;
        box-shadow: var(--shadow);
      }
      h2 {
        font-size: 19px;
        margin: 0 28px 4px 0;
      }
      p {
        color: var(--soft);
        text-wrap: pretty;
      }
      .keep {
        white-space: nowrap;
      }
      .row {
        margin-top: 11px;
      }
      .close {
        position: absolute;
        top: 7px;
        right: 7px;
        padding: 0;
        width: 28px;
        min-height: 28px;
      }
      @media (max-width: 1240px) {
        article {
          padding: 11px 14px 12px;
          border-radius: 10px;
          box-shadow: none;
        }
        h2 {
          font-size: 17px;
        }
        p {
          font-size: 14px;
        }
        .row {
          margin-top: 8px;
        }
      }
    `,
  ];

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.caption, state.isPlaying];
  }

  /** @override */
  render() {
    const { caption, isPlaying } = this.state;
    if (!caption) return nothing;
    const { run } = this.app;
    const first = caption.step === "flow" && !isPlaying;
    return html`<article aria-label="Caption">
      <h2>${caption.title}</h2>
      <p>${explain(caption.text)}</p>
      ${
        caption.verbs.length === 0 && !first
          ? nothing
          : html`<div class="row">
              ${first ? html`<button class="main" @click=${() => run.play()}>Play</button>` : nothing}
              ${caption.verbs.map(
                ({ label, verb, isMain }) =>
                  html`<button class=${isMain ? "main" : ""} @click=${() => run.followCaption(verb)}>${label}</button>`,
              )}
            </div>`
      }
      <button class="quiet close" aria-label="Close the caption" @click=${() => run.dismissCaption()}>×</button>
    </article>`;
  }
}

/** A commit takes a while when all is well; only a client that waits for longer asks for a reason. */
const PATIENCE_TICKS = 30;

/**
 * @param {Readonly<import("../state.js").State>} state
 * @returns {string | null}
 */
function whyOf({ frame }) {
  if (!frame?.why) return null;
  // Read off the frame alone: a place shows the same whichever way one came to it.
  const waits = frame.clients.map(({ since_tick: since }) => (since === null ? 0 : frame.tick - since));
  if (frame.why.code === "acks" && Math.max(...waits) < PATIENCE_TICKS) return null;
  return frame.why.text;
}

/** One line, always there when a property is violated, or when nothing commits. */
export class WhyLine extends View {
  /** @override */
  static styles = [
    shared,
    css`
      p {
        display: inline-flex;
        gap: 9px;
        align-items: baseline;
        background: var(--mark);
        border-radius: 8px;
        padding: 5px 12px;
        max-width: 100%;
        text-wrap: pretty;
      }
      b {
        font-weight: 600;
        white-space: nowrap;
      }
      .bad {
        background: color-mix(in oklab, var(--bad) 12%, var(--sheet));
        border: 1px solid var(--bad);
      }
      .bad b {
        color: var(--bad);
      }
      .bad span {
        display: -webkit-box;
        -webkit-line-clamp: 1;
        -webkit-box-orient: vertical;
        overflow: hidden;
      }
      span::first-letter {
        text-transform: uppercase;
      }
      @media (max-width: 820px) {
        p {
          font-size: 13.5px;
          padding: 3px 10px;
        }
        .why b {
          display: none;
        }
        .bad span {
          -webkit-line-clamp: 2;
        }
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [whyOf(state), state.frame?.violations.length];
  }

  /** @override */
  render() {
    const violation = this.state.frame?.violations[0];
    if (violation) return html`<p class="bad"><b>${violation.property}, tick ${violation.tick}</b> <span title=${violation.text}>${violation.text}</span></p>`;
    const why = whyOf(this.state);
    if (why === null) return nothing;
    return html`<p class="why"><b>Why is nothing committing?</b> <span>${why.charAt(0).toUpperCase()}${why.slice(1)}</span></p>`;
  }
}

/** Passing messages, and what is said to people who do not see the stage. */
export class Notices extends View {
  /** @override */
  static styles = [
    shared,
    css`
      .stack {
        display: grid;
        gap: 6px;
        justify-items: center;
      }
      .notice {
        pointer-events: auto;
        display: flex;
        gap: 10px;
        align-items: center;
        background: var(--ink);
        color: var(--on);
        border-radius: 8px;
        padding: 6px 8px 6px 14px;
        box-shadow: var(--shadow);
        max-width: min(560px, 100%);
      }
      .bad {
        background: var(--bad);
      }
      .notice button {
        background: none;
        border: 0;
        color: inherit;
        padding: 0;
        width: 26px;
        min-height: 26px;
      }
    `,
  ];

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.notices, state.said];
  }

  /** @override */
  render() {
    const { notices, said } = this.state;
    return html`<div class="stack" role="status">
        ${notices.map(
          ({ id, tone, text }) => html`<div class="notice ${tone}">
            <span>${text}</span><button aria-label="Dismiss" @click=${() => this.app.store.dismiss(id)}>×</button>
          </div>`,
        )}
      </div>
      <div class="unseen" aria-live="polite" data-testid="live">${said}</div>`;
  }
}

/** Banners that ask for a decision. */
export class Banners extends View {
  /** @override */
  static styles = [
    shared,
    css`
      .banner {
        display: flex;
        flex-wrap: wrap;
        gap: 6px 14px;
        align-items: center;
        padding: 8px 20px;
        background: var(--mark);
        border-bottom: 1px solid var(--rule);
      }
      .banner.bad {
        background: var(--bad-wash);
        border-bottom-color: var(--bad);
      }
      .banner p {
        flex: 1 1 300px;
      }
      code {
        display: block;
        font-family: var(--mono);
        font-size: 12.5px;
        max-height: 3.2em;
        overflow: auto;
        word-break: break-all;
        color: var(--soft);
      }
      a {
        color: inherit;
      }
    `,
  ];

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.broken, state.trap, state.epoch, state.proof];
  }

  /** @override */
  render() {
    const { broken, trap, epoch, proof } = this.state;
    const { store, run } = this.app;
    return html`
      ${
        broken
          ? html`<div class="banner" role="alert">
              <p><b>This link cannot be opened.</b> ${broken.text}${/[.!?]$/.test(broken.text) ? "" : "."} Here is the default cluster instead.<code>${broken.link.slice(0, 400)}</code></p>
              <button @click=${() => store.dismissBroken()}>Close</button>
            </div>`
          : nothing
      }
      ${
        trap
          ? html`<div class="banner bad" role="alert">
              <p>
                <b>The engine stopped after tick ${trap.tick}.</b> This is a fault of the playground, not of your run. The link is kept; please report it.
                <code>${trap.text}</code><code>#${trap.link}</code>
              </p>
              <button class="main" @click=${() => run.reloadBefore()}>Reload just before</button>
              <button @click=${() => navigator.clipboard?.writeText(addressOf(trap.link)).catch(() => store.notify("The clipboard was refused: copy the link from the banner.", "warn"))}>Copy link</button>
            </div>`
          : nothing
      }
      ${
        epoch
          ? html`<div class="banner" role="alert">
              <p><b>This link was made by another build.</b> It is of epoch ${epoch.theirs}, this page of epoch ${epoch.ours}, so the run may go another way${proof?.is === "differs" ? ", and at its tick it does" : ""}.</p>
              <a href="v/${epoch.theirs}/#${epoch.link}">Open the build of epoch ${epoch.theirs}</a>
              <button @click=${() => store.dismissEpoch()}>Replay anyway</button>
              <button @click=${() => run.startRun({})}>Start fresh</button>
            </div>`
          : nothing
      }
      ${
        proof?.is === "differs" && !epoch
          ? html`<div class="banner bad" role="alert">
              <p><b>The replay differs.</b> At tick ${proof.at} this page does not come to the hash that the link names. The link was changed, or this build is not the one that made it.</p>
            </div>`
          : nothing
      }
    `;
  }
}

/**
 * @param {string} link
 * @returns {string}
 */
function addressOf(link) {
  return `${location.href.split("#")[0]}#${link}`;
}

customElements.define("vsr-caption", CaptionBox);
customElements.define("vsr-why", WhyLine);
customElements.define("vsr-notices", Notices);
customElements.define("vsr-banners", Banners);
