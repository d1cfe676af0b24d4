import { afterEach, expect, test, vi } from 'vitest';
import { configurationOf } from '../../raft/configuration.ts';
import { heartbeat, newAuthority, peerTls, startMember, type TestMember } from './testing.ts';
import type { SnapshotTransfer } from './transport.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const until = <T>(check: () => T): Promise<T> => vi.waitFor(check, { timeout: 8000, interval: 5 });

const root = newAuthority('etcd-ca');
const pair = async (): Promise<[TestMember, TestMember]> => {
  const tls = peerTls(root.authority, root.ca);
  const [a, b] = [await startMember(1, { tls }), await startMember(2, { tls })];
  closers.push(
    () => a.transport.close(),
    () => b.transport.close(),
  );
  a.transport.setPeers([{ id: 2, urls: [b.url] }]);
  await until(() => expect(a.transport.status(2)?.activeSinceMs).toBeDefined());
  return [a, b];
};

const transfer: SnapshotTransfer = {
  message: {
    kind: 'snapshot',
    from: 1,
    to: 2,
    term: 3,
    mark: { index: 100, term: 2, configuration: configurationOf([1, 2], [3]) },
  },
  sizeBytes: 12,
};

async function* chunksOf(
  count: number,
  bytes: number,
  onEach?: (i: number) => void,
): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i += 1) {
    onEach?.(i);
    yield Buffer.alloc(bytes, i % 251);
  }
}

test('a snapshot arrives whole, with its message, and the sender learns when it is taken over', async () => {
  const [a, b] = await pair();
  let seen: unknown;
  let sum = 0;
  b.transport.onSnapshot(async (from, got, chunks) => {
    seen = [from, got];
    for await (const chunk of chunks) for (const byte of chunk) sum += byte;
  });
  await a.transport.sendSnapshot(2, transfer, chunksOf(20, 150_000));
  expect(seen).toEqual([1, transfer]);
  expect(sum).toBe(((19 * 20) / 2) * 150_000);
});

test('a slow receiver slows the source down, and messages pass meanwhile', async () => {
  const [a, b] = await pair();
  let produced = 0;
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let received = 0;
  b.transport.onSnapshot(async (_from, _transfer, chunks) => {
    for await (const chunk of chunks) {
      await gate;
      received += chunk.length;
    }
  });
  const sent = a.transport.sendSnapshot(
    2,
    transfer,
    chunksOf(200, 1_000_000, (i) => (produced = i + 1)),
  );
  let last = -1;
  await until(() => {
    const still = produced === last && produced > 0;
    last = produced;
    a.transport.send([heartbeat(1, 2)]);
    expect(still && b.received.length > 3).toBe(true);
  });
  // Both sides buffer some megabytes and the kernel some more, never the whole.
  expect(produced).toBeLessThan(100);
  open();
  await sent;
  expect(received).toBe(200_000_000);
});

test('a snapshot continues when the message stream reconnects', async () => {
  const [a, b] = await pair();
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let received = 0;
  b.transport.onSnapshot(async (_from, _transfer, chunks) => {
    for await (const chunk of chunks) {
      received += chunk.length;
      await gate;
    }
  });
  const sent = a.transport.sendSnapshot(2, transfer, chunksOf(3, 1000));
  await until(() => expect(received).toBe(1000));
  a.transport.setPeers([{ id: 2, urls: [b.url, 'https://127.0.0.1:1'] }]);
  await until(() => expect(a.transport.status(2)?.activeSinceMs).toBeDefined());
  open();
  await sent;
  expect(received).toBe(3000);
});

test('a receiver that fails ends the transfer early and its reason reaches the sender', async () => {
  const [a, b] = await pair();
  let produced = 0;
  b.transport.onSnapshot(async (_from, _transfer, chunks) => {
    for await (const _ of chunks) throw new Error('no space left on device');
  });
  await expect(
    a.transport.sendSnapshot(
      2,
      transfer,
      chunksOf(500, 1_000_000, (i) => (produced = i)),
    ),
  ).rejects.toMatchObject({ reason: 'Failed', message: 'no space left on device' });
  expect(produced).toBeLessThan(499);
});

test('a source that fails, or a sender that dies, breaks the receiver off', async () => {
  const [a, b] = await pair();
  const failures: unknown[] = [];
  b.transport.onSnapshot(async (_from, _transfer, chunks) => {
    try {
      for await (const _ of chunks);
    } catch (error) {
      failures.push(error);
      throw error;
    }
  });
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(10);
    throw new Error('cannot read the backend');
  }
  await expect(a.transport.sendSnapshot(2, transfer, broken())).rejects.toThrow('cannot read the backend');
  await until(() => expect(failures.length).toBe(1));
  async function* stuck(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(10);
    await new Promise<void>((resolve) => void setImmediate(() => void a.transport.close().then(resolve)));
    yield Buffer.alloc(10);
  }
  await expect(a.transport.sendSnapshot(2, transfer, stuck())).rejects.toMatchObject({ reason: 'Closed' });
  await until(() => expect(failures).toMatchObject([{ reason: 'Unreachable' }, { reason: 'Unreachable' }]));
});

test('without a handler, to a stranger, or twice at the same time, a snapshot is refused', async () => {
  const [a, b] = await pair();
  await expect(a.transport.sendSnapshot(2, transfer, chunksOf(1, 1))).rejects.toMatchObject({
    reason: 'Refused',
  });
  await expect(a.transport.sendSnapshot(9, transfer, chunksOf(1, 1))).rejects.toMatchObject({
    reason: 'Unreachable',
  });
  b.transport.onSnapshot(async (_from, _transfer, chunks) => {
    for await (const _ of chunks);
  });
  const first = a.transport.sendSnapshot(2, transfer, chunksOf(1, 1));
  await expect(a.transport.sendSnapshot(2, transfer, chunksOf(1, 1))).rejects.toMatchObject({
    reason: 'Refused',
  });
  await first;
});
