import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { ReasonError } from '../../base/errors.ts';
import { Registry } from '../../base/metrics/index.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../base/log.ts';
import { heartbeat, newAuthority, peerTls, revocationList, startMember, type TestMember } from './testing.ts';
import { peerMetrics } from './metrics.ts';
import { tlsPeerProbe } from './tls-probe.ts';
import type { TlsPeerTransportOptions } from './tls-transport.ts';

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const start = async (id: number, options: Partial<TlsPeerTransportOptions> = {}): Promise<TestMember> => {
  const member = await startMember(id, options);
  closers.push(() => member.transport.close());
  return member;
};

const until = <T>(check: () => T): Promise<T> => vi.waitFor(check, { timeout: 8000, interval: 5 });
const isActive = (member: TestMember, peer: number): Promise<void> =>
  until(() => expect(member.transport.status(peer)?.activeSinceMs).toBeDefined());

const introduce = async (...members: TestMember[]): Promise<void> => {
  for (const { id, transport } of members) {
    transport.setPeers(
      members.filter((one) => one.id !== id).map((one) => ({ id: one.id, urls: [one.url] })),
    );
  }
  for (const a of members) for (const b of members) if (a !== b) await isActive(a, b.id);
};

const root = newAuthority('etcd-ca');
const secure = (): Partial<TlsPeerTransportOptions> => ({ tls: peerTls(root.authority, root.ca) });

test.each([
  ['plain TCP', () => ({})],
  ['mutual TLS', secure],
])('three members exchange messages in order over %s', async (_, options) => {
  const members = [await start(1, options()), await start(2, options()), await start(3, options())];
  await introduce(...members);
  for (let commit = 0; commit < 100; commit += 1) {
    members[0]!.transport.send([heartbeat(1, 2, commit), heartbeat(1, 3, commit)]);
  }
  members[1]!.transport.send([heartbeat(2, 1)]);
  await until(() => expect(members.map(({ received }) => received.length)).toEqual([1, 100, 100]));
  expect(members[2]!.received.map((one) => one.kind === 'heartbeat' && one.commit)).toEqual(
    Array.from({ length: 100 }, (_one, i) => i),
  );
});

test('large entries arrive as they were sent', async () => {
  const [a, b] = [await start(1, secure()), await start(2, secure())];
  await introduce(a, b);
  const entries = [7, 3_000_000, 0, 70_000].map((size, i) => ({
    index: 11 + i,
    term: 2,
    kind: 'normal' as const,
    data: Buffer.alloc(size, i + 1),
  }));
  a.transport.send([
    { kind: 'append', from: 1, to: 2, term: 2, prevIndex: 10, prevTerm: 1, commit: 9, entries },
  ]);
  await until(() => expect(b.received.length).toBe(1));
  const [got] = b.received;
  expect(
    got?.kind === 'append' && got.entries.every(({ data }, i) => entries[i]!.data.equals(Buffer.from(data))),
  ).toBe(true);
});

test('requests are answered, fail with the reason of the other side, and are bounded in time', async () => {
  const [a, b] = [await start(1), await start(2)];
  await introduce(a, b);
  b.transport.handle('echo', async (payload, from) =>
    Buffer.from(`${from}:${Buffer.from(payload).toString()}`),
  );
  b.transport.handle('deny', async () => {
    throw new ReasonError('LeaseNotFound', 'requested lease not found');
  });
  b.transport.handle('hang', () => new Promise(() => {}));
  const ask = (kind: string, timeoutMs = 5000) =>
    a.transport.request(2, kind, Buffer.from('hi'), { timeoutMs });
  expect(Buffer.from(await ask('echo')).toString()).toBe('1:hi');
  await expect(ask('deny')).rejects.toMatchObject({
    reason: 'Failed',
    remoteReason: 'LeaseNotFound',
    message: 'requested lease not found',
  });
  await expect(ask('nobody')).rejects.toMatchObject({ reason: 'UnknownKind' });
  await expect(ask('hang', 30)).rejects.toMatchObject({ reason: 'Timeout' });
  await expect(a.transport.request(9, 'echo', Buffer.alloc(0), { timeoutMs: 10 })).rejects.toMatchObject({
    reason: 'Unreachable',
  });
  const waiting = ask('hang');
  const rejected = expect(waiting).rejects.toMatchObject({ reason: 'Unreachable' });
  await b.transport.close();
  await rejected;
});

