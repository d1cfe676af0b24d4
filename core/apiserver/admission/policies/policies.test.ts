import { beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/index.ts';
import { systemClock } from '../../../base/node/clock.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { errorText, invalid, required, type FieldErrorList } from '../../../api/field/field-error.ts';
import { allow, noOpinion } from '../../authz/authorizer.ts';
import type { AdmissionChain } from '../attributes.ts';
import { createAdmissionChain } from '../chain.ts';
import { createDynamicAdmission } from '../dynamic.ts';
import { createKindFinder } from '../kind-finder.ts';
import { checkExpressions } from './expression-errors.ts';
import { fakeInformer, type FakeInformer } from '../testing/fake-informer.ts';
import { readerOf, wish, type Wish } from '../testing/fixtures.ts';

type Obj = Record<string, unknown>;

let informer: FakeInformer;
let metrics: Registry;
let chain: AdmissionChain;

const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns', labels: { team: 'a' } } };
const PARAMS = [1, 5].map((max) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name: `max-${max}`, labels: { limits: 'yes' } },
  data: { max: String(max) },
}));

/** Stored as v1, where the field is named otherwise than in v2. */
const LIMIT = {
  apiVersion: 'limits.example.com/v1',
  kind: 'Limit',
  metadata: { name: 'l', namespace: 'ns' },
  max: 1,
};
const LIMITS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'limits.limits.example.com' },
  spec: {
    group: 'limits.example.com',
    scope: 'Namespaced',
    names: { kind: 'Limit', plural: 'limits' },
    versions: [
      { name: 'v1', served: true },
      { name: 'v2', served: true },
    ],
  },
};

beforeEach(() => {
  metrics = new Registry();
  informer = fakeInformer();
  const dynamic = createDynamicAdmission({
    reader: readerOf([NAMESPACE, LIMIT, ...PARAMS]),
    authorizer: { authorize: ({ verb }) => Promise.resolve(verb === 'break' ? allow() : noOpinion()) },
    client: { post: () => Promise.reject(new Error('no webhooks here')), dispose: () => undefined },
    findResource: createKindFinder(36, readerOf([LIMITS])),
    convertCustom: (objects, { group, version }) => {
      if (version === 'v1') return Promise.reject(new Error('conversion webhook failed'));
      return Promise.resolve(
        objects.map((object) => ({ ...object, apiVersion: `${group}/${version}`, most: object['max'] })),
      );
    },
    minor: 36,
    clock: systemClock,
    metrics,
    log: silentLog,
  });
  dynamic.follow(informer);
  const { MutatingAdmissionPolicy, ValidatingAdmissionPolicy } = dynamic.plugins;
  chain = createAdmissionChain([MutatingAdmissionPolicy, ValidatingAdmissionPolicy], {
    clock: systemClock,
  });
});

/** As defaulting leaves it. */
const CONSTRAINTS = {
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [
    {
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['deployments'],
      scope: '*',
    },
  ],
};

const policy = (kind: 'validating' | 'mutating', name: string, spec: Obj): void =>
  informer.upsert(`${kind}admissionpolicies`, {
    metadata: { name },
    spec: { failurePolicy: 'Fail', matchConstraints: CONSTRAINTS, ...spec },
  });
const bind = (kind: 'validating' | 'mutating', policyName: string, spec: Obj = {}): void =>
  informer.upsert(`${kind}admissionpolicybindings`, {
    metadata: { name: `${policyName}-binding` },
    spec: { policyName, ...(kind === 'validating' && { validationActions: ['Deny'] }), ...spec },
  });
const validating = (name: string, spec: Obj, binding: Obj = {}): void => {
  policy('validating', name, spec);
  bind('validating', name, binding);
};
const mutating = (name: string, spec: Obj, binding: Obj = {}): void => {
  policy('mutating', name, { reinvocationPolicy: 'Never', ...spec });
  bind('mutating', name, binding);
};

const deployment = (replicas = 3): KubernetesObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'ns', name: 'web', labels: { app: 'web' } },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
    },
  },
});

