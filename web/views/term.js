/**
 * A protocol word that explains itself on hover and focus. Must never be needed to understand what happens.
 */

import { css, html, LitElement } from "lit";
import { GLOSSARY } from "../words.js";

let terms = 0;

/** `<vsr-term word="view">view</vsr-term>` */
export class Term extends LitElement {
  /** @override */
  static properties = { word: { type: String } };

  /** @override */
  static styles = css`
    :host {
      display: inline;
    }
    button {
      font: inherit;
      color: inherit;
      background: none;
      border: 0;
      padding: 0;
      text-decoration: underline dotted var(--edge) 1.2px;
      text-underline-offset: 3px;
      cursor: help;
      text-align: left;
    }
    button:focus-visible {
      outline: 2px solid var(--accent);
      outline-offset: 2px;
    }
    [popover] {
      position: fixed;
      inset: auto;
      margin: 0;
      max-width: 280px;
      padding: 9px 12px;
      border: 1px solid var(--rule);
      border-radius: 8px;
      background: var(--sheet);
      color: var(--ink);
      font: 400 14px/1.4 var(--sans);
      box-shadow: var(--shadow);
      white-space: normal;
    }
  `;

  constructor() {
    super();
    this.word = "";
    terms += 1;
    this.#id = `term-${terms}`;
  }

  #id;

  /** @override */
  render() {
    return html`<button
        type="button"
        aria-describedby=${this.#id}
        @pointerenter=${this.#show}
        @pointerleave=${this.#hide}
        @focus=${this.#show}
        @blur=${this.#hide}
        @keydown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && this.#hide()}
      ><slot>${this.word}</slot></button
      ><span id=${this.#id} role="tooltip" popover="manual">${GLOSSARY[this.word] ?? ""}</span>`;
  }

  get #tip() {
    return /** @type {HTMLElement} */ (this.renderRoot.querySelector("[popover]"));
  }

  #show() {
    const tip = this.#tip;
    tip.showPopover();
    const box = this.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, window.innerWidth - size.width - 8));
    const isBelow = box.bottom + size.height + 12 < window.innerHeight;
    tip.style.setProperty("left", `${left}px`);
    tip.style.setProperty("top", `${isBelow ? box.bottom + 6 : box.top - size.height - 6}px`);
  }

  #hide() {
    const tip = this.#tip;
    if (tip.matches(":popover-open")) tip.hidePopover();
  }
}

/** Words explained in running text; each once, where it stands first. */
const IN_TEXT = /\b(views?|primary|quorum|logs?|heartbeats?|commits?|committed)\b/;

/** @type {Record<string, string>} */
const WORD_OF = { views: "view", logs: "log", heartbeats: "heartbeat", commits: "commit", committed: "commit" };

/**
 * @param {string} text
 * @returns {unknown} the text, with protocol words that explain themselves
 */
export function explain(text) {
  const seen = new Set();
  const parts = text.split(new RegExp(IN_TEXT.source));
  return parts.map((part, index) => {
    const word = WORD_OF[part] ?? part;
    if (index % 2 === 0 || seen.has(word)) return part;
    seen.add(word);
    // The mark behind a word must not begin the next line.
    const [, mark = ""] = /^([,;.:)]*)/.exec(parts[index + 1] ?? "") ?? [];
    parts[index + 1] = (parts[index + 1] ?? "").slice(mark.length);
    return html`<span class="keep"><vsr-term word=${word}>${part}</vsr-term>${mark}</span>`;
  });
}

customElements.define("vsr-term", Term);
