import { stringify } from 'yaml';

const READS = ['get', 'list', 'watch'];
const CORE = (...resources: string[]) => ({ group: '', resources });

/**
 * What every new cluster records: each write, access to Secrets, RBAC, sessions in containers, and requests of callers
 * that are not known. Not what the control plane does all the time. Values of Secrets are never part of an event.
 */
export const auditPolicyYaml = (): string =>
  stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    // One event for each request; sessions have two.
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      // Probes, and what clients read before their first request.
      { level: 'None', nonResourceURLs: ['/healthz*', '/livez*', '/readyz*', '/version', '/metrics'] },
      // Leases are renewed every few seconds; events are records themselves.
      {
        level: 'None',
        resources: [
          { group: 'coordination.k8s.io', resources: ['leases'] },
          { group: 'events.k8s.io', resources: ['events'] },
          CORE('events'),
        ],
      },
      // Kubelets report the status of their node and pods. Other changes of nodes are rare, or an attack.
      {
        level: 'None',
        userGroups: ['system:nodes'],
        verbs: ['get', 'update', 'patch'],
        resources: [CORE('nodes/status', 'pods/status')],
      },
      {
        level: 'None',
        users: ['system:apiserver'],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        resources: [
          CORE('endpoints', 'services', 'services/status'),
          { group: 'discovery.k8s.io', resources: ['endpointslices'] },
        ],
      },
      // Controllers ask who may do what, and keep endpoints up to date.
      {
        level: 'None',
        userGroups: ['system:serviceaccounts:kube-system'],
        resources: [
          CORE('endpoints', 'pods/status', 'nodes/status'),
          { group: 'discovery.k8s.io', resources: ['endpointslices'] },
        ],
      },
      // Components ask who may see their metrics each time that these are scraped.
      {
        level: 'None',
        users: ['system:kube-scheduler', 'system:kube-controller-manager', 'system:cloud-controller-manager'],
        verbs: ['create'],
        resources: [{ group: 'authorization.k8s.io', resources: ['subjectaccessreviews'] }],
      },
      // Who read or changed a Secret, and never its value.
      {
        level: 'Metadata',
        resources: [
          CORE('secrets', 'configmaps', 'serviceaccounts/token'),
          { group: 'authentication.k8s.io', resources: ['tokenreviews'] },
        ],
      },
      // Permissions with what they were changed to.
      {
        level: 'RequestResponse',
        verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
        resources: [{ group: 'rbac.authorization.k8s.io' }],
      },
      {
        level: 'Metadata',
        resources: [
          CORE('pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'services/proxy', 'nodes/proxy'),
        ],
      },
      // Reads of everything else by callers that are known.
      { level: 'None', userGroups: ['system:authenticated'], verbs: READS },
      // Every write, and every request of a caller that is not known: failed logins, too.
      { level: 'Metadata' },
    ],
  });
