import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import { EtcdClient } from '../../core/apiserver/storage/etcd-client/index.ts';
import { EtcdStore } from '../../core/apiserver/storage/etcd-store.ts';
import { WatchCache } from '../../core/apiserver/storage/watch-cache/watch-cache.ts';
import type { CacheWatcher } from '../../core/apiserver/storage/watch-cache/watcher.ts';
import type { EtcdClientOptions } from '../../core/apiserver/storage/etcd-client/index.ts';
import type { Store } from '../../core/apiserver/storage/store.ts';
import type { WatchCacheOptions } from '../../core/apiserver/storage/watch-cache/watch-cache.ts';
import { serveClients } from '../../core/etcd/rpc/index.ts';
import { openMemoryMember } from './memory-etcd-member.ts';

export interface Opened {
  readonly opened: (() => Promise<void> | void)[];
}

export const openClient = (
  { opened }: Opened,
  endpoints: readonly string[],
  options: Partial<EtcdClientOptions> = {},
): { client: EtcdClient; store: EtcdStore } => {
  const client = new EtcdClient({
    endpoints,
    clock: systemClock,
    random: seededRandom(7),
    log: silentLog,
    ...options,
  });
  opened.push(() => client.close());
  return { client, store: new EtcdStore(client, { clock: systemClock }) };
};

/** One member in this process that serves the real gRPC services, and a client of it. */
export const openMemoryStorage = async (scope: Opened) => {
  const member = await openMemoryMember();
  scope.opened.push(() => member.close());
  const served = await serveClients({
    member: member.api,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    listeners: [{ address: { host: '127.0.0.1', port: 0 } }],
  });
  scope.opened.push(() => served.close({ graceMs: 0 }));
  const url = `http://127.0.0.1:${served.servers[0]!.port}`;
  return { member, served, url, ...openClient(scope, [url]) };
};

/** A cache whose decoded objects are texts of the form `value@revision`. */
export const openTextCache = async (
  { opened }: Opened,
  store: Store,
  prefix: string,
  options: Partial<WatchCacheOptions<string>> = {},
): Promise<WatchCache<string>> => {
  const cache = new WatchCache<string>({
    store,
    prefix,
    codec: { decode: (_key, value, revision) => `${Buffer.from(value).toString()}@${revision}` },
    clock: systemClock,
    random: seededRandom(3),
    log: silentLog,
    ...options,
  });
  opened.push(() => cache.close());
  cache.start();
  await cache.ready(60_000);
  return cache;
};

/** Items as lines, until there are `count` or the watch is over. */
export const collect = async (watcher: CacheWatcher<string>, count: number): Promise<string[]> => {
  const lines: string[] = [];
  while (lines.length < count) {
    const items = await watcher.next(count - lines.length);
    if (items === undefined) break;
    for (const item of items)
      lines.push(
        item.type === 'BOOKMARK'
          ? `BOOKMARK ${item.revision}${item.initialEventsEnd ? ' end of state' : ''}`
          : `${item.type} ${item.key} ${item.current.object}`,
      );
  }
  return lines;
};