const admitted = async (rest: Wish = {}) => {
  const attributes = wish({ of: 'deployments.apps', object: deployment(), ...rest });
  const object = await chain.admit(attributes);
  await chain.validate({ ...attributes, object });
  return {
    attributes,
    object: object as KubernetesObject & { spec: { template: { spec: Obj }; replicas: number } },
  };
};
const outcome = async (rest: Wish = {}): Promise<unknown> =>
  admitted(rest).then(
    () => 'admitted',
    (error: { code: number; reason: string; message: string }) => [error.code, error.reason, error.message],
  );

const denied = (name: string, text: string): string =>
  `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}-binding' denied request: ${text}`;

test('a policy without a binding does nothing, with one it denies', async () => {
  policy('validating', 'few', { validations: [{ expression: 'object.spec.replicas < 3' }] });
  expect(await outcome()).toBe('admitted');
  bind('validating', 'few');
  expect(await outcome()).toEqual([
    422,
    'Invalid',
    denied('few', 'failed expression: object.spec.replicas < 3'),
  ]);
  expect(await outcome({ object: deployment(2) })).toBe('admitted');
  informer.remove('validatingadmissionpolicybindings', { metadata: { name: 'few-binding' } });
  expect(await outcome()).toBe('admitted');
});

test.each<[string, Obj, string]>([
  ['a message', { message: ' too many ' }, 'too many'],
  ['an expression', { message: 'x', messageExpression: "'at most ' + string(variables.max)" }, 'at most 2'],
  ['an expression that fails', { message: 'x', messageExpression: "'a' + object.nope" }, 'x'],
  [
    'an expression with a line break',
    { messageExpression: "'a\\nb'" },
    'failed expression: object.spec.replicas <= variables.max',
  ],
])('a denial says what %s says', async (_name, rest, expected) => {
  validating('few', {
    variables: [{ name: 'max', expression: 'int(2)' }],
    validations: [{ expression: 'object.spec.replicas <= variables.max', reason: 'Forbidden', ...rest }],
  });
  expect(await outcome()).toEqual([403, 'Forbidden', denied('few', expected)]);
});

test.each<[string, string]>([
  [
    'request',
    "request.operation == 'CREATE' && request.userInfo.username == 'somebody' && !has(request.subResource)",
  ],
  ['oldObject', 'oldObject == null'],
  ['namespaceObject', "namespaceObject.metadata.labels.team == 'a'"],
  ['authorizer', "authorizer.group('apps').resource('deployments').check('break').allowed()"],
  ['authorizer.requestResource', "!authorizer.requestResource.check('get').allowed()"],
  ['variables of variables', "variables.names.all(name, name in ['main'])"],
])('expressions see %s', async (_name, expression) => {
  const variables = [
    { name: 'containers', expression: 'object.spec.template.spec.containers' },
    { name: 'names', expression: 'variables.containers.map(c, c.name)' },
  ];
  validating('sees', { variables, validations: [{ expression }] });
  expect(await outcome()).toBe('admitted');
  validating('sees', { variables, validations: [{ expression: `!(${expression})`, message: 'seen' }] });
  expect(await outcome()).toEqual([422, 'Invalid', denied('sees', 'seen')]);
});

test('conditions leave requests alone', async () => {
  const never = { validations: [{ expression: 'false' }] };
  validating('never', { ...never, matchConditions: [{ name: 'a', expression: "request.name == 'other'" }] });
  expect(await outcome()).toBe('admitted');
  validating('never', { ...never, matchConditions: [{ name: 'a', expression: 'object.nope == 1' }] });
  expect(await outcome()).toEqual([
    422,
    'Invalid',
    denied('never', "expression 'object.nope == 1' resulted in error: no such key: nope"),
  ]);
  validating('never', {
    ...never,
    failurePolicy: 'Ignore',
    matchConditions: [{ name: 'a', expression: 'object.nope == 1' }],
  });
  expect(await outcome()).toBe('admitted');
});

