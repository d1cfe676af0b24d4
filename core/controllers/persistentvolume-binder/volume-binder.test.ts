import { expect, test } from 'vitest';
import { NODE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, POD, STORAGE_CLASS } from '../../client/index.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { volumeBinder } from './volume-binder.ts';

const volume = (
  name: string,
  storage: string,
  more: Partial<PersistentVolume['spec']> = {},
): PersistentVolume => ({
  metadata: { name, labels: { disk: name } },
  spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, ...more },
});
const claim = (
  storage: string,
  more: Partial<PersistentVolumeClaim['spec']> = {},
): PersistentVolumeClaim => ({
  metadata: { name: 'data' },
  spec: {
    storageClassName: '',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage } },
    ...more,
  },
});
const storageClass = (more: object = {}) => ({
  metadata: { name: 'local' },
  provisioner: 'pilothouse.dev/local',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  ...more,
});
const start = async (api: FakeApi) => {
  const running = await startOnFake(api, volumeBinder);
  await api.advance(1_000, 100);
  return running;
};
const claimView = (api: FakeApi) => {
  const { spec, status } = api.get(PERSISTENT_VOLUME_CLAIM, 'data');
  return [status?.phase, spec?.volumeName];
};
const phases = (api: FakeApi) =>
  Object.fromEntries(
    api.list(PERSISTENT_VOLUME).map(({ metadata, status }) => [metadata.name, status?.phase]),
  );

test('the smallest volume that is large enough is bound, on both sides', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME, volume('big', '10Gi'), volume('fit', '5Gi'), volume('small', '1Gi'));
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('3Gi'));
  const running = await start(api);
  expect([claimView(api), phases(api)]).toEqual([
    ['Bound', 'fit'],
    { big: 'Available', fit: 'Bound', small: 'Available' },
  ]);
  const bound = api.get(PERSISTENT_VOLUME_CLAIM, 'data');
  expect(bound.status).toMatchObject({ accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } });
  expect(bound.metadata.annotations).toMatchObject({
    'pv.kubernetes.io/bind-completed': 'yes',
    'pv.kubernetes.io/bound-by-controller': 'yes',
  });
  expect(api.get(PERSISTENT_VOLUME, 'fit')).toMatchObject({
    metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
    spec: {
      claimRef: {
        kind: 'PersistentVolumeClaim',
        namespace: 'default',
        name: 'data',
        uid: bound.metadata.uid,
      },
    },
  });
  await running.stop();
});

test.each([
  ['class', volume('v', '5Gi', { storageClassName: 'fast' }), claim('1Gi')],
  ['access mode', volume('v', '5Gi'), claim('1Gi', { accessModes: ['ReadWriteMany'] })],
  ['volume mode', volume('v', '5Gi', { volumeMode: 'Block' }), claim('1Gi')],
  ['size', volume('v', '5Gi'), claim('6Gi')],
  ['selector', volume('v', '5Gi'), claim('1Gi', { selector: { matchLabels: { disk: 'other' } } })],
  ['other claim', volume('v', '5Gi', { claimRef: { namespace: 'default', name: 'else' } }), claim('1Gi')],
])('a volume is not taken for its %s', async (_, one, wanted) => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME, one);
  api.seed(PERSISTENT_VOLUME_CLAIM, wanted);
  const running = await start(api);
  expect(claimView(api)).toEqual(['Pending', undefined]);
  expect(running.events[0]).toBe(
    'Normal FailedBinding default/data: no persistent volumes available for this claim and no storage class is set',
  );
  await running.stop();
});

test('a volume that is set aside for the claim goes before all others', async () => {
  const api = new FakeApi();
  api.seed(
    PERSISTENT_VOLUME,
    volume('fit', '1Gi'),
    volume('mine', '9Gi', { claimRef: { namespace: 'default', name: 'data' } }),
  );
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('1Gi'));
  const running = await start(api);
  expect(claimView(api)).toEqual(['Bound', 'mine']);
  await running.stop();
});

test('a class with immediate binding provisions a volume and deletes it with the claim', async () => {
  const api = new FakeApi();
  api.seed(STORAGE_CLASS, storageClass());
  const [seeded] = api.seed(PERSISTENT_VOLUME_CLAIM, claim('2Gi', { storageClassName: 'local' }));
  const name = `pvc-${seeded!.metadata.uid}`;
  const running = await start(api);
  expect([claimView(api), phases(api)]).toEqual([['Bound', name], { [name]: 'Bound' }]);
  expect(api.get(PERSISTENT_VOLUME, name).spec).toMatchObject({
    capacity: { storage: '2Gi' },
    persistentVolumeReclaimPolicy: 'Delete',
    hostPath: { path: `/var/lib/pilothouse/volumes/${name}` },
  });
  expect(running.events).toEqual([
    `Normal ProvisioningSucceeded default/data: Successfully provisioned volume ${name} using pilothouse.dev/local`,
  ]);
  api.remove(PERSISTENT_VOLUME_CLAIM, 'data');
  await api.advance(1_000, 100);
  expect(api.list(PERSISTENT_VOLUME)).toEqual([]);
  await running.stop();
});

