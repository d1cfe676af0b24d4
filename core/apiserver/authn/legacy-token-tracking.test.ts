import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { trackLegacyTokens } from './legacy-token-tracking.ts';

const DAY_MS = 86_400_000;
const dateOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

test('the day of use is written once, and not where it is known', async () => {
  const clock = manualClock();
  const today = dateOf(clock.nowMs());
  const written: string[] = [];
  let finish: () => void = () => undefined;
  const track = trackLegacyTokens({
    metrics: new Registry(),
    clock,
    log: silentLog,
    label({ name }, date) {
      written.push(`${name} ${date}`);
      return new Promise((resolve) => (finish = resolve));
    },
  });
  const use = { namespace: 'a', secretName: 's', secretUid: 'u', lastUsed: '', kind: 'manual' } as const;
  track({ ...use, lastUsed: today });
  track({ ...use, lastUsed: dateOf(clock.nowMs() + DAY_MS) });
  expect(written).toEqual([]);
  track(use);
  track(use);
  expect(written).toEqual([`s ${today}`]);
  finish();
  await expect.poll(() => (track({ ...use, lastUsed: '2001-01-01' }), written.length)).toBe(2);
});

test('uses are counted by kind, also those of tokens that were put out of use', async () => {
  const metrics = new Registry();
  const failing = () => Promise.reject(new Error('etcd is down'));
  const track = trackLegacyTokens({ metrics, clock: manualClock(), log: silentLog, label: failing });
  for (const kind of ['auto', 'manual', 'invalid'] as const)
    track({ namespace: 'a', secretName: kind, secretUid: kind, lastUsed: '', kind });
  const text = await Promise.resolve(metrics.expose());
  for (const name of ['legacy_auto', 'legacy_manual', 'invalid_legacy_auto'])
    expect(text).toContain(`serviceaccount_${name}_token_uses_total 1`);
});