test('rules, exclusions, names and selectors of policy and binding decide which requests are checked', async () => {
  const never = { validations: [{ expression: 'false', message: 'no' }] };
  const [rule] = CONSTRAINTS.resourceRules;
  const cases: [Obj, Obj, boolean][] = [
    [{}, {}, true],
    [{ resourceRules: [{ ...rule, resourceNames: ['web'] }] }, {}, true],
    [{ resourceRules: [{ ...rule, resourceNames: ['other'] }] }, {}, false],
    [{ excludeResourceRules: [{ ...rule, operations: ['*'] }] }, {}, false],
    [{ objectSelector: { matchLabels: { app: 'db' } } }, {}, false],
    [
      {},
      {
        matchResources: {
          ...CONSTRAINTS,
          resourceRules: [],
          namespaceSelector: { matchLabels: { team: 'b' } },
        },
      },
      false,
    ],
    [
      {},
      {
        matchResources: {
          ...CONSTRAINTS,
          resourceRules: [],
          namespaceSelector: { matchLabels: { team: 'a' } },
        },
      },
      true,
    ],
  ];
  const seen: boolean[] = [];
  for (const [constraints, binding] of cases) {
    validating('never', { ...never, matchConstraints: { ...CONSTRAINTS, ...constraints } }, binding);
    seen.push((await outcome()) !== 'admitted');
  }
  expect(seen).toEqual(cases.map(([, , isChecked]) => isChecked));
});

test('warnings and audits let requests pass and say what is wrong', async () => {
  const validations = [{ expression: 'true' }, { expression: 'false', message: 'no' }];
  const auditAnnotations = [{ key: 'replicas', valueExpression: 'string(object.spec.replicas)' }];
  validating('soft', { validations, auditAnnotations }, { validationActions: ['Warn', 'Audit'] });
  const { attributes } = await admitted();
  expect(attributes.warnings).toEqual([
    "Validation failed for ValidatingAdmissionPolicy 'soft' with binding 'soft-binding': no",
  ]);
  expect(Object.fromEntries(attributes.annotations)).toEqual({
    'validation.policy.admission.k8s.io/validation_failure':
      '[{"message":"no","policy":"soft","binding":"soft-binding","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
    'soft/replicas': '3',
  });
  expect(attributes.records).toEqual([
    {
      kind: 'ValidatingAdmissionPolicy',
      name: 'soft',
      part: 'soft-binding',
      outcome: 'warned',
      message: 'no',
    },
  ]);
  expect(metrics.expose()).toContain(
    'apiserver_validating_admission_policy_check_total{enforcement_action="audit",error_type="invalid_error",policy="soft",policy_binding="soft-binding"} 1',
  );
});

test('each parameter that a binding selects is evaluated', async () => {
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      {
        expression: 'object.spec.replicas <= int(params.data.max)',
        messageExpression: "'at most ' + params.data.max",
      },
    ],
  };
  const by = (paramRef: Obj): Obj => ({ paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } });
  validating('limits', spec, by({ name: 'max-5' }));
  expect(await outcome()).toBe('admitted');
  validating('limits', spec, by({ selector: { matchLabels: { limits: 'yes' } } }));
  expect(await outcome()).toEqual([422, 'Invalid', denied('limits', 'at most 1')]);
  validating('limits', spec, by({ name: 'none' }));
  expect(await outcome()).toEqual([
    422,
    'Invalid',
    denied(
      'limits',
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ),
  ]);
  validating('limits', spec, by({ name: 'none', parameterNotFoundAction: 'Allow' }));
  expect(await outcome()).toBe('admitted');
  validating(
    'limits',
    { ...spec, paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } },
    by({ name: 'a' }),
  );
  expect(await outcome()).toEqual([
    422,
    'Invalid',
    "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'limits' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'",
  ]);
});

