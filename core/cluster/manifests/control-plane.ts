import { PORTS } from '../../base/bind-rules.ts';
import {
  allocatedPodRange,
  CLUSTER_DOMAIN,
  hostRange,
  loadBalancerRange,
  nodeCidrMaskSize,
  podRange,
  serviceRange,
} from '../config/addresses.ts';
import type { ClusterConfig } from '../config/config.ts';
import {
  controlPlaneName,
  controlPlaneOrdinals,
  nodePlaces,
  planHosts,
  type HostPlan,
} from '../config/hosts.ts';
import { ETCD_VERSION } from '../../etcd/version.ts';
import { AUTHENTICATION_CONFIG_FILE } from './authentication-config.ts';
import {
  AUDIT_FOLDER,
  AUDIT_POLICY_FILE,
  ENCRYPTION_CONFIG_FILE,
  NO_GUARDS,
  type Guards,
} from './guard-files.ts';
import { inData, staticPodYaml, type StaticPodSpec } from './static-pod.ts';

export { PORTS };

/** etcd's image carries its own version, and after it the revision of the packaging. */
const ETCD_IMAGE = `registry.k8s.io/etcd:${ETCD_VERSION}-0`;

export const componentImage = (component: string, version: string): string =>
  `registry.k8s.io/${component}:${version}`;

/** The members as they are now; a host that joins later is told of the others by its own manifest. */
export interface MemberPlan {
  readonly name: string;
  readonly address: string;
}

export interface EtcdStart {
  readonly members: readonly MemberPlan[];
  readonly state: 'new' | 'existing';
}

export interface ManifestOptions {
  readonly config: ClusterConfig;
  readonly host: HostPlan;
  /** The release this host runs, which differs from the cluster's during an upgrade. */
  readonly version: string;
  readonly etcd: EtcdStart;
  readonly guards?: Guards;
}

const peerUrl = (address: string): string => `https://${address}:${PORTS.etcdPeer}`;
const clientUrl = (address: string): string => `https://${address}:${PORTS.etcdClient}`;

export const etcdPod = ({ host, etcd }: ManifestOptions): StaticPodSpec | undefined => {
  if (!host.etcd) return undefined;
  const { name, address } = host.etcd;
  const pki = (file: string): string => inData(`pki/hosts/${name}/etcd/${file}`);
  const authority = inData('pki/etcd/ca.crt');
  return {
    component: 'etcd',
    image: ETCD_IMAGE,
    annotations: { 'kubeadm.kubernetes.io/etcd.advertise-client-urls': clientUrl(address) },
    requests: { cpu: '100m', memory: '100Mi' },
    probe: { host: address, port: PORTS.etcdMetrics, scheme: 'HTTP' },
    probes: { liveness: '/livez', readiness: '/readyz', startup: '/readyz' },
    flags: {
      'advertise-client-urls': clientUrl(address),
      'cert-file': pki('server.crt'),
      'client-cert-auth': true,
      'data-dir': inData(`hosts/${host.name}/etcd`),
      // Twice etcd's default, a fifth of its election timeout: heartbeats are most of what a cluster at rest does.
      'heartbeat-interval': 200,
      'initial-advertise-peer-urls': peerUrl(address),
      'initial-cluster': etcd.members.map((member) => `${member.name}=${peerUrl(member.address)}`),
      'initial-cluster-state': etcd.state,
      'key-file': pki('server.key'),
      'listen-client-urls': clientUrl(address),
      'listen-metrics-urls': `http://${address}:${PORTS.etcdMetrics}`,
      'listen-peer-urls': peerUrl(address),
      name,
      'peer-cert-file': pki('peer.crt'),
      'peer-client-cert-auth': true,
      'peer-key-file': pki('peer.key'),
      'peer-trusted-ca-file': authority,
      'trusted-ca-file': authority,
      'auto-compaction-mode': 'periodic',
      'auto-compaction-retention': '0',
    },
  };
};

