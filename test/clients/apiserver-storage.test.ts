import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { METHOD, tlsFromFiles } from '../../core/apiserver/storage/etcd-client/index.ts';
import type { EtcdClient, TlsSource } from '../../core/apiserver/storage/etcd-client/index.ts';
import { StorageError } from '../../core/apiserver/storage/errors.ts';
import type { EtcdStore } from '../../core/apiserver/storage/etcd-store.ts';
import { collect, openClient, openTextCache } from '../support/apiserver-storage.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd } from '../support/etcd-cluster.ts';
import { forwardTcp } from '../support/tcp-forwarder.ts';

const WRITES = 500;
const WATCHES = 20;
const KILL_AT = 150;
const START_AGAIN_AT = 350;
const WRITERS = 5;

const bytes = (text: string): Buffer => Buffer.from(text);
const text = (value: Uint8Array): string => Buffer.from(value).toString();

const FLAVOURS = [
  { flavour: 'pilothouse', octet: 81, isPresent: existsSync('dist/cli/cli.js') },
  { flavour: 'etcd', octet: 83, isPresent: hasRealEtcd() },
] as const;

for (const { flavour, octet, isPresent } of FLAVOURS)
  describe.runIf(isPresent)(`three members of ${flavour}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-storage-'));
    const scope = { opened: [] as (() => Promise<void> | void)[] };
    let cluster: EtcdCluster;
    let client: EtcdClient;
    let store: EtcdStore;

    beforeAll(async () => {
      cluster = new EtcdCluster({
        flavour,
        size: 3,
        octet,
        directory: join(directory, 'members'),
        certificates: makeCertificates(join(directory, 'pki'), octet),
      });
      cluster.start();
      await cluster.healthy();
    });
    afterEach(async () => {
      for (const close of scope.opened.splice(0).reverse()) await close();
    });
    afterAll(async () => {
      await cluster.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    const tls = (): TlsSource => {
      const { caFile, clientCertFile, clientKeyFile } = cluster.options.certificates;
      return tlsFromFiles({ caFile, certFile: clientCertFile, keyFile: clientKeyFile });
    };
    const connect = (): void => {
      ({ client, store } = openClient(scope, cluster.endpoints, { tls: tls() }));
    };

    /** A write whose answer was lost is looked up, as a caller with a resourceVersion does. */
    const put = async (key: string, value: string): Promise<void> => {
      for (;;) {
        try {
          await store.guaranteedUpdate(key, {
            createIfMissing: true,
            transform: () => ({ value: bytes(value) }),
          });
          return;
        } catch (error) {
          if (!(error instanceof StorageError) || !['Unavailable', 'Timeout'].includes(error.reason))
            throw error;
        }
      }
    };

    test('objects are written, listed in pages and watched over mutual TLS', async () => {
      connect();
      const made = [];
      for (const name of ['a', 'b', 'c']) made.push(await store.create(`/first/${name}`, bytes(name)));
      const page = await store.list('/first/', { limit: 2 });
      const rest = await store.list('/first/', { limit: 2, continueToken: page.continueToken });
      expect([...page.items, ...rest.items].map(({ value }) => text(value))).toEqual(['a', 'b', 'c']);
      await expect(store.create('/first/a', bytes('x'))).rejects.toMatchObject({ reason: 'AlreadyExists' });
      await expect(store.create('/first/large', Buffer.alloc(1_800_000))).rejects.toMatchObject({
        reason: 'TooLarge',
      });
      const kept = await store.create('/first/kept', Buffer.alloc(1_200_000, 'k'), { ttlSeconds: 3600 });
      expect((await store.get('/first/kept', { notOlderThan: kept.revision })).value.length).toBe(1_200_000);
      const cache = await openTextCache(scope, store, '/first/');
      const watcher = await cache.watch({ start: cache.revision });
      await store.delete('/first/b');
      expect(await collect(watcher, 1)).toEqual([expect.stringMatching(/^DELETED \/first\/b b@/)]);
      expect((await cache.list('/first/', { at: 'latest' })).objects.length).toBe(3);
    });

    test('a member killed among 500 writes and 20 watches costs no event, doubles none and fails no read', async () => {
      connect();
      const seen = Array.from({ length: WATCHES }, () => [] as string[]);
      const started = await store.currentRevision();
      for (const events of seen) {
        const watch = store.watch('/kill/', started, {
          onEvents: (batch) =>
            events.push(...batch.map((event) => `${event.key}=${text(event.value!)}@${event.revision}`)),
          onEnd: (error) => events.push(`ended ${error.reason}`),
        });
        scope.opened.push(() => watch.dispose());
      }
      const cache = await openTextCache(scope, store, '/kill/');
      const cached = await cache.watch({ start: cache.revision });
      const failedReads: unknown[] = [];
      let written = 0;
      let strike: Promise<void> = Promise.resolve();
      const victim = await cluster.leader();
      const write = async (): Promise<void> => {
        while (written < WRITES) {
          written += 1;
          const n = written;
          if (n === KILL_AT) strike = cluster.members[victim]!.kill('SIGKILL');
          if (n === START_AGAIN_AT) strike = strike.then(() => cluster.startMember(victim));
          await put(`/kill/k${n % 50}`, String(n));
          await store.get(`/kill/k${n % 50}`).catch((error: unknown) => failedReads.push(error));
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, write));
      await strike;
      expect(failedReads).toEqual([]);
      // What etcd itself has as history is the truth that every watch is held against.
      const truth: string[] = [];
      await put('/kill/last', 'last');
      const judge = store.watch('/kill/', started, {
        onEvents: (batch) =>
          truth.push(...batch.map((event) => `${event.key}=${text(event.value!)}@${event.revision}`)),
        onEnd: () => undefined,
      });
      scope.opened.push(() => judge.dispose());
      const isLast = (events: readonly string[]): boolean =>
        events.at(-1)?.startsWith('/kill/last=') === true;
      await expect.poll(() => [truth, ...seen].every(isLast)).toBe(true);
      const values = new Set(truth.map((line) => line.replace(/^.*=(.*)@.*$/, '$1')));
      const lost = Array.from({ length: WRITES }, (_, index) => String(index + 1)).filter(
        (n) => !values.has(n),
      );
      expect(lost).toEqual([]);
      for (const events of seen) expect(events).toEqual(truth);
      const lines = await collect(cached, truth.length);
      expect(lines.map((line) => line.replace(/^\w+ (\S+) (.*)$/, '$1=$2'))).toEqual(truth);
      await cluster.healthy();
    });

    test('a cache that is disconnected while its revision is compacted relists and reports the gap', async () => {
      connect();
      await put('/gap/a', 'a');
      const wire = await forwardTcp(new URL(cluster.endpoints[0]!).hostname, 2379);
      scope.opened.push(() => wire.close());
      const far = openClient(scope, [`https://localhost:${wire.port}`], { tls: tls() });
      const relists: string[] = [];
      const cache = await openTextCache(scope, far.store, '/gap/', {
        metrics: { relistNeeded: (reason) => relists.push(reason) },
      });
      const before = cache.revision;
      const watcher = await cache.watch({ start: before });
      wire.cut();
      await put('/gap/b', 'b');
      const { revision } = await store.create('/gap/c', bytes('c'));
      await client.call(METHOD.compact, { revision });
      wire.heal();
      expect(await watcher.next(1)).toBeUndefined();
      expect(watcher.end).toMatchObject({ reason: 'Expired' });
      expect((await cache.list('/gap/', { at: revision })).objects.length).toBe(3);
      expect(relists).toEqual(['Expired']);
      await expect(cache.watch({ start: before })).rejects.toMatchObject({ reason: 'Expired' });
    });

    test('a member that freezes fails no read', async () => {
      const frozen = ((await cluster.leader()) + 1) % 3;
      const far = openClient(scope, cluster.endpoints, {
        tls: tls(),
        keepaliveIntervalMs: 500,
        keepaliveTimeoutMs: 500,
      });
      await Promise.all(Array.from({ length: 6 }, () => far.store.count('/none/')));
      cluster.members[frozen]!.process.kill('SIGSTOP');
      try {
        const counts = await Promise.all(Array.from({ length: 30 }, () => far.store.count('/none/')));
        expect(counts.every((count) => count === 0)).toBe(true);
      } finally {
        cluster.members[frozen]!.process.kill('SIGCONT');
      }
    });

    test('renewed certificates are used from the next connection on', async () => {
      const { caFile, clientCertFile, clientKeyFile } = cluster.options.certificates;
      const certFile = join(directory, 'renewed.crt');
      copyFileSync(clientCertFile, certFile);
      const wire = await forwardTcp(new URL(cluster.endpoints[0]!).hostname, 2379);
      scope.opened.push(() => wire.close());
      const source = tlsFromFiles({ caFile, certFile, keyFile: clientKeyFile });
      const far = openClient(scope, [`https://localhost:${wire.port}`], { tls: source });
      await far.store.count('/');
      writeFileSync(certFile, 'half a certificate');
      wire.cut();
      wire.heal();
      // Either no connection came about, or the old one was not yet known to be cut.
      await expect(far.client.call(METHOD.txn, {}, { timeoutMs: 300 })).rejects.toMatchObject({
        reason: expect.stringMatching(/^(Unavailable|DeadlineExceeded)$/),
      });
      copyFileSync(clientCertFile, certFile);
      expect(await far.store.count('/none/')).toBe(0);
    });

    test('a wire that is cut and healed in time costs a watcher nothing', async () => {
      connect();
      const wire = await forwardTcp(new URL(cluster.endpoints[0]!).hostname, 2379);
      scope.opened.push(() => wire.close());
      const far = openClient(scope, [`https://localhost:${wire.port}`], { tls: tls() });
      const cache = await openTextCache(scope, far.store, '/cut/');
      const watcher = await cache.watch({ start: cache.revision });
      await put('/cut/a', 'a');
      wire.cut();
      await put('/cut/b', 'b');
      wire.heal();
      await put('/cut/c', 'c');
      expect((await collect(watcher, 3)).map((line) => line.replace(/@.*/, ''))).toEqual([
        'ADDED /cut/a a',
        'ADDED /cut/b b',
        'ADDED /cut/c c',
      ]);
    });
  });
