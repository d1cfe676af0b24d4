import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { authenticationConfigYaml, FIRST_AUTHENTICATION_CONFIG } from '../manifests/authentication-config.ts';
import { assertKnownFormat, migrateFormat, recordNewFormat, type Migration } from './format.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'pilothouse-format-'));
  for (const folder of ['pki', 'kubeconfig', 'hosts/cp-1/manifests', 'hosts/cp-1/etcd/member'])
    mkdirSync(join(data, folder), { recursive: true });
  writeFileSync(join(data, 'cluster.yaml'), 'kind: Cluster\n');
  writeFileSync(join(data, 'pki/ca.key'), 'secret', { mode: 0o600 });
  writeFileSync(join(data, 'hosts/cp-1/manifests/etcd.yaml'), 'kind: Pod\n');
  writeFileSync(join(data, 'hosts/cp-1/etcd/member/db'), 'large');
});
afterEach(() => rmSync(data, { recursive: true }));

const formatNow = (): unknown => JSON.parse(readFileSync(join(data, 'format.json'), 'utf8'));

test('a folder of the first version is migrated once, behind a backup without the data of etcd', async () => {
  writeFileSync(join(data, 'kubeconfig/kubelet-workers.conf'), 'shared');
  const backup = await migrateFormat(data, systemClock);
  const kept = (readdirSync(backup!, { recursive: true }) as string[]).sort();
  expect({
    format: formatNow(),
    shared: existsSync(join(data, 'kubeconfig/kubelet-workers.conf')),
    kept,
    mode: statSync(backup!).mode & 0o777,
    again: await migrateFormat(data, systemClock),
  }).toEqual({
    format: { format: 3 },
    shared: false,
    kept: [
      'cluster.yaml',
      'hosts',
      'hosts/cp-1',
      'hosts/cp-1/manifests',
      'hosts/cp-1/manifests/etcd.yaml',
      'kubeconfig',
      'kubeconfig/kubelet-workers.conf',
      'pki',
      'pki/ca.key',
    ],
    mode: 0o700,
    again: undefined,
  });
});

test('a migration that fails is done again from where it was', async () => {
  const done: number[] = [];
  let isBroken = true;
  const steps: Migration[] = [
    { to: 2, migrate: async () => void done.push(2) },
    {
      to: 3,
      async migrate() {
        if (isBroken) throw new Error('the disk is full');
        done.push(3);
      },
    },
  ];
  await expect(migrateFormat(data, systemClock, steps)).rejects.toThrow('the disk is full');
  expect(formatNow()).toEqual({ format: 2 });
  isBroken = false;
  await migrateFormat(data, systemClock, steps);
  expect([done, formatNow()]).toEqual([[2, 3], { format: 3 }]);
});

test('a folder of a newer version is rejected with one line and not touched', async () => {
  writeFileSync(join(data, 'format.json'), '{"format":4,"more":"from later"}');
  await expect(migrateFormat(data, systemClock)).rejects.toThrow(
    `${data} has data format 4, and this version of Pilothouse reads formats up to 3; use the version that wrote it, or a newer one`,
  );
  expect(existsSync(join(data, 'backups'))).toBe(false);
});

test('an older cluster learns to let machines join, except where an operator has changed it', async () => {
  const manifest = (name: string): string => join(data, 'hosts/cp-1/manifests', `${name}.yaml`);
  const flags = (...words: string[]): string => words.map((word) => `    - --${word}\n`).join('');
  writeFileSync(manifest('kube-controller-manager'), flags('controllers=*', 'kubeconfig=/k'));
  writeFileSync(
    manifest('kube-apiserver'),
    flags('enable-admission-plugins=NodeRestriction', 'profiling=false'),
  );
  writeFileSync(join(data, 'authentication.yaml'), 'anonymous: {enabled: false}\n');
  await migrateFormat(data, systemClock);
  const texts = ['kube-controller-manager', 'kube-apiserver'].map((name) =>
    readFileSync(manifest(name), 'utf8'),
  );
  expect([...texts, readFileSync(join(data, 'authentication.yaml'), 'utf8')]).toEqual([
    flags('controllers=*,bootstrapsigner,tokencleaner', 'kubeconfig=/k'),
    flags('enable-admission-plugins=NodeRestriction', 'enable-bootstrap-token-auth=true', 'profiling=false'),
    'anonymous: {enabled: false}\n',
  ]);
  writeFileSync(join(data, 'format.json'), '{"format":2}');
  writeFileSync(join(data, 'authentication.yaml'), FIRST_AUTHENTICATION_CONFIG);
  await migrateFormat(data, systemClock);
  expect(readFileSync(join(data, 'authentication.yaml'), 'utf8')).toBe(authenticationConfigYaml());
});

test('a damaged record is reported, not guessed', async () => {
  writeFileSync(join(data, 'format.json'), '{"format":"two"}');
  await expect(assertKnownFormat(data)).rejects.toThrow('format.json is damaged');
});

test('a new folder carries the newest format', async () => {
  await recordNewFormat(data);
  expect([formatNow(), await migrateFormat(data, systemClock)]).toEqual([{ format: 3 }, undefined]);
});
