import { expect, test } from 'vitest';
import { inEnglish, type Finding } from '../../contract/index.ts';
import { diagnose } from './diagnose.ts';
import type { Evidence, HostEvidence } from './evidence.ts';

const NOW_MS = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

const WORKERS = { nodes: ['w-1'], components: [], expected: [] };

const host = (name: string, more: Partial<HostEvidence> = {}): HostEvidence => ({
  name,
  phase: 'running',
  nodes: [name],
  components: COMPONENTS.map((component) => ({ name: component, phase: 'ready' })),
  expected: COMPONENTS,
  absent: [],
  ...more,
});
const member = (name: string, more = {}) => ({ name, isUp: true, dbBytes: 20 << 20, alarms: [], ...more });
const lease = (name: string, more = {}) => ({
  name,
  holder: 'cp-1_x',
  renewedAtMs: NOW_MS - 1_000,
  durationSeconds: 15,
  ...more,
});
const node = (name: string, more = {}) => ({ name, isReady: true, reason: '', isSchedulable: true, ...more });

const healthy: Evidence = {
  nowMs: NOW_MS,
  apiProblem: null,
  serverAheadMs: 0,
  hosts: [host('cp-1'), host('cp-2'), host('cp-3'), host('workers', WORKERS)],
  faults: [],
  members: [member('cp-1'), member('cp-2'), member('cp-3')],
  quotaBytes: 2 ** 31,
  fsyncSeconds: new Map([['cp-1', 0.004]]),
  certificates: [{ name: 'ca', notAfterMs: NOW_MS + 400 * DAY_MS }],
  nodes: [node('cp-1'), node('cp-2'), node('cp-3'), node('w-1')],
  leases: [lease('kube-scheduler'), lease('kube-controller-manager')],
  webhooks: [],
  pending: [],
  waiting: [],
  missingBindings: [],
  gaps: [],
};

const problems = (evidence: Partial<Evidence>): readonly Finding[] =>
  diagnose({ ...healthy, ...evidence }).filter(({ verdict }) => verdict === 'problem');
/** The one problem: its id, its evidence and what repairs it. */
const cause = (evidence: Partial<Evidence>) => {
  const found = problems(evidence);
  expect(found).toHaveLength(1);
  const [{ id, evidence: because = [], fix }] = found as [Finding];
  return { id, because: because.map(inEnglish), fix: fix?.kind === 'action' ? fix.action : fix?.path };
};

test('a healthy cluster has thirteen findings and no problem', () => {
  const findings = diagnose(healthy);
  expect(findings.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 13 }, () => 'ok'));
});

test('a lost quorum is traced to hosts that are down', () => {
  const down = ['cp-2', 'cp-3'];
  expect(
    cause({
      hosts: [host('cp-1'), ...down.map((name) => host(name, { phase: 'killed', components: [] }))],
      members: [member('cp-1'), ...down.map((name) => member(name, { isUp: false }))],
      nodes: [],
      leases: null,
      pending: null,
      webhooks: null,
    }),
  ).toEqual({
    id: 'doctorQuorum',
    because: ['host cp-2 is killed', 'host cp-3 is killed'],
    fix: { kind: 'host.start', host: 'cp-2' },
  });
});

test('a quorum that is cut apart is traced to the injected fault', () => {
  const fault = { kind: 'cut', from: 'cp-1', to: 'cp-2', isOneWay: false, id: 'f1', text: 'cut' } as const;
  expect(
    cause({
      faults: [fault],
      members: [member('cp-1'), member('cp-2', { isUp: false }), member('cp-3', { isUp: false })],
    }),
  ).toEqual({
    id: 'doctorQuorum',
    because: ['injected fault: cut'],
    fix: { kind: 'fault.heal', id: 'f1' },
  });
});

test('an API that does not respond is traced to manifests that were set aside', () => {
  const stopped = { absent: ['kube-apiserver'] };
  const unknown = { nodes: null, leases: null, webhooks: null, pending: null, serverAheadMs: null };
  expect(
    cause({
      ...unknown,
      apiProblem: 'connection refused',
      hosts: [host('cp-1', stopped), host('cp-2', stopped)],
    }),
  ).toMatchObject({
    id: 'doctorApi',
    fix: { kind: 'component.start', host: 'cp-1', component: 'kube-apiserver' },
  });
});

