import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { conflict } from '../../../api/meta/index.ts';
import { loadCel } from '../expressions/cel.ts';
import { policyStatusFollower } from './policy-status.ts';
import { checkTypes } from './type-checking.ts';

const policy = (validations: unknown[], rest: Record<string, unknown> = {}): KubernetesObject => ({
  metadata: { name: 'p', generation: 2 },
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: ['', 'apps'],
          apiVersions: ['v1'],
          operations: ['*'],
          resources: ['deployments', 'pods', 'pods/status'],
        },
      ],
    },
    validations,
    ...rest,
  },
});

test('a field that a kind does not have is a warning for that kind', async () => {
  const cel = await loadCel();
  const warnings = await checkTypes(cel, policy([{ expression: 'object.spec.replicas > 1' }]), 36);
  expect(warnings).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 1\n | ...........^\n",
    },
  ]);
});

test.each([
  ['what both kinds have', { expression: "object.metadata.name.startsWith('a') && oldObject == null" }],
  [
    'a quantity',
    { expression: "object.metadata.labels['a'] == 'b'", messageExpression: "object.metadata.name + 'x'" },
  ],
])('%s is no warning', async (_name, validation) => {
  expect(await checkTypes(await loadCel(), policy([validation]), 36)).toEqual([]);
});

test('variables and parameters have types, too', async () => {
  const checked = await checkTypes(
    await loadCel(),
    policy([{ expression: 'variables.n > 1 && params.data.max == variables.n' }], {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'n', expression: 'size(object.metadata.name)' }],
    }),
    36,
  );
  expect(
    checked.map(({ warning }) =>
      warning.includes("found no matching overload for '_==_' applied to '(string, int)'"),
    ),
  ).toEqual([true]);
});

test('the status of a policy is written once for each generation, and a server that was second lets go', async () => {
  const written: unknown[] = [];
  let settle: () => void = () => undefined;
  const follower = policyStatusFollower({
    minor: 36,
    log: silentLog,
    write({ status }) {
      written.push(status);
      settle();
      return written.length === 1
        ? Promise.reject(conflict({ group: '', resource: 'x' }, 'p', 'changed'))
        : Promise.resolve();
    },
  } as Parameters<typeof policyStatusFollower>[0]);
  const write = (object: KubernetesObject): Promise<void> =>
    new Promise((resolve) => {
      settle = resolve;
      follower.upsert(object);
    });
  await write(policy([{ expression: 'true' }]));
  follower.upsert({ ...policy([]), status: { observedGeneration: 2 } });
  await write({ ...policy([{ expression: 'object.spec.nope' }]), metadata: { name: 'q', generation: 3 } });
  expect(written).toMatchObject([
    { observedGeneration: 2, typeChecking: {} },
    {
      observedGeneration: 3,
      typeChecking: { expressionWarnings: [{ fieldRef: 'spec.validations[0].expression' }] },
    },
  ]);
});
