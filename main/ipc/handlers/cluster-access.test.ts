import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../core/base/manual-clock.ts';
import { openExecConsent } from '../../kube/exec-consent.ts';
import { createClusterRegistry, type ClusterRegistry } from './cluster-list.ts';

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: 'https://127.0.0.1:6443' } }]
contexts: [{ name: prod, context: { cluster: c } }, { name: staging, context: { cluster: c } }]
`;

let directory: string;
let path: string;
let registry: ClusterRegistry;
const open = (): ClusterRegistry =>
  createClusterRegistry({
    consent: openExecConsent({ dataDirectory: directory, nowMs: () => 0, onDamage: () => undefined }),
    dataDirectory: directory,
    clock: manualClock(),
    onDamage: () => undefined,
  });
const access = async (clusters: ClusterRegistry): Promise<(readonly [string, boolean])[]> =>
  (await clusters.list()).clusters.map(({ name, readOnly }) => [name, readOnly] as const);

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-access-'));
  path = join(directory, 'kubeconfig');
  writeFileSync(path, KUBECONFIG);
  registry = open();
  await registry.open(path);
});
afterEach(() => {
  registry.dispose();
  rmSync(directory, { recursive: true, force: true });
});

test('changes are allowed to the cluster that was named, and to no other', async () => {
  await registry.setReadOnly(`${path}#prod`, false);
  expect(await access(registry)).toEqual([
    ['prod', false],
    ['staging', true],
  ]);
  await registry.setReadOnly(`${path}#prod`, true);
  expect(await access(registry)).toEqual([
    ['prod', true],
    ['staging', true],
  ]);
});

test('after a restart of the host every cluster is read-only', async () => {
  await registry.setReadOnly(`${path}#prod`, false);
  registry.dispose();
  registry = open();
  expect((await access(registry)).every(([, readOnly]) => readOnly)).toBe(true);
});

test.each(['#prod', ''])('a cluster that was forgotten (%s) comes back read-only', async (context) => {
  await registry.setReadOnly(`${path}#prod`, false);
  await registry.forget(`${path}${context}`);
  await registry.open(path);
  expect(await access(registry)).toContainEqual(['prod', true]);
});

test('an id that no one knows is refused', async () => {
  await expect(registry.setReadOnly('/elsewhere#x', false)).rejects.toMatchObject({ reason: 'NotFound' });
});
