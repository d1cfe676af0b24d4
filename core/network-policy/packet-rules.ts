import type { Chain, Collection, Ruleset } from '../base/nft-ruleset.ts';
import type { V1NetworkPolicy, V1NetworkPolicyPeer, V1NetworkPolicyPort } from '../api/schema/index.ts';
import { parseCidr, parseIp } from '../api/validation/ip.ts';
import { hasDirection, matchesPeer, policyName, rulesOf, selectsPod } from './evaluate.ts';
import type { Direction, PolicyEnd, PolicyPod, PolicySource } from './policy.ts';

/** A pod of this cluster with the address that packets know it by. */
export interface PacketPod {
  readonly address: string;
  readonly pod: PolicyPod;
}

export interface PacketRulesInput {
  /** All pods of the cluster that have addresses of their own. */
  readonly pods: readonly PacketPod[];
  /** Which of them are on this machine: others are policed on theirs. */
  isLocal(address: string): boolean;
  /**
   * Addresses of other machines of the cluster. Their kube-proxies judge what they pass on, which comes from these addresses.
   */
  readonly machines: readonly string[];
  readonly policies: readonly V1NetworkPolicy[];
  readonly source: PolicySource;
}

const SIDES = {
  Egress: { short: 'egress', own: 'saddr', other: 'daddr', priority: -2 },
  Ingress: { short: 'ingress', own: 'daddr', other: 'saddr', priority: -1 },
} as const;

const isIpv4 = (text: string): boolean => parseIp(text)?.family === 4;
/** As it is written in a rule; undefined: of another family. */
const ipv4Block = (text: string): string | undefined => (parseCidr(text)?.family === 4 ? text : undefined);

const DENY = ['meta l4proto tcp reject with tcp reset', 'reject with icmp type admin-prohibited'];

const setOf = (values: Iterable<string | number>): string => `{ ${[...new Set(values)].join(', ')} }`;

/** Names of chains are short, and a name of a policy may be long: numbers stand for policies, in their order. */
const policyChain = (direction: Direction, index: number): string =>
  `policy-${SIDES[direction].short}-${index}`;
const podChain = (direction: Direction, address: string): string =>
  `pod-${SIDES[direction].short}-${address}`;

const portText = ({ port, endPort }: V1NetworkPolicyPort): string =>
  endPort === undefined ? String(port) : `${port}-${endPort}`;

const protocolOf = ({ protocol }: V1NetworkPolicyPort): string => (protocol ?? 'TCP').toLowerCase();

/** Matches of ports by number, one for each protocol. None: every port and protocol. */
const numberedPorts = (ports: readonly V1NetworkPolicyPort[]): readonly string[] => {
  if (ports.length === 0) return [''];
  const matches: string[] = [];
  for (const protocol of ['tcp', 'udp', 'sctp']) {
    const ofProtocol = ports.filter((one) => protocolOf(one) === protocol && typeof one.port !== 'string');
    if (ofProtocol.length === 0) continue;
    const isAny = ofProtocol.some(({ port }) => port === undefined);
    matches.push(
      isAny ? ` meta l4proto ${protocol}` : ` ${protocol} dport ${setOf(ofProtocol.map(portText))}`,
    );
  }
  return matches;
};

/** A name means what the pod that is connected to calls so: by protocol and number, the addresses of such pods. */
const namedPorts = (
  ports: readonly V1NetworkPolicyPort[],
  targets: readonly PacketPod[],
): readonly { readonly match: string; readonly addresses: readonly string[] }[] => {
  const byMatch = new Map<string, string[]>();
  for (const one of ports) {
    if (typeof one.port !== 'string') continue;
    for (const { address, pod } of targets)
      for (const { name, protocol, containerPort } of pod.ports) {
        if (name !== one.port || protocol.toLowerCase() !== protocolOf(one)) continue;
        const match = `${protocolOf(one)} dport ${containerPort}`;
        byMatch.set(match, [...(byMatch.get(match) ?? []), address]);
      }
  }
  return [...byMatch].map(([match, addresses]) => ({ match, addresses }));
};

interface PeerMatch {
  /** With a blank before it; empty: everyone. */
  readonly text: string;
  readonly pods: readonly PacketPod[];
}

const blockMatch = ({ cidr, except }: NonNullable<V1NetworkPolicyPeer['ipBlock']>, other: string): string => {
  const within = ipv4Block(cidr);
  if (within === undefined) return '';
  const without = (except ?? []).flatMap((text) => ipv4Block(text) ?? []);
  return ` ip ${other} ${within}${without.length === 0 ? '' : ` ip ${other} != ${setOf(without)}`}`;
};

