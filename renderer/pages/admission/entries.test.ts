import { expect, test } from 'vitest';
import { admissionEntries } from './entries.ts';

const rule = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: ['', 'apps'],
  apiVersions: ['v1'],
  resources: ['pods', 'deployments'],
  scope: 'Namespaced',
};

test('webhooks and policies are listed in the order of evaluation, with matches and results', () => {
  const figures = {
    source: 'webhook',
    type: 'validating',
    name: 'deny.example.com',
    calls: 3,
    denials: 1,
    failures: 0,
    meanMs: 2,
    p99Ms: 5,
  } as const;
  const entries = admissionEntries(
    {
      validatingwebhookconfigurations: [
        {
          metadata: { name: 'deny' },
          webhooks: [
            {
              name: 'deny.example.com',
              rules: [rule],
              failurePolicy: 'Fail',
              namespaceSelector: {
                matchLabels: { a: 'b' },
                matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['dev'] }],
              },
              matchConditions: [{ name: 'named', expression: 'has(object.metadata.name)' }],
              clientConfig: { service: { namespace: 'ns', name: 'hook', path: '/deny' } },
            },
          ],
        },
      ],
      mutatingadmissionpolicies: [
        { metadata: { name: 'team' }, spec: { matchConstraints: { resourceRules: [rule] } } },
      ],
      validatingadmissionpolicies: [{ metadata: { name: 'small' }, spec: { failurePolicy: 'Ignore' } }],
      validatingadmissionpolicybindings: [
        { metadata: { name: 'one' }, spec: { policyName: 'small', validationActions: ['Deny', 'Audit'] } },
        { metadata: { name: 'other' }, spec: { policyName: 'else' } },
      ],
    },
    [figures],
  );
  const rules = ['CREATE, UPDATE v1, apps/v1 pods, deployments (Namespaced)'];
  expect(entries).toEqual([
    {
      key: 'mutatingadmissionpolicies/team',
      source: 'policy',
      type: 'mutating',
      name: 'team',
      resource: 'mutatingadmissionpolicies',
      object: 'team',
      rules,
      limits: [],
      failurePolicy: '',
      target: '',
      bindings: [],
      figures: undefined,
    },
    {
      key: 'validatingadmissionpolicies/small',
      source: 'policy',
      type: 'validating',
      name: 'small',
      resource: 'validatingadmissionpolicies',
      object: 'small',
      rules: [],
      limits: [],
      failurePolicy: 'Ignore',
      target: '',
      bindings: ['one (Deny, Audit)'],
      figures: undefined,
    },
    {
      key: 'validatingwebhookconfigurations/deny/deny.example.com',
      source: 'webhook',
      type: 'validating',
      name: 'deny.example.com',
      resource: 'validatingwebhookconfigurations',
      object: 'deny',
      rules,
      limits: ['namespaceSelector: a=b, env NotIn dev', 'named: has(object.metadata.name)'],
      failurePolicy: 'Fail',
      target: 'ns/hook:443/deny',
      bindings: [],
      figures,
    },
  ]);
});
