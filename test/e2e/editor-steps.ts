import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../support/until.ts';

export const COMPLETION_PAUSE_MS = 2000;

/** Types lines key by key, each with its own indentation in place of the one that the editor proposes. */
export const typeLines = async (page: Page, lines: readonly string[]): Promise<void> => {
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      await page.keyboard.press('Enter');
      await page.keyboard.press('Shift+Home');
    }
    await page.keyboard.type(line);
  }
  await page.keyboard.press('Escape');
};

/** Labels in the list of suggestions, without their details. */
export const suggested = (page: Page): Promise<string[]> =>
  page
    .locator('.suggest-widget.visible .monaco-list-row')
    .evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-label')?.split(',')[0] ?? ''));

/** How well the label of the selected suggestion can be read: the ratio of WCAG. */
export const contrastOfSelected = (page: Page): Promise<number> =>
  page.locator('.suggest-widget.visible .monaco-list-row.focused').evaluate((row) => {
    const channels = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
    const luminance = (colour: string): number => {
      const [red = 0, green = 0, blue = 0] = channels(colour).map((value) =>
        value / 255 <= 0.039_28 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const label = getComputedStyle(row.querySelector('.label-name') ?? row).color;
    const both = [label, getComputedStyle(row).backgroundColor].map(luminance).sort((a, b) => b - a);
    return ((both[0] ?? 0) + 0.05) / ((both[1] ?? 0) + 0.05);
  });

/** Types the beginning of a word and takes the suggestion, as a person does who looks at the list. */
export const complete = async (page: Page, typed: string, label: string): Promise<void> => {
  await page.keyboard.type(typed);
  const widget = page.locator('.suggest-widget.visible');
  const focused = widget.locator('.monaco-list-row.focused');
  await until(`${label} to be suggested`, async () => {
    if ((await widget.count()) === 0) {
      await page.keyboard.press('Control+Space');
      await widget.waitFor({ timeout: COMPLETION_PAUSE_MS }).catch(() => undefined);
    }
    const name = await focused
      .getAttribute('aria-label', { timeout: COMPLETION_PAUSE_MS })
      .catch(() => undefined);
    if (name?.split(',')[0] === label) return true;
    if (name) await page.keyboard.press('ArrowDown');
    return false;
  });
  const offered = await suggested(page);
  expect(offered).toEqual([...new Set(offered)]);
  await page.keyboard.press('Tab');
  await focused.waitFor({ state: 'hidden', timeout: COMPLETION_PAUSE_MS }).catch(() => undefined);
};