test('a class that waits makes the volume on the node that the scheduler chose', async () => {
  const api = new FakeApi();
  api.seed(STORAGE_CLASS, storageClass({ volumeBindingMode: 'WaitForFirstConsumer' }));
  api.seed(NODE, { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'host1' } } });
  const [seeded] = api.seed(PERSISTENT_VOLUME_CLAIM, claim('2Gi', { storageClassName: 'local' }));
  const running = await start(api);
  expect([claimView(api), new Set(running.events)]).toEqual([
    ['Pending', undefined],
    new Set([
      'Normal WaitForFirstConsumer default/data: waiting for first consumer to be created before binding',
    ]),
  ]);
  api.seed(POD, {
    metadata: { name: 'p' },
    spec: { containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
  });
  await api.settle();
  expect(running.events.at(-1)).toBe(
    'Normal WaitForPodScheduled default/data: waiting for pod p to be scheduled',
  );
  api.edit(PERSISTENT_VOLUME_CLAIM, 'data', ({ metadata }) => {
    metadata.annotations = { 'volume.kubernetes.io/selected-node': 'n1' };
  });
  await api.advance(1_000, 100);
  const name = `pvc-${seeded!.metadata.uid}`;
  expect(claimView(api)).toEqual(['Bound', name]);
  expect(api.get(PERSISTENT_VOLUME, name).spec).toMatchObject({
    local: { path: `/var/lib/pilothouse/volumes/${name}` },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', values: ['host1'] }] }],
      },
    },
  });
  await running.stop();
});

test('a retained volume is released and stays; a claim without its volume is lost', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME, volume('a', '1Gi', { persistentVolumeReclaimPolicy: 'Retain' }));
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('1Gi'));
  const running = await start(api);
  api.remove(PERSISTENT_VOLUME_CLAIM, 'data');
  await api.advance(1_000, 100);
  expect(phases(api)).toEqual({ a: 'Released' });
  api.seed(PERSISTENT_VOLUME, volume('b', '1Gi'));
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('1Gi'));
  await api.advance(1_000, 100);
  expect(claimView(api)).toEqual(['Bound', 'b']);
  api.remove(PERSISTENT_VOLUME, 'b');
  await api.advance(1_000, 100);
  expect([claimView(api)[0], running.events.at(-1)]).toEqual([
    'Lost',
    'Warning ClaimLost default/data: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  ]);
  await running.stop();
});

test('a claim that leaves its class open gets the default one, also later', async () => {
  const api = new FakeApi();
  api.seed(PERSISTENT_VOLUME_CLAIM, {
    ...claim('1Gi'),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const running = await start(api);
  expect(claimView(api)[0]).toBe('Pending');
  api.seed(STORAGE_CLASS, {
    ...storageClass(),
    metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  });
  await api.advance(1_000, 100);
  expect([claimView(api)[0], api.get(PERSISTENT_VOLUME_CLAIM, 'data').spec?.storageClassName]).toEqual([
    'Bound',
    'local',
  ]);
  await running.stop();
});

test('the provisioner of somebody else is reported, and waited for', async () => {
  const api = new FakeApi();
  api.seed(STORAGE_CLASS, storageClass({ provisioner: 'example.com/disk' }));
  api.seed(PERSISTENT_VOLUME_CLAIM, claim('1Gi', { storageClassName: 'local' }));
  const running = await start(api);
  expect(api.get(PERSISTENT_VOLUME_CLAIM, 'data').metadata.annotations).toEqual({
    'volume.kubernetes.io/storage-provisioner': 'example.com/disk',
    'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disk',
  });
  expect(running.events[0]).toContain(
    "Normal ExternalProvisioning default/data: Waiting for a volume to be created either by the external provisioner 'example.com/disk'",
  );
  await running.stop();
});

test('a bind that was cut off between volume and claim is finished', async () => {
  const api = new FakeApi();
  const [seeded] = api.seed(PERSISTENT_VOLUME_CLAIM, claim('1Gi'));
  api.seed(PERSISTENT_VOLUME, {
    ...volume('half', '1Gi', { claimRef: { namespace: 'default', name: 'data', uid: seeded!.metadata.uid } }),
    metadata: { name: 'half', annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
  });
  api.seed(PERSISTENT_VOLUME, volume('aaa', '1Gi'));
  const running = await start(api);
  expect([claimView(api), phases(api)]).toEqual([['Bound', 'half'], { half: 'Bound', aaa: 'Available' }]);
  await running.stop();
});
