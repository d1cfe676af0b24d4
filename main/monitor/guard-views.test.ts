import { expect, test } from 'vitest';
import { identityOf } from './access-review.ts';
import { countsOf } from './flow-control.ts';

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

test('figures of a priority level are added up over servers, flow schemas and reasons', () => {
  const server = (executing: number): string =>
    [
      'apiserver_flowcontrol_nominal_limit_seats{priority_level="system"} 74',
      `apiserver_flowcontrol_current_executing_requests{flow_schema="a",priority_level="system"} ${executing}`,
      'apiserver_flowcontrol_current_inqueue_requests{flow_schema="a",priority_level="system"} 1',
      'apiserver_flowcontrol_dispatched_requests_total{flow_schema="a",priority_level="system"} 10',
      'apiserver_flowcontrol_dispatched_requests_total{flow_schema="b",priority_level="system"} 5',
      'apiserver_flowcontrol_rejected_requests_total{flow_schema="a",priority_level="system",reason="time-out"} 2',
      '',
    ].join('\n');
  expect([...countsOf([server(3), server(4)])]).toEqual([
    ['system', { seats: 148, executing: 7, waiting: 2, dispatched: 30, rejected: 4 }],
  ]);
});
