import { expect, test } from 'vitest';
import { manualClock } from '../base/manual-clock.ts';
import type { Client } from '../client/client.ts';
import { delegatedAccess } from './delegated-access.ts';

const LIVES = { tokenMs: 1_000, allowedMs: 5_000, deniedMs: 2_000 };
const CALLER = { name: 'alice', groups: ['system:authenticated'] };

const reviewer = (status: unknown) => {
  const asked: unknown[] = [];
  const json = ({ body }: { body: { spec: unknown } }) => {
    asked.push(body.spec);
    return Promise.resolve({ status });
  };
  return { asked, client: { json } as unknown as Client };
};

test('tokens and access are reviewed by clients of their own, and answers are used as long as the flags say', async () => {
  const clock = manualClock();
  const tokens = reviewer({ authenticated: true, user: { username: 'alice' } });
  const verdicts = reviewer({ allowed: true });
  const access = delegatedAccess(
    { authentication: tokens.client, authorization: verdicts.client },
    clock,
    LIVES,
  );
  const both = async () => {
    await access.reviewToken('t');
    await access.mayAccess(CALLER, { verb: 'get', path: '/metrics' });
    return [tokens.asked.length, verdicts.asked.length];
  };
  const counts = [await both(), await both()];
  clock.advance(LIVES.tokenMs);
  counts.push(await both());
  clock.advance(LIVES.allowedMs);
  counts.push(await both());
  expect(counts).toEqual([
    [1, 1],
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
});

test('a denial is remembered for its own time', async () => {
  const clock = manualClock();
  const verdicts = reviewer({ allowed: false });
  const access = delegatedAccess({ authentication: undefined, authorization: verdicts.client }, clock, LIVES);
  const ask = () => access.mayAccess(CALLER, { verb: 'get', path: '/metrics' });
  const answers = [await ask(), await ask()];
  clock.advance(LIVES.deniedMs);
  answers.push(await ask());
  expect([answers, verdicts.asked.length]).toEqual([[false, false, false], 2]);
});

test('without reviewers no token is valid and nothing is allowed', async () => {
  const access = delegatedAccess({ authentication: undefined, authorization: undefined }, manualClock());
  expect([await access.reviewToken('t'), await access.mayAccess(CALLER, { verb: 'get', path: '/' })]).toEqual(
    [undefined, false],
  );
});
