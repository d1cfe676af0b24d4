import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { Window } from '../scrape/window.ts';
import { drawPoints } from './charts.ts';
import { DiskHistory, type HistoryBounds } from './disk-history.ts';
import { MemoryHistory } from './history.ts';
import { answerQuery, layOut } from './query.ts';
import type { Sample } from './segment.ts';

const START_MS = 1_794_830_000_000;
const ALL = { fromMs: 0, toMs: Infinity };

let parent: string;
let directory: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'pilothouse-history-'));
  directory = join(parent, 'metrics');
});

afterEach(() => rm(parent, { recursive: true, force: true }));

const open = (bounds: Partial<HistoryBounds> = {}): DiskHistory =>
  new DiskHistory({
    directory,
    prefix: 'raw',
    bounds: { segmentBytesMax: 1_000_000, bytesMax: 10_000_000, retentionMs: 1_000_000, ...bounds },
    log: silentLog,
    mayWrite: () => Promise.resolve(true),
  });

const sample = (second: number, value = second): Sample => ({
  atMs: START_MS + second * 1000,
  points: [
    { chart: 'apiRequests', series: 'cp-1', value },
    { chart: 'queueDepth', series: 'claims', value: value * 2 },
  ],
});

const filesOf = async (): Promise<string[]> => (await readdir(directory)).sort();

test('appended samples are read by time range and chart, also after a restart', async () => {
  const history = open();
  for (const second of [0, 5, 10]) await history.append(sample(second));
  await history.close();
  const again = open();
  await again.append(sample(15));
  expect(await again.read(ALL)).toEqual([0, 5, 10, 15].map((second) => sample(second)));
  const span = {
    fromMs: START_MS + 5_000,
    toMs: START_MS + 10_000,
    charts: new Set(['queueDepth'] as const),
  };
  expect((await again.read(span)).map(({ points }) => points)).toEqual([
    [{ chart: 'queueDepth', series: 'claims', value: 10 }],
    [{ chart: 'queueDepth', series: 'claims', value: 20 }],
  ]);
  expect((await filesOf()).length).toBe(1);
  await again.close();
});

test('a tail torn at any byte costs the last sample only, and appending continues', async () => {
  const history = open();
  await history.append(sample(0));
  const [name] = await filesOf();
  const file = join(directory, name!);
  const whole = await readFile(file);
  await history.append(sample(5));
  await history.close();
  const full = await readFile(file);
  for (let cut = whole.length; cut < full.length; cut += 1) {
    await writeFile(file, full.subarray(0, cut));
    const torn = open();
    expect(await torn.read(ALL)).toEqual([sample(0)]);
    await torn.append(sample(10));
    expect(await torn.read(ALL)).toEqual([sample(0), sample(10)]);
    await torn.close();
  }
});

test('a damaged byte ends a segment there, and a damaged header ends it immediately', async () => {
  const history = open();
  for (const second of [0, 5]) await history.append(sample(second));
  await history.close();
  const file = join(directory, (await filesOf())[0]!);
  const bytes = await readFile(file);
  bytes[bytes.length - 1]! ^= 0xff;
  await writeFile(file, bytes);
  expect(await open().read(ALL)).toEqual([sample(0)]);
  bytes[0]! ^= 0xff;
  await writeFile(file, bytes);
  const anew = open();
  expect(await anew.read(ALL)).toEqual([]);
  await anew.append(sample(10));
  expect(await anew.read(ALL)).toEqual([sample(10)]);
  await anew.close();
});

