import { stringify } from 'yaml';

const READS = ['get', 'list', 'watch'];
const CORE = (...resources: string[]) => ({ group: '', resources });
const LEASES = 'coordination.k8s.io';
const SLICES = { group: 'discovery.k8s.io', resources: ['endpointslices'] };
const CONTROLLER = (name: string): string => `system:serviceaccount:kube-system:${name}`;

/** The leader renews its lock every other second. */
const LEADERS = ['kube-scheduler', 'kube-controller-manager', 'cloud-controller-manager'];

/** Beyond this one rule is for all nodes, and a node that tries to renew the lease of another is not recorded. */
const NODES_NAMED_MAX = 100;

const leaseRule = (lease: object): object => ({
  verbs: ['get', 'update'],
  resources: [{ group: LEASES, resources: ['leases'], ...lease }],
});

/** Each renews its own every ten seconds; a policy cannot say so but by name. */
const nodeLeases = (nodes: readonly string[]): readonly object[] => {
  const where = { namespaces: ['kube-node-lease'] };
  return nodes.length > NODES_NAMED_MAX
    ? [{ userGroups: ['system:nodes'], ...where, ...leaseRule({}) }]
    : nodes.map((name) => ({
        users: [`system:node:${name}`],
        ...where,
        ...leaseRule({ resourceNames: [name] }),
      }));
};

/**
 * What components do all the time, each by the one who is allowed to: what they are denied is recorded, as everything
 * of anyone else.
 */
const routine = (nodes: readonly string[]): readonly object[] => [
  // Probes come without credentials.
  { users: ['system:anonymous'], nonResourceURLs: ['/healthz', '/livez', '/readyz'] },
  { users: ['pilothouse-console'], nonResourceURLs: ['/metrics'] },
  ...LEADERS.map((name) => ({
    users: [`system:${name}`],
    namespaces: ['kube-system'],
    ...leaseRule({ resourceNames: [name] }),
  })),
  ...nodeLeases(nodes),
  // Events are records themselves.
  {
    users: [...LEADERS.map((name) => `system:${name}`), 'system:kube-proxy'],
    verbs: ['create', 'update', 'patch'],
    resources: [CORE('events'), { group: 'events.k8s.io', resources: ['events'] }],
  },
  {
    userGroups: ['system:nodes', 'system:serviceaccounts:kube-system'],
    verbs: ['create', 'update', 'patch'],
    resources: [CORE('events'), { group: 'events.k8s.io', resources: ['events'] }],
  },
  {
    users: ['system:apiserver'],
    resources: [
      CORE('endpoints', 'services', 'services/status'),
      SLICES,
      { group: LEASES, resources: ['leases'] },
    ],
  },
  {
    users: ['endpoint-controller', 'endpointslice-controller', 'endpointslicemirroring-controller'].map(
      CONTROLLER,
    ),
    resources: [CORE('endpoints'), SLICES],
  },
  // They ask who may see their metrics each time that these are scraped.
  {
    users: LEADERS.map((name) => `system:${name}`),
    verbs: ['create'],
    resources: [{ group: 'authorization.k8s.io', resources: ['subjectaccessreviews'] }],
  },
];

/**
 * What every new cluster records: each write, each read, sessions in containers and failed logins, without what the
 * control plane does all the time. Components read by watches, so reads are those of people and programs. Values of
 * Secrets are never part of an event. Renewals of the leases of `nodes` are left out.
 */
export const auditPolicyYaml = (nodes: readonly string[]): string =>
  stringify(
    {
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      // One event for each request; sessions have two.
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        ...routine(nodes).map((rule) => ({ level: 'None', ...rule })),
        // Permissions with what they were changed to.
        {
          level: 'RequestResponse',
          verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
          resources: [{ group: 'rbac.authorization.k8s.io' }],
        },
        {
          level: 'Metadata',
          resources: [
            CORE(
              'pods/exec',
              'pods/attach',
              'pods/portforward',
              'pods/proxy',
              'services/proxy',
              'nodes/proxy',
            ),
          ],
        },
        // Reads, also denied ones. A watch is recorded when it ends.
        {
          level: 'Metadata',
          userGroups: ['system:authenticated'],
          verbs: READS,
          omitStages: ['ResponseStarted'],
        },
        // Every write, and every request of a caller that is not known: failed logins, too.
        { level: 'Metadata' },
      ],
    },
    { aliasDuplicateObjects: false },
  );
