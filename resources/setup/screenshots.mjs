/**
 * `npm run screenshots [-- options] [screen...]`: every screen of the console, or those that are named, on a real
 * cluster, in both themes, into test-results/screens. Each is checked by axe, and for text that is cut, wraps or
 * overlaps; what they find is told and fails the run. `screens/` has the list.
 *   --language en,de           in these languages
 *   --size 1024x700,1440x900   in windows of these sizes
 *   --control-planes 5         of a cluster with so many control planes
 *   --workers 20               and so many workers
 *   --out FOLDER               into that folder; with several languages or sizes, into a folder for each in it
 *   --data FOLDER              with a data folder that stays: the next run finds its cluster there
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
import { press } from './screens/gestures.mjs';
import { SCREENS } from './screens/index.mjs';
import { layoutProblems } from './screens/layout.mjs';
import { furnish, mainCluster, STAGES, startMain, useMain } from './screens/stages.mjs';

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
const CLUSTER_LIMIT_MS = 180_000;
const SETTLE_LIMIT_MS = 20_000;
/** Long enough for a metrics history that is worth looking at. */
const HISTORY_MS = 60_000;

const { values: asked, positionals: names } = parseArgs({
  options: {
    language: { type: 'string', default: 'en' },
    size: { type: 'string', default: '1440x900' },
    'control-planes': { type: 'string' },
    workers: { type: 'string' },
    out: { type: 'string', default: join(ROOT, 'test-results/screens') },
    data: { type: 'string' },
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

/** One release back, so that there is an upgrade to plan; the README shows the newest. */
const VERSION = 'v1.35.0';

const askForCluster = async (page) => {
  await press(page, 'Settings');
  if (!asked.readme) await page.getByText(VERSION, { exact: true }).click();
  if (asked['control-planes'] !== undefined)
    await page.getByLabel('Control planes').getByText(asked['control-planes'], { exact: true }).click();
  if (asked.workers !== undefined) await page.getByLabel('Worker nodes').fill(asked.workers);
};

/** What a person does on the first day: a cluster, an application, a snapshot. */
const prepare = async (page, take) => {
  await page.getByRole('heading', { name: 'Create your first cluster' }).waitFor();
  await take('first-run');
  await askForCluster(page);
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

/** A console with a furnished cluster: that of the folder, or a new one. */
const settle = async (page, place, take) => {
  if (await mainCluster(page)) {
    await startMain(page);
    await useMain(page, place);
  } else await prepare(page, take);
  await furnish(page);
};

const takeAll = async (browser) => {
  // Needs a package, and this file has to be read before there are any.
  const { accessibilityProblems } = await import('./accessibility.mjs');
  let problemCount = 0;
  const complain = (text) => {
    problemCount += 1;
    process.stderr.write(`${text}\n`);
  };
  const data = asked.data ? resolve(asked.data) : mkdtempSync(join(tmpdir(), 'pilothouse-screens-'));
  const serving = await startServe(join(data, 'data'));
  const place = { origin: serving.url, data };
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
          const layout = theme === 'light' ? await layoutProblems(page) : [];
          const axe = asked['no-axe'] ? [] : await accessibilityProblems(page);
          for (const problem of [...layout, ...axe])
            complain(`${language}-${size}-${name}-${theme}: ${problem}`);
        }
      }
      await page.setViewportSize(sizes[0].viewport);
    };
    const takeScreen = async (screen) => {
      await page.goto(new URL(`/${screen.go}`, serving.url).href);
      try {
        // A dialog that opens with the page hides its heading from the accessibility tree.
        await page.locator('h1').first().waitFor();
        if (!screen.isLoose)
          await settled(page, screen.go).catch(() => process.stderr.write(`${screen.name}: still loading\n`));
        await screen.act?.(page);
        await take(screen.name);
      } catch (error) {
        complain(`${language}-${screen.name}: ${error.message.split('\n')[0]}`);
      }
      await screen.leave?.(page);
    };
    await page.goto(serving.url);
    await settle(page, place, take);
    for (const next of languages) {
      if (next !== language) {
        const storageState = await context.storageState();
        await context.close();
        language = next;
        context = await openContext(browser, language, storageState);
        page = await context.newPage();
        await page.goto(new URL('/#/clusters', serving.url).href);
        // Its first page has to be there before the next address is asked for.
        await page.locator('h1').first().waitFor();
      }
      for (const stage of [undefined, ...Object.keys(STAGES)]) {
        const screens = wantedScreens().filter((screen) => screen.stage === stage);
        if (screens.length === 0) continue;
        try {
          if (stage) await STAGES[stage].enter(page, place);
          for (const screen of screens) await takeScreen(screen);
          if (stage) await STAGES[stage].leave(page, place);
        } catch (error) {
          complain(`${language}-${stage}: ${error.message.split('\n')[0]}`);
        }
      }
    }
    await context.close();
    return problemCount;
  } finally {
    await serving.stop();
    if (!asked.data) rmSync(data, { recursive: true, force: true });
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
