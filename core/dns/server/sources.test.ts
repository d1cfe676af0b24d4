import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { ENDPOINT_SLICE, NAMESPACE, SERVICE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { message, RCODE, TYPE } from '../wire/index.ts';
import { ApiSource } from './api-source.ts';
import { AnswerCache } from './cache.ts';
import { LazySource } from './lazy-source.ts';
import { fixedSource } from '../testing/fixed-source.ts';

test('objects of the API are found by name and by address', async () => {
  const api = new FakeApi();
  api.seed(NAMESPACE, { metadata: { name: 'default' } });
  api.seed(SERVICE, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80 }] },
  });
  api.seed(ENDPOINT_SLICE, {
    metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'] }],
    ports: [],
  });
  const { clock, random } = api;
  const source = new ApiSource({ client: api.client(), clock, random, log: silentLog });
  const ready = source.ready();
  await api.settle();
  const zone = await ready;
  const names = (objects: readonly { metadata?: { name?: string } }[]) =>
    objects.map(({ metadata }) => metadata?.name);
  expect([
    zone.hasNamespace('default'),
    zone.hasNamespace('other'),
    zone.service('default', 'web')?.metadata?.name,
    names(zone.slicesOf('default', 'web')),
    names(zone.servicesAt('10.0.0.1')),
    names(zone.slicesAt('10.1.0.1')),
  ]).toEqual([true, false, 'web', ['web-1'], ['web'], ['web-1']]);
  source.dispose();
});

test('watches start with the first query, stop when idle, and start again', async () => {
  const clock = manualClock();
  const told: string[] = [];
  const lazy = new LazySource({
    clock,
    idleMs: 300_000,
    open: () => {
      told.push('open');
      return Promise.resolve({
        isSynced: true,
        ready: () => Promise.resolve(fixedSource({})),
        dispose: () => void told.push('close'),
      });
    },
  });
  expect([lazy.isOpen, lazy.isReady, clock.pendingCount]).toEqual([false, true, 0]);
  await Promise.all([lazy.get(), lazy.get()]);
  clock.advance(200_000);
  await lazy.get();
  clock.advance(200_000);
  expect(told).toEqual(['open']);
  clock.advance(400_000);
  expect([told, lazy.isOpen, clock.pendingCount]).toEqual([['open', 'close'], false, 0]);
  await lazy.get();
  lazy.dispose();
  expect(told).toEqual(['open', 'close', 'open', 'close']);
});

test('an open that fails is tried again by the next question', async () => {
  let tries = 0;
  const lazy = new LazySource({
    clock: manualClock(),
    idleMs: 1000,
    open: () => {
      tries += 1;
      return tries === 1
        ? Promise.reject(new Error('no kubeconfig'))
        : Promise.resolve({
            isSynced: true,
            ready: () => Promise.resolve(fixedSource({})),
            dispose: () => undefined,
          });
    },
  });
  await expect(lazy.get()).rejects.toThrow('no kubeconfig');
  await expect(lazy.get()).resolves.toBeDefined();
});

const question = { name: 'Example.com.', type: TYPE.A, class: 1 };
const query = message({ questions: [question] });
const record = (ttlSeconds: number) => ({
  name: 'example.com.',
  type: TYPE.A,
  class: 1,
  ttlSeconds,
  data: { kind: 'address' as const, address: '192.0.2.1' },
});

test('answers age, are gone after their TTL or thirty seconds, and the longest unused gives way', () => {
  const clock = manualClock();
  const cache = new AnswerCache(clock, 2);
  cache.keep(question, query, message({ answers: [record(20)] }));
  clock.advance(5_000);
  const other = { ...question, name: 'EXAMPLE.com.' };
  expect(cache.find(other, query)?.message.answers[0]?.ttlSeconds).toBe(15);
  clock.advance(15_000);
  expect(cache.find(other, query)).toBeUndefined();
  cache.keep(question, query, message({ answers: [record(3_600)] }));
  clock.advance(30_000);
  expect(cache.find(question, query)).toBeUndefined();
  for (const name of ['a.', 'b.', 'c.'])
    cache.keep({ ...question, name }, query, message({ answers: [record(20)] }));
  expect(['a.', 'b.', 'c.'].map((name) => cache.find({ ...question, name }, query) !== undefined)).toEqual([
    false,
    true,
    true,
  ]);
});

test('that something is not there is kept as its SOA says, and failures are not kept', () => {
  const clock = manualClock();
  const cache = new AnswerCache(clock);
  const soa = {
    name: 'com.',
    type: TYPE.SOA,
    class: 1,
    ttlSeconds: 900,
    data: {
      kind: 'soa' as const,
      primary: 'a.',
      mailbox: 'b.',
      serial: 1,
      refreshSeconds: 1,
      retrySeconds: 1,
      expireSeconds: 1,
      minimumSeconds: 10,
    },
  };
  cache.keep(question, query, message({ rcode: RCODE.NXDOMAIN, authorities: [soa] }));
  expect(cache.find(question, query)?.kind).toBe('denial');
  clock.advance(10_000);
  expect(cache.find(question, query)).toBeUndefined();
  cache.keep(question, query, message({ rcode: RCODE.SERVFAIL, authorities: [soa] }));
  cache.keep(question, query, message({ rcode: RCODE.NXDOMAIN }));
  cache.keep(question, query, message({ answers: [record(0)] }));
  cache.keep(question, query, message({ answers: [record(20)], isTruncated: true }));
  expect(cache.find(question, query)).toBeUndefined();
});
