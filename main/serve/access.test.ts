import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import { createAccess, SESSION_IDLE_MS, TOKEN_VALIDITY_MS } from './access.ts';

test('a token buys one session and is then worth nothing', () => {
  const access = createAccess(manualClock());
  const token = access.mintToken();
  const session = access.redeem(token);
  expect([access.admits(session), access.redeem(token), access.sessionCount]).toEqual([true, undefined, 1]);
});

test('secrets have 256 bits and are never repeated', () => {
  const access = createAccess(manualClock());
  const tokens = Array.from({ length: 20 }, () => access.mintToken());
  expect(new Set(tokens).size).toBe(20);
  expect(tokens.every((token) => Buffer.from(token, 'base64url').length === 32)).toBe(true);
});

test('a token expires unused', () => {
  const clock = manualClock();
  const access = createAccess(clock);
  const token = access.mintToken();
  clock.advance(TOKEN_VALIDITY_MS);
  expect(access.redeem(token)).toBeUndefined();
});

test('a session lasts while it is used and ends when idle', () => {
  const clock = manualClock();
  const access = createAccess(clock);
  const session = access.redeem(access.mintToken());
  clock.advance(SESSION_IDLE_MS - 1);
  expect(access.admits(session)).toBe(true);
  clock.advance(SESSION_IDLE_MS - 1);
  expect(access.admits(session)).toBe(true);
  clock.advance(SESSION_IDLE_MS);
  expect([access.admits(session), access.sessionCount]).toEqual([false, 0]);
});

test('tokens and sessions are bounded: the oldest go', () => {
  const clock = manualClock();
  const access = createAccess(clock);
  const first = access.mintToken();
  const sessions = Array.from({ length: 20 }, () => {
    clock.advance(1);
    return access.redeem(access.mintToken());
  });
  for (let i = 0; i < 8; i += 1) access.mintToken();
  expect([
    access.redeem(first),
    access.sessionCount,
    access.admits(sessions[0]),
    access.admits(sessions[19]),
  ]).toEqual([undefined, 16, false, true]);
});

test.each([undefined, '', 'x', 'A'.repeat(100_000)])('a session is rejected: %#', (session) => {
  expect(createAccess(manualClock()).admits(session)).toBe(false);
});
