import { expect, test } from 'vitest';
import { failureOf } from './refusals.ts';

test.each([
  ['etcdserver: rpc not supported for learner', 'EtcdLearner'],
  ['etcdserver: server stopped', 'EtcdStopped'],
  ['etcdserver: unhealthy cluster', 'EtcdUnhealthy'],
  ['etcdserver: permission denied', 'EtcdRefused'],
  ['constructor', 'EtcdRefused'],
])('%s is %s', (description, failure) => {
  expect(failureOf(description)).toBe(failure);
});