const etcdAccess = ({ config, etcd }: ManifestOptions): Record<string, string | readonly string[]> => {
  const { externalEtcd } = config.spec;
  if (externalEtcd)
    return {
      'etcd-servers': externalEtcd.endpoints,
      'etcd-cafile': externalEtcd.caFile,
      'etcd-certfile': externalEtcd.certFile,
      'etcd-keyfile': externalEtcd.keyFile,
    };
  return {
    'etcd-servers': etcd.members.map(({ address }) => clientUrl(address)),
    'etcd-cafile': inData('pki/etcd/ca.crt'),
    'etcd-certfile': inData('pki/apiserver-etcd-client.crt'),
    'etcd-keyfile': inData('pki/apiserver-etcd-client.key'),
  };
};

/** Rotated files are compressed to a twentieth: a host keeps at most about 150 MB for a gigabyte of events. */
export const AUDIT_LIMITS = {
  'audit-log-maxage': 30,
  'audit-log-maxbackup': 10,
  'audit-log-maxsize': 100,
} as const;

/** Upstream's recommendation for servers behind a load balancer: long-lived connections spread over all of them. */
const GOAWAY_CHANCE = 0.001;

/** What an API server is told to record. */
export const auditFlags = (host: string): Readonly<Record<string, string | number | boolean>> => ({
  'audit-log-path': inData(`${AUDIT_FOLDER}/${host}.log`),
  'audit-policy-file': inData(AUDIT_POLICY_FILE),
  // No request waits for the disk.
  'audit-log-mode': 'batch',
  'audit-log-batch-max-size': 1000,
  'audit-log-batch-max-wait': '1s',
  'audit-log-compress': true,
  ...AUDIT_LIMITS,
});

const guardFlags = ({
  guards = NO_GUARDS,
  host,
}: ManifestOptions): Record<string, string | number | boolean> => ({
  ...(guards.isAudited && auditFlags(host.name)),
  ...(guards.isEncrypted && {
    'encryption-provider-config': inData(ENCRYPTION_CONFIG_FILE),
    'encryption-provider-config-automatic-reload': true,
  }),
});

/** Where there is an advertised address, the endpoints of the `kubernetes` Service are not those of the API servers. */
export const RECONCILER_FLAG = '--endpoint-reconciler-type=none';

export const apiServerPod = (options: ManifestOptions): StaticPodSpec => {
  const { config, host, version } = options;
  const pki = (file: string): string => inData(`pki/${file}`);
  return {
    component: 'kube-apiserver',
    image: componentImage('kube-apiserver', version),
    annotations: {
      'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint': `${host.address}:${PORTS.apiServer}`,
    },
    requests: { cpu: '250m' },
    probe: { host: host.address, port: PORTS.apiServer, scheme: 'HTTPS' },
    probes: { liveness: '/livez', readiness: '/readyz', startup: '/livez' },
    ports: [{ name: 'probe-port', containerPort: PORTS.apiServer }],
    flags: {
      'advertise-address': host.address,
      'allow-privileged': true,
      // Probes of kubelets and of the load balancer come without credentials; they need health, and nothing else.
      'authentication-config': inData(AUTHENTICATION_CONFIG_FILE),
      'authorization-mode': ['Node', 'RBAC'],
      'bind-address': host.address,
      'client-ca-file': pki('ca.crt'),
      'enable-admission-plugins': ['NodeRestriction'],
      'enable-bootstrap-token-auth': true,
      ...(config.spec.advertiseAddress !== undefined && { 'endpoint-reconciler-type': 'none' }),
      ...guardFlags(options),
      ...etcdAccess(options),
      'external-hostname': host.name,
      ...(config.spec.controlPlanes > 1 && { 'goaway-chance': GOAWAY_CHANCE }),
      'kubelet-certificate-authority': pki('ca.crt'),
      'kubelet-client-certificate': pki('apiserver-kubelet-client.crt'),
      'kubelet-client-key': pki('apiserver-kubelet-client.key'),
      'kubelet-preferred-address-types': ['InternalIP', 'ExternalIP', 'Hostname'],
      profiling: false,
      'proxy-client-cert-file': pki('front-proxy-client.crt'),
      'proxy-client-key-file': pki('front-proxy-client.key'),
      'requestheader-allowed-names': 'front-proxy-client',
      'requestheader-client-ca-file': pki('front-proxy-ca.crt'),
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-username-headers': 'X-Remote-User',
      'secure-port': PORTS.apiServer,
      // Kubelets renew tokens of pods every hour, so a stolen one is of no use for long.
      'service-account-extend-token-expiration': false,
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': pki('sa.pub'),
      'service-account-signing-key-file': pki('sa.key'),
      'service-cluster-ip-range': serviceRange(config.spec),
      'tls-cert-file': pki(`hosts/${host.name}/apiserver.crt`),
      'tls-private-key-file': pki(`hosts/${host.name}/apiserver.key`),
    },
  };
};

