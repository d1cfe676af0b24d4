import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FrameLocator, Page } from 'playwright-core';
import { expect } from 'vitest';

const SAMPLE = fileURLToPath(new URL('../../resources/samples/extensions/restarts', import.meta.url));
const FRAME = 'iframe[title]';

const extensionFrame = (page: Page): FrameLocator => page.frameLocator(FRAME);
const go = (page: Page, path: string): Promise<unknown> =>
  page.evaluate((to) => (window.location.hash = to), path);
const allow = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Allow this extension', exact: true }).click();

/**
 * The sample: reviewed, allowed, shown in the navigation, reading pods, and asked about again after a change. A pod that it lists
 * (`pod`, where there is one) is opened by a click.
 */
export const useSampleExtension = async (page: Page, dataDirectory: string, pod?: string): Promise<void> => {
  const folder = join(dataDirectory, 'extensions', 'restarts');
  cpSync(SAMPLE, folder, { recursive: true });
  await go(page, '/extensions');
  const reload = page.getByRole('button', { name: 'Reload', exact: true });
  await reload.click();
  await page.getByRole('link', { name: 'Review', exact: true }).click();
  await page.getByRole('heading', { name: 'Allow Restarts?' }).waitFor();
  await page.getByRole('definition').getByText('pods', { exact: true }).waitFor();
  expect(await page.locator(FRAME).count()).toBe(0);
  await allow(page);
  await extensionFrame(page)
    .getByText(/containers, \d+ restarts$/)
    .waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Restarts', exact: true }).waitFor();

  if (pod !== undefined) {
    await extensionFrame(page)
      .getByRole('button', { name: `default/${pod}`, exact: true })
      .first()
      .click();
    await page.getByRole('complementary').getByRole('heading', { name: pod, exact: true }).waitFor();
    await go(page, '/extensions?name=restarts');
    await reload.waitFor();
  }
  writeFileSync(join(folder, 'page.js'), 'document.body.append("another script");');
  await reload.click();
  await page.getByRole('heading', { name: 'Restarts has changed. Allow it again?' }).waitFor();
  expect(await page.locator(FRAME).count()).toBe(0);
  await go(page, '/extensions');
  await page.getByRole('button', { name: 'Revoke the permission of Restarts' }).click();
  await page.getByText('Not allowed', { exact: true }).waitFor();
};
