/**
 * The properties that hold at every tick, with a plain sentence each, and violations with the tick to go to. Must never
 * judge a property itself.
 */

import { css, html, nothing, svg } from "lit";
import { countText, listText } from "../format.js";
import { shared, View } from "./view.js";

/** What the oracles say. */
export class Checks extends View {
  /** @override */
  static styles = [
    shared,
    css`
      :host {
        padding: 16px 18px 24px;
      }
      .lead {
        color: var(--soft);
        margin-bottom: 14px;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        display: grid;
        grid-template-columns: 20px 1fr auto;
        gap: 2px 8px;
        padding: 7px 0;
        border-top: 1px solid var(--rule);
      }
      li svg {
        width: 15px;
        height: 15px;
        margin-top: 3px;
        color: var(--ok);
      }
      .violated svg,
      .violated .name {
        color: var(--bad);
      }
      .name {
        font-weight: 600;
      }
      .id {
        color: var(--faint);
      }
      .text {
        grid-column: 2 / 4;
        color: var(--soft);
        font-size: 14px;
      }
      .verdict {
        border-left: 3px solid var(--edge);
        padding-left: 12px;
        margin-bottom: 14px;
      }
      .verdict b {
        display: block;
      }
      .verdict b::first-letter {
        text-transform: uppercase;
      }
      .violation {
        border: 1px solid var(--bad);
        background: var(--bad-wash);
        border-radius: 8px;
        padding: 10px 12px;
        margin-bottom: 12px;
      }
      .violation h3 {
        color: var(--bad);
      }
      .violation p::first-letter {
        text-transform: uppercase;
      }
      .violation .row {
        margin-top: 8px;
        gap: 4px;
      }
      .violation .quiet {
        padding: 4px 8px;
      }
    `,
  ];

  /** @override */
  get restMs() {
    return 300;
  }

  /** @override @param {Readonly<import("../state.js").State>} state */
  watched(state) {
    return [state.frame];
  }

  /** @override */
  render() {
    const { frame } = this.state;
    if (!frame) return nothing;
    const { verdict } = frame;
    const compared = frame.totals.ops_compared ?? 0;
    return html`<h2>Checks</h2>
      <p class="lead">At every tick the cluster is held against these. So far ${countText(compared)} ops were compared between replicas.</p>
      ${verdict.kind === "running" || frame.violations.length > 0 ? nothing : html`<p class="verdict"><b>${verdict.kind.replace("-", " ")}</b> ${verdict.text}</p>`}
      ${frame.violations.map(
        (violation) => html`<div class="violation">
          <h3>${violation.property} violated at tick ${violation.tick}</h3>
          <p>${violation.text}</p>
          <p class="row">
            <button @click=${() => this.app.run.seek({ tick: violation.tick, step: 0 })}>Go to tick ${violation.tick}</button>
            ${violation.replicas.length === 0 ? nothing : html`<button class="quiet" @click=${() => this.app.store.selectReplicas(violation.replicas)}>Select ${listText(violation.replicas)}</button>`}
            <button class="quiet" @click=${() => this.app.run.play()}>Go on past it</button>
          </p>
        </div>`,
      )}
      <ul aria-label="Properties">
        ${frame.checks.map((check) => {
          const isHeld = check.state === "holds";
          return html`<li class=${check.state}>
            <svg viewBox="0 0 16 16" role="img" aria-label=${check.state}>
              ${
                isHeld
                  ? svg`<path d="M2.5 8.5l3.6 3.8L13.5 4" fill="none" stroke="currentColor" stroke-width="2"/>`
                  : svg`<path d="M8 1.5L15 14H1z" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M8 6v4M8 11.4v1.4" stroke="currentColor" stroke-width="1.8"/>`
              }
            </svg>
            <span><span class="name">${check.name}</span> <span class="id">${check.id}</span></span>
            <span class="soft small num">${check.compared > 0 ? countText(check.compared) : nothing}</span>
            <span class="text">${check.text}</span>
          </li>`;
        })}
      </ul>`;
  }
}

customElements.define("vsr-checks", Checks);
