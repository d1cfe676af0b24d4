import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { userInfo } from '../../server/user.ts';
import { allow, noOpinion } from '../../authz/authorizer.ts';
import { LIST_ALL, NO_OPTIONS, refusalOf, scopeOf, storageIn, testRegistry } from '../testing/fixtures.ts';

const GROUP = 'authorization.k8s.io';

test('access reviews answer for whom they ask, and refuse questions that make no sense', async () => {
  const asked: string[] = [];
  const opened = testRegistry({
    authorizer: {
      authorize: ({ user, verb, resource, namespace, path }) => {
        asked.push([user.name, verb, resource || path, namespace].join(' '));
        return verb === 'get' ? allow('because') : noOpinion();
      },
    },
  });
  const create = async (plural: string, object: KubernetesObject, namespace = '') =>
    (await storageIn(opened, GROUP, plural).create(scopeOf(namespace), object, NO_OPTIONS)).object['status'];
  const pods = { verb: 'get', resource: 'pods', namespace: 'a' };
  const answers = [
    await create('subjectaccessreviews', { spec: { user: 'jane', resourceAttributes: pods } }),
    await create('selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { verb: 'put', path: '/x' } },
    }),
    await create('localsubjectaccessreviews', { spec: { user: 'joe', resourceAttributes: pods } }, 'a'),
  ];
  const refusals = [
    await refusalOf(create('subjectaccessreviews', { spec: { resourceAttributes: pods } })),
    await refusalOf(create('selfsubjectaccessreviews', { spec: {} })),
    await refusalOf(
      create('localsubjectaccessreviews', { spec: { user: 'joe', resourceAttributes: pods } }, 'b'),
    ),
  ];
  opened.registry.close();
  expect([answers, asked, refusals]).toEqual([
    [{ allowed: true, reason: 'because' }, { allowed: false }, { allowed: true, reason: 'because' }],
    ['jane get pods a', 'admin put /x ', 'joe get pods a'],
    [
      '422 Invalid: .authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
      '422 Invalid: .authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      '422 Invalid: .authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "a": must match metadata.namespace',
    ],
  ]);
});

test('reviews ask about the selectors of a list, and say which of them they could not read', async () => {
  const asked: unknown[] = [];
  const opened = testRegistry({
    authorizer: {
      authorize({ fieldRequirements, labelRequirements }) {
        asked.push([fieldRequirements, labelRequirements]);
        return allow();
      },
    },
  });
  const create = async (attributes: object) => {
    const spec = { user: 'jane', resourceAttributes: { verb: 'list', resource: 'pods', ...attributes } };
    const reviews = storageIn(opened, GROUP, 'subjectaccessreviews');
    return (await reviews.create(scopeOf(''), { spec }, NO_OPTIONS)).object['status'];
  };
  const requirement = (operator: string, ...values: string[]) => ({ key: 'k', operator, values });
  const answers = [
    await create({
      fieldSelector: { rawSelector: 'spec.nodeName=a' },
      labelSelector: { rawSelector: 'app in (x)' },
    }),
    await create({
      fieldSelector: { requirements: [requirement('In', 'a'), requirement('Newer', 'b')] },
      labelSelector: {
        requirements: [requirement('Exists'), requirement('NotIn', 'y'), requirement('Newer')],
      },
    }),
    await create({ fieldSelector: { rawSelector: 'a b' }, labelSelector: { rawSelector: '(' } }),
  ];
  const refusals = [
    await refusalOf(create({ labelSelector: {} })),
    await refusalOf(create({ fieldSelector: { rawSelector: 'a=b', requirements: [requirement('In')] } })),
    await refusalOf(create({ labelSelector: { requirements: [{ key: '-', operator: 'Exists' }] } })),
  ];
  opened.registry.close();
  expect(answers).toEqual([
    { allowed: true },
    {
      allowed: true,
      evaluationError:
        'spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error',
    },
    {
      allowed: true,
      evaluationError:
        'spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
    },
  ]);
  expect(asked).toEqual([
    [
      [{ field: 'spec.nodeName', operator: '=', value: 'a' }],
      [{ key: 'app', operator: 'in', values: ['x'] }],
    ],
    [
      [{ field: 'k', operator: '=', value: 'a' }],
      [
        { key: 'k', operator: 'exists', values: [] },
        { key: 'k', operator: 'notin', values: ['y'] },
      ],
    ],
    [[], []],
  ]);
  expect(refusals).toEqual([
    expect.stringContaining(
      'spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
    ),
    expect.stringContaining(
      "[spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements, spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn']",
    ),
    expect.stringContaining('spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: "-"'),
  ]);
});

test('TokenReview, SelfSubjectReview and ComponentStatus respond', async () => {
  const opened = testRegistry({
    reviewToken: async (token, audiences) => {
      if (token === 'bad') throw new Error('expired');
      return token === 'good'
        ? { user: userInfo('jane', ['dev']), audiences: audiences ?? ['api'] }
        : undefined;
    },
    componentProbes: { scheduler: () => Promise.reject(new Error('connection refused')) },
  });
  const review = async (token: string) =>
    (
      await storageIn(opened, 'authentication.k8s.io', 'tokenreviews').create(
        scopeOf(''),
        { spec: { token } },
        NO_OPTIONS,
      )
    ).object['status'];
  const self = await storageIn(opened, 'authentication.k8s.io', 'selfsubjectreviews').create(
    scopeOf(''),
    {},
    NO_OPTIONS,
  );
  const components = await storageIn(opened, '', 'componentstatuses').list(scopeOf(''), LIST_ALL);
  const answers = [await review('good'), await review('bad'), await review('other')];
  opened.registry.close();
  expect([
    answers,
    self.object['status'],
    components.items.map(({ object }) => [object.metadata?.name, object['conditions']]),
  ]).toEqual([
    [
      {
        authenticated: true,
        user: { username: 'jane', groups: ['dev', 'system:authenticated'] },
        audiences: ['api'],
      },
      { user: {}, error: 'expired' },
      { user: {}, error: 'invalid bearer token' },
    ],
    { userInfo: { username: 'admin', groups: ['system:masters'] } },
    [
      ['etcd-0', [{ type: 'Healthy', status: 'True', message: 'ok' }]],
      ['scheduler', [{ type: 'Healthy', status: 'Unknown', error: 'connection refused' }]],
    ],
  ]);
});
