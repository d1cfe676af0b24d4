import { expect, test } from 'vitest';
import type { AuditEventView } from '../../core/contract/index.ts';
import { takeRequest } from './object-versions.ts';

const event = (user: string, atMs: number, verb: string, subresource = '', code = 200) =>
  ({ user, atMs, verb, subresource, code, path: '/apis', userAgent: 'kubectl/v1.36' }) as AuditEventView;

const WRITE = { atMs: 10_000, isDeleted: false, subresource: '', manager: 'kubectl', mayBeFirst: false };

test('a version belongs to the newest request to the same subresource at its time, and to one request only', () => {
  const events = [
    event('controller', 10_400, 'update', 'status'),
    event('bob', 10_200, 'update'),
    event('ada', 10_500, 'patch'),
    event('eve', 10_600, 'patch', '', 403),
    event('carol', 9_000, 'update'),
  ];
  const users = [
    WRITE,
    WRITE,
    WRITE,
    { ...WRITE, subresource: 'status' },
    { ...WRITE, subresource: 'scale' },
  ].map((one) => takeRequest(events, one)?.user);
  expect(users).toEqual(['ada', 'bob', undefined, 'controller', undefined]);
});

test('two writes within a second keep their own requests: only the first version was created', () => {
  const events = [event('ada', 10_100, 'create'), event('bob', 10_900, 'patch')];
  expect(takeRequest(events, WRITE)?.user).toBe('bob');
  expect(takeRequest(events, WRITE)).toBeUndefined();
  expect(takeRequest(events, { ...WRITE, mayBeFirst: true })?.user).toBe('ada');
});

test('a deletion is the newest request that deleted, where no time is known', () => {
  const events = [event('ada', 90_000, 'delete'), event('bob', 10_000, 'delete')];
  expect(takeRequest(events, { ...WRITE, atMs: undefined, isDeleted: true })?.user).toBe('ada');
  expect(takeRequest(events, { ...WRITE, atMs: undefined })).toBeUndefined();
});

test('a component whose writes are not recorded takes no request of a person within the same second', () => {
  const shift = { ...event('ada', 10_500, 'patch'), path: '/apis/x?fieldManager=night-shift&force=true' };
  const events = [shift];
  const users = ['kube-controller-manager', 'kubectl', 'night-shift'].map(
    (manager) => takeRequest(events, { ...WRITE, manager })?.user,
  );
  expect(users).toEqual([undefined, undefined, 'ada']);
  // Objects without managed fields: the time alone tells.
  expect(takeRequest([shift], { ...WRITE, manager: '' })?.user).toBe('ada');
});
