import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import { container, metadata, podSpec, stored, texts } from '../testing/objects.ts';
import { rulesOf } from '../validate.ts';

const rules = (kind: string, group = ''): NonNullable<ReturnType<typeof rulesOf>> => {
  const found = rulesOf({ group, kind });
  if (found === undefined) throw new Error(`no rules for ${kind}`);
  return found;
};
const created = (kind: string, group: string, object: Obj): string[] =>
  texts(rules(kind, group).create(object));
const updated = (kind: string, group: string, before: Obj, change: Obj): string[] => {
  const old = stored(before);
  return texts(rules(kind, group).update({ ...old, ...change }, old));
};

const template = (spec: Obj = {}): Obj => ({ metadata: { labels: { app: 'web' } }, spec: podSpec(spec) });
const selector = { matchLabels: { app: 'web' } };
const deployment = (spec: Obj = {}): Obj => ({
  metadata: metadata(),
  spec: {
    replicas: 1,
    selector,
    template: template(),
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    progressDeadlineSeconds: 600,
    ...spec,
  },
});
const cluster = (rest: Obj, name = 'x'): Obj => ({ metadata: { name }, ...rest });
const namespaced = (rest: Obj): Obj => ({ metadata: metadata(), ...rest });
const job = (spec: Obj = {}): Obj =>
  namespaced({
    spec: { selector, template: template({ restartPolicy: 'Never' }), completionMode: 'NonIndexed', ...spec },
  });
const cronJob = (spec: Obj = {}): Obj =>
  namespaced({
    spec: {
      schedule: '*/5 * * * *',
      concurrencyPolicy: 'Allow',
      jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }) } },
      ...spec,
    },
  });
const service = (spec: Obj = {}): Obj =>
  namespaced({
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      ...spec,
    },
  });
const claim = (spec: Obj = {}, status: Obj = {}): Obj =>
  namespaced({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    status,
  });
const ingress = (path: Obj): Obj =>
  namespaced({ spec: { rules: [{ host: 'a.example', http: { paths: [path] } }] } });
const backend = { service: { name: 'web', port: { number: 80 } } };
const RBAC = 'rbac.authorization.k8s.io';

test.each<[string, string, Obj]>([
  ['Deployment', 'apps', deployment()],
  ['ReplicaSet', 'apps', deployment()],
  [
    'DaemonSet',
    'apps',
    namespaced({ spec: { selector, template: template(), updateStrategy: { type: 'OnDelete' } } }),
  ],
  [
    'StatefulSet',
    'apps',
    namespaced({
      spec: {
        selector,
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim()['spec'] }],
        template: template({
          containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/d' }] })],
        }),
      },
    }),
  ],
  ['Job', 'batch', job()],
  ['CronJob', 'batch', cronJob({ timeZone: 'Europe/Berlin' })],
  ['Service', '', service()],
  ['Service', '', service({ clusterIP: 'None', clusterIPs: ['None'], ports: [] })],
  ['PersistentVolumeClaim', '', claim()],
  ['Ingress', 'networking.k8s.io', ingress({ path: '/', pathType: 'Prefix', backend })],
  ['Role', RBAC, namespaced({ rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] })],
  ['Lease', 'coordination.k8s.io', namespaced({ spec: { leaseDurationSeconds: 15 } })],
  ['PriorityClass', 'scheduling.k8s.io', cluster({ value: 5 })],
  ['Node', '', cluster({ spec: { podCIDRs: ['10.1.0.0/24'] }, status: { capacity: { cpu: '4' } } })],
])('a good %s passes', (kind, group, object) => {
  expect(created(kind, group, object)).toEqual([]);
});