test('a message to a dead peer is dropped and reported once a turn, and delivery resumes when it is back', async () => {
  const [a, b] = [await start(1, secure()), await start(2, secure())];
  await introduce(a, b);
  await b.transport.close();
  await until(() => expect(a.unreachable).toEqual([2]));
  a.transport.send([heartbeat(1, 2), heartbeat(1, 2), heartbeat(1, 2)]);
  await until(() => expect(a.unreachable).toEqual([2, 2]));
  expect(a.transport.status(2)).toMatchObject({ activeSinceMs: undefined, droppedCount: 3 });
  const again = await start(2, { ...secure(), listenUrls: [b.url] });
  await isActive(a, 2);
  a.transport.send([heartbeat(1, 2, 77)]);
  await until(() => expect(again.received).toMatchObject([{ commit: 77 }]));
});

test('a second address is tried when the first does not respond', async () => {
  const [a, b] = [await start(1), await start(2)];
  a.transport.setPeers([{ id: 2, urls: ['http://127.0.0.1:1', b.url] }]);
  await isActive(a, 2);
});

/** A peer that accepts, welcomes, and then never reads. */
const deafPeer = async (): Promise<{ url: string; sockets: Socket[] }> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      // welcome, id 2, cluster 0xc1
      socket.write(Buffer.from([0, 0, 0, 11, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xc1]));
      socket.pause();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, sockets };
};

test('a peer that does not read costs a bounded queue, delays no one, and is given up', async () => {
  const [a, c] = [await start(1, { limits: { queueBytesMax: 1_000_000 } }), await start(3)];
  const deaf = await deafPeer();
  a.transport.setPeers([
    { id: 2, urls: [deaf.url] },
    { id: 3, urls: [c.url] },
  ]);
  await isActive(a, 2);
  await isActive(a, 3);
  const data = Buffer.alloc(100_000);
  const entries = [{ index: 1, term: 1, kind: 'normal' as const, data }];
  const append = {
    kind: 'append',
    from: 1,
    to: 2,
    term: 1,
    prevIndex: 0,
    prevTerm: 0,
    commit: 0,
    entries,
  } as const;
  // The kernel takes some megabytes for itself; then the queue fills, and the rest is dropped.
  for (let i = 0; i < 300; i += 1) {
    a.transport.send([append]);
    await Promise.resolve();
  }
  a.transport.send([heartbeat(1, 3)]);
  await until(() => expect(c.received.length).toBe(1));
  expect(a.unreachable).toContain(2);
  expect(a.transport.status(2)!.droppedCount).toBeGreaterThan(200);
  await until(() => expect(a.lines.map(({ message }) => message)).toContain('peer became inactive'));
  expect(a.lines.find(({ message }) => message === 'peer became inactive')?.fields['error']).toBe(
    'nothing was heard for 1600 ms',
  );
});

test('a member of another cluster is refused with a line on both sides', async () => {
  const [a, b] = [await start(1, { clusterId: 0xaan }), await start(2, { clusterId: 0xbbn })];
  a.transport.setPeers([{ id: 2, urls: [b.url] }]);
  await until(() => expect(a.lines.length).toBeGreaterThan(0));
  expect(a.lines[0]).toMatchObject({
    message: 'peer cannot be reached',
    fields: { error: `${b.url} refused: it belongs to cluster bb, this member to aa` },
  });
  expect(b.lines[0]).toMatchObject({
    message: 'refused a peer',
    fields: { reason: 'clusterMismatch', 'peer-id': '1' },
  });
});

test('a member that is not the one expected at an address is refused', async () => {
  const [a, b] = [await start(1), await start(2)];
  a.transport.setPeers([{ id: 7, urls: [b.url] }]);
  await until(() => expect(a.lines[0]?.fields['error']).toContain('member 2 answers there, expected was 7'));
});

