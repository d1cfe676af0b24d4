import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { clusterId } from '../../main/ipc/handlers/kubeconfig.ts';
import {
  endProcess,
  launchDesktop,
  openDesk,
  rendererPidsOf,
  type Desk,
  type Desktop,
} from '../support/electron.ts';
import { usageOf } from '../support/process-usage.ts';
import { firstPaintMs } from './app-start.ts';
import { printLoad, printRow } from './cluster/report.ts';
import { countFrames, heapMib, openList, typeFilter, typePalette } from './console/page.ts';
import { measurePast } from './console/past.ts';
import { measureGraph, measureTimeline } from './console/pictures.ts';
import { PodSource } from './console/pods.ts';

/**
 * The console in the real app on the pods of a real API server. Without a graphics card every pixel is drawn by the
 * processor, beside the page's own thread: the share of that thread tells what the page costs, the frames what a
 * machine without a graphics card makes of it.
 *
 * npm run bench -- console [pods=30000] [seconds=60]
 */
const DEFAULTS = { pods: 30_000, seconds: 60 };
const FIRST_PODS = 1000;
/** So many objects the palette searches. */
const PALETTE_PODS = 10_000;
const LISTS = 5;
/** The first fills Chromium's caches and does not count. */
const SHELLS = 4;
const CHANGES_PER_SECOND = 100;
const SCROLL_SECONDS = 10;
const SCROLL_PX_PER_FRAME = 40;
/** Longer than the collection of what a list has left behind, which begins when its page is hidden. */
const HIDDEN_SECONDS = 45;
const SETTLE_MS = 3000;
const GOALS = {
  shellMs: 1500,
  firstListMs: 300,
  framesPerSecond: 59,
  rendererMib: 400,
  heapGrowthMib: 5,
  hiddenPercent: 0.5,
  paletteMs: 100,
};
/** Where the console keeps which cluster it looks at. */
const CLUSTER_STORAGE_KEY = 'pilothouse.cluster';
const PODS = '#/workloads?kind=pods';
const ELSEWHERE = '#/settings';

const settingsOf = (args: readonly string[]): typeof DEFAULTS => {
  const settings = { ...DEFAULTS };
  for (const arg of args) {
    const [key = '', value] = arg.split('=');
    if (!(key in settings) || !/^\d+$/.test(value ?? '')) throw new Error(`unknown argument ${arg}`);
    settings[key as keyof typeof DEFAULTS] = Number(value);
  }
  return settings;
};

/** The thread that runs the page's scripts, layout and painting: the first of its process. */
const mainThreadSeconds = (pid: number): number => {
  const [ranNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ranNs) / 1e9;
};

/** The processor's share that work took while it lasted, in percent of a core. */
const shareOf = async <T>(read: () => number, work: () => Promise<T>): Promise<[T, number]> => {
  const [cpuBefore, startedMs] = [read(), performance.now()];
  const result = await work();
  return [result, ((read() - cpuBefore) / ((performance.now() - startedMs) / 1000)) * 100];
};

const kubeconfigPath = (desk: Desk): string => join(desk.home, 'bench.conf');

/** A console that knows the cluster already, as on the second day. */
const prepareDesk = (desk: Desk, kubeconfig: string): void => {
  const path = kubeconfigPath(desk);
  writeFileSync(path, kubeconfig, { mode: 0o600 });
  mkdirSync(desk.dataDirectory, { recursive: true });
  const memory = { kubeconfigs: [{ path, forgottenContexts: [] }] };
  writeFileSync(join(desk.dataDirectory, 'console.json'), JSON.stringify(memory));
};

const selectCluster = async ({ page }: Desktop, desk: Desk, kubeconfig: string): Promise<void> => {
  const context = /^current-context: "?([^"\n]+)/m.exec(kubeconfig)?.[1] ?? '';
  await page.evaluate(([key, id]) => localStorage.setItem(key, id), [
    CLUSTER_STORAGE_KEY,
    clusterId(kubeconfigPath(desk), context),
  ] as const);
  await page.evaluate((hash) => (window.location.hash = hash), ELSEWHERE);
  await page.reload();
  await page.getByRole('contentinfo').waitFor();
};

const measureLists = async ({ page }: Desktop, count: number): Promise<void> => {
  const took: number[] = [];
  for (let turn = 0; turn < LISTS; turn += 1) {
    took.push(await openList(page, PODS, count));
    await page.evaluate((hash) => (window.location.hash = hash), ELSEWHERE);
    await page.waitForTimeout(500);
  }
  const [first = NaN, ...again] = took;
  const name = `list of ${count} pods, click to all rows`;
  const goal = count === FIRST_PODS ? { goal: GOALS.firstListMs } : {};
  printRow({ name: `${name}, first time`, value: first, unit: 'ms', ...goal });
  again.sort((a, b) => a - b);
  printRow({ name: `${name}, again`, value: again[again.length >> 1]!, unit: 'ms', ...goal });
};

