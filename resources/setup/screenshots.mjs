/**
 * `npm run screenshots [-- options] [screen...]`: every screen of the console, or those that are named, on a real
 * cluster, in both themes, into test-results/screens. Each is looked at by axe too; what it finds is told and fails
 * the run.
 *   --language en,de           in these languages
 *   --size 1024x700,1440x900   in windows of these sizes
 *   --control-planes 5         of a cluster with so many control planes
 *   --workers 20               and so many workers
 *   --out FOLDER               into that folder; with several languages or sizes, into a folder for each in it
 *   --no-axe                   pictures alone, which takes a third of the time
 *   --readme                   renews the ones that the README shows, too
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { join, resolve } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { DIST, ROOT } from './paths.mjs';
import { runMain, SetupError } from './progress.mjs';

const CHROMIUM = process.env.PILOTHOUSE_TEST_CHROMIUM ?? '/usr/bin/chromium';
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const README_SHOTS = join(ROOT, 'resources/screenshots');
const SHOWN_IN_README = [
  'overview-dark.png',
  'raft-light.png',
  'restore-dark.png',
  'editor-light.png',
  'leases-dark.png',
];
const START_LIMIT_MS = 20_000;
/** Charts need a few samples before they look like charts. */
const SAMPLES_MS = 12_000;

const CLUSTER_LIMIT_MS = 180_000;
const SETTLE_LIMIT_MS = 60_000;
/** Long enough for a metrics history that is worth looking at. */
const HISTORY_MS = 60_000;

const press = (page, name) =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click();

