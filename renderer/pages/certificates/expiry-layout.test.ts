import { expect, test } from 'vitest';
import {
  certificateFixture as certificate,
  daysFromNow,
  FIXTURE_NOW_MS as NOW,
} from './certificate-fixture.ts';
import { AUTHORITIES, expiryDots, lanesOf, monthTicks, OTHERS, untilOf } from './expiry-layout.ts';

const axis = { nowMs: NOW, untilMs: untilOf(NOW), width: 366, laterX: 400 };
const shape = (...list: Parameters<typeof expiryDots>[0]) =>
  expiryDots(list, axis).map(({ lane, x, state, certificates }) => [
    lane,
    Math.round(x),
    state,
    certificates.length,
  ]);

test('certificates of a host that end together are one dot that counts', () => {
  expect(
    shape(certificate('hosts/cp-1/apiserver'), certificate('hosts/cp-1/kubelet'), certificate('admin.conf')),
  ).toEqual([
    [OTHERS, 217, 'ok', 1],
    ['cp-1', 217, 'ok', 2],
  ]);
});

test('certificates that need action are not hidden among others', () => {
  const due = { notAfterMs: daysFromNow(29) };
  const soon = { notAfterMs: daysFromNow(31) };
  expect(shape(certificate('hosts/cp-1/a', due), certificate('hosts/cp-1/b', soon))).toEqual([
    ['cp-1', 29, 'due', 1],
    ['cp-1', 31, 'ok', 1],
  ]);
});

test('an authority valid for years is beyond the axis, and an expired one at its beginning', () => {
  const of = (days: number) => certificate('ca', { kind: 'authority', notAfterMs: daysFromNow(days) });
  expect([...shape(of(3650)), ...shape(of(-5))]).toEqual([
    [AUTHORITIES, 400, 'ok', 1],
    [AUTHORITIES, 0, 'expired', 1],
  ]);
});

test('a fresh certificate of one year is still on the axis', () => {
  expect(expiryDots([certificate('a', { notAfterMs: daysFromNow(365) })], axis)[0]?.isLater).toBe(false);
});

test('hosts come by number, then what belongs to none, then authorities', () => {
  const names = ['hosts/cp-10/a', 'admin.conf', 'hosts/cp-2/a'].map((name) => certificate(name));
  expect(lanesOf([certificate('ca', { kind: 'authority' }), ...names])).toEqual([
    'cp-2',
    'cp-10',
    OTHERS,
    AUTHORITIES,
  ]);
});

test('there is a tick at the beginning of each of the next twelve months', () => {
  const ticks = monthTicks(NOW).map((at) => new Date(at));
  expect([ticks.length, ticks[0]?.getMonth(), ticks.every((at) => at.getDate() === 1)]).toEqual([
    12,
    11,
    true,
  ]);
});