test('a full database is reported with its sizes', () => {
  expect(cause({ members: [member('cp-1', { alarms: ['NOSPACE'] })] })).toEqual({
    id: 'doctorDatabase',
    because: ['cp-1: 20 MiB'],
    fix: { kind: 'etcd.defragment', member: null },
  });
});

test('a slow disk is traced to the fault, or left to a person', () => {
  const fault = { kind: 'slow-disk', host: 'cp-1', delayMs: 200, id: 'f2', text: 'slow' } as const;
  const fsyncSeconds = new Map([['cp-1', 0.2]]);
  expect(cause({ fsyncSeconds, faults: [fault] })).toEqual({
    id: 'doctorDisk',
    because: ['cp-1: 99th percentile 200 ms', 'injected fault: slow'],
    fix: { kind: 'fault.heal', id: 'f2' },
  });
  expect(cause({ fsyncSeconds })).toEqual({
    id: 'doctorDisk',
    because: ['cp-1: 99th percentile 200 ms'],
    fix: '/metrics',
  });
});

test('a disk is judged by the limit that its sentence names', () => {
  const found = (seconds: number): string => {
    const findings = diagnose({ ...healthy, fsyncSeconds: new Map([['cp-1', seconds]]) });
    return inEnglish(findings.find(({ id }) => id === 'doctorDisk')!.message);
  };
  expect([found(0.1), found(0.101)]).toEqual([
    '99th percentile of WAL fsync is at most 100 ms on every member; etcd recommends 10 ms',
    '99th percentile of WAL fsync is above 100 ms on cp-1: writes wait for it, and elections follow',
  ]);
});

test('an expired certificate is to be renewed', () => {
  expect(cause({ certificates: [{ name: 'apiserver', notAfterMs: NOW_MS - 1 }] })).toMatchObject({
    id: 'doctorCertificates',
    fix: { kind: 'certificates.renew' },
  });
});

test('clocks that differ are reported with the fault that skewed them', () => {
  const fault = { kind: 'clock', host: 'cp-1', offsetMs: 60_000, id: 'f3', text: 'skewed' } as const;
  expect(cause({ faults: [fault] })).toMatchObject({ id: 'doctorClock', fix: { id: 'f3' } });
  expect(cause({ serverAheadMs: 60_000, leases: null })).toMatchObject({ id: 'doctorClock', fix: undefined });
});

test('controllers that do not reconcile are traced to a component that was stopped', () => {
  const hosts = ['cp-1', 'cp-2'].map((name) => host(name, { absent: ['kube-controller-manager'] }));
  const leases = [
    lease('kube-scheduler'),
    lease('kube-controller-manager', { renewedAtMs: NOW_MS - 60_000 }),
  ];
  expect(cause({ hosts, leases })).toMatchObject({
    id: 'doctorControllers',
    fix: { kind: 'component.start', host: 'cp-1', component: 'kube-controller-manager' },
  });
});

test('a webhook without endpoints blocks when it fails closed, and only warns otherwise', () => {
  const webhook = { configuration: 'w', name: 'deny.example.com', target: 'a/b', isFailing: true };
  expect(cause({ webhooks: [{ ...webhook, failsClosed: true }] })).toEqual({
    id: 'doctorAdmission',
    because: ['w: deny.example.com calls a/b, which has no endpoints'],
    fix: '/admission',
  });
  expect(problems({ webhooks: [{ ...webhook, failsClosed: false }] })).toEqual([]);
});

test('pods wait for a scheduler that is down, or for nodes that fit', () => {
  const pending = [{ pod: 'shop/web', message: '0/4 nodes are available', ageMs: 60_000 }];
  expect(cause({ pending })).toEqual({
    id: 'doctorScheduling',
    because: ['0/4 nodes are available'],
    fix: '/scheduler',
  });
  const hosts = ['cp-1', 'cp-2'].map((name) => host(name, { absent: ['kube-scheduler'] }));
  const leases = [lease('kube-scheduler', { holder: '' }), lease('kube-controller-manager')];
  expect(cause({ pending, hosts, leases })).toMatchObject({
    id: 'doctorScheduling',
    fix: { kind: 'component.start', component: 'kube-scheduler' },
  });
  // Also before a pod waits for it.
  expect(cause({ hosts, leases }).id).toBe('doctorScheduling');
  expect(problems({ pending: [{ ...pending[0]!, ageMs: 1_000 }] })).toEqual([]);
});

