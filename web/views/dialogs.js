/**
 * The two dialogs: share a link, and the list of keys. Must never change the run.
 */

import { css, html, nothing } from "lit";
import { countText } from "../format.js";
import { KEYS } from "../keys.js";
import "./overlays.js";
import { shared, View } from "./view.js";

/** Chats cut longer links; longer still is better sent as a file. */
const LONG = 1800;
const TOO_LONG = 8000;

/** A modal dialog that is open while the state says so. */
class Dialog extends View {
  static dialogStyles = css`
    dialog {
      border: 1px solid var(--rule);
      border-radius: 12px;
      background: var(--sheet);
      color: var(--ink);
      padding: 20px 22px;
      width: min(560px, calc(100vw - 24px));
      max-height: calc(100vh - 40px);
      overflow: auto;
      box-shadow: var(--shadow);
    }
    dialog::backdrop {
      background: #1d1f2455;
    }
    .top {
      display: flex;
      justify-content: space-between;
      align-items: center;
      margin-bottom: 8px;
    }
    .top h2 {
      margin: 0;
      font-size: 20px;
    }
  `;

  /** @returns {"share" | "keys"} */
  get dialogName() {
    return "keys";
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.dialog === this.dialogName, state.hasKeys];
  }

  /** @override */
  updated() {
    const dialog = this.renderRoot.querySelector("dialog");
    const isWanted = this.state.dialog === this.dialogName;
    if (dialog && isWanted && !dialog.open) dialog.showModal();
    else if (dialog?.open && !isWanted) dialog.close();
  }

  /** @protected */
  close() {
    this.app.store.showDialog(null);
  }

  /**
   * @protected
   * @param {string} title
   * @param {unknown} content
   */
  frame(title, content) {
    return html`<dialog aria-labelledby="title" @close=${this.close} @click=${this.#outside}>
      <div class="top">
        <h2 id="title">${title}</h2>
        <button class="quiet" @click=${this.close}>Close</button>
      </div>
      ${content}
    </dialog>`;
  }

  /** @param {MouseEvent} event */
  #outside(event) {
    if (event.target === event.currentTarget) this.close();
  }
}

/** The link, its length, and ways to take it along. */
export class ShareDialog extends Dialog {
  /** @override */
  static styles = [
    shared,
    Dialog.dialogStyles,
    css`
      textarea {
        width: 100%;
        height: 7.2em;
        resize: vertical;
        margin: 10px 0;
        word-break: break-all;
      }
      .warn {
        border-left: 3px solid var(--edge);
        padding-left: 10px;
        margin-top: 10px;
      }
    `,
  ];

  #link = "";
  #said = "";

  /** @override */
  get dialogName() {
    return /** @type {const} */ ("share");
  }

  /** @override */
  render() {
    const isOpen = this.state.dialog === "share";
    if (isOpen && this.#link === "") this.#link = addressOf(this.app.run.linkNow());
    if (!isOpen) {
      this.#link = "";
      this.#said = "";
    }
    const { length } = this.#link;
    const content = html`<p class="soft">Whoever opens it sees this very run, up to this tick, and their page checks that it is the same.</p>
      <textarea readonly aria-label="Link" .value=${this.#link} @focus=${(/** @type {Event} */ event) => /** @type {HTMLTextAreaElement} */ (event.target).select()}></textarea>
      <div class="row">
        <button class="main" autofocus @click=${this.#copy}>Copy link</button>
        <button @click=${this.#save}>Save as a file</button>
        <span class="soft num">${countText(length)} characters</span>
        <span role="status">${this.#said}</span>
      </div>
      ${
        length > TOO_LONG
          ? html`<p class="warn">This link is too long for most places. Save it as a file: the run panel opens it again.</p>`
          : length > LONG
            ? html`<p class="warn">Some chats cut links of more than ${countText(LONG)} characters. A file is safer.</p>`
            : nothing
      }`;
    return this.frame("Share this run", content);
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.#link);
      this.#said = "Copied.";
    } catch {
      const field = /** @type {HTMLTextAreaElement} */ (this.renderRoot.querySelector("textarea"));
      field.focus();
      field.select();
      this.#said = "The clipboard was refused. The link is selected: copy it with your keyboard or menu.";
    }
    this.requestUpdate();
  }

  #save() {
    const url = URL.createObjectURL(new Blob([`${this.#link}\n`], { type: "text/plain" }));
    const anchor = document.createElement("a");
    anchor.href = url;
    anchor.download = `vsr-run-${this.state.frame?.seed ?? ""}-${this.state.shown.tick}.txt`;
    anchor.click();
    URL.revokeObjectURL(url);
    this.#said = "Saved.";
    this.requestUpdate();
  }
}

/**
 * @param {string} link
 * @returns {string} the page's address with the run behind it
 */
function addressOf(link) {
  const address = new URL(location.href);
  address.hash = "";
  return `${address.href.replace(/#$/, "")}#${link}`;
}

/** All keys, and the switch that turns them off. */
export class KeysDialog extends Dialog {
  /** @override */
  static styles = [
    shared,
    Dialog.dialogStyles,
    css`
      dl {
        grid-template-columns: 150px 1fr;
        gap: 6px 14px;
        margin: 6px 0 14px;
      }
      dt {
        color: var(--ink);
      }
      dd {
        text-align: left;
      }
      .signs {
        margin-top: 16px;
      }
      vsr-legend {
        width: max-content;
      }
      kbd {
        font: 400 13.5px/1 var(--sans);
        border: 1px solid var(--edge);
        border-bottom-width: 2px;
        border-radius: 5px;
        padding: 2px 7px;
        background: var(--paper);
      }
    `,
  ];

  /** @override */
  get dialogName() {
    return /** @type {const} */ ("keys");
  }

  /** @override */
  render() {
    const { store } = this.app;
    const content = html`<dl>
        ${KEYS.map(
          ({ keys, text }) => html`<dt>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt>
            <dd>${text}</dd>`,
        )}
      </dl>
      <label class="check">
        <input type="checkbox" .checked=${this.state.hasKeys} @change=${(/** @type {Event} */ event) => store.setKeys(/** @type {HTMLInputElement} */ (event.target).checked)} />
        <span>use these keys</span>
      </label>
      <h3 class="signs">On the stage</h3>
      <vsr-legend whole .app=${this.app}></vsr-legend>`;
    return this.frame("Keys and signs", content);
  }
}

customElements.define("vsr-share-dialog", ShareDialog);
customElements.define("vsr-keys-dialog", KeysDialog);
