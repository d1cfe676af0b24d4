import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stopStageOf } from './messages.ts';
import { rotatingFile } from './rotating-file.ts';
import { versionOfImage } from './start-component.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-host-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the tag of an image is the version, without the revision of its packaging', () => {
  expect(
    [
      'registry.k8s.io/etcd:3.6.6-0',
      'registry.k8s.io/kube-apiserver:v1.36.0',
      'registry.local:5000/kube-apiserver:v1.35.1@sha256:abc',
      'registry.local:5000/kube-apiserver',
    ].map(versionOfImage),
  ).toEqual(['3.6.6', 'v1.36.0', 'v1.35.1', '']);
});

test('managers end before API servers, API servers before etcd', () => {
  expect(['kube-scheduler', 'kube-proxy', 'kube-apiserver', 'etcd'].map(stopStageOf)).toEqual([
    'managers',
    'managers',
    'api-servers',
    'etcd',
  ]);
});

test('a full log becomes the one before, and only one is kept', () => {
  const path = join(folder, 'etcd.log');
  writeFileSync(path, 'old\n');
  const file = rotatingFile(path, 10);
  file.write('1234567\n');
  file.write('123456789\n');
  file.write('next\n');
  file.close();
  expect([readFileSync(`${path}.1`, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['123456789\n', 'next\n']);
});

test('a log that cannot be written costs its writer nothing', () => {
  const file = rotatingFile(join(folder, 'missing', 'etcd.log'));
  file.write('lost\n');
  file.close();
  expect(existsSync(join(folder, 'missing'))).toBe(false);
});
