import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FailoverClient, RecordingWatch, writeHistory, type KeyEvent } from '../support/api-failover.ts';
import { ControlPlane } from '../support/control-plane.ts';
import { hasRealEtcd } from '../support/etcd-cluster.ts';

const WRITERS = 20;
const KEYS_PER_WRITER = 5;
const WRITES_PER_KEY = 10;
const WRITES = WRITERS * KEYS_PER_WRITER * WRITES_PER_KEY;
const WATCHES = 50;
const SERVERS = 3;
/** In the middle of the writes, while every writer and every watch is at work. */
const KILL_AFTER_WRITES = 400;
const VICTIM = 0;
const PATH = '/api/v1/namespaces/default/configmaps';

/** Create, change, delete: what every watch has to tell of one key, once and in this order. */
const EXPECTED: readonly KeyEvent[] = [
  { type: 'ADDED', value: '0' },
  ...Array.from({ length: WRITES_PER_KEY - 2 }, (_, n): KeyEvent => ({
    type: 'MODIFIED',
    value: String(n + 1),
  })),
  { type: 'DELETED', value: String(WRITES_PER_KEY - 2) },
];

describe.each([
  { flavour: 'pilothouse', octet: 95, isMissing: false },
  { flavour: 'etcd', octet: 93, isMissing: !hasRealEtcd() },
] as const)('three API servers on three members of $flavour', ({ flavour, octet, isMissing }) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-apiserver-kill-'));
  let plane: ControlPlane;

  beforeAll(async () => {
    if (isMissing) return;
    plane = await ControlPlane.create({
      etcd: flavour,
      members: 3,
      apiServers: SERVERS,
      octet,
      directory: join(directory, 'plane'),
    });
    await plane.start();
  });

  afterAll(async () => {
    if (!isMissing) await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test.skipIf(isMissing)(
    'one is killed amid writes and watches, and no event is missing or doubled',
    async () => {
      const pki = (file: string): Buffer => readFileSync(join(plane.options.directory, 'pki', file));
      const credentials = {
        ca: pki('ca.crt'),
        cert: pki('apiserver-kubelet-client.crt'),
        key: pki('apiserver-kubelet-client.key'),
      };
      const urls = plane.apiServers.map(({ url }) => url);
      const clientAt = (server: number): FailoverClient => new FailoverClient(urls, credentials, server);
      // A cache tells of what came after it was filled: it is, once it has answered.
      for (let server = 0; server < SERVERS; server += 1) {
        const client = clientAt(server);
        await client.request({ path: `${PATH}?resourceVersion=0` });
        client.close();
      }
      const opener = clientAt(1);
      const { body } = await opener.request({ path: `${PATH}?limit=1` });
      const start = (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata
        .resourceVersion;

      const watches = Array.from(
        { length: WATCHES },
        (_, n) =>
          new RecordingWatch(clientAt(n % SERVERS), `${PATH}?watch=1&labelSelector=kind%3Dkilled`, start),
      );
      const watchersOfVictim = watches.filter((_, n) => n % SERVERS === VICTIM);
      await Promise.all(watches.map((watch) => watch.opened()));

      let acknowledged = 0;
      let killed: Promise<void> | undefined;
      const onWritten = (): void => {
        acknowledged += 1;
        if (acknowledged === KILL_AFTER_WRITES) killed = plane.apiServers[VICTIM]!.kill('SIGKILL');
      };
      const writers = Array.from({ length: WRITERS }, (_, n) => clientAt(n % SERVERS));
      await Promise.all(
        writers.map((client, writer) =>
          Promise.all(
            Array.from({ length: KEYS_PER_WRITER }, (_, key) =>
              writeHistory(client, {
                path: PATH,
                name: `w${writer}-k${key}`,
                writes: WRITES_PER_KEY,
                onWritten,
              }),
            ),
          ),
        ),
      );
      await killed;
      await Promise.all(watches.map((watch) => watch.told(WRITES)));

      expect({ acknowledged, resumed: watchersOfVictim.every(({ resumes }) => resumes > 0) }).toEqual({
        acknowledged: WRITES,
        resumed: true,
      });
      const names = writers.flatMap((_client, writer) =>
        Array.from({ length: KEYS_PER_WRITER }, (_, key) => `w${writer}-k${key}`),
      );
      for (const watch of watches) {
        expect(watch.revisions).toEqual([...new Set(watch.revisions)].sort((a, b) => a - b));
        for (const name of names)
          expect({ name, events: watch.eventsOf(name) }).toEqual({ name, events: EXPECTED });
        expect(watch.revisions).toEqual(watches[0]!.revisions);
      }

      plane.startApiServer(VICTIM);
      await plane.ready(VICTIM);
      const again = clientAt(VICTIM);
      const left = await again.request({ path: `${PATH}?labelSelector=kind%3Dkilled` });
      expect((JSON.parse(left.body.toString()) as { items: unknown[] }).items).toEqual([]);
      for (const watch of watches) watch.close();
      for (const client of [opener, again, ...writers]) client.close();
    },
  );
});
