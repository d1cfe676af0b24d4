import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlreadyExists } from '../../core/api/meta/index.ts';
import { CONFIG_MAP, NODE, STORAGE_CLASS } from '../../core/client/index.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';
import { adminClient, pilothouse, up, type RunningCluster } from '../support/cluster.ts';
import { until } from '../support/until.ts';

let data: string;
let cluster: RunningCluster | undefined;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'pilothouse-up-'));
});

afterEach(async () => {
  await cluster?.end('SIGTERM');
  cluster = undefined;
  rmSync(data, { recursive: true, force: true });
});

const stateOf = async (): Promise<ClusterState> =>
  JSON.parse((await pilothouse('status', '--data', data, '-o', 'json')).stdout) as ClusterState;

const configMap = (name: string) => ({ metadata: { name, namespace: 'default' }, data: { a: 'b' } });

/** A start that must fail, with one line. */
const oneLine = async (directory: string, ...args: readonly string[]): Promise<string> => {
  const { code, stderr } = await pilothouse('up', '--data', directory, ...args);
  expect([code, stderr.trim().split('\n').length, stderr]).toEqual([1, 1, stderr]);
  return stderr;
};

/** Writes over a part of a file; what is returned puts it back. */
const damage = (file: string, offset: number): (() => void) => {
  copyFileSync(file, `${file}.copy`);
  const bytes = readFileSync(file);
  bytes.fill(0xa5, offset, Math.min(bytes.length, offset + 8192));
  writeFileSync(file, bytes);
  return () => {
    copyFileSync(`${file}.copy`, file);
    rmSync(`${file}.copy`);
  };
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('one control plane serves, refuses a second instance, stops in order and resumes', async () => {
  cluster = await up('--data', data, '--control-planes', '1', '--workers', '1', '--network', '212');
  expect(cluster.stdout).toMatch(/^cp-1 +kube-apiserver +v1\.36\.0 +ready \d+\.\d s$/m);
  expect(cluster.stdout).toMatch(/^ready in \d+\.\d s {2}kubeconfig .*\/kubeconfig\/admin\.conf$/m);
  let client = await adminClient(data);
  await client.resource(CONFIG_MAP).create(configMap('kept'));
  const { items } = await client.resource(NODE).list();
  const control = 'node-role.kubernetes.io/control-plane';
  expect(
    items.map(({ metadata, spec }) => ({
      name: metadata.name,
      hasLabel: metadata.labels?.[control] === '',
      hasTaint: spec?.taints?.some(({ key }) => key === control) === true,
    })),
  ).toEqual([
    { name: 'cp-1', hasLabel: true, hasTaint: true },
    { name: 'worker-1', hasLabel: false, hasTaint: false },
  ]);
  expect((await client.resource(STORAGE_CLASS).get('local')).provisioner).toBe('pilothouse.dev/local');
  client.dispose();

  const second = await pilothouse('up', '--data', data);
  expect([second.code, second.stderr.trim().split('\n').length]).toEqual([1, 1]);
  expect(second.stderr).toContain('is in use by process');
  expect(statSync(join(data, 'pki', 'ca.key')).mode & 0o777).toBe(0o600);
  expect(statSync(join(data, 'control.sock')).mode & 0o777).toBe(0o600);

  const { hosts } = await stateOf();
  expect(await cluster.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(hosts.filter(({ pid }) => isAlive(pid!))).toEqual([]);

  const member = join(data, 'hosts', 'cp-1', 'etcd', 'member');
  const [segment] = readdirSync(join(member, 'wal'));
  const damages: readonly [file: string, offset: number, line: string][] = [
    [
      join(member, 'wal', segment!),
      4096,
      'etcd on cp-1 failed to start: a record does not match its checksum',
    ],
    [join(data, 'hosts/cp-1/manifests/etcd.yaml'), 0, 'manifests/etcd.yaml is no'],
    [join(data, 'pki/hosts/cp-1/apiserver.key'), 0, 'apiserver.key is not a valid private key; delete'],
  ];
  for (const [file, offset, line] of damages) {
    const mend = damage(file, offset);
    expect(await oneLine(data)).toContain(line);
    mend();
  }

  cluster = await up('--data', data);
  client = await adminClient(data);
  expect((await client.resource(CONFIG_MAP, 'default').get('kept')).data).toEqual({ a: 'b' });
  client.dispose();
});

test('three control planes write on while one is killed, and take it back', async () => {
  cluster = await up('--data', data, '--network', '214');
  const before = await stateOf();
  expect(before.hosts.map(({ name, phase }) => [name, phase])).toEqual([
    ['cp-1', 'running'],
    ['cp-2', 'running'],
    ['cp-3', 'running'],
    ['workers', 'running'],
  ]);
  expect((await pilothouse('host', 'kill', 'cp-2', '--data', data)).code).toBe(0);
  expect(isAlive(before.hosts[1]!.pid!)).toBe(false);
  const client = await adminClient(data);
  await until('a write', async () => {
    await client
      .resource(CONFIG_MAP)
      .create(configMap('written'))
      .catch((error: unknown) => {
        // The answer to one before was lost.
        if (!isAlreadyExists(error)) throw error;
      });
    return true;
  });
  expect((await pilothouse('status', '--data', data)).code).toBe(1);

  expect((await pilothouse('host', 'start', 'cp-2', '--data', data)).code).toBe(0);
  await until('everything to run', async () => (await pilothouse('status', '--data', data)).code === 0);
  const members = JSON.parse((await pilothouse('member', 'list', '--data', data, '-o', 'json')).stdout) as {
    name: string;
    problem?: string;
  }[];
  expect(members.map(({ name, problem }) => [name, problem]).sort()).toEqual([
    ['cp-1', undefined],
    ['cp-2', undefined],
    ['cp-3', undefined],
  ]);
  client.dispose();
});

test('a snapshot brings back what it holds and nothing that came later', async () => {
  cluster = await up('--data', data, '--control-planes', '1', '--workers', '0', '--network', '216');
  const client = await adminClient(data);
  await client.resource(CONFIG_MAP).create(configMap('before'));
  const file = join(data, 'one.db');
  expect((await pilothouse('snapshot', 'save', file, '--data', data)).code).toBe(0);
  await client.resource(CONFIG_MAP).create(configMap('after'));

  writeFileSync(join(data, 'damaged.db'), readFileSync(file).subarray(0, 40_000));
  const damaged = await pilothouse('snapshot', 'restore', join(data, 'damaged.db'), '--data', data);
  expect([damaged.code, damaged.stderr.trim().split('\n').length]).toEqual([1, 1]);
  expect((await client.resource(CONFIG_MAP, 'default').get('after')).data).toEqual({ a: 'b' });

  expect((await pilothouse('snapshot', 'restore', file, '--data', data)).code).toBe(0);
  const names = await until('an answer', async () => {
    const { items } = await client.resource(CONFIG_MAP, 'default').list();
    return items.map(({ metadata }) => metadata.name);
  });
  expect(names).toContain('before');
  expect(names).not.toContain('after');
  client.dispose();
});

test('hosts end on their own when up is killed, and the next up finds everything', async () => {
  cluster = await up('--data', data, '--control-planes', '1', '--workers', '0', '--network', '218');
  const client = await adminClient(data);
  await client.resource(CONFIG_MAP).create(configMap('kept'));
  client.dispose();
  const { hosts } = await stateOf();
  await cluster.end('SIGKILL');
  await until('the hosts to end', () => !hosts.some(({ pid }) => isAlive(pid!)));
  cluster = await up('--data', data);
  const again = await adminClient(data);
  expect((await again.resource(CONFIG_MAP, 'default').get('kept')).data).toEqual({ a: 'b' });
  again.dispose();
});

test('a failed start is reported in one line that says what to do', async () => {
  const squatter = createServer().listen(6443, '127.220.0.100');
  try {
    expect(await oneLine(data, '--network', '220', '--control-planes', '1')).toContain(
      '127.220.0.100:6443 is in use by another program; stop it and retry',
    );
  } finally {
    squatter.close();
  }
  expect(await oneLine(data, '--control-planes', '3')).toContain('has --control-planes 1; remove the flag');
  mkdirSync(join(data, 'hosts', 'cp-1', 'etcd', 'member'), { recursive: true });
  rmSync(join(data, 'pki', 'ca.crt'));
  expect(await oneLine(data)).toContain(
    'pki/ca.crt is missing; restore pki/ from a backup of this directory',
  );
  writeFileSync(join(data, 'cluster.yaml'), 'spec: {');
  expect(await oneLine(data)).toContain('cluster.yaml is not valid YAML');
});

test('a disk that is read-only or full is one line, and what is on it stays', async () => {
  const run = (...args: readonly string[]): boolean => spawnSync(args[0]!, args.slice(1)).status === 0;
  const isMounted = run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', data);
  // Only root may; a user finds the same errors on a real disk.
  if (!isMounted) return;
  try {
    const folder = join(data, 'cluster');
    mkdirSync(folder);
    writeFileSync(join(folder, 'cluster.yaml'), 'mine');
    expect(run('mount', '-o', 'remount,ro', data)).toBe(true);
    expect(await oneLine(folder)).toContain(
      `cannot use the data directory ${folder}: the disk is read-only; choose another directory with --data`,
    );
    expect(run('mount', '-o', 'remount,rw', data)).toBe(true);
    expect(() => writeFileSync(join(data, 'everything'), Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC');
    expect(await oneLine(folder)).toContain(
      `cannot use the data directory ${folder}: the disk is full; free disk space and retry`,
    );
    expect(readFileSync(join(folder, 'cluster.yaml'), 'utf8')).toBe('mine');
  } finally {
    run('umount', data);
  }
});
