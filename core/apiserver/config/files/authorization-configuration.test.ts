import { expect, test } from 'vitest';
import { errorText } from '../../../api/field/field-error.ts';
import { parseAuthorizationConfiguration } from './authorization-configuration.ts';

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n';
const WEBHOOK = `- type: Webhook
  name: corp
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: Deny
    cacheUnauthorizedRequests: false
    connectionInfo: { type: KubeConfigFile, kubeConfigFile: /etc/corp.conf }
    matchConditions: [{ expression: "true" }]
`;

test('authorizers are read in order, with the defaults of a webhook', () => {
  const text = `${HEAD}- { type: Node, name: node }\n${WEBHOOK}- { type: RBAC, name: rbac }\n`;
  expect(parseAuthorizationConfiguration(text)).toEqual({
    errors: [],
    authorizers: [
      { type: 'Node', name: 'node' },
      {
        type: 'Webhook',
        name: 'corp',
        webhook: {
          timeoutMs: 3000,
          authorizedTtlMs: 300_000,
          unauthorizedTtlMs: 0,
          version: 'v1',
          failurePolicy: 'Deny',
          kubeconfigFile: '/etc/corp.conf',
          matchConditions: ['true'],
        },
      },
      { type: 'RBAC', name: 'rbac' },
    ],
  });
});

const errorsOf = (list: string): string[] =>
  parseAuthorizationConfiguration(HEAD + list).errors.map(errorText);

test.each<[string, string[]]>([
  ['', ['authorizers: Required value: at least one authorization mode must be defined']],
  ['- { name: a }\n', ['authorizers[0].type: Required value']],
  [
    '- { type: Magic, name: a }\n',
    [
      'authorizers[0].type: Unsupported value: "Magic": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
    ],
  ],
  [
    '- { type: RBAC, name: a }\n- { type: RBAC, name: b }\n',
    ['authorizers[1].type: Duplicate value: "RBAC"'],
  ],
  ['- { type: RBAC, name: a }\n- { type: Node, name: a }\n', ['authorizers[1].name: Duplicate value: "a"']],
  [
    '- { type: RBAC, name: a, webhook: {} }\n',
    ['authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook'],
  ],
  ['- { type: Webhook, name: a }\n', ['authorizers[0].webhook: Required value: required when type=Webhook']],
  [
    '- { type: Webhook, name: a, webhook: { timeout: 31s } }\n',
    [
      'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s',
      'authorizers[0].subjectAccessReviewVersion: Required value',
      'authorizers[0].failurePolicy: Required value',
      'authorizers[0].connectionInfo.type: Required value',
    ],
  ],
])('%j is rejected as upstream does', (list, expected) => {
  expect(errorsOf(list)).toEqual(expected);
});

test('an unknown field is rejected', () => {
  expect(() => errorsOf('- { type: RBAC, name: a, weight: 1 }\n')).toThrow(
    'unknown field "authorizers[0].weight"',
  );
});