test('a host that never had a component is no outage of it', () => {
  const hosts = [host('cp-1'), host('workers', { ...WORKERS, phase: 'paused', nodes: [] })];
  expect(diagnose({ ...healthy, hosts }).filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
});

test('a node that is not ready is traced to its host', () => {
  const hosts = [host('workers', { ...WORKERS, phase: 'paused' })];
  expect(cause({ hosts, nodes: [node('w-1', { isReady: false, reason: 'no heartbeat' })] })).toEqual({
    id: 'doctorNodes',
    because: ['host workers is paused', 'w-1: no heartbeat'],
    fix: { kind: 'host.resume', host: 'workers' },
  });
});

test('a node of a host that is down is lost before its conditions say so', () => {
  const hosts = [host('workers', { ...WORKERS, phase: 'killed' })];
  expect(cause({ hosts, nodes: [node('w-1')] })).toEqual({
    id: 'doctorNodes',
    because: ['host workers is killed'],
    fix: { kind: 'host.start', host: 'workers' },
  });
});

test('a fresh lease of a component that runs nowhere is held by no one', () => {
  const hosts = ['cp-1', 'cp-2'].map((name) => host(name, { absent: ['kube-scheduler'] }));
  expect(cause({ hosts }).id).toBe('doctorScheduling');
  expect(problems({ hosts: [hosts[0]!, host('cp-2')] })).toEqual([]);
});

test('a component that nothing depends on yet is reported when it is down', () => {
  const components = [{ name: 'kube-dns', phase: 'exited', message: 'out of memory' }];
  expect(cause({ hosts: [host('cp-1'), host('workers', { ...WORKERS, components })] })).toEqual({
    id: 'doctorComponents',
    because: ['kube-dns on workers is exited: out of memory'],
    fix: undefined,
  });
  const stopped = { expected: [...COMPONENTS, 'kube-proxy'], absent: ['kube-proxy'] };
  expect(cause({ hosts: [host('cp-1', stopped)] })).toMatchObject({
    id: 'doctorComponents',
    fix: { kind: 'component.start', component: 'kube-proxy' },
  });
});

test('permissions that were deleted and containers that cannot start are named', () => {
  expect(cause({ missingBindings: ['system:kube-scheduler'] })).toEqual({
    id: 'doctorAccess',
    because: ['ClusterRoleBinding system:kube-scheduler does not exist or has no subjects'],
    fix: '/access',
  });
  const waiting = [{ pod: 'a/web-1', reason: 'ErrImagePull', message: 'not found' }];
  expect(cause({ waiting })).toEqual({
    id: 'doctorWorkloads',
    because: ['a/web-1: ErrImagePull: not found'],
    fix: '/workloads',
  });
});

test('data that a cluster from a kubeconfig does not offer is reported as not supported', () => {
  const findings = diagnose({
    ...healthy,
    hosts: null,
    members: null,
    fsyncSeconds: null,
    certificates: null,
  });
  const absent = findings.filter(({ verdict }) => verdict === 'absent').map(({ id }) => id);
  expect(absent).toEqual([
    'doctorQuorum',
    'doctorDatabase',
    'doctorDisk',
    'doctorCertificates',
    'doctorComponents',
  ]);
});

test('unschedulable pods do not hide a scheduler that is down', () => {
  const hosts = [
    host('cp-1'),
    host('cp-2'),
    host('cp-3', { absent: ['kube-scheduler'], components: [] }),
    host('workers', WORKERS),
  ];
  const pending = [
    { pod: 'shop/giant', ageMs: 600_000, message: '0/4 nodes are available: 4 Insufficient cpu.' },
  ];
  const found = diagnose({ ...healthy, hosts, pending }).find(({ id }) => id === 'doctorScheduling');
  expect((found?.evidence ?? []).map(inEnglish)).toEqual([
    expect.stringContaining('kube-scheduler on cp-3 is stopped'),
    '0/4 nodes are available: 4 Insufficient cpu.',
  ]);
});
