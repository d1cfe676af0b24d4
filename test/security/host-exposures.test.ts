import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLUSTER_ROLE_BINDING, type OwnedClient } from '../../core/client/index.ts';
import type { PrintedFinding } from '../../main/cli/commands/findings.ts';
import type { BenchmarkFinding } from '../../core/cluster/checks/cis/benchmark.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';

/** Its API server is made unsafe by its manifest, so it is a cluster of its own. */
let cluster: OperatedCluster;
let client: OwnedClient;

beforeAll(async () => {
  cluster = await operate('--control-planes', '1', '--workers', '1');
  client = await cluster.client();
});
afterAll(() => cluster.close());

const SAFE_SUITE = 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256';
const WEAK_SUITE = 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA';
const RBAC = 'rbac.authorization.k8s.io';

const findings = async (...ids: readonly string[]): Promise<readonly string[]> => {
  const { stdout } = await cluster.attempt('check', '-o', 'json');
  const found = JSON.parse(stdout) as PrintedFinding[];
  return ids.map((id) => {
    const { verdict, message } = found.find((one) => one.id === id)!;
    return `${verdict}: ${message}`;
  });
};

test('check finds an API server whose manifest lets anybody in and offers a weak suite', async () => {
  expect(await findings('anonymousPaths', 'tlsSuites')).toEqual([
    expect.stringMatching(/^ok: /),
    expect.stringMatching(/^ok: /),
  ]);
  await client.resource(CLUSTER_ROLE_BINDING).create({
    metadata: { name: 'anybody-views' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'system:unauthenticated' }],
  });
  const manifest = join(cluster.data, 'hosts', 'cp-1', 'manifests', 'kube-apiserver.yaml');
  const unsafe = readFileSync(manifest, 'utf8').replace(
    /^( *- )--authentication-config=.*$/m,
    `$1--anonymous-auth=true\n$1--tls-cipher-suites=${SAFE_SUITE},${WEAK_SUITE}`,
  );
  writeFileSync(manifest, unsafe);
  const [paths, suites] = await until('the API server to restart', async () => {
    const now = await findings('anonymousPaths', 'tlsSuites');
    return now.every((text) => text.startsWith('problem: ') && !text.includes('failed to run'))
      ? now
      : undefined;
  });
  expect(paths).toMatch(
    /kube-apiserver on cp-1 serves .*\/api\/v1\/namespaces.*\/version to anonymous clients/,
  );
  expect(suites).toMatch(/kube-apiserver on cp-1 \(.*:6443\) accepts TLSv1\.2 ECDHE-ECDSA-AES128-SHA/);
});

const cis = async (): Promise<readonly BenchmarkFinding[]> => {
  const { stdout } = await cluster.attempt('check', '--benchmark', 'cis', '-o', 'json');
  return JSON.parse(stdout) as BenchmarkFinding[];
};

const commandLines = (): readonly string[] =>
  readFileSync(join(cluster.data, 'hosts', 'cp-1', 'manifests', 'kube-apiserver.yaml'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('- --'))
    .map((line) => line.trim())
    .sort();

test('harden repairs it, the CIS benchmark passes, and a rollback restores the manifest', async () => {
  const backups = mkdtempSync(join(tmpdir(), 'pilothouse-elsewhere-'));
  const options = ['--backup-directory', backups, '--oidc-issuer-url', 'https://127.0.0.1:1'];
  const before = commandLines();
  expect((await cis()).filter(({ verdict }) => verdict === 'problem').map(({ id }) => id)).toEqual(
    expect.arrayContaining(['1.2.1', '1.2.29']),
  );
  const { stdout } = await cluster.attempt('harden', 'plan', ...options, '--oidc-client-id', 'desk');
  expect(stdout).toContain('-        - --anonymous-auth=true');
  const applied = await cluster.attempt('harden', 'apply', ...options, '--oidc-client-id', 'desk');
  expect([applied.code, applied.stdout.trim()]).toEqual([
    0,
    'hardened 1 hosts; undo it with pilothouse harden rollback',
  ]);
  // The first scheduled snapshot is taken right away.
  await until('a snapshot outside the data directory', async () =>
    (await findings('backups'))[0]!.startsWith('ok: ') ? true : undefined,
  );
  expect((await cis()).filter(({ verdict }) => verdict === 'problem' || verdict === 'warning')).toEqual([]);
  expect((await cluster.attempt('harden', 'apply')).stdout.trim()).toBe('nothing to change');
  const reverted = await cluster.attempt('harden', 'rollback');
  expect([reverted.code, commandLines()]).toEqual([0, before]);
  rmSync(backups, { recursive: true, force: true });
});
