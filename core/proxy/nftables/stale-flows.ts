import type { ServedPort } from './service-rules.ts';

/** A flow of datagrams that the kernel would keep sending to a pod that is gone. */
export interface StaleFlow {
  /** `-D` of conntrack(8), without `conntrack` itself. */
  readonly args: readonly string[];
}

const keyOf = ({ port }: ServedPort): string => `${port.service}/${port.name}/${port.protocol}`;

const addressesOf = ({ port }: ServedPort): readonly string[] => [
  ...new Set([...port.clusterIPs, ...port.externalIPs, ...port.loadBalancerIPs]),
];

/**
 * UDP has no end: after a change, flows to endpoints that no longer serve are deleted, and all flows of a Service that had
 * no endpoints before, since those are not translated at all.
 */
export const staleFlows = (
  before: readonly ServedPort[],
  after: readonly ServedPort[],
): readonly StaleFlow[] => {
  const next = new Map(after.map((served) => [keyOf(served), served]));
  const flows: StaleFlow[] = [];
  for (const old of before) {
    if (old.port.protocol !== 'UDP') continue;
    const now = next.get(keyOf(old));
    const serving = new Set(
      (now?.endpoints ?? []).filter(({ isServing }) => isServing).map(({ name }) => name),
    );
    const gone = old.endpoints.filter(({ name, isServing }) => isServing && !serving.has(name));
    const isRevived = serving.size > 0 && !old.endpoints.some(({ isServing }) => isServing);
    for (const address of addressesOf(now ?? old)) {
      const to = [
        '-D',
        '-f',
        'ipv4',
        '-p',
        'udp',
        '--orig-dst',
        address,
        '--orig-port-dst',
        String(old.port.port),
      ];
      if (isRevived) flows.push({ args: to });
      for (const { host } of gone) flows.push({ args: [...to, '--reply-src', host] });
    }
    const { nodePort } = old.port;
    if (nodePort === undefined) continue;
    const to = ['-D', '-f', 'ipv4', '-p', 'udp', '--orig-port-dst', String(nodePort)];
    if (isRevived) flows.push({ args: to });
    for (const { host } of gone) flows.push({ args: [...to, '--reply-src', host] });
  }
  return flows;
};
