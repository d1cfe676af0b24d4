import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import type { Client, RawRequest } from '../../client/index.ts';
import { allowList, apiAuth, attributesOf } from './auth.ts';

test.each([
  ['GET', '/pods', 'get', ['pods', 'proxy']],
  ['GET', '/metrics/resource', 'get', ['metrics']],
  ['GET', '/stats/summary', 'get', ['stats']],
  ['POST', '/exec/default/web/app', 'create', ['proxy']],
  ['GET', '/containerLogs/default/web/app', 'get', ['proxy']],
])('%s %s is asked of the authorizer as %s of %j', (method, path, verb, subresources) => {
  expect(attributesOf(method, path, 'n1')).toEqual({ verb, subresources, nodeName: 'n1', path });
});

test('the API is asked once for an answer that holds: a finer permission is enough, and tokens name users', async () => {
  const asked: string[] = [];
  const clock = manualClock();
  const json = ({ path, body }: RawRequest): Promise<unknown> => {
    const { spec } = body as { spec: { token?: string; resourceAttributes?: { subresource: string } } };
    const subresource = spec.resourceAttributes?.subresource;
    asked.push(`${path.split('/').at(-1)} ${spec.token ?? subresource}`);
    return Promise.resolve({
      status: subresource
        ? { allowed: subresource === 'proxy' }
        : { authenticated: spec.token === 'good', user: { username: 'prometheus', groups: ['monitoring'] } },
    });
  };
  const auth = apiAuth({ json } as unknown as Client, clock);
  const user = await auth.reviewToken!('good');
  expect(user).toEqual({ name: 'prometheus', groups: ['monitoring'] });
  expect(await auth.reviewToken!('bad')).toBeUndefined();
  const attributes = attributesOf('GET', '/pods', 'n1');
  expect(await auth.isAllowed(user!, attributes)).toBe(true);
  expect(await auth.isAllowed(user!, attributes)).toBe(true);
  expect(await auth.reviewToken!('good')).toEqual(user);
  expect(asked).toEqual([
    'tokenreviews good',
    'tokenreviews bad',
    'subjectaccessreviews pods',
    'subjectaccessreviews proxy',
  ]);
  clock.advance(31_000);
  await auth.isAllowed(user!, attributes);
  expect(asked.slice(4)).toEqual(['subjectaccessreviews pods']);
});

test('an allow list knows users and groups', async () => {
  const auth = allowList({ users: ['kube-apiserver-kubelet-client'], groups: ['system:masters'] });
  const attributes = attributesOf('GET', '/pods', 'n1');
  const ask = (name: string, ...groups: string[]) => auth.isAllowed({ name, groups }, attributes);
  expect([
    await ask('kube-apiserver-kubelet-client'),
    await ask('admin', 'system:masters'),
    await ask('mallory', 'system:authenticated'),
  ]).toEqual([true, true, false]);
});