test('a removed member gets an error and is then ignored', async () => {
  const [a, b] = [await start(1), await start(2)];
  await introduce(a, b);
  const told = new Promise<number>((resolve) => void a.transport.onRemoved(resolve));
  b.transport.setPeers([]);
  b.transport.setRemoved([1]);
  expect(await told).toBe(2);
  a.transport.send([heartbeat(1, 2)]);
  expect(a.transport.status(2)?.activeSinceMs).toBeUndefined();
});

test('an unknown member is answered at the address that it sends', async () => {
  const b = await start(2);
  const a = await start(1);
  const newcomer = await start(5, { advertiseUrls: ['http://127.0.0.1:1', a.url] });
  // The newcomer says that it lives where member 1 listens: enough to see that it is dialled there.
  newcomer.transport.setPeers([{ id: 2, urls: [b.url] }]);
  await isActive(newcomer, 2);
  await until(() =>
    expect(b.lines.some(({ fields }) => String(fields['error']).includes('expected was 5'))).toBe(true),
  );
  newcomer.transport.send([heartbeat(5, 2)]);
  await until(() => expect(b.received.length).toBe(1));
});

test('a peer with a certificate of another authority is refused, in both directions', async () => {
  const other = newAuthority('other-ca');
  const [a, b] = [await start(1, secure()), await start(2, { tls: peerTls(other.authority, other.ca) })];
  a.transport.setPeers([{ id: 2, urls: [b.url] }]);
  await until(() => expect(a.lines[0]?.message).toBe('peer cannot be reached'));
  // Trusts everybody as a client, and still has to show a certificate that the listener trusts.
  const c = await start(3, { tls: { ...peerTls(other.authority, root.ca) } });
  c.transport.setPeers([{ id: 1, urls: [a.url] }]);
  await until(() =>
    expect(a.lines.map(({ message }) => message)).toContain('rejected connection on peer endpoint'),
  );
  expect([a.transport.status(2)?.activeSinceMs, c.transport.status(1)?.activeSinceMs]).toEqual([
    undefined,
    undefined,
  ]);
});

test('only the allowed common name may dial', async () => {
  const a = await start(1, {
    tls: { ...peerTls(root.authority, root.ca), allowed: { commonNames: ['etcd-peer'] } },
  });
  const good = await start(2, { tls: peerTls(root.authority, root.ca, 'etcd-peer') });
  const bad = await start(3, { tls: peerTls(root.authority, root.ca, 'kubelet') });
  for (const one of [good, bad]) one.transport.setPeers([{ id: 1, urls: [a.url] }]);
  await isActive(good, 1);
  await until(() => expect(a.lines.some(({ fields }) => fields['name'] === 'kubelet')).toBe(true));
  expect(bad.transport.status(1)?.activeSinceMs).toBeUndefined();
});

