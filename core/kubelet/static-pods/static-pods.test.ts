import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { StatusError } from '../../api/meta/status.ts';
import { NODE, POD } from '../../client/index.ts';
import { ComponentRuntime, type ComponentRequest } from '../runtimes/component/component-runtime.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { hosted } from '../testing/hosted.ts';
import { container, pod } from '../testing/world.ts';
import { ManifestFolder, RESCAN_MS } from './manifest-folder.ts';
import { readManifest } from './manifest.ts';
import { mirrorOf, reconcileMirror } from './mirror-pods.ts';

const CONTEXT = { nodeName: 'cp-1', file: '/m/etcd.yaml', now: '2026-01-01T00:00:00Z', minor: 36 };

const manifest = (args: string[], name = 'etcd'): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', labels: { component: name, tier: 'control-plane' } },
    spec: {
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      containers: [{ name, image: `registry.k8s.io/${name}:v1.36.0`, command: [name, ...args] }],
    },
  });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifests-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a manifest becomes a pod named after its node, with a hash of its content as uid', () => {
  const pod = readManifest(manifest(['--name=cp-1']), CONTEXT);
  const other = readManifest(manifest(['--name=cp-2']), CONTEXT);
  expect(pod.metadata).toMatchObject({
    name: 'etcd-cp-1',
    namespace: 'kube-system',
    uid: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    annotations: {
      'kubernetes.io/config.hash': pod.metadata?.uid,
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.seen': '2026-01-01T00:00:00Z',
    },
  });
  expect(pod.spec).toMatchObject({
    nodeName: 'cp-1',
    tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    restartPolicy: 'Always',
  });
  expect(other.metadata?.uid).not.toBe(pod.metadata?.uid);
});

