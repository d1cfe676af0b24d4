import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { CertificateKeeper } from './certificate-keeper.ts';

const HOUR_MS = 3_600_000;

test('checks a minute after the start and every twelve hours, also after a failure, until it is disposed', async () => {
  const clock = manualClock();
  let checks = 0;
  const keeper = new CertificateKeeper({
    dataDirectory: '/nowhere',
    clock,
    log: silentLog,
    alone() {
      checks += 1;
      return Promise.reject(new Error('an upgrade is in progress'));
    },
  });
  keeper.start();
  clock.advance(30_000);
  expect(checks).toBe(0);
  clock.advance(30_000);
  await expect.poll(() => clock.pendingCount).toBe(1);
  expect(checks).toBe(1);
  clock.advance(12 * HOUR_MS);
  await expect.poll(() => clock.pendingCount).toBe(1);
  expect(checks).toBe(2);
  keeper.dispose();
  expect(clock.pendingCount).toBe(0);
});
