import type { Page } from 'playwright-core';

/** What a change of theme can break. */
export const COLOUR_RULES: readonly string[];

/** One line for each rule (of all of WCAG 2.2 AA) that the page breaks as it stands; empty when it is clean. */
export function accessibilityProblems(page: Page, rules?: readonly string[]): Promise<string[]>;