test.each([
  ['kind: [', /couldn't parse as pod/],
  ['kind: Deployment\napiVersion: apps/v1', /it is a apps\/v1 Deployment/],
  ['kind: Pod\napiVersion: v1\nspec: {containers: []}', /name is needed for the pod/],
  [
    'kind: Pod\napiVersion: v1\nmetadata: {name: x}\nspec: {containers: []}',
    /spec.containers: Required value/,
  ],
  [
    'kind: Pod\napiVersion: v1\nmetadata: {name: x}\nspec: {containers: [{name: a, image: b}], volumes: [{name: v, secret: {secretName: s}}]}',
    /static pods may not reference secrets/,
  ],
])('a manifest that is no pod is refused with the reason: %s', (text, message) => {
  expect(() => readManifest(text, CONTEXT)).toThrow(message);
});

test('a broken file is reported once and keeps its last good pod, others continue', async () => {
  const clock = manualClock();
  const problems: string[] = [];
  let pods: readonly V1Pod[] = [];
  let told: () => void = () => undefined;
  const source = new ManifestFolder({
    folder,
    nodeName: 'cp-1',
    minor: 36,
    clock,
    log: silentLog,
    onPods: (next) => {
      pods = next;
      told();
    },
    onProblem: (file, message) => {
      problems.push(`${file.replace(folder, '')} ${message}`);
      told();
    },
  });
  const change = async (work: Promise<void>): Promise<void> => {
    await work;
    let isTold = false;
    told = () => (isTold = true);
    // A scan reads real files: the next is due only when the one before has come to its end.
    while (!isTold) {
      clock.advance(RESCAN_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const names = () =>
    pods.map(({ metadata, spec }) => `${metadata?.name} ${spec?.containers[0]?.command?.join(' ')}`);
  await writeFile(join(folder, 'etcd.yaml'), manifest(['--a']));
  await source.start();
  expect(names()).toEqual(['etcd-cp-1 etcd --a']);
  await change(writeFile(join(folder, 'etcd.yaml'), 'kind: ['));
  await change(writeFile(join(folder, 'scheduler.yaml'), manifest([], 'scheduler')));
  expect(names()).toEqual(['etcd-cp-1 etcd --a', 'scheduler-cp-1 scheduler']);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^\/etcd.yaml .*couldn't parse as pod/);
  await change(writeFile(join(folder, 'etcd.yaml'), manifest(['--b'])));
  expect(names()).toEqual(['etcd-cp-1 etcd --b', 'scheduler-cp-1 scheduler']);
  await change(rm(join(folder, 'etcd.yaml')));
  expect(names()).toEqual(['scheduler-cp-1 scheduler']);
  source.dispose();
});

test('variables of the host reach static pods and no others', async () => {
  const seen: string[] = [];
  const startComponent = ({ name, environment }: ComponentRequest) => {
    seen.push(`${name} ${environment.get('DATA') ?? '-'}`);
    return Promise.reject(new Error('not today'));
  };
  await writeFile(join(folder, 'etcd.yaml'), manifest(['--a']));
  const runtime = () => new ComponentRuntime({ clock: manualClock(), startComponent, version: '1' });
  const { api, advance, stop } = await hosted({
    staticEnvironment: new Map([['DATA', '/data']]),
    change: (node) => ({ ...node, manifests: folder, runtime: runtime(), staticRuntime: runtime() }),
  });
  api.seed(POD, pod({ nodeName: 'n1', containers: [container('user', { command: ['user'] })] }));
  for (let i = 0; i < 20 && seen.length < 2; i += 1) await advance(100);
  expect(seen).toEqual(['etcd /data', 'user -']);
  await stop();
});

test('components start without an API, restart when edited, stop when deleted, and have mirrors', async () => {
  const log: string[] = [];
  const startComponent = ({ name, args }: ComponentRequest) => {
    log.push(`start ${name} ${args.join(' ')}`);
    let exit: (value: { exitCode: number }) => void = () => undefined;
    const exited = new Promise<{ exitCode: number }>((resolve) => (exit = resolve));
    return Promise.resolve({
      ready: Promise.resolve(),
      exited,
      stop: () => {
        log.push(`stop ${name}`);
        exit({ exitCode: 0 });
      },
      kill: () => exit({ exitCode: 137 }),
      logs: (async function* () {
        yield `${name} is up\n`;
        await exited;
      })(),
    });
  };
  await writeFile(join(folder, 'etcd.yaml'), manifest(['--a']));
  const { api, host, advance, stop } = await hosted({
    change: (node) => ({
      ...node,
      manifests: folder,
      staticRuntime: new ComponentRuntime({ clock: manualClock(), startComponent, version: '1' }),
    }),
  });
  await advance(0);
  expect(log).toEqual(['start etcd --a']);
  await advance(2_000);
  const mirror = api.get(POD, 'etcd-n1', 'kube-system');
  expect(mirror).toMatchObject({
    metadata: {
      labels: { component: 'etcd', tier: 'control-plane' },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: 'n1',
          uid: api.get(NODE, 'n1', '').metadata.uid,
          controller: true,
        },
      ],
    },
    status: { phase: 'Running', podIP: '127.79.0.0' },
  });
  const { annotations } = mirror.metadata;
  expect(annotations?.['kubernetes.io/config.mirror']).toBe(annotations?.['kubernetes.io/config.hash']);

  const until = async (condition: () => boolean): Promise<void> => {
    for (let i = 0; i < 2_000 && !condition(); i += 1) await advance(RESCAN_MS / 10);
    expect(condition()).toBe(true);
  };
  await writeFile(join(folder, 'etcd.yaml'), manifest(['--b']));
  await until(() => log.length >= 3);
  expect(log).toEqual(['start etcd --a', 'stop etcd', 'start etcd --b']);
  await until(() => api.find(POD, 'etcd-n1', 'kube-system')?.spec?.containers[0]?.command?.[1] === '--b');

  await api.client().resource(POD, 'kube-system').delete('etcd-n1', { gracePeriodSeconds: 0 });
  await until(() => api.find(POD, 'etcd-n1', 'kube-system') !== undefined);
  expect(log).toHaveLength(3);

  await rm(join(folder, 'etcd.yaml'));
  await until(() => api.find(POD, 'etcd-n1', 'kube-system') === undefined);
  expect(log.at(-1)).toBe('stop etcd');
  expect(host.node('n1')!.entries()).toEqual([]);
  await stop();
});

const componentOf = () => {
  const startComponent = () => {
    let exit: (value: { exitCode: number }) => void = () => undefined;
    const exited = new Promise<{ exitCode: number }>((resolve) => (exit = resolve));
    const end = (): void => exit({ exitCode: 0 });
    const logs = (async function* () {
      yield 'up';
      await exited;
    })();
    return Promise.resolve({ ready: Promise.resolve(), exited, stop: end, kill: end, logs });
  };
  return new ComponentRuntime({ clock: manualClock(), startComponent, version: '1' });
};

/** An API that has a pod of the mirror's name which no watch has shown, as after a restore. */
const takenName = (mirrorHash: string) => {
  const api = new FakeApi();
  const subject = readManifest(manifest(['--a']), CONTEXT);
  const mirror = mirrorOf(subject, { name: 'cp-1', uid: 'node-uid' });
  const annotations = { ...mirror.metadata?.annotations, 'kubernetes.io/config.mirror': mirrorHash };
  const [found] = api.seed(POD, { ...mirror, metadata: { ...mirror.metadata, annotations } });
  const options = { client: api.client(), log: silentLog, nodeName: 'cp-1', nodeUid: () => 'node-uid' };
  return { api, subject, found: found!, reconcile: () => reconcileMirror(options, subject, undefined) };
};

test('a mirror that is there already is taken over instead of created for ever', async () => {
  const hash = readManifest(manifest(['--a']), CONTEXT).metadata!.uid!;
  const { api, found, reconcile } = takenName(hash);
  expect(await reconcile()).toMatchObject({
    outcome: 'shown',
    mirror: { metadata: { uid: found.metadata.uid } },
  });
  expect(api.get(POD, 'etcd-cp-1', 'kube-system').metadata.uid).toBe(found.metadata.uid);
});

test('a stale mirror is deleted by its uid and replaced', async () => {
  const { api, found, reconcile } = takenName('of-before');
  expect(await reconcile()).toMatchObject({ outcome: 'shown' });
  const { uid, annotations } = api.get(POD, 'etcd-cp-1', 'kube-system').metadata;
  expect(uid).not.toBe(found.metadata.uid);
  expect(annotations?.['kubernetes.io/config.mirror']).toBe(annotations?.['kubernetes.io/config.hash']);
  const [removal] = api.requests.filter(({ verb }) => verb === 'delete');
  expect(removal?.body).toMatchObject({ preconditions: { uid: found.metadata.uid } });
});

test('a mirror that the API refuses is tried later each time', async () => {
  await writeFile(join(folder, 'etcd.yaml'), manifest(['--a']));
  const api = new FakeApi();
  let tries = 0;
  api.intercept((request) => {
    if (request.verb !== 'create' || request.type.plural !== 'pods') return;
    tries += 1;
    throw new StatusError('Forbidden', 'not today', { code: 403 });
  });
  const { advance, stop } = await hosted({
    api,
    change: (node) => ({ ...node, manifests: folder, staticRuntime: componentOf() }),
  });
  for (let i = 0; i < 60; i += 1) await advance(1_000);
  expect(tries).toBeGreaterThan(2);
  expect(tries).toBeLessThan(10);
  await stop();
});
