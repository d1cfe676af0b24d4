import { isIPv6 } from 'node:net';
import { alternativeNames, noAlternativeNames, type AlternativeNames } from './alternative-names.ts';
import type { Usage } from './extensions.ts';
import type { KeyAlgorithm } from './keys.ts';
import type { Subject } from './names.ts';

export interface PkiHost {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Whom a cluster's certificates are for. */
export interface ClusterPkiSpec {
  readonly clusterName: string;
  /** Hosts that run an API server. */
  readonly controlPlanes: readonly PkiHost[];
  /** Hosts that run an etcd member: the control planes again, or hosts of their own. */
  readonly etcdMembers: readonly PkiHost[];
  /** Every node: each has an identity of its own. */
  readonly nodes: readonly PkiHost[];
  /** A process that serves the kubelet API of many of these nodes, with one serving certificate for their addresses. */
  readonly sharedKubelet?: PkiHost & { readonly nodes: readonly string[] };
  /** Where clients reach the API: the load balancer. */
  readonly endpoint: { readonly host: string; readonly port: number };
  /** The first address of the service network, under which pods reach the API. */
  readonly serviceAddress: string;
  readonly dnsDomain?: string;
  readonly extraApiServerNames?: readonly string[];
  readonly keyAlgorithm?: KeyAlgorithm;
}

export type AuthorityName = 'kubernetes' | 'etcd' | 'front-proxy';

/** Files of an authority, without `.crt` and `.key`, below `pki/`; and the name kubeadm gives it. */
export const AUTHORITIES: Readonly<Record<AuthorityName, { base: string; commonName: string }>> = {
  kubernetes: { base: 'ca', commonName: 'kubernetes' },
  etcd: { base: 'etcd/ca', commonName: 'etcd-ca' },
  'front-proxy': { base: 'front-proxy-ca', commonName: 'front-proxy-ca' },
};

export const AUTHORITY_NAMES = Object.keys(AUTHORITIES) as AuthorityName[];

/** A certificate to issue: into a pair of files below `pki/`, or into a kubeconfig below `kubeconfig/`. */
export interface LeafPlan {
  readonly target:
    | { readonly kind: 'files'; readonly base: string }
    | { readonly kind: 'kubeconfig'; readonly file: string };
  readonly authority: AuthorityName;
  readonly subject: Subject;
  readonly usages: readonly Usage[];
  readonly alternativeNames: AlternativeNames;
}

const DEFAULT_DNS_DOMAIN = 'cluster.local';

/** Since 1.29 kubeadm binds this group by RBAC, where `system:masters` could not be taken back. */
const CLUSTER_ADMINS = 'kubeadm:cluster-admins';

const files = (
  base: string,
  authority: AuthorityName,
  subject: Subject,
  usages: readonly Usage[],
  names: AlternativeNames = noAlternativeNames,
): LeafPlan => ({ target: { kind: 'files', base }, authority, subject, usages, alternativeNames: names });

const kubeconfig = (file: string, commonName: string, ...organizations: string[]): LeafPlan => ({
  target: { kind: 'kubeconfig', file },
  authority: 'kubernetes',
  subject: { commonName, organizations },
  usages: ['client'],
  alternativeNames: noAlternativeNames,
});

const apiServerNames = (spec: ClusterPkiSpec, host: PkiHost): AlternativeNames =>
  alternativeNames([
    host.name,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${spec.dnsDomain ?? DEFAULT_DNS_DOMAIN}`,
    spec.serviceAddress,
    ...host.addresses,
    spec.endpoint.host,
    ...(spec.extraApiServerNames ?? []),
  ]);

const etcdPlans = ({ name, addresses }: PkiHost): LeafPlan[] => {
  const names = alternativeNames([name, 'localhost', ...addresses, '127.0.0.1', '::1']);
  // Both usages: an etcd member calls itself with its serving certificate.
  const both: Usage[] = ['server', 'client'];
  return [
    files(`hosts/${name}/etcd/server`, 'etcd', { commonName: name }, both, names),
    files(`hosts/${name}/etcd/peer`, 'etcd', { commonName: name }, both, names),
  ];
};

/** `O=system:nodes, CN=system:node:<name>` is what the Node authorizer and NodeRestriction know a node by. */
const nodeIdentity = ({ name }: PkiHost): LeafPlan =>
  kubeconfig(`kubelet-${name}.conf`, `system:node:${name}`, 'system:nodes');

const nodeServing = ({ name, addresses }: PkiHost): LeafPlan =>
  files(
    `hosts/${name}/kubelet`,
    'kubernetes',
    { commonName: `system:node:${name}`, organizations: ['system:nodes'] },
    ['server'],
    alternativeNames([name, ...addresses]),
  );

const sharedServing = ({ name, addresses }: PkiHost): LeafPlan =>
  files(
    `hosts/${name}/kubelet`,
    'kubernetes',
    { commonName: `pilothouse-kubelet-${name}` },
    ['server'],
    alternativeNames([name, ...addresses]),
  );

const nodePlans = ({ nodes, sharedKubelet }: ClusterPkiSpec): LeafPlan[] => {
  const shared = new Set(sharedKubelet?.nodes);
  return [
    ...nodes.map(nodeIdentity),
    ...nodes.filter(({ name }) => !shared.has(name)).map(nodeServing),
    ...(sharedKubelet ? [sharedServing(sharedKubelet)] : []),
  ];
};

/** Every leaf of a cluster, in kubeadm's names, subjects and usages. */
export const planLeaves = (spec: ClusterPkiSpec): LeafPlan[] => [
  ...spec.controlPlanes.map((host) =>
    files(
      `hosts/${host.name}/apiserver`,
      'kubernetes',
      { commonName: 'kube-apiserver' },
      ['server'],
      apiServerNames(spec, host),
    ),
  ),
  files('apiserver-etcd-client', 'etcd', { commonName: 'kube-apiserver-etcd-client' }, ['client']),
  files(
    'apiserver-kubelet-client',
    'kubernetes',
    { commonName: 'kube-apiserver-kubelet-client', organizations: [CLUSTER_ADMINS] },
    ['client'],
  ),
  files('front-proxy-client', 'front-proxy', { commonName: 'front-proxy-client' }, ['client']),
  files('etcd/healthcheck-client', 'etcd', { commonName: 'kube-etcd-healthcheck-client' }, ['client']),
  ...spec.etcdMembers.flatMap(etcdPlans),
  kubeconfig('admin.conf', 'kubernetes-admin', CLUSTER_ADMINS),
  // Works while RBAC is not there yet, or broken.
  kubeconfig('super-admin.conf', 'kubernetes-super-admin', 'system:masters'),
  kubeconfig('controller-manager.conf', 'system:kube-controller-manager'),
  kubeconfig('scheduler.conf', 'system:kube-scheduler'),
  kubeconfig('cloud-controller-manager.conf', 'system:cloud-controller-manager'),
  kubeconfig('kube-proxy.conf', 'system:kube-proxy'),
  kubeconfig('kube-dns.conf', 'system:kube-dns'),
  kubeconfig('network-policy.conf', 'system:network-policy'),
  kubeconfig('console.conf', 'pilothouse-console', 'pilothouse:console'),
  ...nodePlans(spec),
];

export const serverUrl = ({ endpoint }: ClusterPkiSpec): string =>
  `https://${isIPv6(endpoint.host) ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`;
