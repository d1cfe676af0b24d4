import { expect, test } from 'vitest';
import { userInfo } from '../server/user.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { allow, noOpinion, type Attributes } from './authorizer.ts';
import { IMPERSONATOR, impersonationStage } from './impersonation-stage.ts';

const run = async (headers: Record<string, string | string[]>, mayNot = '') => {
  const asked: string[] = [];
  const stage = impersonationStage({
    authorize({ resource, subresource, namespace, name, apiGroup }: Attributes) {
      asked.push([apiGroup, resource, subresource, namespace, name].filter(Boolean).join(' '));
      return resource === mayNot ? noOpinion() : allow();
    },
  });
  const { context } = fakeContext({ url: '/api/v1/pods', headers, user: userInfo('root') });
  await stage.run(context);
  return { asked, context };
};

test('every part of the identity is asked for, and none of the headers is left', async () => {
  const { asked, context } = await run({
    'Impersonate-User': 'ann',
    'Impersonate-Group': ['dev', 'ops'],
    'Impersonate-Uid': '7',
    'Impersonate-Extra-Acme.com%2Fproject': ['x', 'y'],
  });
  expect(asked).toEqual([
    'users ann',
    'groups dev',
    'groups ops',
    'authentication.k8s.io userextras acme.com/project x',
    'authentication.k8s.io userextras acme.com/project y',
    'authentication.k8s.io uids 7',
  ]);
  expect(context.user).toEqual({
    name: 'ann',
    uid: '7',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'acme.com/project': ['x', 'y'] },
  });
  expect([context.get(IMPERSONATOR)?.name, [...context.request.headers.entries()]]).toEqual(['root', []]);
});

test.each([
  [
    'system:serviceaccount:ns:bot',
    [],
    ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
  ],
  ['system:serviceaccount:ns:bot', ['only'], ['only', 'system:authenticated']],
  ['system:anonymous', [], ['system:unauthenticated']],
  ['ann', ['system:unauthenticated'], ['system:unauthenticated']],
])('%s with the groups %j is in %j', async (user, groups, expected) => {
  const { context } = await run({ 'impersonate-user': user, 'impersonate-group': groups });
  expect(context.user?.groups).toEqual(expected);
});

test('one part that is refused refuses the whole', async () => {
  await expect(
    run({ 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' }, 'groups'),
  ).rejects.toMatchObject({
    code: 403,
    message:
      'groups "system:masters" is forbidden: User "root" cannot impersonate resource "groups" in API group "" at the cluster scope',
  });
});

test('groups alone are a bad request', async () => {
  await expect(run({ 'impersonate-group': 'dev' })).rejects.toMatchObject({
    code: 400,
    message: expect.stringMatching(
      /^requested \[\{Group .*dev.*\}\] without impersonating a user$/,
    ) as string,
  });
});
