import { expect, test } from 'vitest';
import type { ProcessVitals } from '../../../core/contract/index.ts';
import { processHistories, withGaps } from './process-history.ts';

const sample = (
  atMs: number,
  ...processes: [role: string, name: string, pid: number, cpuPercent: number][]
): ProcessVitals => ({
  atMs,
  eventLoopDelayMs: 1,
  processes: processes.map(([role, name, pid, cpuPercent]) => ({
    role,
    name,
    pid,
    cpuPercent,
    memoryBytes: pid,
  })),
});

test('time without samples is an empty place', () => {
  const [a, b, c] = [sample(0), sample(1000), sample(9000)];
  expect(withGaps([a, b, c])).toEqual([a, b, undefined, c]);
});

test('rows go by role and name, whatever they cost; a process that came late has no past', () => {
  const rows = processHistories([
    sample(0, ['main', 'Console', 9, 1]),
    sample(1000, ['host', 'cp-2', 1, 90], ['host', 'cp-1', 2, 5], ['main', 'Console', 9, 2]),
  ]);
  expect(rows.map((row) => [row.name, row.cpu])).toEqual([
    ['Console', [1, 2]],
    ['cp-1', [undefined, 5]],
    ['cp-2', [undefined, 90]],
  ]);
});
