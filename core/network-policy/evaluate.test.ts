import { expect, test } from 'vitest';
import type { V1NetworkPolicy, V1NetworkPolicySpec } from '../api/schema/index.ts';
import { evaluate, explainVerdict, policyPod, type Connection, type PolicyPod } from './index.ts';

const NODE = '10.0.0.1';
const makePod = (
  name: string,
  labels: Record<string, string> = { app: name },
  namespace = 'default',
): PolicyPod => ({
  namespace,
  name,
  labels,
  hostIP: NODE,
  ports: [
    { name: 'http', containerPort: 8080, protocol: 'TCP' },
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
  ],
});
const policy = (name: string, spec: V1NetworkPolicySpec, namespace = 'default'): V1NetworkPolicy => ({
  metadata: { name, namespace },
  spec,
});

const web = { address: '10.1.0.1', pod: makePod('web') };
const client = { address: '10.1.0.2', pod: makePod('client') };
const other = { address: '10.1.0.3', pod: makePod('client', { app: 'client' }, 'other') };
const outside = { address: '192.0.2.1' };
const NAMESPACES: Record<string, Record<string, string>> = {
  default: { 'kubernetes.io/metadata.name': 'default' },
  other: { 'kubernetes.io/metadata.name': 'other', team: 'a' },
};

const judge = (policies: readonly V1NetworkPolicy[], parts: Partial<Connection> = {}) =>
  evaluate(
    { from: client, to: web, protocol: 'TCP', port: 8080, ...parts },
    {
      policiesOf: (namespace) => policies.filter(({ metadata }) => metadata?.namespace === namespace),
      namespaceLabels: (namespace) => NAMESPACES[namespace],
    },
  );
const allows = (policies: readonly V1NetworkPolicy[], parts: Partial<Connection> = {}): boolean =>
  judge(policies, parts).isAllowed;

const WEB = { matchLabels: { app: 'web' } };
const CLIENT = { matchLabels: { app: 'client' } };

test('pods that no policy selects are not isolated', () => {
  expect([
    allows([]),
    allows([policy('other', { podSelector: { matchLabels: { app: 'x' } } })]),
    allows([policy('elsewhere', { podSelector: {} }, 'other')]),
    allows([], { from: outside }),
  ]).toEqual([true, true, true, true]);
});

test('a policy isolates in its directions alone', () => {
  const deny = (...policyTypes: string[]) => [policy('deny', { podSelector: WEB, policyTypes })];
  const reverse = { from: web, to: client };
  expect([
    allows(deny('Ingress')),
    allows(deny('Ingress'), reverse),
    allows(deny('Egress')),
    allows(deny('Egress'), reverse),
  ]).toEqual([false, true, true, false]);
});

test('without policyTypes there is Ingress, and Egress where rules for it are', () => {
  const reverse = { from: web, to: client };
  expect([
    allows([policy('a', { podSelector: WEB })]),
    allows([policy('a', { podSelector: WEB })], reverse),
    allows([policy('a', { podSelector: WEB, egress: [{ ports: [{ port: 1 }] }] })], reverse),
  ]).toEqual([false, true, false]);
});

