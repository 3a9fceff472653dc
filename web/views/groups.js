/**
 * Which group the page shows: metadata, or one of the partitions, as tabs. Hidden where there is one group alone, and
 * while a caption leads. Must never change the run: all groups go on, whichever is shown.
 */

import { css, html, nothing } from "lit";
import { groupText } from "../groups.js";
import "./strip.js";
import { hueOf, shared, View } from "./view.js";

/** Tabs above the stage. */
export class Groups extends View {
  /** @override */
  static styles = [
    shared,
    css`
      nav {
        border-bottom: 1px solid var(--rule);
        background: var(--paper);
        padding: 2px 14px;
      }
      [role="tab"] {
        display: inline-flex;
        gap: 8px;
        align-items: center;
        border-color: transparent;
        background: none;
        color: var(--soft);
        flex: none;
      }
      [role="tab"]:hover {
        color: var(--ink);
      }
      [role="tab"][aria-selected="true"] {
        color: var(--ink);
        border-color: var(--edge);
        background: var(--sheet);
        font-weight: 600;
      }
      small {
        font: 400 13px/1 var(--sans);
        color: var(--h);
      }
      @media (max-width: 820px) {
        nav {
          padding: 0 6px;
        }
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched({ frame, caption }) {
    return [caption === null, frame?.group, frame?.groups?.map(({ name, view, primary, commit_max: commit }) => `${name} ${view} ${primary} ${commit}`).join()];
  }

  /** @override */
  render() {
    const groups = this.state.frame?.groups ?? [];
    const shown = this.state.frame?.group;
    // Who is shown the first things about a log has no need of a second one.
    if (groups.length < 2 || this.state.caption) return nothing;
    return html`<nav aria-label="Groups">
      <vsr-strip role="tablist" aria-label="Shown group" @keydown=${this.#keyed}>
        ${groups.map(
          (group) => html`<button
            role="tab"
            id="group-${group.name}"
            class=${hueOf(group.view)}
            aria-selected=${group.name === shown}
            tabindex=${group.name === shown ? 0 : -1}
            title=${titleOf(group)}
            @click=${() => this.app.run.selectGroup(group.name)}
          >
            ${groupText(group.name)} <small class="num">view ${group.view}</small>
          </button>`,
        )}
      </vsr-strip>
    </nav>`;
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const groups = this.state.frame?.groups ?? [];
    if (step === undefined || event.shiftKey || groups.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const index = groups.findIndex(({ name }) => name === this.state.frame?.group);
    const next = groups[(index + step + groups.length) % groups.length];
    if (!next) return;
    this.app.run.selectGroup(next.name);
    void this.updateComplete.then(() => /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`#group-${next.name}`))?.focus());
  }
}

/**
 * @param {import("../types.js").GroupSummary} group
 * @returns {string}
 */
function titleOf({ primary, view, commit_max: commit, head, shard }) {
  const leads = primary === null ? "nobody leads" : `${primary} leads view ${view}`;
  return `${leads}; committed ${commit} of ${head}; shard ${shard}`;
}

customElements.define("vsr-groups", Groups);