test('a custom resource as parameter is seen in the version that the policy names', async () => {
  const by = (apiVersion: string): Obj => ({
    paramKind: { apiVersion, kind: 'Limit' },
    validations: [
      {
        expression: 'object.spec.replicas <= params.most',
        messageExpression: "'at most ' + string(params.most)",
      },
    ],
  });
  const binding = { paramRef: { name: 'l', parameterNotFoundAction: 'Deny' } };
  validating('limits', by('limits.example.com/v2'), binding);
  expect(await outcome()).toEqual([422, 'Invalid', denied('limits', 'at most 1')]);
  validating('limits', by('limits.example.com/v1'), binding);
  expect(await outcome()).toEqual([
    422,
    'Invalid',
    denied('limits', 'failed to configure binding: conversion webhook failed'),
  ]);
});

test('an expression that costs too much denies, and leaves the server alone', async () => {
  const expression =
    "[1,2,3,4,5,6,7,8,9,10].all(a, object.metadata.labels.all(b, [1,2,3,4,5].all(c, [1,2,3,4,5].all(d, [1,2,3,4,5,6,7,8].all(e, [1,2,3,4,5,6,7,8,9].all(f, [1,2,3,4,5,6,7,8,9].all(g, ('x' + string(a)).contains('x'))))))))";
  validating('costly', { validations: [{ expression }] });
  const [code, , message] = (await outcome()) as [number, string, string];
  expect([code, message.endsWith('operation cancelled: actual cost limit exceeded')]).toEqual([422, true]);
});

test('policies do not decide about policies', async () => {
  const any = {
    ...CONSTRAINTS,
    resourceRules: [
      { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: '*' },
    ],
  };
  validating('never', { matchConstraints: any, validations: [{ expression: 'false' }] });
  const object = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'x' },
  };
  expect(
    await outcome({ of: 'validatingadmissionpolicybindings.admissionregistration.k8s.io', object }),
  ).toBe('admitted');
});

test('an apply configuration is merged into the object by its list keys', async () => {
  mutating('sidecar', {
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: {
          expression:
            "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'main', imagePullPolicy: 'Always'}, Object.spec.template.spec.containers{name: 'side', image: 'side:1'}]}}}}",
        },
      },
    ],
  });
  const { object, attributes } = await admitted();
  expect(object.spec.template.spec['containers']).toMatchObject([
    { name: 'main', image: 'example.com/main:1', imagePullPolicy: 'Always' },
    { name: 'side', image: 'side:1' },
  ]);
  expect(attributes.records).toMatchObject([
    { name: 'sidecar', outcome: 'changed', patch: ['apply /spec/template/spec/containers'] },
  ]);
});

test('a JSON patch changes the object, and a later policy sees it', async () => {
  const patch = (expression: string): Obj => ({
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  });
  mutating(
    'a',
    patch(
      "[JSONPatch{op: 'test', path: '/spec/replicas', value: 3}, JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]",
    ),
  );
  mutating(
    'b',
    patch(
      "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y'), value: string(object.spec.replicas)}]",
    ),
  );
  mutating(
    'c',
    patch(
      "[JSONPatch{op: 'test', path: '/spec/replicas', value: 77}, JSONPatch{op: 'remove', path: '/metadata/labels'}]",
    ),
  );
  const { object } = await admitted();
  expect([object.spec.replicas, object.metadata?.labels]).toEqual([4, { app: 'web', 'x/y': '4' }]);
});

test.each<[string, string, string]>([
  [
    'of the wrong type',
    'Object{spec: Object.status{replicas: 1}}',
    'type mismatch: unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type',
  ],
  [
    'of what is atomic',
    "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}",
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
  ],
  [
    'of a field that does not exist',
    'Object{spec: Object.spec{nope: 1}}',
    'error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema',
  ],
  [
    'that fails',
    'Object{metadata: Object.metadata{name: object.nope}}',
    "expression 'Object{metadata: Object.metadata{name: object.nope}}' resulted in error: no such key: nope",
  ],
])('a mutation %s fails the request', async (_name, expression, expected) => {
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }];
  mutating('bad', { mutations });
  expect(await outcome()).toEqual([
    403,
    'Invalid',
    `policy 'bad' with binding 'bad-binding' denied request: ${expected}`,
  ]);
  mutating('bad', { mutations, failurePolicy: 'Ignore' });
  expect(await outcome()).toBe('admitted');
});

