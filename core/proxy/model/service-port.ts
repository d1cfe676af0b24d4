import { isIPv4 } from 'node:net';
import { objectKey } from '../../api/meta/index.ts';
import type { Service, Stored } from '../../client/index.ts';

export type Protocol = 'TCP' | 'UDP';
export type TrafficPolicy = 'Cluster' | 'Local';

/** One port of a service, as far as a proxy cares. */
export interface ServicePort {
  /** `namespace/name` of the service. */
  readonly service: string;
  /** Empty where a service has one port without a name. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** Undefined: none. */
  readonly nodePort: number | undefined;
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  /** Those of `ipMode: VIP`; with `Proxy` the load balancer itself listens, and wants its traffic. */
  readonly loadBalancerIPs: readonly string[];
  /** Who may come through the load balancer's addresses; empty: everybody. */
  readonly loadBalancerSourceRanges: readonly string[];
  /** Undefined: no affinity. */
  readonly affinityTimeoutMs: number | undefined;
  readonly internalTrafficPolicy: TrafficPolicy;
  readonly externalTrafficPolicy: TrafficPolicy;
}

/** Says that another proxy looks after the service. */
export const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
const AFFINITY_TIMEOUT_DEFAULT_SECONDS = 10_800;

const isAddress = (text: string | undefined): text is string => text !== undefined && isIPv4(text);

export const portKey = ({ service, name, protocol }: ServicePort): string => `${service}:${name}/${protocol}`;

/** Headless services, names of other hosts and services of other proxies have nothing to listen on. */
export const isProxied = (service: Service): boolean =>
  service.spec?.type !== 'ExternalName' &&
  isAddress(service.spec?.clusterIP) &&
  service.metadata?.labels?.[PROXY_NAME_LABEL] === undefined;

const affinityOf = ({ spec }: Service): number | undefined =>
  spec?.sessionAffinity === 'ClientIP'
    ? 1000 * (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_TIMEOUT_DEFAULT_SECONDS)
    : undefined;

/** The ports of a service; SCTP is left out, having no sockets here. */
export const servicePortsOf = (service: Stored<Service>): readonly ServicePort[] => {
  if (!isProxied(service)) return [];
  const { spec = {}, status } = service;
  const shared = {
    service: objectKey(service),
    clusterIPs: [...new Set([spec.clusterIP, ...(spec.clusterIPs ?? [])])].filter(isAddress),
    externalIPs: (spec.externalIPs ?? []).filter(isAddress),
    loadBalancerIPs: (status?.loadBalancer?.ingress ?? [])
      .filter(({ ipMode }) => (ipMode ?? 'VIP') === 'VIP')
      .map(({ ip }) => ip)
      .filter(isAddress),
    loadBalancerSourceRanges: spec.loadBalancerSourceRanges ?? [],
    affinityTimeoutMs: affinityOf(service),
    internalTrafficPolicy: spec.internalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
    externalTrafficPolicy: spec.externalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
  } as const;
  return (spec.ports ?? []).flatMap(({ name = '', protocol = 'TCP', port, nodePort }) =>
    protocol === 'TCP' || protocol === 'UDP'
      ? [{ ...shared, name, protocol, port, nodePort: nodePort || undefined }]
      : [],
  );
};

/** Where load balancers ask whether a node has endpoints of its own. */
export const healthCheckNodePortOf = ({ spec }: Service): number | undefined =>
  spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
    ? spec.healthCheckNodePort || undefined
    : undefined;
