import { inEnglish } from '../../../core/contract/index.ts';
import { expect, test } from 'vitest';
import { FaultBoard } from '../../../core/cluster/supervisor/fault-board.ts';
import { silentReport } from '../../../core/cluster/operation/step-report.ts';
import type { LocalCluster } from '../local-clusters.ts';
import { faultRunners } from './fault-runners.ts';

const context = () => {
  const faults = new FaultBoard({
    ends: () => ['cp-1', 'cp-2', 'load-balancer'].map((name) => ({ name, addresses: [name] })),
    tell: () => undefined,
    onChange: () => undefined,
  });
  const cluster = { supervisor: { faults } } as unknown as LocalCluster;
  return { faults, run: { cluster, report: silentReport, signal: new AbortController().signal } };
};

test('an injected fault is listed with its ID and healed by that ID', async () => {
  const { faults, run } = context();
  const fault = { kind: 'slow-disk', host: 'cp-1', delayMs: 40 } as const;
  expect(inEnglish(await faultRunners['fault.add']({ kind: 'fault.add', fault }, run))).toMatch(
    /^Fault f1: WAL fsync on cp-1 is delayed by 40 ms, until/,
  );
  expect(inEnglish(await faultRunners['fault.heal']({ kind: 'fault.heal', id: 'f1' }, run))).toMatch(
    /^Healed: WAL fsync/,
  );
  expect(faults.list()).toEqual([]);
});

test('a host is isolated once, however often that is asked for', async () => {
  const { faults, run } = context();
  const action = { kind: 'fault.isolate', host: 'cp-1' } as const;
  await faultRunners['fault.isolate'](action, run);
  await faultRunners['fault.isolate'](action, run);
  expect(faults.list().map(({ text }) => text)).toEqual([
    'cp-1 and cp-2 cannot reach each other',
    'cp-1 and load-balancer cannot reach each other',
  ]);
});

test('a host that is not there is refused by name', async () => {
  const { run } = context();
  const fault = { kind: 'cut', from: 'cp-1', to: 'cp-9', isOneWay: false } as const;
  await expect(faultRunners['fault.add']({ kind: 'fault.add', fault }, run)).rejects.toThrow(
    'host "cp-9" not found',
  );
});
