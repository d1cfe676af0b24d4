import { expect, test } from 'vitest';
import { identityOf } from './access-review.ts';
import { parseDump } from './flow-control.ts';

test('a subject is asked about as the API server would authenticate it', () => {
  expect(identityOf({ kind: 'ServiceAccount', namespace: 'web', name: 'bot' })).toEqual({
    user: 'system:serviceaccount:web:bot',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:web', 'system:authenticated'],
  });
  expect(identityOf({ kind: 'User', namespace: '', name: 'ada' })).toEqual({
    user: 'ada',
    groups: ['system:authenticated'],
  });
  expect(identityOf({ kind: 'Group', namespace: '', name: 'ops' }).groups).toEqual(['ops']);
});

test("the figures of a priority level are read from upstream's dump", () => {
  const dump = `PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests
catch-all,         0,            true,   false,       0,               0,                 12,                 1,                0,                0
system,            2,            false,  false,       7,               3,                 40,                 0,                5,                5
`;
  expect([...parseDump(dump)]).toEqual([
    ['catch-all', { executing: 0, waiting: 0, dispatched: 12, rejected: 1, timedOut: 0 }],
    ['system', { executing: 3, waiting: 7, dispatched: 40, rejected: 0, timedOut: 5 }],
  ]);
});
