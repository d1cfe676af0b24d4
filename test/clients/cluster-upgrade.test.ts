import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UpgradePlan } from '../../core/contract/schemas/operations.ts';
import { NODE } from '../../core/client/index.ts';
import { startWriter } from '../support/idempotent-writer.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';

/** A machine that does much else at the same time needs longer for a whole rehearsal. */
const TEST_LIMIT_MS = 900_000;

let cluster: OperatedCluster;

beforeAll(async () => {
  cluster = await operate('--network', '224', '--kubernetes-version', 'v1.34.0', '--workers', '2');
}, TEST_LIMIT_MS);
afterAll(() => cluster?.close());

const versionsOf = (plan: UpgradePlan): string[] => [
  ...new Set([
    ...plan.hosts.flatMap(({ components }) =>
      Object.entries(components)
        .filter(([name]) => name !== 'etcd')
        .map(([, version]) => version),
    ),
    ...plan.nodes.map(({ version }) => version),
  ]),
];

test(
  'a writer sees no failed request through an upgrade over two minors',
  async () => {
    const client = await cluster.client();
    const kubectl = await cluster.kubectl();
    await kubectl?.ok('create', 'deployment', 'web', '--image=nginx', '--replicas=4');
    await kubectl?.ok('rollout', 'status', 'deployment/web', '--timeout=200s');
    const before = await cluster.json<UpgradePlan>('upgrade', 'plan');
    expect([before.current, before.targets, before.removals, versionsOf(before)]).toEqual([
      'v1.34.0',
      ['v1.35.0'],
      [],
      ['v1.34.0'],
    ]);
    expect(before.checks.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(await cluster.refused('upgrade', 'apply', 'v1.36.0')).toContain(
      'minor versions cannot be skipped',
    );

    const writer = await startWriter(client, 'through-the-upgrade');
    expect(await cluster.refused('upgrade', 'pause')).toContain('no upgrade is in progress');
    for (const version of ['v1.35.0', 'v1.36.0']) {
      const applying = cluster.run('upgrade', 'apply', version);
      if (version === 'v1.35.0') {
        const isPaused = async (): Promise<boolean> => (await cluster.attempt('upgrade', 'pause')).code === 0;
        await Promise.race([applying, until('the upgrade to pause', isPaused)]);
        expect(await cluster.run('upgrade', 'resume')).toContain('the upgrade resumes');
      }
      expect(await applying).toContain(`to ${version}`);
      const plan = await cluster.json<UpgradePlan>('upgrade', 'plan', version);
      expect([plan.current, versionsOf(plan), plan.unfinished]).toEqual([version, [version], null]);
    }
    const { acknowledged, failures } = await writer.stop();
    expect(failures).toEqual([]);
    expect(acknowledged).toBeGreaterThan(50);

    const { items } = await client.resource(NODE).list();
    expect(items.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
    expect(JSON.parse((await kubectl?.ok('version', '-o', 'json')) ?? '{}')).toMatchObject(
      kubectl ? { serverVersion: { gitVersion: 'v1.36.0' } } : {},
    );
    await kubectl?.ok('rollout', 'status', 'deployment/web', '--timeout=200s');
  },
  TEST_LIMIT_MS,
);

test(
  'the last upgrade is taken back, host by host',
  async () => {
    expect(await cluster.run('upgrade', 'rollback')).toContain('rolled back from v1.36.0 to v1.35.0');
    expect(versionsOf(await cluster.json<UpgradePlan>('upgrade', 'plan'))).toEqual(['v1.35.0']);
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);
