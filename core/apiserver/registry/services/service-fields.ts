import type { KubernetesObject } from '../../../api/meta/index.ts';
import { sameValue } from '../../../api/validation/read.ts';

/** The parts of a service that are given out by the server or hang on its type. */
export interface ServicePort {
  name?: string;
  port: number;
  protocol?: string;
  nodePort?: number;
}

export interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  ports?: ServicePort[];
  healthCheckNodePort?: number;
  externalTrafficPolicy?: string;
  allocateLoadBalancerNodePorts?: boolean;
  loadBalancerClass?: string;
  selector?: Record<string, string>;
}

export const HEADLESS = 'None';

export const specOf = (service: KubernetesObject): ServiceSpec => (service['spec'] ?? {}) as ServiceSpec;

export const needsClusterIp = (spec: ServiceSpec): boolean => spec.type !== 'ExternalName';
export const isHeadless = (spec: ServiceSpec): boolean => spec.clusterIPs?.[0] === HEADLESS;
export const isExposed = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || spec.type === 'LoadBalancer';
export const allocatesNodePorts = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
export const needsHealthCheckPort = (spec: ServiceSpec): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

export const nodePortsOf = (spec: ServiceSpec): number[] =>
  (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));

/** Every port a service holds on nodes. */
export const heldPortsOf = (spec: ServiceSpec): number[] => [
  ...new Set([
    ...nodePortsOf(spec),
    ...(needsHealthCheckPort(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : []),
  ]),
];

export const clusterIpsOf = (spec: ServiceSpec): string[] =>
  needsClusterIp(spec) && !isHeadless(spec) ? (spec.clusterIPs ?? []).filter((ip) => ip !== '') : [];

const sameClusterIps = (spec: ServiceSpec, old: ServiceSpec): boolean =>
  sameValue(spec.clusterIPs, old.clusterIPs);

/** What was given out before and the client left out of a PUT stays. */
export const keepAllocated = (spec: ServiceSpec, old: ServiceSpec): void => {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = [...old.clusterIPs];
  }
  if (allocatesNodePorts(old) && allocatesNodePorts(spec)) {
    const wanted = new Set(nodePortsOf(spec));
    const used = new Set(nodePortsOf(old).filter((port) => wanted.has(port)));
    const byName = new Map((old.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
    for (const port of spec.ports ?? []) {
      const before = byName.get(port.name ?? '');
      if (!port.nodePort && before && !used.has(before)) port.nodePort = before;
    }
  }
  if (
    needsHealthCheckPort(old) &&
    needsHealthCheckPort(spec) &&
    !spec.healthCheckNodePort &&
    old.healthCheckNodePort
  )
    spec.healthCheckNodePort = old.healthCheckNodePort;
};

/** `clusterIP` is what old clients write, `clusterIPs` what new ones do: one follows the other. */
export const joinClusterIps = (spec: ServiceSpec, old: ServiceSpec | undefined): void => {
  if (old === undefined) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (old.clusterIPs?.length && !spec.clusterIPs?.length && old.clusterIP === spec.clusterIP)
    spec.clusterIPs = [...old.clusterIPs];
  if ((old.clusterIP ?? '') === (spec.clusterIP ?? '') || !sameClusterIps(spec, old)) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
};

/** A type that has no use for a field loses it, unless the client changed it as well: then validation speaks. */
export const dropForType = (spec: ServiceSpec, old: ServiceSpec): void => {
  if (needsClusterIp(old) && !needsClusterIp(spec)) {
    if (spec.clusterIP === old.clusterIP && sameClusterIps(spec, old)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (sameValue(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (
    allocatesNodePorts(old) &&
    !allocatesNodePorts(spec) &&
    nodePortsOf(spec).every((port) => nodePortsOf(old).includes(port))
  )
    for (const port of spec.ports ?? []) delete port.nodePort;
  if (
    needsHealthCheckPort(old) &&
    !needsHealthCheckPort(spec) &&
    spec.healthCheckNodePort === old.healthCheckNodePort
  )
    delete spec.healthCheckNodePort;
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts)
      delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass;
  }
  if (isExposed(old) && !isExposed(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy)
    delete spec.externalTrafficPolicy;
};
