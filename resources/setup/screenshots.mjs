/**
 * `npm run screenshots [-- --readme]`: every screen of the console in both themes, into test-results/screens.
 * With --readme the ones that the README shows are renewed too.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const OUT = join(ROOT, 'test-results/screens');
const README_SHOTS = join(ROOT, 'resources/screenshots');
const SHOWN_IN_README = ['processes-dark.png', 'palette-light.png'];
const START_LIMIT_MS = 20_000;
/** Charts need a few samples before they look like charts. */
const SAMPLES_MS = 12_000;

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: harbor-prod
clusters:
  - name: harbor
    cluster: { server: 'https://127.21.0.100:6443' }
  - name: staging
    cluster: { server: 'https://127.22.0.100:6443' }
users:
  - name: kubernetes-admin
    user: {}
  - name: dev-reader
    user: {}
contexts:
  - name: harbor-prod
    context: { cluster: harbor, user: kubernetes-admin, namespace: payments }
  - name: staging-eu
    context: { cluster: staging, user: dev-reader }
`;

/** Each takes the page to one state; names become file names. */
const screens = (kubeconfig) => [
  { name: 'clusters-empty', go: '#/clusters' },
  {
    name: 'clusters',
    go: '#/clusters',
    async act(page) {
      await page
        .getByRole('button', { name: /Open a kubeconfig/ })
        .first()
        .click();
      await page.getByRole('dialog').getByRole('textbox').fill(kubeconfig);
      await page.keyboard.press('Enter');
      await page.getByText('harbor-prod').first().waitFor();
      await page.waitForTimeout(7000);
    },
  },
  {
    name: 'palette',
    go: '#/clusters',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
    leave: (page) => page.keyboard.press('Escape'),
  },
  { name: 'settings', go: '#/settings' },
  { name: 'processes', go: '#/processes', act: (page) => page.waitForTimeout(SAMPLES_MS) },
];

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
      resolve({ url, stop: () => child.kill('SIGTERM') });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });

const takeAll = async (browser, theme) => {
  const data = mkdtempSync(join(tmpdir(), 'pilothouse-screens-'));
  const kubeconfig = join(data, 'kubeconfig.yaml');
  writeFileSync(kubeconfig, KUBECONFIG);
  const serving = await startServe(join(data, 'data'));
  try {
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width: 1440, height: 900 },
      colorScheme: theme,
      timezoneId: 'UTC',
      locale: 'en-GB',
    });
    const page = await context.newPage();
    await page.goto(serving.url);
    for (const screen of screens(kubeconfig)) {
      await page.goto(new URL(`/${screen.go}`, serving.url).href);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await screen.act?.(page);
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(OUT, `${screen.name}-${theme}.png`) });
      await screen.leave?.(page);
    }
    await context.close();
  } finally {
    serving.stop();
    rmSync(data, { recursive: true, force: true });
  }
};

await runMain(async () => {
  if (!existsSync(CHROMIUM))
    throw new SetupError(`needs Chromium at ${CHROMIUM}; install it or set PILOTHOUSE_TEST_CHROMIUM`);
  await bootstrap();
  mkdirSync(OUT, { recursive: true });
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS });
  try {
    for (const theme of ['light', 'dark']) await takeAll(browser, theme);
  } finally {
    await browser.close();
  }
  if (process.argv.includes('--readme')) {
    mkdirSync(README_SHOTS, { recursive: true });
    for (const name of SHOWN_IN_README) copyFileSync(join(OUT, name), join(README_SHOTS, name));
  }
  process.stdout.write(`screens are in ${OUT}\n`);
});
