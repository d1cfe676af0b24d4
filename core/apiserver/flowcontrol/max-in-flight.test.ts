import { expect, test } from 'vitest';
import { Registry } from '../../base/metrics/index.ts';
import { userInfo } from '../server/user.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { maxInFlightStage } from './max-in-flight.ts';

const setup = () => {
  const metrics = new Registry();
  return { metrics, stage: maxInFlightStage({ metrics, readOnlyMax: 1, mutatingMax: 1 }) };
};

test('reads and writes are counted apart, and a request gives its place back', async () => {
  const { metrics, stage } = setup();
  const read = fakeContext({ url: '/api/v1/pods' });
  const write = fakeContext({ url: '/api/v1/namespaces/a/pods', method: 'POST' });
  expect([await stage.run(read.context), await stage.run(write.context)]).toEqual(['next', 'next']);
  expect(metrics.expose()).toContain(
    'apiserver_current_inflight_requests{request_kind="mutating"} 1\napiserver_current_inflight_requests{request_kind="readOnly"} 1\n',
  );
  const refused = fakeContext({ url: '/api/v1/pods' });
  expect([
    await stage.run(refused.context),
    refused.sent.code,
    refused.sent.headers.get('retry-after'),
  ]).toEqual(['done', 429, '1']);
  read.context.finish();
  expect(await stage.run(fakeContext({ url: '/api/v1/pods' }).context)).toBe('next');
});

test('a seat is released when the response is ready, even before the client reads it', async () => {
  const { stage } = setup();
  const { context } = fakeContext({ url: '/api/v1/pods' });
  await stage.run(context);
  await context.response.send(200, 'text/plain', 'x');
  expect(await stage.run(fakeContext({ url: '/api/v1/pods' }).context)).toBe('next');
  context.finish();
  const { context: other } = fakeContext({ url: '/api/v1/pods' });
  expect(await stage.run(other)).toBe('done');
});

test.each([
  ['a health check of nobody', '/readyz/etcd', 'system:anonymous', ['system:unauthenticated']],
  ['a node', '/api/v1/nodes', 'system:node:n1', ['system:nodes']],
  ['the controller-manager', '/api/v1/pods', 'system:kube-controller-manager', []],
  [
    'a controller',
    '/api/v1/pods',
    'system:serviceaccount:kube-system:job-controller',
    ['system:serviceaccounts:kube-system'],
  ],
])('%s is served when others fill the limit', async (_who, url, name, groups) => {
  const { stage } = setup();
  await stage.run(fakeContext({ url: '/api/v1/pods', user: userInfo('other') }).context);
  expect(await stage.run(fakeContext({ url: '/api/v1/pods', user: userInfo('third') }).context)).toBe('done');
  expect(await stage.run(fakeContext({ url, user: userInfo(name, groups) }).context)).toBe('next');
});

test('one identity holds at most half of a limit, control plane or not', async () => {
  const stage = maxInFlightStage({ metrics: new Registry(), readOnlyMax: 4, mutatingMax: 4 });
  const ask = async (name: string, groups: readonly string[] = []) =>
    stage.run(fakeContext({ url: '/api/v1/pods', user: userInfo(name, groups) }).context);
  expect(await Promise.all([ask('a'), ask('a'), ask('a'), ask('b')])).toEqual([
    'next',
    'next',
    'done',
    'next',
  ]);
  const node = () => ask('system:node:n1', ['system:nodes']);
  expect(await Promise.all([node(), node(), node()])).toEqual(['next', 'next', 'done']);
});

test('watches do not count, and system:masters is always served', async () => {
  const { stage } = setup();
  for (let i = 0; i < 3; i += 1)
    expect(await stage.run(fakeContext({ url: '/api/v1/pods?watch=1' }).context)).toBe('next');
  const user = userInfo('root', ['system:masters']);
  for (let i = 0; i < 3; i += 1)
    expect(await stage.run(fakeContext({ url: '/api/v1/pods', user }).context)).toBe('next');
});