test('a revoked certificate, one of another host and one of another name are refused', async () => {
  const revoked = peerTls(root.authority, root.ca, 'revoked');
  const [elsewhere, wrongName] = [
    peerTls(root.authority, root.ca, 'elsewhere', ['10.9.9.9']),
    peerTls(root.authority, root.ca, 'wrong-name', ['127.0.0.1']),
  ];
  const a = await start(1, {
    tls: {
      ...peerTls(root.authority, root.ca),
      crl: revocationList(root.authority, String(revoked.cert)),
      verifyAddress: true,
      allowed: { hostnames: ['localhost', '10.9.9.9'] },
    },
  });
  const good = await start(2, secure());
  const bad = await Promise.all([revoked, elsewhere, wrongName].map((tls, n) => start(3 + n, { tls })));
  for (const one of [good, ...bad]) one.transport.setPeers([{ id: 1, urls: [a.url] }]);
  await isActive(good, 1);
  await until(() => {
    const errors = a.lines.map(
      ({ message, fields }) => `${message}: ${String(fields['error'] ?? fields['name'])}`,
    );
    expect(errors).toContainEqual(
      expect.stringMatching(
        /^rejected connection on peer endpoint: tls: failed to verify certificate: CERT_REVOKED/,
      ),
    );
    expect(errors).toContain(
      'rejected connection on peer endpoint: tls: certificate is not valid for 127.0.0.1',
    );
    expect(errors).toContain('rejected a peer whose certificate has no allowed name: wrong-name');
  });
  expect(bad.map(({ transport }) => transport.status(1)?.activeSinceMs)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('generated certificates encrypt between members that cannot verify each other', async () => {
  const generated = (): Partial<TlsPeerTransportOptions> => {
    const own = newAuthority('etcd');
    const { cert, key } = peerTls(own.authority, own.ca);
    return { tls: { cert, key, clientCertAuth: false, verifyPeers: false } };
  };
  await introduce(await start(1, generated()), await start(2, generated()));
});

test('a peer is dialled with the certificate that is given for it', async () => {
  const a = await start(1, {
    tls: { ...peerTls(root.authority, root.ca), allowed: { commonNames: ['dialler'] } },
  });
  const { cert, key } = peerTls(root.authority, root.ca, 'dialler');
  const b = await start(2, { tls: { ...peerTls(root.authority, root.ca), dial: { cert, key } } });
  b.transport.setPeers([{ id: 1, urls: [a.url] }]);
  await isActive(b, 1);
});

test('a peer whose clock is wrong is named in one line, once', async () => {
  const ahead = { ...systemClock, nowMs: () => systemClock.nowMs() + 90_000 };
  const [a, b] = [await start(1), await start(2, { clock: ahead })];
  await introduce(a, b);
  const drift = (member: TestMember): unknown[] =>
    member.lines
      .filter(({ message }) => message === 'prober found high clock drift')
      .map(({ fields }) => fields);
  await until(() => expect([drift(a).length, drift(b).length]).toEqual([1, 1]));
  expect(drift(a)[0]).toMatchObject({
    'remote-peer-id': '2',
    'clock-drift': expect.stringMatching(/^(89|90)\.\d+s$/) as string,
  });
});

test('renewed certificates count for new connections', async () => {
  const other = newAuthority('next-ca');
  const both = [root.ca, other.ca];
  const [a, b] = [await start(1, secure()), await start(2, secure())];
  await introduce(a, b);
  for (const { transport } of [a, b]) {
    transport.renewCertificates({ ...peerTls(other.authority, other.ca), ca: both });
  }
  const c = await start(3, { tls: peerTls(other.authority, other.ca) });
  c.transport.setPeers([{ id: 1, urls: [a.url] }]);
  await isActive(c, 1);
  expect(a.transport.status(2)?.activeSinceMs).toBeDefined();
});

test.each([
  ['plain TCP', () => ({}), 'hung up on a peer that does not speak the protocol'],
  ['mutual TLS', secure, 'rejected connection on peer endpoint'],
])('random bytes, HTTP and oversized frames cost that connection only: %s', async (_, options, line) => {
  const [a, b] = [await start(1, options()), await start(2, options())];
  await introduce(a, b);
  const random = seededRandom(7);
  const port = Number(new URL(b.url).port);
  const noise = Array.from({ length: 20 }, () =>
    Buffer.from(Array.from({ length: 200 }, () => random.below(256))),
  );
  for (const bytes of [
    ...noise,
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from([0, 0, 0, 9, 1, 1, 2, 3, 4, 5, 6, 7, 8]),
  ]) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    socket.write(bytes);
    await once(socket, 'close');
  }
  a.transport.send([heartbeat(1, 2)]);
  await until(() => expect(b.received.length).toBe(1));
  expect(b.lines.map(({ message }) => message)).toContain(line);
  expect(a.transport.status(2)?.droppedCount).toBe(0);
});

test('a connection that never says hello is closed', async () => {
  const b = await start(2);
  const socket = connect(Number(new URL(b.url).port), '127.0.0.1');
  await once(socket, 'close');
  expect(socket.destroyed).toBe(true);
});

test('pings detect a half-open connection, and it is redialled', async () => {
  const a = await start(1);
  const deaf = await deafPeer();
  a.transport.setPeers([{ id: 2, urls: [deaf.url] }]);
  await isActive(a, 2);
  await until(() => expect(deaf.sockets.length).toBeGreaterThan(1));
  expect(a.unreachable).toEqual([2]);
});

test('a peer whose process has ended is distinguished from one that hung up, is silent or never existed', async () => {
  const [a, b, c] = [await start(1, secure()), await start(2, secure()), await start(3, secure())];
  await introduce(a, b, c);
  const deaf = await deafPeer();
  a.transport.setPeers([
    { id: 2, urls: [b.url, 'https://127.0.0.1:1'] },
    { id: 3, urls: [c.url] },
    { id: 4, urls: ['https://127.0.0.1:1'] },
    { id: 5, urls: [deaf.url] },
  ]);
  for (const id of [2, 3, 5]) await isActive(a, id);
  // Hangs up on member 1 and continues listening.
  c.transport.setRemoved([1]);
  await until(() => expect(a.unreachable).toEqual(expect.arrayContaining([3, 5])));
  await until(() => expect(deaf.sockets.length).toBeGreaterThan(1));
  expect(a.refused).toEqual([]);
  await b.transport.close();
  await until(() => expect(a.refused).toEqual([2]));
});

test('a peer that dials is dialled back immediately', async () => {
  const { url, transport } = await start(2);
  await transport.close();
  const a = await start(1, { limits: { backoffMinMs: 3_600_000, backoffMaxMs: 3_600_000 } });
  a.transport.setPeers([{ id: 2, urls: [url] }]);
  await until(() => expect(a.lines.length).toBeGreaterThan(0));
  const b = await start(2, { listenUrls: [url] });
  b.transport.setPeers([{ id: 1, urls: [a.url] }]);
  await isActive(a, 2);
});

test('a message that no peer would take is dropped with a line, and the connection stays', async () => {
  const [a, b] = [await start(1), await start(2)];
  await introduce(a, b);
  const data = Buffer.alloc(65 * 1024 * 1024);
  a.transport.send([{ kind: 'propose', from: 1, to: 2, term: 1, proposals: [{ kind: 'normal', data }] }]);
  a.transport.send([heartbeat(1, 2)]);
  await until(() => expect(b.received).toMatchObject([{ kind: 'heartbeat' }]));
  expect(a.unreachable).toEqual([2]);
  expect(a.lines.at(-1)?.message).toBe('message is too large for a peer and was dropped');
});

test('round trips and bytes are measured and exposed under upstream names', async () => {
  const registry = new Registry();
  const [a, b] = [await start(1, { metrics: peerMetrics(registry, 1) }), await start(2)];
  await introduce(a, b);
  a.transport.send([heartbeat(1, 2)]);
  b.transport.send([heartbeat(2, 1)]);
  await until(() => expect(a.transport.status(2)?.rttMs).toBeGreaterThanOrEqual(0));
  await until(() => expect([a.received.length, b.received.length]).toEqual([1, 1]));
  const status = a.transport.status(2)!;
  expect([status.bytesSent > 0, status.bytesReceived > 0]).toEqual([true, true]);
  const text = registry.expose();
  expect(text).toContain('etcd_network_active_peers{Local="1",Remote="2"} 1\n');
  expect(text).toMatch(/etcd_network_peer_round_trip_time_seconds_count\{To="2"\} [1-9]/);
  expect(text).toMatch(/etcd_network_peer_sent_bytes_total\{To="2"\} [1-9]/);
  expect(text).toMatch(/etcd_network_peer_received_bytes_total\{From="2"\} [1-9]/);
});

test('a process that is not a member yet may only send the requests open to it', async () => {
  const a = await start(1, secure());
  a.transport.handle('cluster-info', async (_, from) => Buffer.from(`for ${from}`), { anonymous: true });
  a.transport.handle('hash-kv', async () => Buffer.from('secret'));
  const probe = tlsPeerProbe({
    tls: peerTls(root.authority, root.ca),
    electionTimeoutMs: 400,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
  });
  const ask = (kind: string) => probe.ask(a.url, kind, Buffer.alloc(0), { timeoutMs: 5000 });
  expect(Buffer.from(await ask('cluster-info')).toString()).toBe('for 0');
  await expect(ask('hash-kv')).rejects.toMatchObject({ reason: 'Refused' });
  await expect(
    probe.ask('https://127.0.0.1:1', 'x', Buffer.alloc(0), { timeoutMs: 5000 }),
  ).rejects.toMatchObject({
    reason: 'Unreachable',
  });
});
