/**
 * Looks at a page with axe, whole or in part, and fails on what is serious or critical. It must never excuse a rule.
 */

import { AxeBuilder } from "@axe-core/playwright";
import assert from "node:assert/strict";

/** @typedef {import("./person.mjs").Person} Person */

/**
 * @param {Person} person
 * @param {string} state
 * @param {{ part?: string, rules?: string[] }} [look] part: the element of the page that this state changed, where it is
 *   not the whole; rules: all, if none are named
 */
export async function isClean(person, state, { part, rules } = {}) {
  const axe = new AxeBuilder({ page: person.page });
  if (part !== undefined) axe.include({ fromShadowDom: ["vsr-page", part] });
  if (rules !== undefined) axe.withRules(rules);
  const { violations, passes } = await axe.analyze();
  assert.ok(passes.length > 0, `${state}: nothing was looked at`);
  const grave = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
  assert.deepEqual(grave, [], state);
}

/** The panels beside the stage. */
export const PANELS = { part: "aside" };
/** Themes differ in colours alone. */
export const COLOURS = ["color-contrast", "link-in-text-block"];
