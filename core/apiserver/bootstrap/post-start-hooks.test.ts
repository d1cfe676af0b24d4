import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { HealthRegistry } from '../../component/health.ts';
import { startPostStartHooks } from './post-start-hooks.ts';

test('a hook keeps the server from being ready until it is through, and a failure ends the server', async () => {
  const health = new HealthRegistry(silentLog);
  const failures: string[] = [];
  let finish: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (finish = resolve));
  const hooks = startPostStartHooks(
    [
      { name: 'slow', run: () => running },
      { name: 'broken', run: () => Promise.reject(new Error('no etcd')) },
    ],
    {
      health,
      log: silentLog,
      onFailed: (name, error) => failures.push(`${name}: ${(error as Error).message}`),
    },
  );
  const ask = async (path: string): Promise<string | undefined> =>
    (await health.answer(path, new URLSearchParams(), new AbortController().signal))?.text;
  expect(await ask('/readyz/poststarthook/slow')).toBe('internal server error: not finished\n');
  finish();
  await running;
  expect(await ask('/readyz/poststarthook/slow')).toBe('ok');
  expect(await ask('/readyz/poststarthook/broken')).toBe('internal server error: hook failed\n');
  expect(failures).toEqual(['broken: no etcd']);
  hooks.dispose();
  expect(await ask('/readyz')).toBe('ok');
});

test('a hook is aborted when the server stops, and its failure is then ignored', async () => {
  const failures: string[] = [];
  let ended: Promise<void> = Promise.resolve();
  const hooks = startPostStartHooks(
    [
      {
        name: 'waits',
        run: (signal) =>
          (ended = new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(new Error('stopped'))),
          )),
      },
    ],
    {
      health: new HealthRegistry(silentLog),
      log: silentLog,
      onFailed: (name) => failures.push(name),
    },
  );
  hooks.dispose();
  await expect(ended).rejects.toThrow('stopped');
  expect(failures).toEqual([]);
});
