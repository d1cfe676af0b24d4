import { parseIp } from '../../api/validation/ip.ts';
import { isPodTerminal, type Pod, type Service, type Stored } from '../../client/index.ts';
import type { V1Container, V1ServicePort } from '../../api/schema/index.ts';

/** What pods and services mean to each other, for Endpoints and EndpointSlices alike. */
export type IpFamily = 'IPv4' | 'IPv6';

export const isHeadless = ({ spec }: Service): boolean => spec?.clusterIP === 'None';

/** The families that a service has addresses of, its first one first. */
export const familiesOf = ({ spec }: Service): IpFamily[] => {
  const declared = (spec?.ipFamilies ?? []) as IpFamily[];
  if (declared.length > 0) return declared;
  // Written before services had families: its address tells.
  return [parseIp(spec?.clusterIP ?? '')?.family === 6 ? 'IPv6' : 'IPv4'];
};

/** The address of the family that was given first; undefined when the pod has none. */
export const podAddress = ({ status }: Pod, family: IpFamily): string | undefined => {
  const wanted = family === 'IPv4' ? 4 : 6;
  const all = [...(status?.podIPs ?? []).map(({ ip }) => ip), ...(status?.podIP ? [status.podIP] : [])];
  return all.find((ip) => ip !== undefined && parseIp(ip)?.family === wanted);
};

/** Whether a pod stands behind services at all. */
export const isEndpoint = (pod: Pod, options: { readonly includeTerminating: boolean }): boolean =>
  !isPodTerminal(pod) &&
  (Boolean(pod.status?.podIP) || (pod.status?.podIPs ?? []).length > 0) &&
  (options.includeTerminating || pod.metadata?.deletionTimestamp === undefined);

/** A pod that has a name of its own in the service's domain. */
export const endpointHostname = (pod: Pod, service: Stored<Service>): string | undefined =>
  pod.spec?.hostname &&
  pod.spec.subdomain === service.metadata.name &&
  pod.metadata?.namespace === service.metadata.namespace
    ? pod.spec.hostname
    : undefined;

/** Sidecars are containers that start first and stay. */
const servingContainers = ({ spec }: Pod): V1Container[] => [
  ...(spec?.containers ?? []),
  ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
];

/** The number of a port at this pod; undefined when it has no container port of that name. */
export const portAtPod = (pod: Pod, port: V1ServicePort): number | undefined => {
  const { targetPort = port.port, protocol = 'TCP' } = port;
  if (typeof targetPort === 'number') return targetPort;
  return servingContainers(pod)
    .flatMap(({ ports = [] }) => ports)
    .find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort;
};

/** Whether a change of a pod can change what stands behind a service. */
export const endpointChanged = (before: Pod, after: Pod): boolean => {
  const facts = ({ metadata, spec, status }: Pod): string =>
    JSON.stringify([
      metadata?.deletionTimestamp !== undefined,
      metadata?.labels,
      status?.podIP,
      status?.podIPs,
      status?.phase === 'Succeeded' || status?.phase === 'Failed',
      status?.conditions?.find(({ type }) => type === 'Ready')?.status,
      spec?.nodeName,
      spec?.hostname,
      spec?.subdomain,
      spec?.containers.map(({ ports }) => ports),
    ]);
  return facts(before) !== facts(after);
};
