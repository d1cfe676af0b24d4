import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../meta/object-meta.ts';
import { formatTime } from '../../meta/time.ts';
import { registryOf } from '../registry.ts';
import { printedKinds, printerOf } from './index.ts';

const NOW_MS = 1_800_000_000_000;
const ago = (seconds: number): string => formatTime(NOW_MS - seconds * 1000);

/** A row as `kubectl get` shows it, by the name of the column. */
const row = (group: string, kind: string, object: KubernetesObject): Record<string, unknown> => {
  const printer = printerOf({ group, kind });
  const cells = printer.cells(
    { ...object, metadata: { name: 'x', creationTimestamp: ago(3600), ...object.metadata } },
    NOW_MS,
  );
  return Object.fromEntries(printer.columns.map(({ name }, at) => [name, cells[at]]));
};
const pod = (spec: object, status: object, metadata: object = {}): Record<string, unknown> =>
  row('', 'Pod', { metadata, spec, status });

test('every kind that is printed is served, and fills all its columns even when it is empty', () => {
  const kinds = new Set(registryOf(36).resources.map((type) => `${type.group}/${type.kind}`)).add(
    'autoscaling/Scale',
  );
  expect(printedKinds().filter((kind) => !kinds.has(kind))).toEqual([]);
  const uneven = [...kinds].filter((name) => {
    const [group, kind] = name.split('/') as [string, string];
    const printer = printerOf({ group, kind });
    return printer.cells({}, NOW_MS).length !== printer.columns.length;
  });
  expect(uneven).toEqual([]);
});

const C = (name: string): object => ({ name });
const RUNNING = { state: { running: {} }, ready: true, restartCount: 0 };

test.each<[string, object, object, object, object]>([
  [
    'runs',
    { containers: [C('a')], nodeName: 'n' },
    { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }], containerStatuses: [{ name: 'a', ...RUNNING }] },
    {},
    {
      Ready: '1/1',
      Status: 'Running',
      Restarts: '0',
      Age: '60m',
      IP: '10.0.0.1',
      Node: 'n',
      'Nominated Node': '<none>',
    },
  ],
  [
    'crashes',
    { containers: [C('a'), C('b')] },
    {
      phase: 'Running',
      containerStatuses: [
        { name: 'a', ...RUNNING },
        {
          name: 'b',
          restartCount: 4,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { finishedAt: ago(30) } },
        },
      ],
    },
    {},
    { Ready: '1/2', Status: 'CrashLoopBackOff', Restarts: '4 (30s ago)' },
  ],
  [
    'initializes',
    { containers: [C('a')], initContainers: [C('i'), C('j')] },
    {
      phase: 'Pending',
      initContainerStatuses: [
        { name: 'i', state: { terminated: { exitCode: 0 } } },
        { name: 'j', state: { running: {} } },
      ],
    },
    {},
    { Ready: '0/1', Status: 'Init:1/2' },
  ],
  [
    'fails to initialize',
    { containers: [C('a')], initContainers: [C('i')] },
    {
      phase: 'Pending',
      initContainerStatuses: [{ name: 'i', restartCount: 2, state: { terminated: { exitCode: 3 } } }],
    },
    {},
    { Ready: '0/1', Status: 'Init:ExitCode:3', Restarts: '2' },
  ],
  [
    'has a sidecar',
    { containers: [C('a')], initContainers: [{ name: 's', restartPolicy: 'Always' }] },
    {
      phase: 'Running',
      initContainerStatuses: [{ name: 's', started: true, ...RUNNING, restartCount: 1 }],
      containerStatuses: [{ name: 'a', ...RUNNING }],
    },
    {},
    { Ready: '2/2', Status: 'Running', Restarts: '1' },
  ],
  [
    'is done',
    { containers: [C('a')] },
    {
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
    },
    {},
    { Ready: '0/1', Status: 'Completed' },
  ],
  [
    'is half done',
    { containers: [C('a'), C('b')] },
    {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }, RUNNING],
    },
    {},
    { Ready: '1/2', Status: 'Running' },
  ],
  [
    'goes away',
    { containers: [C('a')] },
    { phase: 'Running' },
    { deletionTimestamp: ago(1) },
    { Status: 'Terminating' },
  ],
  [
    'is lost',
    { containers: [C('a')] },
    { phase: 'Running', reason: 'NodeLost' },
    { deletionTimestamp: ago(1) },
    { Status: 'Unknown' },
  ],
  [
    'waits at a gate',
    { containers: [C('a')], readinessGates: [{ conditionType: 'g' }, { conditionType: 'h' }] },
    {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
        { type: 'g', status: 'True' },
      ],
    },
    {},
    { Status: 'SchedulingGated', 'Readiness Gates': '1/2' },
  ],
  [
    'was evicted',
    { containers: [C('a')] },
    { phase: 'Failed', reason: 'Evicted' },
    {},
    { Status: 'Evicted' },
  ],
])('a pod that %s says so', (_what, spec, status, metadata, expected) => {
  expect(pod(spec, status, metadata)).toMatchObject(expected);
});