const written = async (
  kind: string,
  spec: Obj,
  before?: Obj,
  found: FieldErrorList = [],
): Promise<string[]> => {
  const objectOf = (fields: Obj): KubernetesObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'x' },
    ...fields,
  });
  const checked = { kind, object: objectOf(spec), before: before && objectOf(before) };
  return (await checkExpressions(checked, found, 36)).map((error) => errorText(error).split('\n')[0]!);
};

test.each<[string, string, Obj, string]>([
  [
    'ValidatingAdmissionPolicy',
    'a validation',
    { spec: { validations: [{ expression: 'object.spec.replicas' }] } },
    'spec.validations[0].expression: Invalid value: "object.spec.replicas": must evaluate to bool but got dyn',
  ],
  [
    'ValidatingAdmissionPolicy',
    'a variable',
    { spec: { variables: [{ name: 'a', expression: 'x' }], validations: [] } },
    "spec.variables[0].expression: Invalid value: \"x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')",
  ],
  [
    'MutatingAdmissionPolicy',
    'a mutation',
    { spec: { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[1]' } }] } },
    'spec.mutations[0].jsonPatch.expression: Invalid value: "[1]": must evaluate to list(JSONPatch) but got list(int)',
  ],
  [
    'ValidatingWebhookConfiguration',
    'a condition',
    { webhooks: [{ matchConditions: [{ name: 'a', expression: 'params.x' }] }] },
    "webhooks[0].matchConditions[0].expression: Invalid value: \"params.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')",
  ],
])('a %s with %s that does not compile is rejected', async (kind, _what, spec, expected) => {
  expect(await written(kind, spec)).toEqual([expected]);
});

test('expressions that do not compile are listed among other errors, in the order of upstream', async () => {
  const spec = {
    matchConditions: [{ name: '', expression: '1' }],
    validations: [{ expression: '2', reason: 'Nope' }, { expression: ' ' }],
  };
  const found = [
    invalid('spec.failurePolicy', 'x', 'a'),
    required('spec.matchConditions[0].name'),
    invalid('spec.validations[0].reason', 'Nope', 'b'),
    required('spec.validations[1].expression'),
  ];
  expect(
    (await written('ValidatingAdmissionPolicy', { spec }, undefined, found)).map(
      (text) => text.split(':')[0],
    ),
  ).toEqual([
    'spec.failurePolicy',
    'spec.matchConditions[0].expression',
    'spec.matchConditions[0].name',
    'spec.validations[0].expression',
    'spec.validations[0].reason',
    'spec.validations[1].expression',
  ]);
});

test('expressions that were stored before are not compiled again', async () => {
  const spec = { validations: [{ expression: 'no longer valid' }] };
  expect(await written('ValidatingAdmissionPolicy', { spec }, { spec })).toEqual([]);
});

test('thousands of expressions are compiled in turns, so that others are served meanwhile', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const validations = Array.from({ length: 5000 }, (_, at) => ({
    expression: `object.spec.replicas != ${at}`,
  }));
  expect(await written('ValidatingAdmissionPolicy', { spec: { validations } })).toEqual([]);
  isDone = true;
  expect(turns).toBeGreaterThan(5);
});

test('a JSON patch that adds a field that does not exist, or does not apply, fails the request', async () => {
  const patched = async (expression: string): Promise<unknown> => {
    mutating('bad', { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }] });
    return outcome();
  };
  expect(await patched("[JSONPatch{op: 'add', path: '/spec/nope', value: 1}]")).toEqual([
    500,
    'InternalError',
    'Internal error occurred: strict decoding error: unknown field "spec.nope"',
  ]);
  expect(await patched("[JSONPatch{op: 'remove', path: '/spec/nope/x'}]")).toEqual([
    403,
    'Invalid',
    `policy 'bad' with binding 'bad-binding' denied request: JSON Patch: remove operation does not apply: doc is missing path: "/spec/nope/x": missing value`,
  ]);
});