const managerFlags = (host: HostPlan, kubeconfigName: string) => {
  const kubeconfig = inData(`kubeconfig/${kubeconfigName}.conf`);
  return {
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': host.address,
    'client-ca-file': inData('pki/ca.crt'),
    kubeconfig,
    'leader-elect': true,
    profiling: false,
  };
};

/** As kubeadm: the last two let machines join. */
export const CONTROLLERS = '*,bootstrapsigner,tokencleaner';

export const controllerManagerPod = ({ config, host, version }: ManifestOptions): StaticPodSpec => {
  return {
    component: 'kube-controller-manager',
    image: componentImage('kube-controller-manager', version),
    requests: { cpu: '200m' },
    probe: { host: host.address, port: PORTS.controllerManager, scheme: 'HTTPS' },
    probes: { liveness: '/healthz', startup: '/healthz' },
    flags: {
      'allocate-node-cidrs': true,
      ...managerFlags(host, 'controller-manager'),
      'cluster-cidr': allocatedPodRange(config.spec),
      'cluster-name': config.metadata.name,
      'cluster-signing-cert-file': inData('pki/ca.crt'),
      'cluster-signing-key-file': inData('pki/ca.key'),
      controllers: CONTROLLERS,
      'metrics-server-port': PORTS.metricsServer,
      'node-cidr-mask-size': config.spec.runtime === 'cri' ? 24 : nodeCidrMaskSize(nodePlaces(config)),
      'requestheader-client-ca-file': inData('pki/front-proxy-ca.crt'),
      'root-ca-file': inData('pki/ca.crt'),
      'service-account-private-key-file': inData('pki/sa.key'),
      'service-cluster-ip-range': serviceRange(config.spec),
      'use-service-account-credentials': true,
    },
  };
};

export const schedulerPod = ({ host, version }: ManifestOptions): StaticPodSpec => ({
  component: 'kube-scheduler',
  image: componentImage('kube-scheduler', version),
  requests: { cpu: '100m' },
  probe: { host: host.address, port: PORTS.scheduler, scheme: 'HTTPS' },
  probes: { liveness: '/livez', readiness: '/readyz', startup: '/livez' },
  flags: managerFlags(host, 'scheduler'),
});

export const cloudControllerManagerPod = ({ config, host, version }: ManifestOptions): StaticPodSpec => {
  const plan = { network: config.spec.network };
  return {
    component: 'cloud-controller-manager',
    image: componentImage('cloud-controller-manager', version),
    requests: { cpu: '100m' },
    probe: { host: host.address, port: PORTS.cloudControllerManager, scheme: 'HTTPS' },
    probes: { liveness: '/healthz', startup: '/healthz' },
    flags: {
      'cloud-provider': 'loopback',
      ...managerFlags(host, 'cloud-controller-manager'),
      'cluster-cidr': podRange(config.spec),
      'cluster-name': config.metadata.name,
      'load-balancer-range': loadBalancerRange(plan),
      'use-service-account-credentials': true,
    },
  };
};

/**
 * Service addresses are listened on once a machine: by the host of the workers, or by the first control plane where
 * there are none.
 */