const measureChurn = async (
  desktop: Desktop,
  pid: number,
  { pods, seconds }: typeof DEFAULTS,
): Promise<void> => {
  const { page } = desktop;
  const session = await page.context().newCDPSession(page);
  await openList(page, PODS, pods);
  await pause(SETTLE_MS);
  const heapBefore = await heapMib(session);
  const [frames, share] = await shareOf(
    () => mainThreadSeconds(pid),
    () => countFrames(page, seconds * 1000),
  );
  printRow({
    name: 'frames while pods change',
    value: frames.perSecond,
    unit: '/s',
    goal: GOALS.framesPerSecond,
    note: `${frames.droppedPercent.toFixed(1)} % dropped, worst gap ${frames.worstGapMs.toFixed(0)} ms`,
  });
  printRow({
    name: "the page's thread is busy",
    value: share,
    unit: '%',
    note: `long tasks ${frames.longTaskMsPerSecond.toFixed(1)} ms a second`,
  });
  const [scrolled, scrollShare] = await shareOf(
    () => mainThreadSeconds(pid),
    () => countFrames(page, SCROLL_SECONDS * 1000, SCROLL_PX_PER_FRAME),
  );
  printRow({
    name: 'frames while it is scrolled, too',
    value: scrolled.perSecond,
    unit: '/s',
    note: `${scrolled.droppedPercent.toFixed(1)} % dropped, thread busy ${scrollShare.toFixed(0)} %`,
  });
  printRow({ name: 'a letter in the filter, to its rows', value: await typeFilter(page, '9'), unit: 'ms' });
  await typeFilter(page, '');
  const heapAfter = await heapMib(session);
  const { rssMib } = usageOf(pid);
  printRow({
    name: 'memory of the renderer, resident',
    value: rssMib,
    unit: 'MiB',
    goal: GOALS.rendererMib,
    note: `scripts hold ${heapAfter.toFixed(1)} MiB`,
  });
  printRow({
    name: `scripts hold more after ${seconds + SCROLL_SECONDS} s`,
    value: heapAfter - heapBefore,
    unit: 'MiB',
    goal: GOALS.heapGrowthMib,
  });
  await session.detach();
};

/** Letters typed into the palette, each until its results are on screen, and what stays open once it is closed. */
const measurePalette = async (desktop: Desktop): Promise<void> => {
  const { page } = desktop;
  await page.evaluate((hash) => (window.location.hash = hash), ELSEWHERE);
  await pause(SETTLE_MS);
  const streamsBefore = await desktop.hook((hook) => hook.openStreamCount);
  await page.keyboard.press('Control+k');
  const { readMs, letters, objects } = await typePalette(page, 'pod', '-0777');
  letters.sort((a, b) => a - b);
  printRow({
    name: 'palette: first letters to all objects read',
    value: readMs,
    unit: 'ms',
    note: `${objects} objects`,
  });
  printRow({
    name: 'palette: a letter, to its results',
    value: letters[letters.length >> 1]!,
    unit: 'ms',
    goal: GOALS.paletteMs,
    note: `worst ${letters.at(-1)!.toFixed(0)} ms`,
  });
  await page.keyboard.press('Escape');
  await pause(SETTLE_MS);
  const streams = await desktop.hook((hook) => hook.openStreamCount);
  printRow({ name: 'palette: streams left open', value: streams - streamsBefore, unit: '', goal: 0 });
};

const measureHidden = async (desktop: Desktop, pid: number): Promise<void> => {
  const streamsBefore = await desktop.hook((hook) => hook.openStreamCount);
  await desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.hide());
  // The driver keeps a page that it drives in focus, and a page in focus is never told that it is hidden.
  await desktop.page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await pause(SETTLE_MS);
  const [, share] = await shareOf(
    () => usageOf(pid).cpuSeconds,
    () => pause(HIDDEN_SECONDS * 1000),
  );
  const streams = await desktop.hook((hook) => hook.openStreamCount);
  printRow({
    name: 'renderer while its window is hidden',
    value: share,
    unit: '%',
    goal: GOALS.hiddenPercent,
    note: `${streams} of ${streamsBefore} streams stay open`,
  });
};

export const run = async (args: readonly string[]): Promise<void> => {
  const { pods, seconds } = settingsOf(args);
  printLoad();
  measureGraph();
  measureTimeline();
  await measurePast();
  const desk = await openDesk();
  const source = await PodSource.start();
  try {
    const [, ...shown] = await firstPaintMs(desk, SHELLS);
    shown.sort((a, b) => a - b);
    printRow({
      name: 'shell visible, from the start',
      value: shown[shown.length >> 1]!,
      unit: 'ms',
      goal: GOALS.shellMs,
    });
    await source.growTo(FIRST_PODS);
    prepareDesk(desk, source.kubeconfig);
    const desktop = await launchDesktop(desk);
    try {
      await selectCluster(desktop, desk, source.kubeconfig);
      const child = desktop.app.process();
      await measureLists(desktop, FIRST_PODS);
      await source.growTo(Math.min(pods, PALETTE_PODS));
      await measurePalette(desktop);
      await source.growTo(pods);
      await measureLists(desktop, pods);
      const [pid] = rendererPidsOf(child);
      if (pid === undefined) throw new Error('the app has no renderer');
      const churn = source.churn(CHANGES_PER_SECOND);
      const startedMs = performance.now();
      await measureChurn(desktop, pid, { pods, seconds });
      await measureHidden(desktop, pid);
      const lasted = (performance.now() - startedMs) / 1000;
      printRow({ name: 'pods really changed', value: (await churn.stop()) / lasted, unit: '/s' });
    } finally {
      await desktop.close().catch(() => endProcess(desktop.app.process()));
    }
  } finally {
    await source.close();
    await desk.close();
  }
};
