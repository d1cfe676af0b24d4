import { expect, test } from 'vitest';
import { silentLog, type Log } from '../base/log.ts';
import { HealthRegistry } from './health.ts';

const registry = () => {
  const health = new HealthRegistry(silentLog);
  let etcdFails = false;
  health.add({
    name: 'etcd',
    check() {
      if (etcdFails) throw new Error('connection refused');
    },
  });
  health.add({ name: 'poststarthook/rbac/bootstrap-roles', check: () => undefined, group: 'hooks' }, [
    'readyz',
  ]);
  const ask = (url: string) => {
    const [path = '', query = ''] = url.split('?');
    return health.answer(path, new URLSearchParams(query), new AbortController().signal);
  };
  return { health, ask, failEtcd: () => (etcdFails = true) };
};

test('a healthy server says ok, and what it checked when asked', async () => {
  const { ask } = registry();
  expect(await ask('/livez')).toEqual({ code: 200, text: 'ok' });
  expect(await ask('/readyz?verbose')).toEqual({
    code: 200,
    text: '[+]ping ok\n[+]etcd ok\n[+]poststarthook/rbac/bootstrap-roles ok\nreadyz check passed\n',
  });
});

test('a failing check fails the whole, and its reason is withheld there', async () => {
  const { ask, failEtcd } = registry();
  failEtcd();
  expect(await ask('/livez')).toEqual({
    code: 500,
    text: '[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed\n',
  });
  expect(await ask('/livez/etcd')).toEqual({
    code: 500,
    text: 'internal server error: connection refused\n',
  });
});

test('a failure is logged when it begins and when it ends, not at every probe', async () => {
  const lines: string[] = [];
  const log: Log = { write: (level, message) => void lines.push(`${level} ${message}`), with: () => log };
  const health = new HealthRegistry(log);
  let isBroken = true;
  const check = (): void => {
    if (isBroken) throw new Error('not yet');
  };
  health.add({ name: 'etcd', check });
  const ask = () => health.answer('/readyz', new URLSearchParams(), new AbortController().signal);
  await ask();
  await ask();
  isBroken = false;
  await ask();
  await ask();
  expect(lines).toEqual(['warn health checks failed', 'info health checks pass again']);
});

test('checks are left out by name and by group; names that match nothing are reported', async () => {
  const { ask, failEtcd } = registry();
  failEtcd();
  expect(await ask('/readyz?verbose&exclude=etcd&exclude=hooks&exclude=nope')).toEqual({
    code: 200,
    text:
      '[+]ping ok\n[+]etcd excluded: ok\n[+]poststarthook/rbac/bootstrap-roles excluded with hooks: ok\n' +
      'warn: some health checks cannot be excluded: no matches for "nope"\nreadyz check passed\n',
  });
});

test('a single check has a path of its own, slashes included; others have none', async () => {
  const { ask } = registry();
  expect(await ask('/readyz/poststarthook/rbac/bootstrap-roles')).toEqual({ code: 200, text: 'ok' });
  expect([await ask('/livez/poststarthook/rbac/bootstrap-roles'), await ask('/health')]).toEqual([
    undefined,
    undefined,
  ]);
});

test('a removed check is not run, and no name is listed twice', async () => {
  const { health, ask } = registry();
  const added = health.add({ name: 'informers', check: () => Promise.reject(new Error('late')) });
  expect((await ask('/healthz'))?.code).toBe(500);
  expect(() => health.add({ name: 'informers', check: () => undefined })).toThrow('registered twice');
  added.dispose();
  expect((await ask('/healthz'))?.code).toBe(200);
});
