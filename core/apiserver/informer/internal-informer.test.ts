import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog, type Log } from '../../base/log.ts';
import { systemClock } from '../../base/node/clock.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { userInfo } from '../server/user.ts';
import {
  NO_OPTIONS,
  deleting,
  scopeOf,
  storageIn,
  testRegistry,
  type TestRegistry,
} from '../registry/testing/fixtures.ts';
import { createInternalInformer, type Follower, type InternalInformer } from './internal-informer.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
let opened: TestRegistry;
let informer: InternalInformer;
let complaints: string[];
beforeEach(() => {
  opened = testRegistry();
  complaints = [];
  const log: Log = { ...silentLog, write: (_level, text) => complaints.push(text) };
  informer = createInternalInformer({
    registry: opened.registry,
    user: userInfo('system:apiserver'),
    clock: systemClock,
    log,
  });
});
afterEach(() => {
  informer.dispose();
  opened.registry.close();
});

const create = (name: string): Promise<unknown> =>
  storageIn(opened, '', 'configmaps').create(
    scopeOf(),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    NO_OPTIONS,
  );

const recording = (): Follower & { readonly heard: string[] } => {
  const heard: string[] = [];
  const note = (sign: string) => (object: KubernetesObject) => heard.push(`${sign}${object.metadata?.name}`);
  return { heard, upsert: note('+'), remove: note('-') };
};

test('a follower hears what is there, then every change, and one that comes later hears the same', async () => {
  await create('a');
  const first = recording();
  await informer.follow(CONFIG_MAPS, first).ready;
  expect(first.heard).toEqual(['+a']);
  await create('b');
  await expect.poll(() => first.heard).toEqual(['+a', '+b']);
  const second = recording();
  await informer.follow(CONFIG_MAPS, second).ready;
  await storageIn(opened, '', 'configmaps').delete(scopeOf(), 'a', deleting());
  await expect
    .poll(() => [first.heard, second.heard])
    .toEqual([
      ['+a', '+b', '-a'],
      ['+a', '+b', '-a'],
    ]);
});

test('a resource is watched once, however many follow it, and no longer than anyone does', async () => {
  const storage = storageIn(opened, '', 'configmaps');
  let watches = 0;
  const counting = createInternalInformer({
    registry: {
      storageOf: () => ({
        watch(...args: Parameters<typeof storage.watch>) {
          watches += 1;
          return storage.watch(...args);
        },
      }),
    },
    user: userInfo('system:apiserver'),
    clock: systemClock,
    log: silentLog,
  });
  const [first, second] = [recording(), recording()];
  const followings = [counting.follow(CONFIG_MAPS, first), counting.follow(CONFIG_MAPS, second)];
  await Promise.all(followings.map(({ ready }) => ready));
  expect(watches).toBe(1);
  followings[0]!.dispose();
  await create('c');
  await expect.poll(() => second.heard).toEqual(['+c']);
  followings[1]!.dispose();
  await create('d');
  await counting.follow(CONFIG_MAPS, recording()).ready;
  expect([watches, first.heard, second.heard]).toEqual([2, [], ['+c']]);
  counting.dispose();
});

test('a follower that fails keeps neither others nor itself from what comes next', async () => {
  const good = recording();
  const bad: Follower & { calls: number } = {
    calls: 0,
    upsert() {
      this.calls += 1;
      throw new Error('no');
    },
    remove() {},
  };
  await informer.follow(CONFIG_MAPS, bad).ready;
  await informer.follow(CONFIG_MAPS, good).ready;
  await create('a');
  await create('b');
  await expect.poll(() => good.heard).toEqual(['+a', '+b']);
  expect([bad.calls, complaints]).toEqual([2, Array(2).fill('a follower of the internal informer failed')]);
});

test('a resource that is not served has no objects', async () => {
  await expect(
    informer.follow({ group: 'none', resource: 'nothing' }, recording()).ready,
  ).resolves.toBeUndefined();
});