const runsProxy = (config: ClusterConfig, host: HostPlan): boolean =>
  host.role === 'workers' ||
  (config.spec.workers === 0 && host.name === controlPlaneName(controlPlaneOrdinals(config)[0]!));

export const kubeProxyPod = ({ config, host, version }: ManifestOptions): StaticPodSpec => ({
  component: 'kube-proxy',
  // Runs on a node and is none of the control plane.
  labels: { 'k8s-app': 'kube-proxy', tier: 'node' },
  image: componentImage('kube-proxy', version),
  requests: { cpu: '100m' },
  probe: { host: host.address, port: PORTS.proxyHealth, scheme: 'HTTP' },
  probes: { liveness: '/livez', startup: '/livez' },
  flags: {
    'cluster-cidr': podRange(config.spec),
    'external-ip-ranges': loadBalancerRange(config.spec),
    'healthz-bind-address': `${host.address}:${PORTS.proxyHealth}`,
    'hostname-override': host.nodes.map(({ name }) => name),
    kubeconfig: inData('kubeconfig/kube-proxy.conf'),
    'metrics-bind-address': `${host.address}:${PORTS.proxyMetrics}`,
    ...(config.spec.runtime === 'cri' && {
      'local-ranges': serviceRange(config.spec),
      'network-policy-kubeconfig': inData('kubeconfig/network-policy.conf'),
    }),
    'nodeport-addresses': hostRange(config.spec),
    'proxy-mode': 'loopback',
  },
});

/** Two servers, so that names resolve while one host is down. */
const DNS_HOSTS = 2;

/** The hosts that run the cluster's DNS: the first control planes. */
export const dnsHosts = (config: ClusterConfig): readonly HostPlan[] =>
  planHosts(config)
    .filter(({ role }) => role === 'control-plane')
    .slice(0, DNS_HOSTS);

/** The label by which CoreDNS is found in every cluster: a real one can take its place behind the same Service. */
export const DNS_LABELS = { 'k8s-app': 'kube-dns' } as const;

export const kubeDnsPod = ({ host, version }: Pick<ManifestOptions, 'host' | 'version'>): StaticPodSpec => ({
  component: 'kube-dns',
  labels: DNS_LABELS,
  image: componentImage('kube-dns', version),
  requests: { cpu: '100m', memory: '70Mi' },
  probe: { host: host.address, port: PORTS.dnsMetrics, scheme: 'HTTP' },
  probes: { liveness: '/health', readiness: '/ready', startup: '/health' },
  ports: [
    { name: 'dns', containerPort: PORTS.dns, protocol: 'UDP' },
    { name: 'dns-tcp', containerPort: PORTS.dns },
    { name: 'metrics', containerPort: PORTS.dnsMetrics },
  ],
  flags: {
    'bind-address': host.address,
    'cluster-domain': CLUSTER_DOMAIN,
    kubeconfig: inData('kubeconfig/kube-dns.conf'),
    'metrics-bind-address': `${host.address}:${PORTS.dnsMetrics}`,
    port: PORTS.dns,
  },
});

/** By file name, what a host's `manifests/` holds. */
export const manifestsOf = (options: ManifestOptions): ReadonlyMap<string, string> => {
  const { host } = options;
  const pods: (StaticPodSpec | undefined)[] = [
    etcdPod(options),
    ...(host.role === 'control-plane'
      ? [
          apiServerPod(options),
          controllerManagerPod(options),
          schedulerPod(options),
          cloudControllerManagerPod(options),
          dnsHosts(options.config).some(({ name }) => name === host.name) ? kubeDnsPod(options) : undefined,
        ]
      : []),
    runsProxy(options.config, host) ? kubeProxyPod(options) : undefined,
  ];
  return new Map(
    pods.flatMap((pod) => (pod ? [[`${pod.component}.yaml`, staticPodYaml(pod)] as const] : [])),
  );
};

/** The members of a new cluster. */
export const initialMembers = (config: ClusterConfig): readonly MemberPlan[] =>
  planHosts(config).flatMap(({ etcd }) => (etcd ? [etcd] : []));
