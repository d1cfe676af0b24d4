import { expect, test } from 'vitest';
import { Registry } from '../../base/metrics/index.ts';
import { userInfo } from '../authn/user.ts';
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

test('watches do not count, and system:masters is always served', async () => {
  const { stage } = setup();
  for (let i = 0; i < 3; i += 1)
    expect(await stage.run(fakeContext({ url: '/api/v1/pods?watch=1' }).context)).toBe('next');
  const user = userInfo('root', ['system:masters']);
  for (let i = 0; i < 3; i += 1)
    expect(await stage.run(fakeContext({ url: '/api/v1/pods', user }).context)).toBe('next');
});
