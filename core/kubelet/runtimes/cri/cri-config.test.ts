import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readMessage } from '../../../base/node/protobuf/read-message.ts';
import { MessageWriter } from '../../../base/node/protobuf/message-writer.ts';
import { container, pod } from '../../testing/world.ts';
import { AtomicWriter } from './atomic-writer.ts';
import { containerSecurity, linuxResources } from './container-config.ts';
import {
  readContainerStatus,
  writeContainerConfig,
  writeResources,
  type ContainerConfig,
} from './messages.ts';
import { cgroupParentOf, qosOf } from './sandbox-config.ts';
import { exitCodeIn } from './streams.ts';

let folder = '';
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'cri-'))));
afterEach(() => rm(folder, { recursive: true }));

const GIB = 2 ** 30;
const resources = (requests: Record<string, string>, limits: Record<string, string> = {}) =>
  container('app', { resources: { requests, limits } });
const IMAGE = {
  id: 'sha256:1',
  tags: [],
  digests: [],
  sizeBytes: 1,
  uid: undefined,
  username: '',
  isPinned: false,
};
const PLACES = { root: '/var/lib/kubelet', memoryCapacityBytes: 8 * GIB };

test('a negative number takes ten bytes, and root is not "as the image says"', () => {
  const written = writeResources({
    cpuPeriod: 1,
    cpuQuota: -1,
    cpuShares: 2,
    memoryBytes: 0,
    oomScoreAdjust: -997,
  });
  const read = readMessage(written.finish());
  expect([read.varint(1), read.varint(2), read.varint(3), read.varint(5)]).toEqual([1, -1, 2, -997]);
  const security = containerSecurity(
    pod({ securityContext: { runAsUser: 0 } }),
    container('a'),
    IMAGE,
    PLACES,
  );
  const config = { mounts: [], environment: new Map([['A', '']]), security } as unknown as ContainerConfig;
  const linux = readMessage(
    writeContainerConfig({ ...config, resources: linuxResources(pod({}), container('a'), GIB) }).finish(),
  ).message(15);
  expect(
    linux
      .message(2)
      .list(5)
      .map((bytes) => bytes.length),
  ).toEqual([0]);
});

test('a status is read by upstream’s field numbers', () => {
  const status = new MessageWriter()
    .string(1, 'id')
    .message(2, new MessageWriter().string(1, 'app').integer(2, 3))
    .integer(3, 2)
    .integer(6, 1_700_000_000_123_456_789)
    .integer(7, 137)
    .string(10, 'OOMKilled')
    .texts(13, { a: 'b' });
  expect(readContainerStatus(readMessage(status.finish()))).toMatchObject({
    id: 'id',
    name: 'app',
    attempt: 3,
    state: 'exited',
    finishedMs: 1_700_000_000_123,
    exitCode: 137,
    reason: 'OOMKilled',
    annotations: new Map([['a', 'b']]),
  });
});

test('requests and limits become shares, quota and an OOM score as upstream computes them', () => {
  const none = container('app');
  const burstable = resources({ cpu: '250m', memory: '2Gi' }, { cpu: '5m' });
  const guaranteed = resources({}, { cpu: '2', memory: '1Gi' });
  const of = (one: typeof none) => linuxResources(pod({ containers: [one] }), one, 8 * GIB);
  expect([none, burstable, guaranteed].map((one) => qosOf(pod({ containers: [one] })))).toEqual([
    'BestEffort',
    'Burstable',
    'Guaranteed',
  ]);
  expect(of(none)).toMatchObject({ cpuShares: 2, cpuQuota: 0, memoryBytes: 0, oomScoreAdjust: 1000 });
  expect(of(burstable)).toMatchObject({ cpuShares: 256, cpuQuota: 1000, oomScoreAdjust: 750 });
  expect(of(guaranteed)).toMatchObject({
    cpuShares: 2048,
    cpuQuota: 200_000,
    memoryBytes: GIB,
    oomScoreAdjust: -997,
  });
  expect(cgroupParentOf(pod({ containers: [burstable] }), '/')).toBe('/kubepods/burstable/poduid-1');
});

test('a container that must not be root is held back in upstream’s words', () => {
  const security =
    (of: object, image: object = {}) =>
    () =>
      containerSecurity(
        pod({ securityContext: { runAsNonRoot: true, ...of } }),
        container('a'),
        { ...IMAGE, ...image },
        PLACES,
      );
  expect(security({})).toThrow('container has runAsNonRoot and image will run as root');
  expect(security({ runAsUser: 0 })).toThrow("container's runAsUser breaks non-root policy");
  expect(security({}, { username: 'app' })).toThrow(
    'image has non-numeric user (app), cannot verify user is non-root',
  );
  expect(security({}, { uid: 7 })().runAsUser).toBe(7);
  expect(security({ runAsUser: 5 })().runAsUser).toBe(5);
});

const files = (entries: Record<string, string>) =>
  new Map(Object.entries(entries).map(([path, text]) => [path, { content: Buffer.from(text), mode: 0o640 }]));

test('a volume changes as a whole, and unchanged files are not written again', async () => {
  const writer = new AtomicWriter(folder);
  expect(await writer.write(files({ a: '1', 'sub/b': '2' }))).toBe(true);
  const first = await readlink(join(folder, '..data'));
  expect(await writer.write(files({ a: '1', 'sub/b': '2' }))).toBe(false);
  expect(await readlink(join(folder, 'a'))).toBe('..data/a');
  expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o640);
  expect(await writer.write(files({ a: '3', c: '4' }))).toBe(true);
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('3');
  expect((await readdir(folder)).filter((name) => !name.startsWith('..')).sort()).toEqual(['a', 'c']);
  expect(await readdir(folder)).not.toContain(first);
  for (const path of ['../x', '/x', 'a/../../x', '..data/x', ''])
    await expect(writer.write(files({ [path]: 'x' }))).rejects.toThrow('leaves the volume');
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('3');
});

test('an exit code is found in the Status of the error stream, and none is no success', () => {
  const failed = { status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: '42' }] } };
  expect(
    ['', '{"status":"Success"}', JSON.stringify(failed), '{', '{"status":"Failure"}'].map(exitCodeIn),
  ).toEqual([1, 0, 42, 1, 1]);
});
