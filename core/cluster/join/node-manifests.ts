import { PORTS } from '../../base/bind-rules.ts';
import { componentImage } from '../manifests/control-plane.ts';
import { inData, staticPodYaml, type StaticPodSpec } from '../manifests/static-pod.ts';
import type { JoinedNetwork } from '../host/messages.ts';

/** As NodeLocal DNSCache: an address that every machine may have for itself. Pods reach it through their gateway. */
export const NODE_DNS_ADDRESS = '169.254.20.10';
const DNS_PORT = 53;
const LOCAL = '127.0.0.1';

export interface NodeManifestOptions {
  readonly nodeName: string;
  readonly version: string;
  readonly runtime: 'simulated' | 'cri';
  readonly network: JoinedNetwork;
}

const proxyPod = ({ nodeName, version, runtime, network }: NodeManifestOptions): StaticPodSpec => ({
  component: 'kube-proxy',
  labels: { 'k8s-app': 'kube-proxy', tier: 'node' },
  image: componentImage('kube-proxy', version),
  requests: { cpu: '100m' },
  probe: { host: LOCAL, port: PORTS.proxyHealth, scheme: 'HTTP' },
  probes: { liveness: '/livez', startup: '/livez' },
  flags: {
    'cluster-cidr': network.podRange,
    'healthz-bind-address': `${LOCAL}:${PORTS.proxyHealth}`,
    'hostname-override': nodeName,
    kubeconfig: inData('kubeconfig/kube-proxy.conf'),
    'metrics-bind-address': `${LOCAL}:${PORTS.proxyMetrics}`,
    ...(runtime === 'cri' && {
      'local-ranges': network.serviceRange,
      'network-policy-kubeconfig': inData('kubeconfig/network-policy.conf'),
    }),
    'proxy-mode': 'loopback',
  },
});

/** Names for the pods of this machine alone, also while it is cut off. */
const dnsPod = ({ version, runtime, network }: NodeManifestOptions): StaticPodSpec => ({
  component: 'kube-dns',
  labels: { 'k8s-app': 'node-local-dns', tier: 'node' },
  image: componentImage('kube-dns', version),
  requests: { cpu: '50m', memory: '70Mi' },
  probe: { host: LOCAL, port: PORTS.dnsMetrics, scheme: 'HTTP' },
  probes: { liveness: '/health', readiness: '/ready', startup: '/health' },
  flags: {
    'bind-address': runtime === 'cri' ? NODE_DNS_ADDRESS : LOCAL,
    'cluster-domain': network.clusterDomain,
    kubeconfig: inData('kubeconfig/kube-dns.conf'),
    'metrics-bind-address': `${LOCAL}:${PORTS.dnsMetrics}`,
    port: runtime === 'cri' ? DNS_PORT : PORTS.dns,
  },
});

/** By file name, what runs beside the kubelet of a machine that has joined. */
export const nodeManifests = (options: NodeManifestOptions): ReadonlyMap<string, string> =>
  new Map(
    [proxyPod(options), dnsPod(options)].map((pod) => [`${pod.component}.yaml`, staticPodYaml(pod)] as const),
  );
