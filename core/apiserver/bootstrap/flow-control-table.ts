import type { KubernetesObject } from '../../api/meta/index.ts';

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
export const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';
const QUEUE_LENGTH_LIMIT = 50;

const metadata = (name: string): KubernetesObject['metadata'] & object => ({
  name,
  annotations: { [AUTO_UPDATE]: 'true' },
});

const level = (name: string, spec: object): KubernetesObject => ({
  apiVersion: API_VERSION,
  kind: 'PriorityLevelConfiguration',
  metadata: metadata(name),
  spec,
});

interface Limits {
  readonly shares: number;
  readonly lendablePercent: number;
  readonly queues: number;
  readonly handSize: number;
}

const limited = (name: string, { shares, lendablePercent, queues, handSize }: Limits): KubernetesObject =>
  level(name, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent,
      limitResponse: {
        type: 'Queue',
        queuing: { queues, handSize, queueLengthLimit: QUEUE_LENGTH_LIMIT },
      },
    },
  });

/** The server cannot work without these: their specs are put back whatever was written to them. */
export const MANDATORY_LEVELS: readonly KubernetesObject[] = [
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
];

export const SUGGESTED_LEVELS: readonly KubernetesObject[] = [
  limited('system', { shares: 30, lendablePercent: 33, queues: 64, handSize: 6 }),
  limited('node-high', { shares: 40, lendablePercent: 25, queues: 64, handSize: 6 }),
  limited('leader-election', { shares: 10, lendablePercent: 0, queues: 16, handSize: 4 }),
  limited('workload-high', { shares: 40, lendablePercent: 50, queues: 128, handSize: 6 }),
  limited('workload-low', { shares: 100, lendablePercent: 90, queues: 128, handSize: 6 }),
  limited('global-default', { shares: 20, lendablePercent: 50, queues: 128, handSize: 6 }),
];

const group = (name: string): object => ({ kind: 'Group', group: { name } });
const user = (name: string): object => ({ kind: 'User', user: { name } });
const SYSTEM_ACCOUNTS = { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'kube-system' } };
const EVERYBODY = [group('system:unauthenticated'), group('system:authenticated')];

const resources = (verbs: string[], apiGroups: string[], names: string[], clusterScope: boolean): object => ({
  verbs,
  apiGroups,
  resources: names,
  namespaces: ['*'],
  ...(clusterScope && { clusterScope }),
});
const ALL_RESOURCES = resources(['*'], ['*'], ['*'], true);
const ALL_PATHS = { verbs: ['*'], nonResourceURLs: ['*'] };
const ALL_REQUESTS = { resourceRules: [ALL_RESOURCES], nonResourceRules: [ALL_PATHS] };

interface Schema {
  readonly level: string;
  readonly precedence: number;
  readonly by?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly object[];
  readonly rules?: object;
}

const schema = (name: string, { level: to, precedence, by, subjects, rules }: Schema): KubernetesObject => ({
  apiVersion: API_VERSION,
  kind: 'FlowSchema',
  metadata: metadata(name),
  spec: {
    priorityLevelConfiguration: { name: to },
    matchingPrecedence: precedence,
    ...(by && { distinguisherMethod: { type: by } }),
    rules: [{ subjects, ...(rules ?? ALL_REQUESTS) }],
  },
});

export const MANDATORY_SCHEMAS: readonly KubernetesObject[] = [
  schema('exempt', { level: 'exempt', precedence: 1, subjects: [group('system:masters')] }),
  schema('catch-all', { level: 'catch-all', precedence: 10_000, by: 'ByUser', subjects: EVERYBODY }),
];

export const SUGGESTED_SCHEMAS: readonly KubernetesObject[] = [
  schema('system-nodes', {
    level: 'system',
    precedence: 500,
    by: 'ByUser',
    subjects: [group('system:nodes')],
  }),
  schema('system-node-high', {
    level: 'node-high',
    precedence: 400,
    by: 'ByUser',
    subjects: [group('system:nodes')],
    rules: {
      resourceRules: [
        resources(['*'], [''], ['nodes', 'nodes/status'], true),
        resources(['*'], ['coordination.k8s.io'], ['leases'], false),
      ],
    },
  }),
  schema('probes', {
    level: 'exempt',
    precedence: 2,
    subjects: EVERYBODY,
    rules: { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  }),
  schema('system-leader-election', {
    level: 'leader-election',
    precedence: 100,
    by: 'ByUser',
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), SYSTEM_ACCOUNTS],
    rules: {
      resourceRules: [resources(['get', 'create', 'update'], ['coordination.k8s.io'], ['leases'], false)],
    },
  }),
  schema('kube-controller-manager', {
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    subjects: [user('system:kube-controller-manager')],
  }),
  schema('kube-scheduler', {
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    subjects: [user('system:kube-scheduler')],
  }),
  schema('kube-system-service-accounts', {
    level: 'workload-high',
    precedence: 900,
    by: 'ByNamespace',
    subjects: [SYSTEM_ACCOUNTS],
  }),
  schema('service-accounts', {
    level: 'workload-low',
    precedence: 9000,
    by: 'ByUser',
    subjects: [group('system:serviceaccounts')],
  }),
  schema('global-default', {
    level: 'global-default',
    precedence: 9900,
    by: 'ByUser',
    subjects: EVERYBODY,
  }),
];
