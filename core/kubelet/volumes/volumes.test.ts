import { expect, test } from 'vitest';
import { container, noObjects, pod } from '../testing/world.ts';
import { expandReferences, resolveEnvironment } from './environment.ts';
import type { ObjectSource } from './object-source.ts';
import { podVolumes } from './pod-volumes.ts';

const objects: ObjectSource = {
  ...noObjects,
  configMap: (_, name) =>
    Promise.resolve(name === 'settings' ? { data: { colour: 'blue', size: 'L' } } : undefined),
  secret: (_, name) =>
    Promise.resolve(
      name === 'login' ? { data: { password: Buffer.from('hunter2').toString('base64') } } : undefined,
    ),
};

const contextOf = (subject: ReturnType<typeof pod>) => ({
  pod: subject,
  hostIP: '127.0.0.9',
  podIPs: ['127.0.1.1'],
  allocatable: { cpu: '4', memory: '8Gi' },
});

test('a projected volume holds ConfigMaps, Secrets, the downward API and a token side by side', async () => {
  const subject = pod(
    {
      volumes: [
        {
          name: 'all',
          projected: {
            sources: [
              { configMap: { name: 'settings', items: [{ key: 'colour', path: 'conf/colour' }] } },
              { secret: { name: 'login' } },
              { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
              { serviceAccountToken: { path: 'token' } },
            ],
          },
        },
      ],
    },
    { labels: { app: 'web', tier: 'a "b"' } },
  );
  const { files } = await podVolumes(() => contextOf(subject), objects).read('all');
  expect(
    Object.fromEntries([...files].map(([path, { content }]) => [path, Buffer.from(content).toString()])),
  ).toEqual({
    'conf/colour': 'blue',
    password: 'hunter2',
    labels: 'app="web"\ntier="a \\"b\\""',
    token: 'token',
  });
});

test('a key that is not there fails the mount, unless it is optional', async () => {
  const items = [{ key: 'nope', path: 'x' }];
  const strict = pod({ volumes: [{ name: 'v', configMap: { name: 'settings', items } }] });
  await expect(podVolumes(() => contextOf(strict), objects).check()).rejects.toMatchObject({
    reason: 'FailedMount',
    message: 'MountVolume.SetUp failed for volume "v" : references non-existent config key: nope',
  });
  const lenient = pod({ volumes: [{ name: 'v', configMap: { name: 'settings', items, optional: true } }] });
  await podVolumes(() => contextOf(lenient), objects).check();
});

test('variables come from all sources and may refer to earlier ones', async () => {
  const spec = container('app', {
    resources: { limits: { cpu: '1500m' } },
    envFrom: [{ prefix: 'CONF_', configMapRef: { name: 'settings' } }],
    env: [
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
      { name: 'URL', value: 'http://$(IP)/$(UNKNOWN)/$$(IP)' },
    ],
  });
  const values = await resolveEnvironment(spec, contextOf(pod({ containers: [spec] })), objects, new Map());
  expect(Object.fromEntries(values)).toEqual({
    CONF_colour: 'blue',
    CONF_size: 'L',
    PASSWORD: 'hunter2',
    IP: '127.0.1.1',
    CPU: '2',
    MEMORY: '8192',
    URL: 'http://127.0.1.1/$(UNKNOWN)/$(IP)',
  });
});

test.each([
  [
    { configMapKeyRef: { name: 'settings', key: 'nope' } },
    "couldn't find key nope in ConfigMap default/settings",
  ],
  [{ secretKeyRef: { name: 'nope', key: 'x' } }, 'secret "nope" not found'],
])('a reference into nothing is a configuration error: %j', async (valueFrom, message) => {
  const spec = container('app', { env: [{ name: 'X', valueFrom }] });
  await expect(resolveEnvironment(spec, contextOf(pod({})), objects, new Map())).rejects.toMatchObject({
    reason: 'CreateContainerConfigError',
    message,
  });
});

test('two dollars are one, and what is unknown stays', () => {
  expect(expandReferences('$$(A) $(A) $(B) $A', new Map([['A', 'x']]))).toBe('$(A) x $(B) $A');
});