const peerMatches = (
  peers: readonly V1NetworkPolicyPeer[],
  namespace: string,
  direction: Direction,
  { pods, source }: PacketRulesInput,
): readonly PeerMatch[] => {
  if (peers.length === 0) return [{ text: '', pods }];
  const { other } = SIDES[direction];
  const blocks = peers.flatMap((peer): PeerMatch[] => {
    if (!peer.ipBlock) return [];
    const text = blockMatch(peer.ipBlock, other);
    if (text === '') return [];
    const within = pods.filter((pod) => matchesPeer(peer, endOf(pod), namespace, source));
    return [{ text, pods: within }];
  });
  const selecting = peers.filter((peer) => !peer.ipBlock);
  const selected = pods.filter((pod) =>
    selecting.some((peer) => matchesPeer(peer, endOf(pod), namespace, source)),
  );
  if (selected.length === 0) return blocks;
  const text = ` ip ${other} ${setOf(selected.map(({ address }) => address))}`;
  return [...blocks, { text, pods: selected }];
};

const endOf = ({ address, pod }: PacketPod): PolicyEnd => ({ address, pod });

const chainOf = (
  policy: V1NetworkPolicy,
  direction: Direction,
  members: readonly PacketPod[],
  input: PacketRulesInput,
): Chain => {
  const namespace = policy.metadata?.namespace ?? 'default';
  const { own, other } = SIDES[direction];
  const rules = rulesOf(policy, direction).flatMap(({ peers, ports }) =>
    peerMatches(peers, namespace, direction, input).flatMap(({ text, pods }) => {
      const targets = direction === 'Ingress' ? members : pods;
      const place = direction === 'Ingress' ? own : other;
      const named = namedPorts(ports, targets).map(
        ({ match, addresses }) => `${text} ip ${place} ${setOf(addresses)} ${match}`,
      );
      return [...numberedPorts(ports).map((match) => `${text}${match}`), ...named];
    }),
  );
  return { rules: rules.map((rule) => `${rule} accept`.trim()) };
};

/**
 * What NetworkPolicies say, as rules for packets that are forwarded to and from pods of this machine. A pod that policies
 * isolate has a chain for the direction, with those that allow something before it denies the rest; replies pass. Packets from
 * and to the machine itself are not forwarded: it is always allowed.
 */
export const packetRules = (given: PacketRulesInput): Ruleset => {
  const input = {
    ...given,
    pods: given.pods.filter(({ address }) => isIpv4(address)),
    machines: given.machines.filter(isIpv4),
  };
  const chains = new Map<string, Chain>();
  const collections = new Map<string, Collection>();
  const locals = input.pods.filter(({ address }) => input.isLocal(address));
  for (const direction of ['Egress', 'Ingress'] as const) {
    const { short, own, priority } = SIDES[direction];
    const elements = new Map<string, string>();
    const isolating = new Map<string, number[]>();
    for (const [index, policy] of input.policies.entries()) {
      if (!hasDirection(policy, direction)) continue;
      const members = locals.filter(({ pod }) => selectsPod(policy, pod));
      if (members.length === 0) continue;
      chains.set(policyChain(direction, index), chainOf(policy, direction, members, input));
      for (const { address } of members) isolating.set(address, [...(isolating.get(address) ?? []), index]);
    }
    for (const [address, indexes] of isolating) {
      const jumps = indexes.map((index) => `jump ${policyChain(direction, index)}`);
      chains.set(podChain(direction, address), { rules: [...jumps, ...DENY] });
      elements.set(address, `goto ${podChain(direction, address)}`);
    }
    collections.set(`${short}-pods`, { kind: 'map', header: 'type ipv4_addr : verdict', elements });
    const passing = [
      'ct state established,related accept',
      ...(direction === 'Ingress' && input.machines.length > 0
        ? [`ip saddr ${setOf(input.machines)} accept`]
        : []),
    ];
    chains.set(short, {
      base: `type filter hook forward priority ${priority} ; policy accept`,
      rules: [...passing, `ip ${own} vmap @${short}-pods`],
    });
  }
  return { chains, collections };
};

/** In the order of their names: numbers of chains then stay as they are while nothing changes. */
export const inOrder = (policies: readonly V1NetworkPolicy[]): readonly V1NetworkPolicy[] =>
  [...policies].sort((a, b) => (policyName(a) < policyName(b) ? -1 : 1));
