import type { Page } from 'playwright-core';

/** One line for each rule of WCAG 2.2 AA that the page breaks as it stands; empty when it is clean. */
export function accessibilityProblems(page: Page): Promise<string[]>;
