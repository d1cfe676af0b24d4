import { expect, test } from 'vitest';
import { descriptionIn, failureOf } from './refusals.ts';

test.each([
  ['etcdserver: rpc not supported for learner', 'EtcdLearner'],
  ['etcdserver: server stopped', 'EtcdStopped'],
  ['etcdserver: unhealthy cluster', 'EtcdUnhealthy'],
  ['etcdserver: permission denied', 'EtcdRefused'],
  ['constructor', 'EtcdRefused'],
])('%s is %s', (description, failure) => {
  expect(failureOf(description)).toBe(failure);
});

test('a message that is not percent-encoded is reported as it is, and ends nothing', () => {
  expect([descriptionIn('a%20b'), descriptionIn('100%')]).toEqual(['a b', '100%']);
});