test('segments are bounded in size, in number of bytes and in age', async () => {
  const history = open({ segmentBytesMax: 400, bytesMax: 2_000 });
  for (let second = 0; second < 200; second += 1) await history.append(sample(second));
  const kept = await history.read(ALL);
  expect(kept.at(-1)).toEqual(sample(199));
  expect(kept.length).toBeLessThan(80);
  const sizes = await Promise.all(
    (await filesOf()).map(async (name) => (await readFile(join(directory, name))).length),
  );
  expect(Math.max(...sizes)).toBeLessThan(600);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2_000);
  await history.close();

  const old = open({ segmentBytesMax: 400, retentionMs: 10_000 });
  for (let second = 200; second < 300; second += 1) await old.append(sample(second));
  const first = (await old.read(ALL))[0]!;
  expect(first.atMs).toBeGreaterThan(START_MS + 275_000);
  expect(await old.firstMs()).toBeLessThanOrEqual(first.atMs);
  await old.close();
});

test('the folder of a cluster that was deleted does not come back', async () => {
  await rm(parent, { recursive: true });
  await expect(open().append(sample(0))).rejects.toThrow('ENOENT');
});

test('samples are laid into equal steps: rates are averaged, latencies are the worst, changes add up', () => {
  const points = (value: number): Sample['points'] => [
    { chart: 'apiRequests', series: 'cp-1', value },
    { chart: 'apiLatencyP99', series: 'cp-1', value },
    { chart: 'etcdLeaderChanges', series: 'cp-1', value },
  ];
  const samples = [1, 2, 3].map((second) => ({ atMs: second * 1000, points: points(second) }));
  const answer = layOut(samples, {
    charts: ['apiRequests', 'apiLatencyP99', 'etcdLeaderChanges'],
    fromMs: 0,
    toMs: 9_000,
    points: 4,
  });
  expect(answer.timesMs).toEqual([0, 3_000, 6_000, 9_000]);
  expect(answer.charts.map(({ series }) => series[0]!.values)).toEqual([
    [null, 2, null, null],
    [null, 3, null, null],
    [null, 6, null, null],
  ]);
});

test('long spans are answered from minutes, and what is newer than the last from samples', async () => {
  const [raw, minute] = [new MemoryHistory(1000), new MemoryHistory(1000)];
  const at = (seconds: number, value: number): Sample => ({
    atMs: seconds * 1000,
    points: [{ chart: 'apiRequests', series: 'cp-1', value }],
  });
  for (const seconds of [10, 70, 130, 190]) await raw.append(at(seconds, 1));
  await minute.append(at(120, 50));
  const ask = (toMs: number) =>
    answerQuery({ raw, minute }, { cluster: 'c', charts: ['apiRequests'], fromMs: 0, toMs, points: 4 });
  expect((await ask(360_000)).charts[0]!.series[0]!.values).toEqual([null, 50, 1, null]);
  expect((await ask(60_000)).charts[0]!.series[0]!.values).toEqual([null, 1, null, null]);
  expect((await ask(60_000)).sinceMs).toBe(10_000);
});

test('each instance that responded has a line, and the API server is identified by its container first', () => {
  const window = (numbers: Record<string, number>, later: Record<string, number>): Window => {
    const made = new Window();
    made.add({ atMs: 0, numbers: new Map(Object.entries(numbers)), histograms: new Map() });
    made.add({ atMs: 10_000, numbers: new Map(Object.entries(later)), histograms: new Map() });
    return made;
  };
  const server = window({ processCpu: 0, apiRequests: 0 }, { processCpu: 20, apiRequests: 50 });
  const kubelet = window({ containerCpu: 1 }, { containerCpu: 6 });
  const silent = new Window();
  silent.add({ atMs: 0, numbers: new Map([['apiRequests', 9]]), histograms: new Map() });
  const points = drawPoints(
    [
      { instance: 'cp-1', window: server },
      { instance: 'cp-1', window: kubelet },
      { instance: 'cp-2', window: silent },
    ],
    { span: 'last', freshMs: 10_000, peerName: (id) => id },
  );
  expect(points).toEqual([
    { chart: 'apiRequests', series: 'cp-1', value: 5 },
    { chart: 'apiErrors', series: 'cp-1', value: 0 },
    { chart: 'apiServerCpu', series: 'cp-1', value: 0.5 },
  ]);
});
