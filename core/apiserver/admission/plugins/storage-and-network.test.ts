import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { V1PersistentVolumeClaim } from '../../../api/schema/index.ts';
import { readerOf, verdict, wish } from '../testing/fixtures.ts';
import { alwaysDeny } from './always.ts';
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';

const storageClass = (name: string, madeAt: string, rest: object = {}): KubernetesObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name,
    creationTimestamp: madeAt,
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: 'x',
  ...rest,
});
const claim = (spec: object = {}, rest: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'ns', name: 'c' },
  spec,
  ...rest,
});
const CLAIMS = 'persistentvolumeclaims';

test.each([
  [{}, 'newer'],
  [{ storageClassName: '' }, ''],
  [{ storageClassName: 'mine' }, 'mine'],
])('a claim with %j is of class %j', async (spec, expected) => {
  const reader = readerOf([
    storageClass('older', '2026-01-01T00:00:00Z'),
    storageClass('newer', '2026-01-02T00:00:00Z'),
  ]);
  const object = claim(spec);
  await verdict(defaultStorageClass(reader), wish({ of: CLAIMS, object }));
  expect((object as V1PersistentVolumeClaim).spec?.storageClassName).toBe(expected);
});

test('an ingress without a class gets the default one, but not one with the old annotation', async () => {
  const reader = readerOf([
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'nginx', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    },
  ]);
  const plain: KubernetesObject = { metadata: { name: 'i' }, spec: {} };
  const old: KubernetesObject = {
    metadata: { name: 'i', annotations: { 'kubernetes.io/ingress.class': 'x' } },
    spec: {},
  };
  for (const object of [plain, old])
    await verdict(defaultIngressClass(reader), wish({ of: 'ingresses.networking.k8s.io', object }));
  expect([plain['spec'], old['spec']]).toEqual([{ ingressClassName: 'nginx' }, {}]);
});

test.each([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  [CLAIMS, 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
])('%s are protected by %s, once', async (of, finalizer) => {
  const object: KubernetesObject = { metadata: { name: 'x' } };
  await verdict(storageObjectInUseProtection(), wish({ of, object }));
  await verdict(storageObjectInUseProtection(), wish({ of, object }));
  expect(object.metadata?.finalizers).toEqual([finalizer]);
});

const sized = (storage: string, storageClassName = 'grows', phase = 'Bound'): KubernetesObject =>
  claim({ storageClassName, resources: { requests: { storage } } }, { status: { phase } });

test.each([
  ['a bound claim of a class that allows it', sized('1Gi'), sized('2Gi'), 'ok'],
  ['a claim that stays as it is', sized('1Gi', 'fixed'), sized('1024Mi', 'fixed'), 'ok'],
  [
    'a claim that is not bound',
    sized('1Gi', 'grows', 'Pending'),
    sized('2Gi'),
    'persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded',
  ],
  [
    'a claim of another class',
    sized('1Gi', 'fixed'),
    sized('2Gi', 'fixed'),
    'persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  ],
])('growth of %s', async (_, oldObject, object, expected) => {
  const reader = readerOf([
    storageClass('grows', '', { allowVolumeExpansion: true }),
    storageClass('fixed', ''),
  ]);
  const attributes = wish({ of: CLAIMS, operation: 'UPDATE', object, oldObject });
  expect(await verdict(persistentVolumeClaimResize(reader), attributes)).toBe(expected);
});

test('AlwaysDeny refuses every write', async () => {
  expect(await verdict(alwaysDeny(), wish({ object: claim(), of: CLAIMS }))).toBe(
    'persistentvolumeclaims "c" is forbidden: admission control is denying all modifications',
  );
});
