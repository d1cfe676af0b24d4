import { expect, test } from 'vitest';
import { TraceRing, type RequestTrace } from './trace.ts';

const trace = (auditId: string): RequestTrace => ({
  auditId,
  startedAtMs: 0,
  durationMs: 1,
  protocol: 'HTTP/2.0',
  method: 'GET',
  path: '/',
  verb: 'get',
  user: '',
  code: 200,
  stages: [],
});

test('a ring keeps the latest traces in order and forgets the rest', () => {
  const ring = new TraceRing(3);
  for (const id of ['a', 'b', 'c', 'd', 'e']) ring.add(trace(id));
  expect(ring.list().map(({ auditId }) => auditId)).toEqual(['c', 'd', 'e']);
  expect([ring.find('a'), ring.find('e')?.auditId]).toEqual([undefined, 'e']);
});
