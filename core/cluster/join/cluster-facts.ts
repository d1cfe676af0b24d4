import { parse } from 'yaml';
import { ReasonError } from '../../base/errors.ts';
import { parseIpv4Range } from '../../base/bind-rules.ts';
import { NEWEST_RELEASE, releaseOfVersion } from '../../api/releases/index.ts';
import { CONFIG_MAP, type Client } from '../../client/index.ts';

/** A cluster as kubeadm's ConfigMaps describe it. */
export interface ClusterFacts {
  readonly kubernetesVersion: string;
  readonly podRange: string;
  readonly serviceRange: string;
  readonly kubernetesService: string;
  readonly clusterDomain: string;
  readonly dnsServiceAddress: string;
}

const bad = (what: string): never => {
  throw new ReasonError('BadConfiguration', `${what}; this cluster does not take machines that join`);
};

const addressOf = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

const ipv4RangeIn = (text: unknown, field: string): string => {
  const first = String(text ?? '').split(',')[0] ?? '';
  return parseIpv4Range(first) ? first : bad(`kubeadm-config: networking.${field} is not an IPv4 range`);
};

export const readFacts = (clusterConfiguration: string, kubeletConfiguration: string): ClusterFacts => {
  const cluster = parse(clusterConfiguration) as {
    kubernetesVersion?: unknown;
    networking?: { podSubnet?: unknown; serviceSubnet?: unknown; dnsDomain?: unknown };
  };
  const kubelet = parse(kubeletConfiguration) as { clusterDNS?: unknown };
  const [dns] = Array.isArray(kubelet.clusterDNS) ? (kubelet.clusterDNS as unknown[]) : [];
  const serviceRange = ipv4RangeIn(cluster.networking?.serviceSubnet, 'serviceSubnet');
  const version = String(cluster.kubernetesVersion);
  return {
    kubernetesVersion: releaseOfVersion(version) ? version : NEWEST_RELEASE,
    podRange: ipv4RangeIn(cluster.networking?.podSubnet, 'podSubnet'),
    serviceRange,
    kubernetesService: addressOf(parseIpv4Range(serviceRange)!.first + 1),
    clusterDomain: String(cluster.networking?.dnsDomain ?? 'cluster.local'),
    dnsServiceAddress: typeof dns === 'string' ? dns : bad('kubelet-config names no clusterDNS'),
  };
};

export const fetchFacts = async (client: Client): Promise<ClusterFacts> => {
  const maps = client.resource(CONFIG_MAP, 'kube-system');
  const [cluster, kubelet] = await Promise.all([maps.get('kubeadm-config'), maps.get('kubelet-config')]);
  return readFacts(cluster.data?.['ClusterConfiguration'] ?? '', kubelet.data?.['kubelet'] ?? '');
};
