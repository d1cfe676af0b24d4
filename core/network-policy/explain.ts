import type { Connection, PolicyEnd, SideVerdict, PolicyVerdict } from './policy.ts';

const endText = ({ address, pod }: PolicyEnd): string =>
  pod ? `pod ${pod.namespace}/${pod.name} (${address})` : address;

const sideText = ({ direction, isAllowed, isolating, allowedBy }: SideVerdict, end: PolicyEnd): string => {
  const what = `${direction.toLowerCase()} ${direction === 'Egress' ? 'from' : 'to'} ${endText(end)}`;
  if (!end.pod) return `${what}: allowed; not a pod with an address of its own`;
  if (isolating.length === 0) return `${what}: allowed; no NetworkPolicy selects it`;
  if (isAllowed)
    return `${what}: allowed by NetworkPolicy ${allowedBy!.policy}, ${direction.toLowerCase()} rule ${allowedBy!.rule + 1}`;
  return `${what}: denied; selected by NetworkPolicy ${isolating.join(', ')}, and no rule matches`;
};

const EXEMPTIONS = {
  'same-pod': 'a pod always reaches itself',
  node: 'traffic between a pod and its node is always allowed',
} as const;

/** Which policy decides, in lines for people. */
export const explainVerdict = (connection: Connection, verdict: PolicyVerdict): readonly string[] => {
  const { from, to, protocol, port } = connection;
  const head = `${endText(from)} to ${endText(to)} on ${port}/${protocol}: ${verdict.isAllowed ? 'allowed' : 'denied'}`;
  if (verdict.exemption !== undefined) return [head, EXEMPTIONS[verdict.exemption]];
  return [head, sideText(verdict.egress, from), sideText(verdict.ingress, to)];
};