test('a row of a finished pod is marked, so that clients may hide it', () => {
  const { conditions } = printerOf({ group: '', kind: 'Pod' });
  expect(conditions?.({ status: { phase: 'Failed' } })).toEqual([
    { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
  ]);
  expect(conditions?.({ status: { phase: 'Running' } })).toBeUndefined();
});

test.each<[string, string, KubernetesObject, object]>([
  [
    '',
    'Node',
    {
      metadata: { labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'etcd' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: { kubeletVersion: 'v1.36.0', kernelVersion: '6.1', architecture: 'amd64' },
      },
    },
    {
      Status: 'Ready,SchedulingDisabled',
      Roles: 'control-plane,etcd',
      Version: 'v1.36.0',
      'Internal-IP': '10.0.0.1',
      'External-IP': '<none>',
      'Kernel-Version': '6.1 (amd64)',
      'OS-Image': '<unknown>',
    },
  ],
  [
    '',
    'Service',
    {
      spec: {
        type: 'LoadBalancer',
        clusterIPs: ['10.96.0.1'],
        selector: { b: '2', a: '1' },
        ports: [
          { port: 80, nodePort: 30_080, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      },
    },
    {
      'Cluster-IP': '10.96.0.1',
      'External-IP': '<pending>',
      'Port(s)': '80:30080/TCP,53/UDP',
      Selector: 'a=1,b=2',
    },
  ],
  [
    '',
    'Service',
    {
      spec: { type: 'LoadBalancer', externalIPs: ['1.1.1.1'] },
      status: { loadBalancer: { ingress: [{ ip: '9.9.9.9' }, { hostname: 'a.b' }] } },
    },
    { 'External-IP': '9.9.9.9,a.b,1.1.1.1', 'Port(s)': '<none>', Selector: '<none>' },
  ],
  [
    'apps',
    'Deployment',
    {
      spec: {
        replicas: 3,
        selector: { matchLabels: { a: 'b' } },
        template: { spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 },
    },
    {
      Ready: '2/3',
      'Up-to-date': 3,
      Available: 2,
      Age: '60m',
      Containers: 'c',
      Images: 'i',
      Selector: 'a=b',
    },
  ],
  [
    'batch',
    'Job',
    { spec: { completions: 2 }, status: { succeeded: 1, startTime: ago(90), completionTime: ago(30) } },
    { Status: 'Running', Completions: '1/2', Duration: '60s' },
  ],
  [
    'batch',
    'Job',
    { spec: {}, status: { conditions: [{ type: 'Complete', status: 'True' }] } },
    { Status: 'Complete', Completions: '0/1' },
  ],
  [
    'batch',
    'CronJob',
    { spec: { schedule: '* * * * *', suspend: false }, status: { active: [{}], lastScheduleTime: ago(20) } },
    { Schedule: '* * * * *', Timezone: '<none>', Suspend: 'False', Active: 1, 'Last Schedule': '20s' },
  ],
  [
    'autoscaling',
    'HorizontalPodAutoscaler',
    {
      apiVersion: 'autoscaling/v1',
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'd' },
        minReplicas: 1,
        maxReplicas: 5,
        targetCPUUtilizationPercentage: 50,
      },
      status: { currentReplicas: 2, currentCPUUtilizationPercentage: 30 },
    },
    { Reference: 'Deployment/d', Targets: 'cpu: 30%/50%', MinPods: '1', MaxPods: 5, Replicas: 2 },
  ],
  [
    '',
    'Endpoints',
    { subsets: [{ addresses: [{ ip: '1' }, { ip: '2' }, { ip: '3' }, { ip: '4' }], ports: [{ port: 80 }] }] },
    { Endpoints: '1:80,2:80,3:80 + 1 more...' },
  ],
  [
    'discovery.k8s.io',
    'EndpointSlice',
    { addressType: 'IPv4', ports: [{ port: 80 }], endpoints: [{ addresses: ['1'] }] },
    { AddressType: 'IPv4', Ports: '80', Endpoints: '1' },
  ],
  [
    'networking.k8s.io',
    'Ingress',
    {
      spec: {
        ingressClassName: 'n',
        rules: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, { host: 'd' }],
        tls: [{}],
      },
    },
    { Class: 'n', Hosts: 'a,b,c + 1 more...', Address: '', Ports: '80, 443' },
  ],
  [
    '',
    'PersistentVolumeClaim',
    {
      spec: { volumeName: 'v', storageClassName: 's' },
      status: {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
      },
    },
    {
      Status: 'Bound',
      Volume: 'v',
      Capacity: '1Gi',
      'Access Modes': 'RWO,RWX',
      StorageClass: 's',
      VolumeMode: '<unset>',
    },
  ],
  [
    'events.k8s.io',
    'Event',
    {
      apiVersion: 'events.k8s.io/v1',
      type: 'Normal',
      reason: 'Started',
      note: ' hello\n',
      regarding: { kind: 'Pod', name: 'p' },
      eventTime: ago(5),
      reportingController: 'c',
      reportingInstance: 'i',
    },
    {
      'Last Seen': '5s',
      Type: 'Normal',
      Object: 'pod/p',
      Message: 'hello',
      Source: 'c, i',
      Count: 1,
      Name: 'x',
    },
  ],
  [
    '',
    'ResourceQuota',
    { status: { hard: { pods: '4', 'limits.cpu': '2' }, used: { pods: '1' } } },
    { Request: 'pods: 1/4', Limit: 'limits.cpu: 0/2' },
  ],
  [
    'certificates.k8s.io',
    'CertificateSigningRequest',
    {
      spec: { username: 'u', signerName: 's', expirationSeconds: 7200 },
      status: { conditions: [{ type: 'Approved' }], certificate: 'x' },
    },
    { SignerName: 's', Requestor: 'u', RequestedDuration: '120m', Condition: 'Approved,Issued' },
  ],
  [
    'rbac.authorization.k8s.io',
    'RoleBinding',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
    { Role: 'Role/r', Users: 'u', Groups: '', ServiceAccounts: 'n/s' },
  ],
  [
    'apiregistration.k8s.io',
    'APIService',
    {
      spec: { service: { namespace: 'n', name: 's' } },
      status: { conditions: [{ type: 'Available', status: 'False', reason: 'Gone' }] },
    },
    { Service: 'n/s', Available: 'False (Gone)' },
  ],
  ['rbac.authorization.k8s.io', 'ClusterRole', {}, { Name: 'x', 'Created At': ago(3600) }],
  ['', 'ConfigMap', { data: { a: '1' }, binaryData: { b: '2' } }, { Data: 2 }],
])('%s/%s is printed as kubectl shows it', (group, kind, object, expected) => {
  expect(row(group, kind, object)).toMatchObject(expected);
});
