import type { V1NetworkPolicy, V1NetworkPolicyPeer, V1NetworkPolicyPort } from '../api/schema/index.ts';
import {
  selectorFromObject,
  selectorOrNothing,
  type LabelSelectorObject,
  type Labels,
} from '../api/selector/index.ts';
import { inRange, parseCidr, parseIp } from '../api/validation/ip.ts';
import type {
  Connection,
  Direction,
  PolicyEnd,
  PolicyPod,
  PolicySource,
  SideVerdict,
  PolicyVerdict,
} from './policy.ts';

const NO_LABELS: Labels = {};

/** Policies were validated when they were written: a selector that cannot be read selects nothing. */
const selects = (selector: LabelSelectorObject | undefined, labels: Labels): boolean =>
  selectorOrNothing(() => selectorFromObject(selector ?? {})).matches(labels);

export const policyName = ({ metadata }: V1NetworkPolicy): string =>
  `${metadata?.namespace ?? 'default'}/${metadata?.name ?? ''}`;

/** Whether the policy is about this pod, in the directions that it has. */
export const selectsPod = (policy: V1NetworkPolicy, pod: PolicyPod): boolean =>
  (policy.metadata?.namespace ?? 'default') === pod.namespace &&
  selects(policy.spec?.podSelector, pod.labels);

/** As the API server fills it in: Ingress always, Egress where there are rules for it. */
export const hasDirection = ({ spec }: V1NetworkPolicy, direction: Direction): boolean => {
  const types = spec?.policyTypes ?? [];
  if (types.length > 0) return types.includes(direction);
  return direction === 'Ingress' || (spec?.egress ?? []).length > 0;
};

const isInBlock = (
  address: string,
  { cidr, except }: NonNullable<V1NetworkPolicyPeer['ipBlock']>,
): boolean => {
  const parsed = parseIp(address);
  const within = (text: string): boolean => {
    const range = parseCidr(text);
    return parsed !== undefined && range !== undefined && inRange(parsed, range);
  };
  return within(cidr) && !(except ?? []).some(within);
};

export const matchesPeer = (
  peer: V1NetworkPolicyPeer,
  { address, pod }: PolicyEnd,
  policyNamespace: string,
  source: PolicySource,
): boolean => {
  if (peer.ipBlock) return isInBlock(address, peer.ipBlock);
  if (!pod) return false;
  if (peer.namespaceSelector) {
    const labels = source.namespaceLabels(pod.namespace);
    if (!labels || !selects(peer.namespaceSelector, labels)) return false;
  } else if (pod.namespace !== policyNamespace) return false;
  return !peer.podSelector || selects(peer.podSelector, pod.labels);
};

/** Names of ports are those of the pod that is connected to, in both directions. */
const matchesPort = (rule: V1NetworkPolicyPort, { protocol, port, servicePort, to }: Connection): boolean => {
  if ((rule.protocol ?? 'TCP') !== protocol) return false;
  if (rule.port === undefined) return true;
  const asked = servicePort === undefined ? [port] : [port, servicePort];
  if (typeof rule.port === 'string')
    return (to.pod?.ports ?? []).some(
      (one) => one.name === rule.port && one.protocol === protocol && asked.includes(one.containerPort),
    );
  const [first, last] = [rule.port, rule.endPort ?? rule.port];
  return asked.some((one) => one >= first && one <= last);
};

export interface Rule {
  readonly peers: readonly V1NetworkPolicyPeer[];
  readonly ports: readonly V1NetworkPolicyPort[];
}

export const rulesOf = ({ spec }: V1NetworkPolicy, direction: Direction): readonly Rule[] =>
  direction === 'Ingress'
    ? (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from ?? [], ports: ports ?? [] }))
    : (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to ?? [], ports: ports ?? [] }));

const judgeSide = (
  direction: Direction,
  pod: PolicyPod | undefined,
  connection: Connection,
  source: PolicySource,
): SideVerdict => {
  const policies = pod
    ? source
        .policiesOf(pod.namespace)
        .filter(
          (policy) =>
            hasDirection(policy, direction) && selects(policy.spec?.podSelector, pod.labels ?? NO_LABELS),
        )
    : [];
  const isolating = policies.map(policyName);
  if (isolating.length === 0) return { direction, isAllowed: true, isolating, allowedBy: undefined };
  const other = direction === 'Ingress' ? connection.from : connection.to;
  for (const policy of policies)
    for (const [index, { peers, ports }] of rulesOf(policy, direction).entries()) {
      const namespace = policy.metadata?.namespace ?? 'default';
      const isPeer = peers.length === 0 || peers.some((peer) => matchesPeer(peer, other, namespace, source));
      const isPort = ports.length === 0 || ports.some((port) => matchesPort(port, connection));
      if (isPeer && isPort)
        return {
          direction,
          isAllowed: true,
          isolating,
          allowedBy: { policy: policyName(policy), rule: index },
        };
    }
  return { direction, isAllowed: false, isolating, allowedBy: undefined };
};

/**
 * Names of the policies that isolate a pod in a direction where no rule of any of them is about the port: no traffic gets
 * through. None where somebody may, or where the pod is not isolated.
 */
export const closedBy = (
  policies: readonly V1NetworkPolicy[],
  pod: PolicyPod,
  {
    direction,
    protocol,
    port,
    servicePort,
  }: Pick<Connection, 'protocol' | 'port' | 'servicePort'> & { readonly direction: Direction },
): readonly string[] => {
  const isolating = policies.filter((policy) => hasDirection(policy, direction) && selectsPod(policy, pod));
  const nobody = { address: '' };
  const connection: Connection = {
    from: direction === 'Egress' ? { address: '', pod } : nobody,
    to: direction === 'Ingress' ? { address: '', pod } : nobody,
    protocol,
    port,
    servicePort,
  };
  const isOpen = isolating.some((policy) =>
    rulesOf(policy, direction).some(
      ({ ports }) => ports.length === 0 || ports.some((one) => matchesPort(one, connection)),
    ),
  );
  return isOpen ? [] : isolating.map(({ metadata }) => metadata?.name ?? '');
};

const isSamePod = ({ from, to }: Connection): boolean =>
  from.pod !== undefined && from.pod.namespace === to.pod?.namespace && from.pod.name === to.pod.name;

/** Traffic between a pod and the node that it runs on is always allowed: probes come from there. */
const isWithNode = ({ from, to }: Connection): boolean =>
  (from.pod !== undefined && to.pod === undefined && to.address === from.pod.hostIP) ||
  (to.pod !== undefined && from.pod === undefined && from.address === to.pod.hostIP);

/**
 * Whether policies of networking.k8s.io/v1 allow a connection: both the egress of the pod that connects and the ingress
 * of the pod that is connected to must. A pod that no policy selects in a direction is not isolated in it.
 */
export const evaluate = (connection: Connection, source: PolicySource): PolicyVerdict => {
  const exemption = isSamePod(connection) ? 'same-pod' : isWithNode(connection) ? 'node' : undefined;
  const side = (direction: Direction, pod: PolicyPod | undefined): SideVerdict =>
    exemption === undefined
      ? judgeSide(direction, pod, connection, source)
      : { direction, isAllowed: true, isolating: [], allowedBy: undefined };
  const egress = side('Egress', connection.from.pod);
  const ingress = side('Ingress', connection.to.pod);
  return { isAllowed: egress.isAllowed && ingress.isAllowed, egress, ingress, exemption };
};
