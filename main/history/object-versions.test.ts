import { expect, test } from 'vitest';
import type { AuditEventView } from '../../core/contract/index.ts';
import { takeRequest } from './object-versions.ts';

const event = (user: string, atMs: number, verb: string, subresource = '', code = 200) =>
  ({ user, atMs, verb, subresource, code }) as AuditEventView;

test('a version belongs to the nearest request to the same subresource, and to one request only', () => {
  const events = [
    event('controller', 10_400, 'update', 'status'),
    event('ada', 10_500, 'patch'),
    event('eve', 10_100, 'patch', '', 403),
    event('bob', 9_000, 'update'),
  ];
  const write = { atMs: 10_000, isDeleted: false, subresource: '' };
  const users = [
    write,
    write,
    write,
    { ...write, subresource: 'status' },
    { ...write, subresource: 'scale' },
  ].map((one) => takeRequest(events, one)?.user);
  expect(users).toEqual(['ada', 'bob', undefined, 'controller', undefined]);
});

test('a deletion is the newest request that deleted, where no time is known', () => {
  const events = [event('ada', 90_000, 'delete'), event('bob', 10_000, 'delete')];
  expect(takeRequest(events, { atMs: undefined, isDeleted: true, subresource: '' })?.user).toBe('ada');
  expect(takeRequest(events, { atMs: undefined, isDeleted: false, subresource: '' })).toBeUndefined();
});
