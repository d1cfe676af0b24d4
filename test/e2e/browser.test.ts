import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import { verbatim } from '../../core/contract/index.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';
import { launchChromium, visit, type Visit } from '../support/chromium.ts';
import { startTestServing, type TestServing } from '../support/serving.ts';
import { steady } from '../support/steady.ts';

const PAGES = fileURLToPath(new URL('../../dist/renderer', import.meta.url));

let browser: Browser;
let serving: TestServing;
const visits: Visit[] = [];

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  serving = await startTestServing({ pagesDirectory: PAGES });
});
afterEach(async () => {
  for (const open of visits.splice(0)) await open.close();
  await serving.close();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const themeOf = (page: Page) => page.evaluate(() => document.documentElement.dataset['theme']);

const open = async (url = serving.mintUrl()): Promise<Visit> => {
  const opened = await visit(browser, url);
  visits.push(opened);
  return opened;
};

const openConsole = async (): Promise<Visit> => {
  const opened = await open();
  await heading(opened.page, 'Overview').waitFor();
  await opened.page.getByText('Live', { exact: true }).first().waitFor();
  return opened;
};

test('a link opens the console, leaves no token behind, and nothing is refused by its policy', async () => {
  const { page, complaints } = await openConsole();
  expect(page.url()).toBe(`https://127.0.0.1:${serving.port}/#/`);
  expect(await page.title()).toBe('Overview - Pilothouse');
  expect(await page.evaluate(() => document.cookie)).toBe('');
  for (const name of ['Processes', 'Settings', 'Clusters']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await heading(page, name).waitFor();
  }
  expect(complaints).toEqual([]);
});

test('a link works in one browser only', async () => {
  const url = serving.mintUrl();
  await heading((await open(url)).page, 'Overview').waitFor();
  const second = await open(url);
  await heading(second.page, 'This link has already been used or has expired').waitFor();
  await second.page.goto(`https://127.0.0.1:${serving.port}/`);
  await heading(second.page, 'This browser is not signed in').waitFor();
});

test('Ctrl K opens the palette, which goes to a page', async () => {
  const { page } = await openConsole();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('settings');
  await page.keyboard.press('Enter');
  await heading(page, 'Settings').waitFor();
});

test('the theme is switched, kept by the host, and there again after a reload', async () => {
  const { page } = await openConsole();
  expect(await themeOf(page)).toBe('light');
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect.poll(() => themeOf(page)).toBe('dark');
  await expect.poll(() => serving.host.settings.read().theme).toBe('dark');
  await page.reload();
  await heading(page, 'Overview').waitFor();
  expect(await themeOf(page)).toBe('dark');
});

test('a setting changed in one browser shows in the other', async () => {
  const one = await openConsole();
  const two = await openConsole();
  await one.page.getByRole('button', { name: 'Theme' }).click();
  await one.page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await expect.poll(() => themeOf(two.page)).toBe('dark');
});

test('the path of a kubeconfig is typed; a wrong one is reported, a right one is listed', async () => {
  const path = join(serving.dataDirectory, 'prod.conf');
  writeFileSync(
    path,
    'clusters: [{name: c, cluster: {server: "https://prod.example:6443"}}]\n' +
      'contexts: [{name: admin@prod, context: {cluster: c, user: admin}}]\n',
  );
  const { page } = await openConsole();
  await page.getByRole('button', { name: 'Open kubeconfig…' }).first().click();
  const field = page.getByRole('textbox', { name: 'Path on the host' });
  await field.fill('/nowhere/config');
  await page.getByRole('button', { name: 'Open kubeconfig', exact: true }).click();
  await page.getByText('cannot open /nowhere/config: the file does not exist').first().waitFor();
  await field.fill(path);
  await page.getByRole('button', { name: 'Open kubeconfig', exact: true }).click();
  await page.getByText('https://prod.example:6443').first().waitFor();
});

test('vitals stream in, and a notice of the host is shown', async () => {
  const { page } = await openConsole();
  await page.getByRole('navigation').getByRole('link', { name: 'Processes' }).click();
  await page.getByRole('cell', { name: String(process.pid), exact: true }).waitFor();
  serving.host.notifications.post({ severity: 'error', title: verbatim('Etcd member cp-2 lost its leader') });
  await page.getByText('Etcd member cp-2 lost its leader').first().waitFor();
});

test('reloads leave the streams of one page, and a closed page none', async () => {
  const opened = await openConsole();
  const { page } = opened;
  const settled = { socketCount: 1, openStreamCount: await steady(() => serving.stats().openStreamCount) };
  for (let reload = 0; reload < 3; reload += 1) {
    await page.reload();
    await heading(page, 'Overview').waitFor();
  }
  await page.getByText('Live', { exact: true }).first().waitFor();
  await expect.poll(() => serving.stats()).toMatchObject(settled);
  expect(settled.openStreamCount).toBeGreaterThan(0);
  await page.close();
  await expect
    .poll(() => serving.stats())
    .toMatchObject({ socketCount: 0, openStreamCount: 0, sessionCount: 1 });
});

test('a page from another port of this machine cannot fetch, embed or dial the console', async () => {
  const { context } = await openConsole();
  const foreign = await startForeignSite();
  try {
    const page = await context.newPage();
    await page.goto(foreign.url);
    const before = serving.stats().socketCount;
    const results = await page.evaluate(async (target) => {
      const outcome = (attempt: Promise<unknown>): Promise<string> =>
        attempt.then(
          (value) => `got ${String(value)}`,
          () => 'refused',
        );
      const fetched = outcome(fetch(target, { credentials: 'include' }).then((answer) => answer.text()));
      const posted = outcome(
        fetch(target, { method: 'POST', credentials: 'include' }).then((answer) => answer.text()),
      );
      const loaded = outcome(
        new Promise((resolve, reject) => {
          const script = document.createElement('script');
          script.addEventListener('load', resolve);
          script.addEventListener('error', reject);
          script.src = `${target}theme-boot.js`;
          document.head.append(script);
        }),
      );
      const dialled = outcome(
        new Promise((resolve, reject) => {
          const socket = new WebSocket(`${target.replace('https', 'wss')}contract`);
          socket.addEventListener('open', resolve);
          socket.addEventListener('error', reject);
        }),
      );
      return Promise.all([fetched, posted, loaded, dialled]);
    }, `https://127.0.0.1:${serving.port}/`);
    expect(results).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(serving.stats().socketCount).toBe(before);
    // Resolves when the frame has loaded, or shows why it did not.
    await page.setContent(`<iframe src="https://127.0.0.1:${serving.port}/" title="stolen"></iframe>`);
    const [, frame] = page.frames();
    expect(await frame?.content()).not.toContain('id="app"');
  } finally {
    await foreign.close();
  }
});

/** Same machine, same site to a browser, another origin. */
const startForeignSite = async (): Promise<{ url: string; close(): Promise<void> }> => {
  const root = createAuthority({ commonName: 'foreign', clock: systemClock });
  const leaf = issueLeaf(openAuthority(root), {
    subject: { commonName: 'foreign' },
    usages: ['server'],
    alternativeNames: alternativeNames(['127.0.0.1']),
    clock: systemClock,
  });
  const server = createServer(
    { cert: leaf.certificatePem, key: leaf.privateKeyPem },
    (_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>foreign</title>');
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
