import type { Labels } from '../../api/selector/index.ts';
import { compileAffinity, NO_AFFINITY, type AffinityTerms } from './affinity-term.ts';
import { podKey, type Affinity, type Pod, type PodVolume } from './objects.ts';
import {
  CPU,
  DEFAULT_MEMORY_REQUEST_BYTES,
  DEFAULT_MILLI_CPU_REQUEST,
  EPHEMERAL_STORAGE,
  isScalarResource,
  MEMORY,
  podRequests,
} from './resources.ts';

export interface HostPort {
  readonly ip: string;
  /** `TCP/8080` */
  readonly port: string;
}

export interface PodRequest {
  readonly milliCpu: number;
  readonly memory: number;
  readonly ephemeralStorage: number;
  readonly scalars: ReadonlyMap<string, number>;
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemory: number;
}

/**
 * A pod as scheduling sees it, parsed once. Immutable: a changed pod is a new one, so identity tells whether
 * what a snapshot holds is current.
 */
export interface PodInfo {
  readonly pod: Pod;
  readonly uid: string;
  readonly key: string;
  readonly namespace: string;
  readonly labels: Labels | undefined;
  readonly priority: number;
  readonly terminating: boolean;
  readonly request: PodRequest;
  readonly hostPorts: readonly HostPort[];
  /** Claims that its volumes name: `namespace/name`. */
  readonly claims: readonly string[];
  readonly affinity: AffinityTerms;
  /** Pods with the same text look the same to every selector and carry the same terms. */
  readonly shape: string;
}

const NO_SCALARS: ReadonlyMap<string, number> = new Map();
const NO_PORTS: readonly HostPort[] = [];
const NO_CLAIMS: readonly string[] = [];
const NO_VOLUMES: readonly PodVolume[] = [];

/** Affinities compiled and kept: pods of one workload share theirs. */
const AFFINITIES_MAX = 4096;
const affinities = new Map<string, AffinityTerms>();

const affinityOf = (affinity: Affinity | undefined, namespace: string, text: string): AffinityTerms => {
  if (text === '') return NO_AFFINITY;
  const key = `${namespace}\n${text}`;
  const known = affinities.get(key);
  if (known) return known;
  const compiled = compileAffinity(affinity, namespace);
  if (affinities.size >= AFFINITIES_MAX) affinities.clear();
  affinities.set(key, compiled);
  return compiled;
};

const requestOf = (pod: Pod): PodRequest => {
  const requests = podRequests(pod, { nonMissing: false });
  let scalars = NO_SCALARS as Map<string, number>;
  for (const [name, amount] of requests) {
    if (!isScalarResource(name)) continue;
    if (scalars === NO_SCALARS) scalars = new Map();
    scalars.set(name, amount);
  }
  const milliCpu = requests.get(CPU) ?? 0;
  const memory = requests.get(MEMORY) ?? 0;
  const missing = pod.spec.containers.length !== 1 || pod.spec.initContainers?.length || !milliCpu || !memory;
  const nonZero = missing ? podRequests(pod, { nonMissing: true }) : requests;
  return {
    milliCpu,
    memory,
    ephemeralStorage: requests.get(EPHEMERAL_STORAGE) ?? 0,
    scalars,
    nonZeroMilliCpu: nonZero.get(CPU) ?? DEFAULT_MILLI_CPU_REQUEST,
    nonZeroMemory: nonZero.get(MEMORY) ?? DEFAULT_MEMORY_REQUEST_BYTES,
  };
};

const hostPortsOf = (pod: Pod): readonly HostPort[] => {
  let ports: HostPort[] | undefined;
  const containers = pod.spec.initContainers
    ? [...pod.spec.initContainers.filter((init) => init.restartPolicy === 'Always'), ...pod.spec.containers]
    : pod.spec.containers;
  for (const container of containers)
    for (const port of container.ports ?? [])
      if (port.hostPort)
        (ports ??= []).push({
          ip: port.hostIP || '0.0.0.0',
          port: `${port.protocol || 'TCP'}/${port.hostPort}`,
        });
  return ports ?? NO_PORTS;
};

const claimsOf = (pod: Pod, namespace: string): readonly string[] => {
  let claims: string[] | undefined;
  for (const { persistentVolumeClaim } of pod.spec.volumes ?? NO_VOLUMES)
    if (persistentVolumeClaim) (claims ??= []).push(`${namespace}/${persistentVolumeClaim.claimName}`);
  return claims ?? NO_CLAIMS;
};

/** Throws when a selector of the pod's affinity is invalid; the API server lets none through. */
export const podInfoOf = (pod: Pod): PodInfo => {
  const { metadata, spec } = pod;
  const namespace = metadata.namespace ?? '';
  const { affinity } = spec;
  const affinityText =
    affinity?.podAffinity || affinity?.podAntiAffinity
      ? JSON.stringify([affinity.podAffinity, affinity.podAntiAffinity])
      : '';
  const terminating = metadata.deletionTimestamp !== undefined;
  return {
    pod,
    uid: metadata.uid ?? '',
    key: podKey(pod),
    namespace,
    labels: metadata.labels,
    priority: spec.priority ?? 0,
    terminating,
    request: requestOf(pod),
    hostPorts: hostPortsOf(pod),
    claims: claimsOf(pod, namespace),
    affinity: affinityOf(affinity, namespace, affinityText),
    shape: `${namespace}\n${terminating ? 't' : ''}${JSON.stringify(metadata.labels ?? null)}${affinityText}`,
  };
};
