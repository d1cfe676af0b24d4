import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import {
  claim,
  cluster,
  deployment,
  job,
  namespaced,
  RBAC,
  rules,
  service,
  template,
} from '../testing/kinds.ts';
import { stored, texts } from '../testing/objects.ts';

const updated = (kind: string, group: string, before: Obj, change: Obj): string[] => {
  const old = stored(before);
  return texts(rules(kind, group).update({ ...old, ...change }, old));
};

const binding = cluster({ roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' } });

test.each<[string, string, Obj, Obj, readonly string[]]>([
  [
    'Deployment',
    'apps',
    deployment(),
    {
      spec: {
        ...(deployment()['spec'] as Obj),
        selector: { matchLabels: { app: 'web', tier: 'a' } },
        template: { ...template(), metadata: { labels: { app: 'web', tier: 'a' } } },
      },
    },
    ['spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"a"}}: field is immutable'],
  ],
  [
    'ConfigMap',
    '',
    namespaced({ immutable: true, data: { a: '1' } }),
    { data: { a: '2' } },
    ['data: Forbidden: field is immutable when `immutable` is set'],
  ],
  [
    'Secret',
    '',
    namespaced({ type: 'Opaque' }),
    { type: 'other' },
    ['type: Invalid value: "other": field is immutable'],
  ],
  [
    'Service',
    '',
    service(),
    { spec: { ...(service()['spec'] as Obj), clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] } },
    ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
  ],
  [
    'ClusterRoleBinding',
    RBAC,
    binding,
    { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'edit' } },
    [
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef',
    ],
  ],
  [
    'PriorityClass',
    'scheduling.k8s.io',
    cluster({ value: 1 }),
    { value: 2 },
    ['value: Forbidden: may not be changed in an update.'],
  ],
  [
    'StorageClass',
    'storage.k8s.io',
    cluster({ provisioner: 'a.b/c' }),
    { provisioner: 'a.b/d' },
    ['provisioner: Invalid value: "a.b/d": field is immutable'],
  ],
  [
    'Job',
    'batch',
    job({ completions: 1 }),
    { spec: job({ completions: 2 })['spec'] },
    ['spec.completions: Invalid value: 2: field is immutable'],
  ],
  [
    'PersistentVolumeClaim',
    '',
    claim({}, { phase: 'Bound', capacity: { storage: '1Gi' } }),
    { spec: claim({ resources: { requests: { storage: '2Gi' } } })['spec'] },
    [],
  ],
  [
    'PersistentVolumeClaim',
    '',
    claim(),
    { spec: claim({ accessModes: ['ReadWriteMany'] })['spec'] },
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\nspec.accessModes[0]: "ReadWriteOnce" -> "ReadWriteMany"',
    ],
  ],
  [
    'Node',
    '',
    cluster({ spec: { podCIDRs: ['10.0.0.0/24'] } }),
    { spec: { podCIDRs: ['10.0.1.0/24'] } },
    ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
  ],
  [
    'RuntimeClass',
    'node.k8s.io',
    cluster({ handler: 'a' }),
    { handler: 'b' },
    ['handler: Invalid value: "b": field is immutable'],
  ],
  [
    'EndpointSlice',
    'discovery.k8s.io',
    namespaced({ addressType: 'IPv4' }),
    { addressType: 'IPv6' },
    ['addressType: Invalid value: "IPv6": field is immutable'],
  ],
])('the update of a %s %# is judged', (kind, group, before, change, expected) => {
  expect(updated(kind, group, before, change)).toEqual(expected);
});

test('the phase of a namespace follows its deletion', () => {
  const before = stored(cluster({ status: { phase: 'Active' } }));
  expect(
    texts(
      rules('Namespace').subresources?.['status']?.(
        { ...before, status: { phase: 'Terminating' } },
        before,
      ) ?? [],
    ),
  ).toEqual([
    'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
  ]);
});

test('the status of a workload counts what can be', () => {
  const before = stored({ ...deployment(), status: { collisionCount: 2 } });
  const status = {
    replicas: 1,
    readyReplicas: 2,
    availableReplicas: 3,
    updatedReplicas: -1,
    collisionCount: 1,
  };
  expect(
    texts(rules('Deployment', 'apps').subresources?.['status']?.({ ...before, status }, before) ?? []),
  ).toEqual([
    'status.updatedReplicas: Invalid value: -1: must be greater than or equal to 0',
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas',
    'status.collisionCount: Invalid value: 1: cannot be decremented',
  ]);
});
