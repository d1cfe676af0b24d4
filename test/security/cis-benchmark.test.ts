import { beforeAll, expect, inject, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import {
  CIS_CHECKS,
  runCisBenchmark,
  type BenchmarkFinding,
} from '../../core/cluster/checks/cis/benchmark.ts';
import { requireCluster } from '../../core/cluster/data-folder/open.ts';

/** What only the user of a new cluster can decide. */
const DECISIONS = ['1.2.3', '1.2.9', '1.2.11', '3.1.1'];
/** What this cluster has no counterpart of. */
const NOT_APPLICABLE = [
  ...['1.1.9', '1.1.10'],
  ...['4.1.1', '4.1.2', '4.1.9', '4.1.10', '4.2.6', '4.2.7', '4.2.13', '4.2.14'],
];

const data = inject('attackedData');
let findings: ReadonlyMap<string, BenchmarkFinding>;
beforeAll(async () => {
  const found = await runCisBenchmark(data, {
    config: await requireCluster(data),
    clock: systemClock,
    log: silentLog,
  });
  findings = new Map(found.map((finding) => [finding.id, finding]));
});

test.each(CIS_CHECKS.map(({ id, title }) => [id, title]))('CIS %s: %s', (id) => {
  const expected = DECISIONS.includes(id) ? 'warning' : NOT_APPLICABLE.includes(id) ? 'absent' : 'ok';
  expect(findings.get(id)).toMatchObject({ verdict: expected });
});

test('every check of sections 1 to 4 is there, once', () => {
  const numbers = (section: string, count: number): string[] =>
    Array.from({ length: count }, (_, at) => `${section}.${at + 1}`);
  expect(CIS_CHECKS.map(({ id }) => id)).toEqual([
    ...numbers('1.1', 21),
    ...numbers('1.2', 30),
    ...numbers('1.3', 7),
    ...numbers('1.4', 2),
    ...numbers('2', 7),
    ...numbers('3.1', 3),
    ...numbers('3.2', 2),
    ...numbers('4.1', 10),
    ...numbers('4.2', 14),
    ...numbers('4.3', 1),
  ]);
});
