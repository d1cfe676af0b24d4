import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { evaluateInPage } from '../support/devtools.ts';
import { devToolsAddressOf, endProcess, openDesk, spawnDesktop, type Desk } from '../support/electron.ts';
import { treeOf } from './cluster/processes.ts';
import { printLoad, printRow } from './cluster/report.ts';

const STARTS = 7;
const IDLE_SETTLE_MS = 10_000;
const IDLE_SPAN_MS = 20_000;
const PAINT_LIMIT_MS = 20_000;
const POLL_MS = 100;
/** What the first paint may take. */
const BUDGET_MS = 1500;

/** What an app that no one touches may use. */
const IDLE_PERCENT = 1;

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
const measureStart = async (desk: Desk): Promise<number> => {
  const startedMs = Date.now();
  const child = spawnDesktop(desk, ['--remote-debugging-port=0']);
  try {
    const address = await devToolsAddressOf(child);
    await pause(BUDGET_MS);
    const paints = await paintsOf(address);
    return (paints.get('first-paint') ?? NaN) - startedMs;
  } finally {
    await endProcess(child);
  }
};

interface Rest {
  readonly role: string;
  readonly cpuMs: number;
  readonly wakeups: number;
}

/** Chromium says in its command line what a process is for; the first one says nothing. */
const roleOf = (pid: number): string => {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  return /--utility-sub-type=(\S+)/.exec(command)?.[1] ?? /--type=(\S+)/.exec(command)?.[1] ?? 'main';
};

/** Time on a processor and how often it was given up, of all threads: the clock ticks of /proc are too coarse here. */
const restOf = (pid: number): Rest => {
  let cpuMs = 0;
  let wakeups = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    cpuMs += Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    wakeups += Number(
      /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1],
    );
  }
  return { role: roleOf(pid), cpuMs, wakeups };
};

/** What each process of the app does while its window stands still. */
const measureIdle = async (desk: Desk): Promise<readonly Rest[]> => {
  const child = spawnDesktop(desk, ['--remote-debugging-port=0']);
  try {
    await paintsOf(await devToolsAddressOf(child));
    await pause(IDLE_SETTLE_MS);
    const before = new Map(treeOf(child.pid!).map((pid) => [pid, restOf(pid)]));
    await pause(IDLE_SPAN_MS);
    return [...before].map(([pid, { role, cpuMs, wakeups }]) => {
      const after = restOf(pid);
      return { role, cpuMs: after.cpuMs - cpuMs, wakeups: after.wakeups - wakeups };
    });
  } finally {
    await endProcess(child);
  }
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** From the start of the process to the first paint, with Chromium's caches filled. */
export const firstPaintMs = async (desk: Desk, starts = STARTS): Promise<readonly number[]> => {
  const took: number[] = [];
  for (let i = 0; i < starts; i += 1) took.push(await measureStart(desk));
  return took;
};

export const run = async (): Promise<void> => {
  const desk = await openDesk();
  printLoad();
  try {
    // The first start of all fills Chromium's caches, as the first after an installation does; it is told apart.
    const first = await measureStart(desk);
    printRow({ name: 'first paint with empty caches', value: first, unit: 'ms' });
    const paints = await firstPaintMs(desk);
    printRow({
      name: `first paint, median of ${STARTS}`,
      value: median(paints),
      unit: 'ms',
      goal: BUDGET_MS,
      note: `${Math.min(...paints).toFixed(0)} to ${Math.max(...paints).toFixed(0)} ms`,
    });
    if (process.platform !== 'linux') return;
    const rests = await measureIdle(desk);
    const seconds = IDLE_SPAN_MS / 1000;
    const percent = (cpuMs: number): number => cpuMs / seconds / 10;
    printRow({
      name: `all processes at rest, over ${seconds} s`,
      value: percent(rests.reduce((sum, { cpuMs }) => sum + cpuMs, 0)),
      unit: '% of a core',
      goal: IDLE_PERCENT,
    });
    for (const { role, cpuMs, wakeups } of rests)
      if (cpuMs > 0)
        printRow({
          name: `  ${role}`,
          value: percent(cpuMs),
          unit: '% of a core',
          note: `${(wakeups / seconds).toFixed(1)} wake-ups a second`,
        });
  } finally {
    await desk.close();
  }
};
