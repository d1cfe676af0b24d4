import { expect, test } from 'vitest';
import { verbatim } from '../../contract/index.ts';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { defaultSpec } from '../config/config.ts';
import type { DataFolder } from '../data-folder/open.ts';
import type { FromHost } from '../host/messages.ts';
import { Supervisor } from './supervisor.ts';

/** Hosts that start immediately, stop when asked to, and run no components. The clock does not move. */
const supervised = () => {
  const launched: string[] = [];
  const tell = new Map<string, (message: FromHost) => void>();
  const supervisor = new Supervisor({
    folder: {
      directory: '/nowhere',
      config: {
        apiVersion: 'pilothouse.dev/v1',
        kind: 'Cluster',
        metadata: { name: 'desk' },
        spec: { ...defaultSpec(40), workers: 0 },
      },
      isNew: true,
      lock: { dispose: () => undefined },
    } satisfies DataFolder,
    program: new URL('file:///nowhere'),
    clock: manualClock(),
    resumeMembership: () => Promise.resolve(undefined),
    log: silentLog,
    launch: (name, { onMessage, onExit }) => {
      launched.push(name);
      tell.set(name, onMessage);
      const say = (message: FromHost): void => queueMicrotask(() => onMessage(message));
      return {
        pid: 1,
        signal: (signal) => {
          if (signal === 'SIGKILL') queueMicrotask(() => onExit({ code: null, signal }));
        },
        send: (message) => {
          if (message.kind === 'start') {
            say({ kind: 'started' });
            say({ kind: 'component', component: 'etcd', phase: 'starting', version: '3.6.6' });
          }
          if (message.kind === 'stop') queueMicrotask(() => onExit({ code: 0, signal: null }));
        },
      };
    },
  });
  return { supervisor, launched, tell };
};

test('waiting for a host ends with its cluster, not with the timeout', async () => {
  const { supervisor } = supervised();
  await supervisor.commands.start('cp-1');
  const waiting = supervisor.host('cp-1').until(() => false, 240_000);
  const restarting = supervisor.exclusively(verbatim('a restart'), () => supervisor.commands.restart('cp-1'));
  const refused = expect(restarting).rejects.toThrow(/did not become ready|stopping/);
  await supervisor.stop();
  await refused;
  expect([await waiting, supervisor.state().phase]).toEqual([false, 'stopped']);
});

test('a component that rejects its new flags is not waited for; one that fails otherwise is', async () => {
  const { supervisor, tell } = supervised();
  await supervisor.commands.start('cp-1');
  const host = supervisor.host('cp-1');
  await host.until(() => host.component('etcd') !== undefined, 1);
  const say = (message: Partial<FromHost & { kind: 'component' }>): void =>
    tell.get('cp-1')!({
      kind: 'component',
      component: 'etcd',
      phase: 'starting',
      version: '3.6.6',
      ...message,
    });
  let hasGivenUp = false;
  const waiting = host
    .untilChanged('etcd', { restarts: 0, isThere: () => false, timeoutMs: 60_000 })
    .finally(() => (hasGivenUp = true));
  // Rejected before the change, and a failure that the next start may not have.
  say({ phase: 'exited', message: 'unknown flag: --old', isRejected: true });
  say({});
  say({ phase: 'exited', message: 'cannot reach etcd', isRejected: false });
  await Promise.resolve();
  expect(hasGivenUp).toBe(false);
  say({});
  say({ phase: 'exited', message: 'unknown flag: --nope', isRejected: true });
  expect([await waiting, host.component('etcd')?.message]).toEqual([false, 'unknown flag: --nope']);
  await supervisor.stop();
});

test('an operation that asks again and again ends with its cluster, and the end waits for it', async () => {
  const { supervisor } = supervised();
  const told: string[] = [];
  const operation = supervisor.exclusively(verbatim('a new member'), async () => {
    try {
      for (;;) await supervisor.wait(100);
    } finally {
      await Promise.resolve();
      told.push('what was begun is put back');
    }
  });
  const refused = expect(operation).rejects.toMatchObject({ reason: 'Stopped' });
  await supervisor.stop();
  told.push('the cluster has ended');
  await refused;
  expect(told).toEqual(['what was begun is put back', 'the cluster has ended']);
});

test('nothing is started in a cluster that ends: it would outlive it', async () => {
  const { supervisor, launched } = supervised();
  const stopped = supervisor.stop();
  await expect(supervisor.commands.start('cp-1')).rejects.toMatchObject({ reason: 'Stopped' });
  await expect(supervisor.exclusively(verbatim('a restore'), () => Promise.resolve())).rejects.toMatchObject({
    reason: 'Stopped',
  });
  await stopped;
  expect(launched).toEqual([]);
});

test('anyone who stops a second time waits for the end too', async () => {
  const { supervisor } = supervised();
  await supervisor.commands.start('cp-1');
  await Promise.race([supervisor.stop(), supervisor.stop()]);
  expect(supervisor.state().phase).toBe('stopped');
});