test.each<[string, string, Obj, readonly string[]]>([
  [
    'Deployment',
    'apps',
    deployment({ template: template({ containers: [container({ image: '' })] }) }),
    ['spec.template.spec.containers[0].image: Required value'],
  ],
  [
    'Deployment',
    'apps',
    deployment({ selector: { matchLabels: { app: 'db' } } }),
    [
      'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ],
  ],
  [
    'Deployment',
    'apps',
    deployment({ selector: {} }),
    ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  ],
  [
    'Deployment',
    'apps',
    deployment({ template: template({ restartPolicy: 'Never' }) }),
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    'Deployment',
    'apps',
    deployment({ strategy: { type: 'Recreate', rollingUpdate: {} } }),
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'Deployment',
    'apps',
    deployment({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
  ],
  [
    'Deployment',
    'apps',
    deployment({ replicas: -1 }),
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'StatefulSet',
    'apps',
    namespaced({
      spec: { selector, template: template(), podManagementPolicy: 'Any', updateStrategy: { type: 'Any' } },
    }),
    [
      "spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'",
      'spec.updateStrategy: Invalid value: {"type":"Any"}: must be \'RollingUpdate\' or \'OnDelete\'',
    ],
  ],
  [
    'Job',
    'batch',
    job({ template: template() }),
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'Job',
    'batch',
    job({ completionMode: 'Indexed' }),
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'CronJob',
    'batch',
    cronJob({ schedule: 'often' }),
    ['spec.schedule: Invalid value: "often": expected exactly 5 fields, found 1: [often]'],
  ],
  [
    'CronJob',
    'batch',
    cronJob({ schedule: 'TZ=UTC * * * * *' }),
    [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [
    'CronJob',
    'batch',
    cronJob({ timeZone: 'Mars/Base' }),
    ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'],
  ],
  [
    'CronJob',
    'batch',
    cronJob({ concurrencyPolicy: 'x' }),
    ['spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"'],
  ],
  ['Service', '', service({ ports: [] }), ['spec.ports: Required value']],
  [
    'Service',
    '',
    service({ ports: [{ port: 0, protocol: 'TCP', targetPort: 80 }] }),
    ['spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ],
  [
    'Service',
    '',
    service({
      ports: [
        { name: 'a', port: 80, protocol: 'TCP', targetPort: 1 },
        { port: 81, protocol: 'TCP', targetPort: 1 },
      ],
    }),
    ['spec.ports[1].name: Required value'],
  ],
  [
    'Service',
    '',
    service({ ports: [{ port: 80, protocol: 'TCP', targetPort: 80, nodePort: 30000 }] }),
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    'Service',
    '',
    service({ type: 'ExternalName', clusterIP: '', clusterIPs: [] }),
    ['spec.externalName: Required value'],
  ],
  [
    'Service',
    '',
    service({ clusterIP: 'nope', clusterIPs: ['nope'] }),
    [
      'spec.clusterIPs[0]: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    'ConfigMap',
    '',
    namespaced({ data: { a: '1' }, binaryData: { a: 'MQ==' } }),
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
  [
    'ConfigMap',
    '',
    namespaced({ data: { a: 'x'.repeat(1024 * 1024 + 1) } }),
    ['[]: Too long: may not be more than 1048576 bytes'],
  ],
  [
    'Secret',
    '',
    namespaced({ type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }),
    ['data[tls.key]: Required value'],
  ],
  [
    'Secret',
    '',
    namespaced({ type: 'kubernetes.io/service-account-token' }),
    ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  ],
  ['Namespace', '', cluster({}, 'a.b'), ['metadata.name: Invalid value: "a.b": must not contain dots']],
  [
    'Node',
    '',
    cluster({ spec: { taints: [{ key: 'a', effect: 'x' }] } }),
    [
      'metadata.taints[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    'PersistentVolumeClaim',
    '',
    claim({ accessModes: [] }),
    ['spec.accessModes: Required value: at least 1 access mode is required'],
  ],
  ['PersistentVolumeClaim', '', claim({ resources: {} }), ['spec.resources[storage]: Required value']],
  [
    'PersistentVolume',
    '',
    cluster({ spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } }),
    ['spec: Required value: must specify a volume type'],
  ],
  [
    'Ingress',
    'networking.k8s.io',
    ingress({ path: 'a', pathType: 'Prefix', backend }),
    ['spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'],
  ],
  [
    'Ingress',
    'networking.k8s.io',
    ingress({ path: '/', pathType: 'Prefix', backend: {} }),
    ['spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'],
  ],
  [
    'NetworkPolicy',
    'networking.k8s.io',
    namespaced({ spec: { ingress: [{ from: [{}], ports: [{ port: 5, endPort: 4 }] }] } }),
    [
      'spec.ingress[0].ports[0].endPort: Invalid value: 4: must be greater than or equal to `port`',
      'spec.ingress[0].from[0]: Required value: must specify a peer',
    ],
  ],
  [
    'NetworkPolicy',
    'networking.k8s.io',
    namespaced({ spec: { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8'] } }] }] } }),
    [
      'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/8": must be a strict subset of `cidr`',
    ],
  ],
  [
    'PodDisruptionBudget',
    'policy',
    namespaced({ spec: { minAvailable: '101%' } }),
    ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    'HorizontalPodAutoscaler',
    'autoscaling',
    namespaced({
      spec: { minReplicas: 3, maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    }),
    ['spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`'],
  ],
  [
    'LimitRange',
    '',
    namespaced({ spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] } }),
    ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
  ],
  [
    'ResourceQuota',
    '',
    namespaced({ spec: { hard: { widgets: '1', pods: '1500m' } } }),
    [
      'spec.hard[widgets]: Invalid value: "widgets": must be a standard resource type or fully qualified',
      'spec.hard[widgets]: Invalid value: "widgets": must be a standard resource for quota',
      'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    ],
  ],
  [
    'Role',
    RBAC,
    namespaced({ rules: [{ verbs: [], nonResourceURLs: ['/x'] }] }),
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ],
  ],
  [
    'ClusterRoleBinding',
    RBAC,
    cluster({
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'a' },
      subjects: [{ kind: 'ServiceAccount', name: 's' }],
    }),
    [
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      'subjects[0].namespace: Required value',
    ],
  ],
  [
    'PriorityClass',
    'scheduling.k8s.io',
    cluster({ value: 2_000_000_000 }),
    ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
  ],
  [
    'StorageClass',
    'storage.k8s.io',
    cluster({ volumeBindingMode: 'Later' }),
    [
      'provisioner: Required value',
      'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  ],
  [
    'Lease',
    'coordination.k8s.io',
    namespaced({ spec: { leaseDurationSeconds: 0 } }),
    ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
  ],
  [
    'Endpoints',
    '',
    namespaced({ subsets: [{}] }),
    ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
  ],
  [
    'EndpointSlice',
    'discovery.k8s.io',
    namespaced({ addressType: 'IPv4', endpoints: [{ addresses: ['::1'] }] }),
    [
      'endpoints[0].addresses: Invalid value: "::1": must be an IPv4 address',
      'endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ],
  ],
  ['RuntimeClass', 'node.k8s.io', cluster({}), ['handler: Required value']],
  [
    'CertificateSigningRequest',
    'certificates.k8s.io',
    cluster({
      spec: { request: 'x', usages: ['signing', 'signing'], signerName: 'plain', expirationSeconds: 5 },
    }),
    [
      'spec.usages[1]: Duplicate value: "signing"',
      'spec.signerName: Invalid value: "plain": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      'spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  ],
])('%s %# is refused', (kind, group, object, expected) => {
  expect(created(kind, group, object)).toEqual(expected);
});

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
