import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchChromium, visit, type Visit } from '../support/chromium.ts';
import { contractOf } from '../support/page-contract.ts';
import { startTestServing, type TestServing } from '../support/serving.ts';
import { until } from '../support/until.ts';

const PAGES = fileURLToPath(new URL('../../dist/renderer', import.meta.url));
const HOST_PROGRAM = new URL('../../dist/host/host.js', import.meta.url);

let browser: Browser;
let serving: TestServing;
let visited: Visit;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  serving = await startTestServing({ pagesDirectory: PAGES, hostProgram: HOST_PROGRAM });
  visited = await visit(browser, serving.mintUrl());
});
afterEach(async () => {
  await visited.close();
  await serving.close();
});

const hostCard = (page: Page) => page.getByRole('article', { name: 'Host cp-1' });
const choose = async (page: Page, menu: string, item: string): Promise<void> => {
  await page.getByRole('button', { name: menu, exact: true }).click();
  // From its beginning: `Start` is in `Restart` too.
  await page.getByRole('menuitem', { name: new RegExp(`^${item}`) }).click();
};

test('the first run creates a cluster; a host is killed from the map, shown as killed and started again', async () => {
  const { page, complaints } = visited;
  await page.getByRole('heading', { name: 'Create your first cluster' }).waitFor();
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('group', { name: 'Control planes' }).getByText('1', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Worker nodes' }).fill('1');
  await page.getByText('Tolerates no failure.').first().waitFor();
  await page.getByRole('button', { name: 'Create cluster', exact: true }).click();

  await page.getByText('Certificates and keys').waitFor();
  await page.getByRole('heading', { name: 'Topology' }).waitFor();
  await page.getByText('Single control plane: tolerates no failure.').waitFor();
  await page.getByText('1 of 1 backend ready').waitFor();
  await page.getByRole('link', { name: /^Node worker-1: Ready/ }).waitFor();
  await hostCard(page).getByText('Leader').first().waitFor();

  await choose(page, 'Actions for cp-1', 'Kill cp-1');
  const dialog = page.getByRole('dialog', { name: 'Kill cp-1?' });
  await dialog.getByText('writes fail until a member is back').waitFor();
  const command = await dialog.locator('.code-line code').textContent();
  expect(command).toMatch(/^pilothouse host kill cp-1 --data \/.*\/clusters\/rehearsal$/);
  await dialog.getByRole('textbox').fill('cp-1');
  await dialog.getByRole('button', { name: 'Kill cp-1' }).click();
  await hostCard(page).getByText('Killed').waitFor();
  await page.getByText('No quorum: 0 of 1 members healthy, 1 needed.').waitFor();
  await page.getByRole('complementary').getByText('Host process was killed.').waitFor();

  // The card shows the death before the operation has ended, and until then the next one is refused.
  const contract = await contractOf(page);
  const cluster = (await contract.call('clusters.list', undefined)).clusters[0]!.id;
  const operations = await contract.follow('cluster.operations', { cluster });
  await until('the end of the kill', async () =>
    (await operations()).every(({ endedAtMs }) => endedAtMs !== null),
  );
  await choose(page, 'Actions for cp-1', 'Start cp-1');
  const start = page.getByRole('dialog', { name: 'Start cp-1?' });
  await start.getByRole('button', { name: 'Start cp-1' }).click();
  await start.waitFor({ state: 'detached' });
  await page.getByText('Single control plane: tolerates no failure.').waitFor();

  // The whole story on one screen, with what led to what.
  await page.getByRole('navigation').getByRole('link', { name: 'Timeline', exact: true }).click();
  const killed = page.getByRole('row').filter({ hasText: 'Host cp-1 was killed' });
  await killed.filter({ hasText: 'pilothouse host kill cp-1' }).getByRole('button').click();
  const selected = page.getByRole('region', { name: 'Selected entry' });
  await selected.getByRole('button', { name: /pilothouse host kill cp-1$/ }).waitFor();
  await page.getByRole('row').filter({ hasText: 'etcd member cp-1 is unreachable' }).first().waitFor();
  expect(complaints).toEqual([]);
});
