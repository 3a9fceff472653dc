/**
 * The frame of the page: header, stage, matrix, transport, timeline, and the panels beside them, which become drawers
 * on a narrow screen. It places panels and tells them nothing. Must never know what a panel shows.
 */

import { css, html, nothing, svg } from "lit";
import "./actions.js";
import "./checks.js";
import "./dialogs.js";
import "./events.js";
import "./faults.js";
import "./groups.js";
import "./inspector.js";
import "./matrix.js";
import "./overlays.js";
import "./protocol.js";
import "./run-panel.js";
import "./stage.js";
import "./timeline.js";
import "./transport.js";
import { shared, View } from "./view.js";

/** @typedef {import("../state.js").Tab} Tab */

/** @type {{ tab: Tab, label: string }[]} */
const TABS = [
  { tab: "run", label: "Run" },
  { tab: "inspector", label: "Inspector" },
  { tab: "faults", label: "Faults" },
  { tab: "protocol", label: "Protocol" },
  { tab: "checks", label: "Checks" },
  { tab: "events", label: "Events" },
];

/** @type {Record<import("../state.js").Theme, import("../state.js").Theme>} */
const NEXT_THEME = { system: "light", light: "dark", dark: "system" };

/** The whole page. */
export class Page extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        height: 100%;
        display: grid;
        grid-template-rows: auto auto minmax(0, 1fr);
        min-height: 0;
      }
      header {
        display: flex;
        gap: 18px;
        align-items: center;
        min-height: 54px;
        padding: 0 16px 0 20px;
        border-bottom: 1px solid var(--rule);
      }
      h1 {
        font: 600 20px/1 var(--serif);
        letter-spacing: -0.01em;
        margin: 0;
        white-space: nowrap;
      }
      .grow {
        flex: 1;
      }
      .facts {
        display: flex;
        gap: 18px;
        color: var(--soft);
        white-space: nowrap;
        overflow: hidden;
      }
      .facts b {
        color: var(--ink);
        font-weight: 400;
      }
      .facts .mono {
        color: var(--soft);
      }
      .tools {
        display: flex;
        gap: 4px;
        align-items: center;
      }
      .tools .quiet {
        min-width: 32px;
        padding: 4px 7px;
        display: inline-grid;
        place-items: center;
      }
      .tools svg {
        width: 16px;
        height: 16px;
      }
      .tools .main {
        margin-left: 6px;
        padding: 4px 16px;
      }
      main {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 392px;
        min-height: 0;
      }
      .left {
        display: grid;
        grid-template: auto minmax(0, 1fr) auto auto / minmax(0, 1fr);
        min-height: 0;
        min-width: 0;
      }
      .scene {
        position: relative;
        min-height: 0;
        display: grid;
      }
      vsr-actions {
        position: absolute;
        left: 18px;
        right: 200px;
        top: 13px;
      }
      vsr-legend {
        position: absolute;
        right: 20px;
        top: 15px;
        pointer-events: none;
      }
      vsr-caption {
        position: absolute;
        right: 18px;
        bottom: 18px;
        width: 322px;
      }
      vsr-why {
        position: absolute;
        left: 18px;
        right: 240px;
        top: 51px;
        pointer-events: none;
      }
      vsr-notices {
        position: fixed;
        left: 12px;
        right: 12px;
        pointer-events: none;
        bottom: 150px;
        z-index: 5;
      }
      vsr-matrix {
        border-top: 1px solid var(--rule);
      }
      .time {
        border-top: 1px solid var(--rule);
        padding: 10px 20px 12px;
        display: grid;
        gap: 9px;
      }
      aside {
        border-left: 1px solid var(--rule);
        display: grid;
        grid-template: auto minmax(0, 1fr) minmax(180px, 38%) / minmax(0, 1fr);
        min-height: 0;
      }
      [role="tablist"] {
        display: flex;
        gap: 2px;
        padding: 6px 10px 0;
        border-bottom: 1px solid var(--rule);
      }
      [role="tab"] {
        border: 0;
        border-radius: 6px 6px 0 0;
        background: none;
        color: var(--soft);
        padding: 8px 10px 9px;
        border-bottom: 2px solid transparent;
      }
      [role="tab"]:hover {
        color: var(--ink);
      }
      [role="tab"][aria-selected="true"] {
        color: var(--ink);
        border-bottom-color: var(--ink);
      }
      .tab-events {
        display: none;
      }
      .panel {
        overflow: auto;
        overscroll-behavior: contain;
        min-height: 0;
      }
      vsr-events {
        border-top: 1px solid var(--rule);
      }
      .count {
        color: var(--ok);
      }
      .count.bad {
        color: var(--bad);
      }
      .close {
        display: none;
      }
      @media (max-width: 1240px) {
        .facts .less {
          display: none;
        }
        main {
          grid-template-columns: minmax(0, 1fr) 344px;
        }
        [role="tablist"] {
          padding: 6px 6px 0;
        }
        [role="tab"] {
          padding: 8px 6px 9px;
        }
        vsr-legend {
          display: none;
        }
        .scene {
          grid-template-rows: minmax(180px, 1fr) auto auto;
        }
        vsr-actions,
        vsr-caption,
        vsr-why {
          position: static;
          width: auto;
          min-width: 0;
        }
        vsr-actions {
          order: 1;
          background: var(--stage);
          padding: 2px 10px 6px;
        }
        vsr-why {
          position: absolute;
          left: 10px;
          right: 10px;
          top: 6px;
        }
        vsr-caption {
          order: 2;
          background: var(--stage);
          padding: 0 10px 8px;
        }
      }
      @media (max-width: 1020px) {
        main {
          grid-template-columns: minmax(0, 1fr) 320px;
        }
        .ok {
          display: none;
        }
      }
      @media (max-width: 820px) {
        vsr-notices {
          bottom: 170px;
        }
        header {
          min-height: 48px;
          padding: 0 10px 0 14px;
          gap: 8px;
        }
        .facts {
          display: none;
        }
        main {
          grid-template-columns: minmax(0, 1fr);
          grid-template-rows: minmax(0, 1fr) auto;
        }
        .time {
          padding: 7px 12px 8px;
          gap: 6px;
        }
        aside {
          border-left: 0;
          display: block;
          min-width: 0;
          border-top: 1px solid var(--rule);
        }
        [role="tablist"] {
          padding: 0 6px;
          border: 0;
          justify-content: space-between;
        }
        [role="tab"] {
          padding: 10px 8px;
          border-bottom: 0;
          border-top: 2px solid transparent;
          border-radius: 0;
        }
        [role="tab"][aria-selected="true"] {
          border-bottom-color: transparent;
        }
        .open [role="tab"][aria-selected="true"] {
          border-top-color: var(--ink);
        }
        .tab-events {
          display: block;
        }
        .panel,
        vsr-events {
          display: none;
        }
        .open .panel,
        .open.events vsr-events {
          display: block;
          position: fixed;
          left: 0;
          right: 0;
          bottom: 43px;
          top: calc(42dvh + 30px);
          background: var(--paper);
          z-index: 4;
        }
        .open.events vsr-events {
          display: grid;
        }
        .open.events .panel {
          display: none;
        }
        .open .close {
          display: block;
          position: fixed;
          left: 0;
          right: 0;
          top: 42dvh;
          height: 31px;
          min-height: 0;
          z-index: 5;
          padding: 0 18px;
          border: 0;
          border-top: 1px solid var(--edge);
          border-radius: 0;
          background: var(--paper);
          box-shadow: var(--shadow);
          clip-path: inset(-40px 0 0 0);
          text-align: right;
          font-size: 18px;
        }
        .open .close:focus-visible {
          outline-offset: -3px;
        }
      }
      @media (max-width: 400px) {
        h1 {
          font-size: 18px;
        }
        [role="tab"] {
          padding: 10px 3px;
          font-size: 14px;
        }
        .ok {
          display: none;
        }
      }
      @media (max-width: 820px) and (max-height: 740px) {
        vsr-matrix {
          display: none;
        }
      }
      @media (max-height: 700px) and (min-width: 821px) {
        aside {
          grid-template-rows: auto minmax(0, 1fr) minmax(140px, 34%);
        }
      }
    `,
  ];

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    const violations = state.frame?.violations.length ?? 0;
    const { frame } = state;
    return [
      state.phase,
      state.tab,
      state.isDrawerOpen,
      state.theme,
      state.proof,
      violations,
      frame?.seed,
      frame?.faults.profile,
      frame?.replica_count,
      frame?.client_count,
      frame?.hash,
      frame?.checks.length,
      mutatedOf(frame),
    ];
  }

  /** @override */
  get restMs() {
    return 200;
  }

  /** @override */
  render() {
    const { phase, tab, isDrawerOpen } = this.state;
    if (phase === "failed") return this.#failure();
    if (phase === "loading") return nothing;
    const { app } = this;
    return html`
      ${this.#header()}
      <vsr-banners .app=${app}></vsr-banners>
      <main>
        <div class="left">
          <vsr-groups .app=${app}></vsr-groups>
          <section class="scene" aria-label="Cluster">
            <vsr-stage .app=${app}></vsr-stage>
            <vsr-legend .app=${app}></vsr-legend>
            <vsr-actions .app=${app}></vsr-actions>
            <vsr-why .app=${app}></vsr-why>
            <vsr-caption .app=${app}></vsr-caption>
          </section>
          <vsr-matrix .app=${app}></vsr-matrix>
          <section class="time" aria-label="Time">
            <vsr-transport .app=${app}></vsr-transport>
            <vsr-timeline .app=${app}></vsr-timeline>
          </section>
        </div>
        <aside class="${isDrawerOpen ? "open" : ""} ${tab}" aria-label="Panels">
          ${this.#tabs()}
          <div class="panel" role="tabpanel" id="panel" tabindex="0" aria-labelledby="tab-${tab === "events" ? "inspector" : tab}">
            ${this.#panel(tab)}
          </div>
          <vsr-events .app=${app} id="events"></vsr-events>
          <button class="close" aria-label="Close the panel" @click=${() => app.store.closeDrawer()}>×</button>
        </aside>
      </main>
      <vsr-notices .app=${app}></vsr-notices>
      <vsr-share-dialog .app=${app}></vsr-share-dialog>
      <vsr-keys-dialog .app=${app}></vsr-keys-dialog>
    `;
  }

  /** Another panel begins at its top. @override */
  updated() {
    const { tab } = this.state;
    if (tab === this.#tab) return;
    this.#tab = tab;
    this.renderRoot.querySelector(".panel")?.scrollTo(0, 0);
  }

  #tab = "";

  #header() {
    const { frame, proof, theme } = this.state;
    const { store } = this.app;
    const mutated = mutatedOf(frame);
    return html`<header>
      <h1>VSR Playground</h1>
      <span class="grow"></span>
      <div class="facts num">
        <span>seed <b>${frame?.seed}</b></span>
        <span>faults <b>${frame?.faults.profile}</b></span>
        ${mutated === "" ? nothing : html`<span>without <b>${mutated}</b></span>`}
        <span class="less">cluster <b>${frame?.replica_count} × ${frame?.client_count}</b></span>
        <span class="less">hash <b class="mono" data-hash=${frame?.hash ?? ""}>${frame?.hash}</b>${proof?.is === "verified" ? html` <span class="tag count">verified</span>` : nothing}</span>
      </div>
      <div class="tools">
        <button class="quiet" aria-label="Theme: ${theme}" title="Theme: ${theme}" @click=${() => store.setTheme(NEXT_THEME[theme])}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6.2" fill=${theme === "dark" ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.5" />
            ${theme === "system" ? svg`<path d="M8 1.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor"/>` : nothing}
          </svg>
        </button>
        <button class="quiet" aria-label="Keys" title="Keys" @click=${() => store.showDialog("keys")}>?</button>
        <button class="main" @click=${() => store.showDialog("share")}>Share</button>
      </div>
    </header>`;
  }

  #tabs() {
    const { tab, frame, isDrawerOpen } = this.state;
    const violations = frame?.violations.length ?? 0;
    const checks = frame?.checks.length ?? 0;
    return html`<div role="tablist" aria-label="Panels" @keydown=${this.#tabKey}>
      ${TABS.map(({ tab: name, label }) => {
        const isOn = tab === name || (name === "inspector" && tab === "events" && !isDrawerOpen);
        const count = name === "checks" ? html` <span class="count ${violations > 0 ? "bad" : "ok"}">${violations > 0 ? `${violations} ✕` : `${checks} ✓`}</span>` : nothing;
        return html`<button
          role="tab"
          id="tab-${name}"
          class="tab-${name}"
          aria-selected=${isOn}
          aria-controls=${name === "events" ? "events" : "panel"}
          tabindex=${isOn ? 0 : -1}
          @click=${() => this.#choose(name)}
        >${label}${count}</button>`;
      })}
    </div>`;
  }

  /** @param {Tab} tab */
  #choose(tab) {
    const { store } = this.app;
    if (this.state.isDrawerOpen && this.state.tab === tab) store.closeDrawer();
    else store.showTab(tab);
  }

  /** @param {KeyboardEvent} event */
  #tabKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const seen = TABS.filter(({ tab }) => this.renderRoot.querySelector(`#tab-${tab}`)?.checkVisibility());
    const index = seen.findIndex(({ tab }) => tab === this.state.tab);
    const next = seen[(index + step + seen.length) % seen.length];
    if (!next) return;
    this.app.store.showTab(next.tab);
    void this.updateComplete.then(() => /** @type {HTMLElement | null} */ (this.renderRoot.querySelector(`#tab-${next.tab}`))?.focus());
  }

  /** @param {Tab} tab */
  #panel(tab) {
    const { app } = this;
    switch (tab) {
      case "run":
        return html`<vsr-run-panel .app=${app}></vsr-run-panel>`;
      case "faults":
        return html`<vsr-faults .app=${app}></vsr-faults>`;
      case "protocol":
        return html`<vsr-protocol .app=${app}></vsr-protocol>`;
      case "checks":
        return html`<vsr-checks .app=${app}></vsr-checks>`;
      default:
        return html`<vsr-inspector .app=${app}></vsr-inspector>`;
    }
  }

  #failure() {
    return html`<header><h1>VSR Playground</h1></header>
      <section class="wait" role="alert">
        <h2>The engine cannot start.</h2>
        <p>${this.state.failure}</p>
        <p>The playground runs the cluster as WebAssembly in this tab. A browser from 2023 or later has what it needs, unless it is switched off.</p>
      </section>`;
  }
}

/**
 * @param {import("../types.js").Frame | null} frame
 * @returns {string} rules that are taken out
 */
function mutatedOf(frame) {
  return (frame?.mutations ?? [])
    .filter(({ on }) => on)
    .map(({ id }) => id)
    .join(", ");
}

customElements.define("vsr-page", Page);
