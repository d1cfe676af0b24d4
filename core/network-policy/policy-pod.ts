import type { V1Pod } from '../api/schema/index.ts';
import type { PolicyPod, Protocol } from './policy.ts';

/** Undefined: it has no address of its own, or has ended and keeps none. */
export const policyPod = ({ metadata, spec, status }: V1Pod): PolicyPod | undefined => {
  if (spec?.hostNetwork === true || !status?.podIP) return undefined;
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return undefined;
  return asPolicyPod({ metadata, spec, status } as V1Pod);
};

/** Also of a pod in the network of its host, where its address does not stand for it alone. */
export const asPolicyPod = ({ metadata, spec, status }: V1Pod): PolicyPod => ({
  namespace: metadata?.namespace ?? 'default',
  name: metadata?.name ?? '',
  labels: metadata?.labels ?? {},
  hostIP: status?.hostIP ?? '',
  ports: [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ ports }) =>
    (ports ?? []).map(({ name, containerPort, protocol }) => ({
      name: name ?? '',
      containerPort,
      protocol: (protocol ?? 'TCP') as Protocol,
    })),
  ),
});