const { values: asked, positionals: names } = parseArgs({
  options: {
    language: { type: 'string', default: 'en' },
    size: { type: 'string', default: '1440x900' },
    'control-planes': { type: 'string' },
    workers: { type: 'string' },
    out: { type: 'string', default: join(ROOT, 'test-results/screens') },
    'no-axe': { type: 'boolean', default: false },
    readme: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const OUT = resolve(asked.out);
const LOCALES = { en: 'en-GB', de: 'de-DE' };
const languages = asked.language.split(',');
const sizes = asked.size.split(',').map((size) => {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  if (!width) throw new SetupError(`--size is a width and a height, such as 1440x900, not ${size}`);
  return { name: size, viewport: { width: Number(width), height: Number(height) } };
});

const folderOf = (language, size) => {
  const folder = languages.length * sizes.length > 1 ? join(OUT, `${language}-${size}`) : OUT;
  mkdirSync(folder, { recursive: true });
  return folder;
};

const askForSize = async (page) => {
  if (asked['control-planes'] === undefined && asked.workers === undefined) return;
  await press(page, 'Settings');
  if (asked['control-planes'] !== undefined)
    await page.getByLabel('Control planes').getByText(asked['control-planes'], { exact: true }).click();
  if (asked.workers !== undefined) await page.getByLabel('Worker nodes').fill(asked.workers);
};

/** What a person does on the first day: a cluster, an application, a snapshot. */
const prepare = async (page, take) => {
  await page.getByRole('heading', { name: 'Create your first cluster' }).waitFor();
  await take('first-run');
  await askForSize(page);
  await press(page, 'Create cluster');
  await page.getByText('Certificates and keys').waitFor();
  await page.waitForTimeout(1500);
  await take('starting');
  await page.getByRole('heading', { name: 'Topology' }).waitFor({ timeout: CLUSTER_LIMIT_MS });
  await page.evaluate(() => (window.location.hash = '#/editor'));
  await press(page, 'Start from a sample');
  await page.keyboard.press('F5');
  const apply = page.getByRole('button', { name: /^Apply \d+ document/ });
  await apply.click();
  await page
    .getByText(/documents? applied/)
    .first()
    .waitFor({ timeout: CLUSTER_LIMIT_MS });
  await page.evaluate(() => (window.location.hash = '#/snapshots?act=save'));
  await page.getByRole('dialog').getByRole('button', { name: 'Take snapshot' }).click();
  await page
    .getByRole('button', { name: 'Restore', exact: true })
    .first()
    .waitFor({ timeout: CLUSTER_LIMIT_MS });
  await page.waitForTimeout(HISTORY_MS);
};

const pause = (ms) => (page) => page.waitForTimeout(ms);

/** The files of a page come when it is first opened, and what it shows after that: the page before is not its picture. */
const settled = (page, go) =>
  page.waitForFunction(
    (path) => {
      const current = document.querySelector('nav a[aria-current="page"][href^="#"]')?.getAttribute('href');
      return current?.split('?')[0] === path && !document.querySelector('.skeleton, .skeletons, [aria-busy]');
    },
    go.split('?')[0],
    { timeout: SETTLE_LIMIT_MS },
  );

/** Each takes the page to one state; names become file names. */
const SCREENS = [
  { name: 'overview', go: '#/', act: pause(4000) },
  {
    name: 'kill-dialog',
    go: '#/',
    async act(page) {
      await page.getByRole('button', { name: /^\S+ \S+ cp-1$/ }).click();
      await page.getByRole('menuitem', { name: /^(Kill cp-1|cp-1 hart beenden)/ }).click();
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(1000);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  { name: 'clusters', go: '#/clusters' },
  { name: 'raft', go: '#/raft', act: pause(6000) },
  {
    name: 'raft-hashes',
    go: '#/raft',
    async act(page) {
      const compare = page.getByRole('button', { name: /^(Compare|Vergleichen)$/ });
      await compare.click();
      await page.getByText(/^(All members have|Alle Mitglieder haben)/).waitFor();
      await page.getByRole('cell', { name: 'cp-3', exact: true }).last().scrollIntoViewIfNeeded();
    },
  },
  { name: 'leases', go: '#/leases', act: pause(4000) },
  {
    name: 'timeline',
    go: '#/timeline',
    async act(page) {
      await page.getByRole('button', { name: /etcd/ }).last().click();
      await page.waitForTimeout(1000);
    },
  },
  { name: 'certificates', go: '#/certificates', act: pause(3000) },
  { name: 'requests', go: '#/requests', act: pause(3000) },
  { name: 'admission', go: '#/admission', act: pause(2000) },
  {
    name: 'admission-dry-run',
    go: '#/admission?view=dry-run',
    async act(page) {
      await press(page, /^(Run|Ausführen)$/);
      await page.getByText(/^(Would be|Würde|Bliebe)/).waitFor();
    },
  },
  {
    name: 'scheduler',
    go: '#/scheduler',
    async act(page) {
      await page
        .getByText(/^hello-/)
        .first()
        .click();
      await page.waitForTimeout(3000);
    },
  },
  { name: 'metrics', go: '#/metrics', act: pause(4000) },
  { name: 'snapshots', go: '#/snapshots', act: pause(1000) },
  {
    name: 'restore',
    go: '#/snapshots',
    async act(page) {
      await page
        .getByRole('button', { name: /^(Restore|Wiederherstellen)$/ })
        .first()
        .click();
      await page
        .getByText(/^(Changes|Änderungen)$/)
        .first()
        .waitFor();
      await page.waitForTimeout(1000);
    },
  },
  {
    name: 'history',
    go: '#/history?kind=apps/deployments&key=/registry/deployments/default/hello',
    async act(page) {
      await page.getByRole('complementary').getByText('apps/v1', { exact: false }).first().waitFor();
    },
  },
  {
    name: 'history-versions',
    go: '#/history?kind=apps/deployments&key=/registry/deployments/default/hello',
    async act(page) {
      await page
        .getByRole('complementary')
        .getByText(/^(Versions|Versionen)$/)
        .click();
      await page.getByRole('complementary').getByRole('listitem').first().waitFor();
    },
  },
  { name: 'history-compare', go: '#/history?view=compare', act: pause(4000) },
  { name: 'doctor', go: '#/doctor', act: pause(6000) },
  { name: 'helm', go: '#/helm', act: pause(2000) },
  { name: 'upgrade', go: '#/upgrade', act: pause(2000) },
  { name: 'checklist', go: '#/checklist', act: pause(6000) },
  { name: 'harden', go: '#/harden', act: pause(2000) },
  { name: 'encryption', go: '#/encryption', act: pause(1500) },
  { name: 'audit', go: '#/audit?verb=write', act: pause(2500) },
  {
    name: 'audit-event',
    go: '#/audit?verb=write',
    act: async (page) => {
      await page.locator('tbody th button').first().click();
      await page.waitForTimeout(500);
    },
  },
  { name: 'permissions', go: '#/permissions?verb=get&resource=secrets', act: pause(2500) },
  {
    name: 'permissions-subject',
    go: '#/permissions?view=subject&kind=ServiceAccount&name=kube-system/deployment-controller',
    act: pause(2000),
  },
  { name: 'flow-control', go: '#/flow-control', act: pause(2500) },
  { name: 'workloads', go: '#/workloads', act: pause(1500) },
  { name: 'pods', go: '#/workloads?kind=pods', act: pause(1500) },
  { name: 'deployment', go: '#/workloads?kind=deployments.apps&open=default/hello', act: pause(2000) },
  {
    name: 'pod',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page
        .getByRole('row')
        .filter({ hasText: /hello-/ })
        .first()
        .click();
      await page.waitForTimeout(2000);
    },
  },
  {
    name: 'deployment-logs',
    go: '#/workloads?kind=deployments.apps&open=default/hello&tab=logs',
    act: pause(2000),
  },
  {
    name: 'component-logs',
    go: '#/workloads?kind=pods&open=kube-system/kube-apiserver-cp-1&tab=logs',
    async act(page) {
      await page
        .getByRole('button', { name: /^(Fields|Felder)$/ })
        .last()
        .click();
      await page.waitForTimeout(1000);
    },
  },
  { name: 'service', go: '#/network?kind=services&open=default/hello', act: pause(2000) },
  { name: 'node', go: '#/cluster?kind=nodes&open=/worker-1', act: pause(2000) },
  {
    name: 'role',
    go: '#/access?kind=clusterroles.rbac.authorization.k8s.io&open=/edit',
    act: pause(1500),
  },
  {
    name: 'columns',
    go: '#/workloads?kind=pods&filter=status%3DRunning',
    async act(page) {
      await press(page, /^(Columns|Spalten)$/);
      await page.waitForTimeout(500);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  { name: 'network', go: '#/network', act: pause(1500) },
  { name: 'storage', go: '#/storage', act: pause(1500) },
  { name: 'config', go: '#/config', act: pause(1500) },
  { name: 'access', go: '#/access', act: pause(1500) },
  { name: 'nodes', go: '#/cluster', act: pause(1500) },
  { name: 'custom', go: '#/custom', act: pause(1500) },
  { name: 'editor', go: '#/editor', act: pause(3000) },
  { name: 'events', go: '#/events', act: pause(1500) },
  {
    name: 'palette',
    go: '#/',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'palette-found',
    go: '#/',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.type('hello');
      await page.waitForTimeout(2000);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  { name: 'fleet', go: '#/fleet', act: pause(2000) },
  {
    name: 'help',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'row-menu',
    go: '#/workloads?kind=deployments.apps',
    async act(page) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menu').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'bulk',
    go: '#/workloads?kind=pods',
    async act(page) {
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+a');
      await page.getByRole('toolbar').getByRole('button').nth(1).click();
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  {
    name: 'renew',
    go: '#/certificates?act=renew',
    async act(page) {
      await page.getByRole('dialog').waitFor();
      await page.waitForTimeout(1500);
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  { name: 'settings', go: '#/settings' },
  { name: 'processes', go: '#/processes', act: pause(SAMPLES_MS) },
];

const wantedScreens = () =>
  names.length === 0 ? SCREENS : SCREENS.filter(({ name }) => names.includes(name));

const openContext = (browser, language, storageState) =>
  browser.newContext({
    ...(storageState && { storageState }),
    ignoreHTTPSErrors: true,
    viewport: sizes[0].viewport,
    timezoneId: 'UTC',
    locale: LOCALES[language],
  });

const startServe = (data) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(DIST, 'cli/cli.js'), 'serve', '--data', data, '-o', 'json']);
    let output = '';
    const timer = setTimeout(
      () => reject(new SetupError(`the console did not start\n${output}`)),
      START_LIMIT_MS,
    );
    const read = (chunk) => {
      output += chunk;
      const url = /https:\/\/[^\s"]+/.exec(output)?.[0];
      if (!url) return;
      clearTimeout(timer);
      resolve({
        url,
        stop() {
          child.kill('SIGTERM');
          return once(child, 'exit');
        },
      });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });

const takeAll = async (browser) => {
  // Needs a package, and this file has to be read before there are any.
  const { accessibilityProblems } = await import('./accessibility.mjs');
  let problemCount = 0;
  const data = mkdtempSync(join(tmpdir(), 'pilothouse-screens-'));
  const serving = await startServe(join(data, 'data'));
  try {
    // The first day is gone through in English: its buttons are found by their words.
    let language = 'en';
    let context = await openContext(browser, language);
    let page = await context.newPage();
    const take = async (name) => {
      for (const { name: size, viewport } of sizes) {
        await page.setViewportSize(viewport);
        for (const theme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme: theme });
          await page.waitForTimeout(400);
          await page.screenshot({ path: join(folderOf(language, size), `${name}-${theme}.png`) });
          for (const problem of asked['no-axe'] ? [] : await accessibilityProblems(page)) {
            problemCount += 1;
            process.stderr.write(`${language}-${size}-${name}-${theme}: ${problem}\n`);
          }
        }
      }
      await page.setViewportSize(sizes[0].viewport);
    };
    await page.goto(serving.url);
    await prepare(page, take);
    for (const next of languages) {
      if (next !== language) {
        const storageState = await context.storageState();
        await context.close();
        language = next;
        context = await openContext(browser, language, storageState);
        page = await context.newPage();
      }
      for (const screen of wantedScreens()) {
        await page.goto(new URL(`/${screen.go}`, serving.url).href);
        await page.getByRole('heading', { level: 1 }).waitFor();
        try {
          await settled(page, screen.go).catch(() => process.stderr.write(`${screen.name}: still loading\n`));
          await screen.act?.(page);
          await take(screen.name);
        } catch (error) {
          problemCount += 1;
          process.stderr.write(`${screen.name}: ${error.message.split('\n')[0]}\n`);
        }
        await screen.leave?.(page);
      }
    }
    await context.close();
    return problemCount;
  } finally {
    await serving.stop();
    rmSync(data, { recursive: true, force: true });
  }
};

await runMain(async () => {
  if (!existsSync(CHROMIUM))
    throw new SetupError(`needs Chromium at ${CHROMIUM}; install it or set PILOTHOUSE_TEST_CHROMIUM`);
  const unknown = languages.find((language) => !(language in LOCALES));
  if (unknown !== undefined)
    throw new SetupError(`--language is one of ${Object.keys(LOCALES).join(', ')}, not ${unknown}`);
  await bootstrap();
  mkdirSync(OUT, { recursive: true });
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS });
  let problemCount;
  try {
    problemCount = await takeAll(browser);
  } finally {
    await browser.close();
  }
  if (asked.readme) {
    mkdirSync(README_SHOTS, { recursive: true });
    for (const name of SHOWN_IN_README) copyFileSync(join(OUT, name), join(README_SHOTS, name));
  }
  process.stdout.write(`screens are in ${OUT}\n`);
  if (problemCount > 0) throw new SetupError(`${problemCount} problems are told above`);
});
