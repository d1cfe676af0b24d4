import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { evaluateInPage } from '../support/devtools.ts';
import { devToolsAddressOf, endProcess, openDesk, spawnDesktop, type Desk } from '../support/electron.ts';

const STARTS = 7;
const IDLE_SETTLE_MS = 10_000;
const IDLE_SPAN_MS = 20_000;
const PAINT_LIMIT_MS = 20_000;
const POLL_MS = 100;
/** What the first paint may take. */
const BUDGET_MS = 1500;

interface Start {
  readonly firstPaintMs: number;
  readonly contentMs: number;
}

/** Absolute times of the first paints, once the page has them. */
const PAINTS = `JSON.stringify(performance.getEntriesByType('paint')
  .map(({ name, startTime }) => [name, performance.timeOrigin + startTime]))`;

const paintsOf = async (address: string): Promise<Map<string, number>> => {
  const deadlineMs = Date.now() + PAINT_LIMIT_MS;
  while (Date.now() < deadlineMs) {
    const answer = await evaluateInPage(address, PAINTS).catch(() => undefined);
    const paints = new Map(JSON.parse(typeof answer === 'string' ? answer : '[]') as [string, number][]);
    if (paints.has('first-contentful-paint')) return paints;
    await pause(POLL_MS);
  }
  throw new Error(`no paint within ${PAINT_LIMIT_MS} ms`);
};

/** One start, from the moment before the process is made. The page is asked only after it could have painted. */
const measureStart = async (desk: Desk): Promise<Start> => {
  const startedMs = Date.now();
  const child = spawnDesktop(desk, ['--remote-debugging-port=0']);
  try {
    const address = await devToolsAddressOf(child);
    await pause(BUDGET_MS);
    const paints = await paintsOf(address);
    return {
      firstPaintMs: (paints.get('first-paint') ?? NaN) - startedMs,
      contentMs: (paints.get('first-contentful-paint') ?? NaN) - startedMs,
    };
  } finally {
    await endProcess(child);
  }
};

const TICKS_PER_SECOND = 100;

/** CPU ticks that the processes of one group have used, from the process table. */
const ticksOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + Number(fields[11]) + Number(fields[12]);
  }, 0);

const processTree = (root: number): number[] => {
  const children = readFileSync(`/proc/${root}/task/${root}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return [root, ...children.flatMap((child) => processTree(Number(child)))];
};

/** CPU of all processes of the app while its window stands still, in percent of one core. */
const measureIdle = async (desk: Desk): Promise<number> => {
  const child = spawnDesktop(desk, ['--remote-debugging-port=0']);
  try {
    await paintsOf(await devToolsAddressOf(child));
    await pause(IDLE_SETTLE_MS);
    const pids = processTree(child.pid!);
    const before = ticksOf(pids);
    await pause(IDLE_SPAN_MS);
    return ((ticksOf(pids) - before) / TICKS_PER_SECOND / (IDLE_SPAN_MS / 1000)) * 100;
  } finally {
    await endProcess(child);
  }
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

export const run = async (): Promise<void> => {
  const desk = await openDesk();
  const load = (): string => (loadavg()[0] ?? NaN).toFixed(1);
  const loadBefore = load();
  try {
    // The first start of all fills Chromium's caches, as the first after an installation does; it is told apart.
    const first = await measureStart(desk);
    const starts: Start[] = [];
    for (let i = 0; i < STARTS; i += 1) starts.push(await measureStart(desk));
    const idle = process.platform === 'linux' ? await measureIdle(desk) : NaN;
    const paints = starts.map(({ firstPaintMs }) => firstPaintMs);
    const ms = (value: number): string => `${value.toFixed(0)} ms`;
    console.table([
      { what: 'first paint with empty caches (one sample)', value: ms(first.firstPaintMs) },
      { what: `first paint, median of ${STARTS}`, value: ms(median(paints)) },
      {
        what: 'first paint, best and worst',
        value: `${ms(Math.min(...paints))}, ${ms(Math.max(...paints))}`,
      },
      { what: 'first content, median', value: ms(median(starts.map(({ contentMs }) => contentMs))) },
      { what: 'budget for the first paint', value: ms(BUDGET_MS) },
      { what: `CPU of all processes at rest over ${IDLE_SPAN_MS / 1000} s`, value: `${idle.toFixed(1)} %` },
      // Starts are bound by the processor: on a machine with other work the figures say little about the app.
      { what: 'load before and after', value: `${loadBefore}, ${load()} on ${availableParallelism()} cores` },
    ]);
  } finally {
    await desk.close();
  }
};