test.each<[string, V1NetworkPolicySpec, Partial<Connection>, boolean]>([
  ['an empty rule is everyone', { ingress: [{}] }, { from: outside }, true],
  ['pods of the same namespace', { ingress: [{ from: [{ podSelector: CLIENT }] }] }, {}, true],
  ['not those of another', { ingress: [{ from: [{ podSelector: CLIENT }] }] }, { from: other }, false],
  ['nor other pods', { ingress: [{ from: [{ podSelector: WEB }] }] }, {}, false],
  ['every pod of the namespace', { ingress: [{ from: [{ podSelector: {} }] }] }, {}, true],
  ['and no one outside', { ingress: [{ from: [{ podSelector: {} }] }] }, { from: outside }, false],
  [
    'a namespace',
    { ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'a' } } }] }] },
    { from: other },
    true,
  ],
  ['every namespace', { ingress: [{ from: [{ namespaceSelector: {} }] }] }, { from: other }, true],
  [
    'both selectors of one peer',
    { ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'a' } }, podSelector: WEB }] }] },
    { from: other },
    false,
  ],
  [
    'either of two peers',
    { ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'a' } } }, { podSelector: WEB }] }] },
    { from: other },
    true,
  ],
  ['an IP block', { ingress: [{ from: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }] }, { from: outside }, true],
  [
    'an exception of it',
    { ingress: [{ from: [{ ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.0/30'] } }] }] },
    { from: outside },
    false,
  ],
  [
    'another IP block',
    { ingress: [{ from: [{ ipBlock: { cidr: '2001:db8::/32' } }] }] },
    { from: outside },
    false,
  ],
  ['a port', { ingress: [{ ports: [{ port: 8080 }] }] }, {}, true],
  ['another port', { ingress: [{ ports: [{ port: 80 }] }] }, {}, false],
  ['a range of ports', { ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }, {}, true],
  ['outside of it', { ingress: [{ ports: [{ port: 8000, endPort: 8079 }] }] }, {}, false],
  ['a named port', { ingress: [{ ports: [{ port: 'http' }] }] }, {}, true],
  ['a named port of another protocol', { ingress: [{ ports: [{ port: 'dns' }] }] }, { port: 53 }, false],
  [
    'with its protocol',
    { ingress: [{ ports: [{ port: 'dns', protocol: 'UDP' }] }] },
    { port: 53, protocol: 'UDP' },
    true,
  ],
  ['a protocol alone', { ingress: [{ ports: [{ protocol: 'UDP' }] }] }, { protocol: 'UDP' }, true],
  ['peer and port', { ingress: [{ from: [{ podSelector: CLIENT }], ports: [{ port: 80 }] }] }, {}, false],
  ['the port of a Service', { ingress: [{ ports: [{ port: 80 }] }] }, { servicePort: 80 }, true],
  ['the second rule', { ingress: [{ ports: [{ port: 1 }] }, { ports: [{ port: 8080 }] }] }, {}, true],
])('%s', (_, spec, parts, isAllowed) => {
  expect(allows([policy('p', { podSelector: WEB, ...spec })], parts)).toBe(isAllowed);
});

test('egress and ingress must both allow, and policies add up', () => {
  const denyAll = policy('deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  const into = policy('in', { podSelector: WEB, ingress: [{ from: [{ podSelector: CLIENT }] }] });
  const out = policy('out', {
    podSelector: CLIENT,
    policyTypes: ['Egress'],
    egress: [{ to: [{ podSelector: WEB }], ports: [{ port: 'http' }] }],
  });
  expect([allows([denyAll, into]), allows([denyAll, out]), allows([denyAll, into, out])]).toEqual([
    false,
    false,
    true,
  ]);
});

test('a pod reaches itself, and its node and it reach each other', () => {
  const denyAll = [policy('deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })];
  expect([
    allows(denyAll, { from: web }),
    allows(denyAll, { from: { address: NODE } }),
    allows(denyAll, { from: web, to: { address: NODE } }),
    allows(denyAll, { from: { address: '10.0.0.2' } }),
  ]).toEqual([true, true, true, false]);
});

test('a verdict names the policy that decides', () => {
  const connection: Connection = { from: client, to: web, protocol: 'TCP', port: 8080 };
  const deny = policy('deny', { podSelector: WEB });
  const allow = policy('allow', { podSelector: WEB, ingress: [{ from: [{ podSelector: CLIENT }] }] });
  expect([
    explainVerdict(connection, judge([deny])),
    explainVerdict(connection, judge([deny, allow])).at(-1),
    explainVerdict({ ...connection, from: { address: NODE } }, judge([deny], { from: { address: NODE } })).at(
      -1,
    ),
  ]).toEqual([
    [
      'pod default/client (10.1.0.2) to pod default/web (10.1.0.1) on 8080/TCP: denied',
      'egress from pod default/client (10.1.0.2): allowed; no NetworkPolicy selects it',
      'ingress to pod default/web (10.1.0.1): denied; selected by NetworkPolicy default/deny, and no rule matches',
    ],
    'ingress to pod default/web (10.1.0.1): allowed by NetworkPolicy default/allow, ingress rule 1',
    'traffic between a pod and its node is always allowed',
  ]);
});

test('pods in the network of their host and those that have ended have no address of their own', () => {
  const pod = { metadata: { name: 'a' }, spec: { containers: [] }, status: { podIP: '10.1.0.1' } };
  expect([
    policyPod(pod)?.name,
    policyPod({ ...pod, spec: { ...pod.spec, hostNetwork: true } }),
    policyPod({ ...pod, status: { ...pod.status, phase: 'Succeeded' } }),
    policyPod({ ...pod, status: {} }),
  ]).toEqual(['a', undefined, undefined, undefined]);
});
