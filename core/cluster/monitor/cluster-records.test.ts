import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { openClusterRecords, type ClusterRecords } from './cluster-records.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'pilothouse-records-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ALL = { fromMs: 0, toMs: Infinity };
const opened = (): ClusterRecords => openClusterRecords(folder, { clock: manualClock(), log: silentLog });
const sample = (atMs: number, value: number) => ({
  atMs,
  points: [{ chart: 'apiRequests' as const, series: 'cp-1', value }],
});
const valuesOf = async ({ histories }: ClusterRecords): Promise<number[]> =>
  (await histories.raw.read(ALL)).flatMap(({ points }) => points.map(({ value }) => value));

test('of two that record one cluster the first writes, the other reads, and continues when the first has ended', async () => {
  const [first, second] = [opened(), opened()];
  await first.histories.raw.append(sample(1_000, 1));
  await second.histories.raw.append(sample(1_001, -1));
  await first.histories.raw.append(sample(2_000, 2));
  expect([await valuesOf(first), await valuesOf(second)]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(await second.histories.raw.firstMs()).toBe(1_000);
  await first.close();

  await second.histories.raw.append(sample(3_000, 3));
  const third = opened();
  await third.histories.raw.append(sample(3_001, -1));
  expect([await valuesOf(second), await valuesOf(third)]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  await Promise.all([second.close(), third.close()]);
  expect(readdirSync(join(folder, 'metrics')).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('records of a cluster whose folder is deleted do not bring it back', async () => {
  const records = opened();
  rmSync(folder, { recursive: true });
  await expect(records.histories.raw.append(sample(1_000, 1))).rejects.toThrow('ENOENT');
  await records.close();
  expect(readdirSync(tmpdir())).not.toContain(folder.split('/').at(-1));
});
