import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import {
  backend,
  claim,
  cluster,
  cronJob,
  deployment,
  ingress,
  job,
  namespaced,
  RBAC,
  rules,
  selector,
  service,
  template,
} from '../testing/kinds.ts';
import { releaseOf } from '../../releases/release.ts';
import { container, texts } from '../testing/objects.ts';

const created = (kind: string, group: string, object: Obj): string[] =>
  texts(rules(kind, group).create(object));

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
      'spec.updateStrategy: Invalid value: {"Type":"Any","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
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
    'PersistentVolume',
    '',
    cluster({ spec: { accessModes: ['ReadWriteOnce'] } }),
    [
      'spec.capacity: Required value',
      'spec.capacity: Unsupported value: null: supported values: "storage"',
      'spec: Required value: must specify a volume type',
    ],
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
    namespaced({ spec: { ingress: [{ from: [{}], ports: [{ port: 5, endPort: 4, protocol: '' }] }] } }),
    [
      'spec.ingress[0].ports[0].protocol: Unsupported value: "": supported values: "TCP", "UDP", "SCTP"',
      'spec.ingress[0].ports[0].endPort: Invalid value: 5: must be greater than or equal to `port`',
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
    [
      'spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`',
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ],
  ],
  [
    'HorizontalPodAutoscaler',
    'autoscaling',
    namespaced({
      spec: {
        minReplicas: 0,
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    }),
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
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
    'ResourceQuota',
    '',
    namespaced({ spec: { hard: { pods: '1', 'requests.cpu': '1' }, scopes: ['BestEffort', 'Odd'] } }),
    [
      'spec.scopes: Invalid value: ["BestEffort","Odd"]: unsupported scope applied to resource',
      'spec.scopes: Invalid value: ["BestEffort","Odd"]: unsupported scope',
    ],
  ],
  [
    'ResourceQuota',
    '',
    namespaced({
      spec: {
        hard: { pods: '1' },
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'Terminating', operator: 'In', values: [] },
            { scopeName: 'PriorityClass', operator: 'Odd' },
          ],
        },
      },
    }),
    [
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "Odd": not a valid selector operator',
    ],
  ],
  [
    'IngressClass',
    'networking.k8s.io',
    cluster({ spec: { controller: 'a.b/c', parameters: { name: 'x/y', scope: 'Namespace' } } }),
    [
      'spec.parameters.kind: Required value',
      'spec.parameters.name: Invalid value: "x/y": may not contain \'/\'',
      "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
    ],
  ],
  [
    'StorageClass',
    'storage.k8s.io',
    cluster({
      provisioner: 'a/b',
      volumeBindingMode: 'Immediate',
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'a', values: ['b'] }] },
        { matchLabelExpressions: [{ key: 'a', values: ['b'] }] },
      ],
    }),
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'StorageClass',
    'storage.k8s.io',
    cluster({ provisioner: 'a/b', volumeBindingMode: 'Immediate', allowedTopologies: [{}] }),
    ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'Deployment',
    'apps',
    namespaced({
      spec: {
        selector: { matchLabels: { a: 'b' } },
        strategy: { type: 'Odd' },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            restartPolicy: 'Always',
            dnsPolicy: 'ClusterFirst',
            terminationGracePeriodSeconds: 30,
            containers: [
              {
                name: 'c',
                image: 'i',
                imagePullPolicy: 'Always',
                terminationMessagePolicy: 'File',
              },
            ],
          },
        },
      },
    }),
    [
      'spec.strategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
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
  [
    'EndpointSlice',
    'discovery.k8s.io',
    namespaced({
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          hints: { forZones: [{ name: 'a' }, { name: 'a' }], forNodes: Array(9).fill({ name: 'n' }) },
        },
      ],
    }),
    [
      'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
      'endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items',
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
      'spec.request: Invalid value: "x": PEM block type must be CERTIFICATE REQUEST',
      'spec.usages[1]: Duplicate value: "signing"',
      'spec.signerName: Invalid value: "plain": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      'spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  ],
  [
    'EndpointSlice',
    'discovery.k8s.io',
    namespaced({ addressType: 'IPv5', endpoints: [{ addresses: ['x'] }] }),
    ['addressType: Unsupported value: "IPv5": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  [
    'Endpoints',
    '',
    namespaced({ subsets: [{ addresses: [{ ip: 'x' }], ports: [{ port: 1, protocol: 'TCP' }] }] }),
    [
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
    ],
  ],
  [
    'ControllerRevision',
    'apps',
    namespaced({ data: 'x', revision: 1 }),
    ['data: Required value: data must be a valid JSON object'],
  ],
  [
    'ConfigMap',
    '',
    namespaced({ metadata: { name: 'a', namespace: 'ns', finalizers: ['x', 'orphan', 'a.io/b'] } }),
    [
      'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ],
  [
    'Job',
    'batch',
    job({ managedBy: 'me' }),
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
])('%s %# is refused', (kind, group, object, expected) => {
  expect(created(kind, group, object)).toEqual(expected);
});

test('a service is named like a pod since 1.36', () => {
  const named = service({});
  const object = { ...named, metadata: { ...(named['metadata'] as Obj), name: '1-web' } };
  const errors = [35, 36].map((minor) => texts(rules('Service', '').create(object, releaseOf(minor))).length);
  expect(errors).toEqual([1, 0]);
});
