import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { seededRandom, type Random } from '../../base/random.ts';
import { objectKey } from '../../api/meta/object-meta.ts';
import { internalError } from '../../api/meta/status-errors.ts';
import type { Stored } from '../kind.ts';
import { CONFIG_MAP, type ConfigMap } from '../kinds.ts';
import { Requester } from '../rest/requester.ts';
import { RestClient } from '../rest/rest-client.ts';
import { TransportError, type Transport, type WireRequest, type WireResponse } from '../rest/transport.ts';
import { FakeApi } from '../testing/index.ts';
import { InformerFactory } from './informer-factory.ts';
import type { Informer } from './informer.ts';
import { compareResourceVersions } from './resource-version.ts';

/** Between client and server: repeats events of the past, tears lines, and breaks connections. */
const unreliable = (api: FakeApi, random: Random): Transport => ({
  dispose() {},
  async send(request: WireRequest): Promise<WireResponse> {
    if (random.below(10) === 0) throw new TransportError('ConnectionLost', 'lost', { maybeProcessed: true });
    const response = await api.send(request);
    if (!request.path.includes('watch=true')) return response;
    const body = async function* (): AsyncGenerator<Uint8Array, void, void> {
      const past: Uint8Array[] = [];
      for await (const chunk of response.body) {
        const dice = random.below(20);
        if (dice === 0) {
          yield chunk.subarray(0, chunk.length >> 1);
          throw new TransportError('ConnectionLost', 'torn', { maybeProcessed: true });
        }
        if (dice === 1) return;
        yield chunk;
        past.push(chunk);
        if (dice < 6 && !Buffer.from(chunk).toString().includes('BOOKMARK')) yield chunk;
        if (dice === 6) {
          const again = past[random.below(past.length)]!;
          if (!Buffer.from(again).toString().includes('BOOKMARK')) yield again;
        }
      }
    };
    return { ...response, body: body(), dispose: () => response.dispose() };
  },
});

interface Seen {
  readonly what: 'added' | 'updated' | 'deleted';
  readonly object: Stored<ConfigMap>;
  readonly tombstone: boolean;
}

/** Records what a handler sees, and that the store agrees with it at that moment. */
const record = (informer: Informer<ConfigMap>): Seen[] => {
  const log: Seen[] = [];
  const note = (what: Seen['what'], object: Stored<ConfigMap>, tombstone = false): void => {
    log.push({ what, object, tombstone });
    const held = informer.store.get(objectKey(object));
    expect(held).toBe(what === 'deleted' ? undefined : object);
  };
  informer.addHandler({
    added: (object) => note('added', object),
    updated: (_, object) => note('updated', object),
    deleted: (object, { finalStateUnknown }) => note('deleted', object, finalStateUnknown),
  });
  return log;
};

/** One key's history: added, updates, deleted, again and again, and versions that only rise. */
const checkOrder = (log: readonly Seen[]): void => {
  const held = new Map<string, string>();
  const last = new Map<string, string>();
  for (const { what, object, tombstone } of log) {
    const key = objectKey(object);
    const version = object.metadata.resourceVersion;
    expect(held.has(key), `${what} ${key}@${version}`).toBe(what !== 'added');
    const before = last.get(key);
    if (before !== undefined) {
      const order = compareResourceVersions(version, before)!;
      expect(tombstone ? order >= 0 : order > 0, `${key}: ${what} ${version} after ${before}`).toBe(true);
    }
    last.set(key, version);
    if (what === 'deleted') held.delete(key);
    else held.set(key, version);
  }
};

const run = async (seed: number, steps: number): Promise<void> => {
  const random = seededRandom(seed);
  const api = new FakeApi({
    random: seededRandom(seed + 1),
    watchList: random.below(2) === 0,
    defaults: false,
  });
  const requester = new Requester({
    transport: unreliable(api, random),
    host: 'fake',
    clock: api.clock,
    random,
    log: silentLog,
    timeoutMs: 60_000,
  });
  const client = new RestClient(requester, { userAgent: 'test' });
  const factory = new InformerFactory({ client, clock: api.clock, random, log: silentLog, freeze: true });
  const informer = factory.informer(CONFIG_MAP);
  const log = record(informer);
  factory.start();
  const names = ['a', 'b', 'c', 'd'];
  for (let i = 0; i < steps; i += 1) {
    const name = names[random.below(names.length)]!;
    const dice = random.below(16);
    if (dice < 8) {
      if (api.find(CONFIG_MAP, name)) api.edit(CONFIG_MAP, name, (o) => (o.data = { i: String(i) }));
      else api.seed(CONFIG_MAP, { metadata: { name } });
    } else if (dice < 11) api.remove(CONFIG_MAP, name);
    else if (dice === 11) api.endWatches('cut');
    else if (dice === 12) api.expireWatches();
    else if (dice === 13) api.compact();
    else if (dice === 14) api.bookmark();
    else api.failNext({ verb: random.below(2) === 0 ? 'watch' : 'list' }, internalError('x'));
    if (random.below(3) > 0) await api.advance(random.below(3) * 1000);
  }
  // Long enough for every back-off, and for the watches to be opened again and again.
  await api.advance(2_000_000, 40_000);
  checkOrder(log);
  expect(informer.store.list().sort((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1))).toEqual(
    api.list(CONFIG_MAP),
  );
  await factory.stop();
  expect(api.watchesCount).toBe(0);
};

test('through cuts, repeats, 410 and failures nothing is missed, repeated or reordered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), (seed) => run(seed, 60)),
    { numRuns: 40 },
  );
}, 60_000);
