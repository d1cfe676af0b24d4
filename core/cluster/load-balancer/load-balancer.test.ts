import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { systemClock } from '../../base/node/clock.ts';
import { startServer, testAuthority } from '../../client/testing/https-server.ts';
import {
  eventually,
  namedEcho,
  tcpClient,
  testNetwork,
  whoAnswers,
} from '../../proxy/forwarding/testing/sockets.ts';
import type { CheckOutcome } from './backend-health.ts';
import { createLoadBalancer } from './load-balancer.ts';
import { readyzChecker } from './readyz-check.ts';

const NET = testNetwork(1);
const VIP = `${NET}.1.100`;
const PORT = 6443;
const OK: CheckOutcome = { kind: 'ready', latencyMs: 2 };
const GONE: CheckOutcome = { kind: 'unreachable', error: 'connect ECONNREFUSED' };
const STOPPING: CheckOutcome = { kind: 'not-ready', isShuttingDown: true, error: '[-]shutdown failed' };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const backendAt = (name: string) => ({
  name,
  host: `${NET}.1.${Number(name.replace('cp-', ''))}`,
  port: PORT,
});

/** Three servers that say their names, and checks that answer what the test says. */
const balance = async (names: readonly string[] = ['cp-1', 'cp-2', 'cp-3'], connectionsMax = 100) => {
  const clock = manualClock();
  const asked: string[] = [];
  const outcomes = new Map<string, CheckOutcome>();
  const servers = new Map<string, Awaited<ReturnType<typeof namedEcho>>>();
  for (const name of names) {
    const server = await namedEcho(backendAt(name).host, PORT, name);
    servers.set(name, server);
    outcomes.set(name, OK);
    closers.push(() => server.close().catch(() => undefined));
  }
  const balancer = await createLoadBalancer({
    address: VIP,
    port: PORT,
    backends: names.map(backendAt),
    tls: { ca: '' },
    clock,
    log: silentLog,
    connectionsMax,
    checker: {
      check: ({ name }) => {
        asked.push(name);
        return Promise.resolve(outcomes.get(name) ?? GONE);
      },
      close: () => undefined,
    },
  });
  closers.push(() => balancer.close());
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  return {
    clock,
    balancer,
    asked,
    turn,
    outcomes,
    servers,
    standings: () => balancer.state().backends.map(({ standing }) => standing),
    async checks(count = 1) {
      for (let done = 0; done < count; done += 1) {
        clock.advance(2000);
        await turn();
      }
    },
  };
};

const connected = async () => {
  const client = tcpClient(VIP, PORT);
  await client.until('\n');
  closers.push(() => client.socket.destroy());
  return client;
};

test('a healthy backend is checked half as often as an unhealthy one', async () => {
  const { clock, asked, outcomes, turn } = await balance();
  outcomes.set('cp-2', GONE);
  clock.advance(2000);
  await turn();
  asked.length = 0;
  for (let second = 0; second < 4; second += 1) {
    clock.advance(1000);
    await turn();
  }
  const times = (backend: string): number => asked.filter((name) => name === backend).length;
  expect([times('cp-1'), times('cp-2')]).toEqual([2, 4]);
});

test('connections go where the fewest are', async () => {
  const { balancer } = await balance();
  const clients: Awaited<ReturnType<typeof connected>>[] = [];
  for (let index = 0; index < 6; index += 1) clients.push(await connected());
  expect(balancer.state().backends.map(({ connections }) => connections)).toEqual([2, 2, 2]);
  const byName = (name: string) => clients.filter(({ text }) => text === `${name}\n`);
  for (const client of byName('cp-2')) client.socket.destroy();
  await eventually(() => balancer.state().connections === 4);
  expect([(await connected()).text, (await connected()).text]).toEqual(['cp-2\n', 'cp-2\n']);
});

test('after two failed checks a backend gets no new connections and keeps its old ones', async () => {
  const { outcomes, checks, standings, balancer } = await balance(['cp-1', 'cp-2']);
  const clients = [await connected(), await connected()];
  const kept = clients.find(({ text }) => text === 'cp-1\n')!;
  outcomes.set('cp-1', GONE);
  await checks(1);
  expect(standings()).toEqual(['ready', 'ready']);
  await checks(1);
  expect(standings()).toEqual(['out', 'ready']);
  expect([await whoAnswers(VIP, PORT), await whoAnswers(VIP, PORT)]).toEqual(['cp-2', 'cp-2']);
  await checks(60);
  kept.socket.write('still here\n');
  await kept.until('still here\n');
  outcomes.set('cp-1', OK);
  await checks(1);
  expect(balancer.state().backends[0]).toMatchObject({
    name: 'cp-1',
    healthy: true,
    connections: 1,
    lastError: 'connect ECONNREFUSED',
    latencyMs: 2,
  });
});

test('connections to a backend that shuts down are reset after the grace', async () => {
  const { outcomes, checks, standings } = await balance(['cp-1', 'cp-2']);
  const clients = [await connected(), await connected()];
  const [leaving, staying] = ['cp-1\n', 'cp-2\n'].map((name) => clients.find(({ text }) => text === name)!);
  outcomes.set('cp-1', STOPPING);
  await checks(1);
  expect(standings()).toEqual(['out', 'ready']);
  leaving!.socket.write('last request\n');
  await leaving!.until('last request\n');
  await checks(5);
  expect(await leaving!.over).toBe('ECONNRESET');
  staying!.socket.write('x\n');
  await staying!.until('x\n');
});

test('a backend that is back before the grace is over keeps its connections', async () => {
  const { outcomes, checks } = await balance(['cp-1']);
  const client = await connected();
  outcomes.set('cp-1', STOPPING);
  await checks(2);
  outcomes.set('cp-1', OK);
  await checks(30);
  client.socket.write('x\n');
  await client.until('x\n');
});

test('a connection that one backend refuses goes to the next, and counts as a failed check', async () => {
  const { servers, standings, balancer } = await balance(['cp-1', 'cp-2']);
  await servers.get('cp-1')!.close();
  const answers = [];
  for (let index = 0; index < 4; index += 1) answers.push(await whoAnswers(VIP, PORT));
  expect(answers).toEqual(['cp-2', 'cp-2', 'cp-2', 'cp-2']);
  await eventually(() => standings()[0] === 'out');
  expect(balancer.state().backends[0]!.lastError).toContain('ECONNREFUSED');
});

test('without any backend a client is reset', async () => {
  const { outcomes, checks } = await balance(['cp-1']);
  outcomes.set('cp-1', GONE);
  await checks(2);
  expect(await whoAnswers(VIP, PORT)).toBe('ECONNRESET');
});

test('an update moves new connections immediately and old ones after the grace', async () => {
  const { balancer, clock, servers } = await balance(['cp-1', 'cp-2']);
  balancer.update([backendAt('cp-1')]);
  const client = await connected();
  expect(client.text).toBe('cp-1\n');
  balancer.update([backendAt('cp-2')]);
  expect(await whoAnswers(VIP, PORT)).toBe('cp-2');
  clock.advance(4999);
  client.socket.write('x\n');
  await client.until('x\n');
  clock.advance(1);
  expect(await client.over).toBe('ECONNRESET');
  await eventually(() => servers.get('cp-1')!.sockets.size === 0);
  expect(balancer.state().backends.map(({ name }) => name)).toEqual(['cp-2']);
});

test('metrics tell who is up and who has the connections', async () => {
  const { balancer, outcomes, checks } = await balance(['cp-1', 'cp-2']);
  outcomes.set('cp-1', STOPPING);
  await checks(1);
  await connected();
  const text = balancer.registry.expose();
  expect(text).toContain('load_balancer_backend_up{backend="cp-1"} 0\n');
  expect(text).toContain('load_balancer_backend_up{backend="cp-2"} 1\n');
  expect(text).toContain('load_balancer_backend_connections{backend="cp-2"} 1\n');
});

test('an address that is taken is named', async () => {
  await balance(['cp-1']);
  await expect(
    createLoadBalancer({
      address: VIP,
      port: PORT,
      backends: [],
      tls: { ca: '' },
      clock: manualClock(),
      log: silentLog,
      checker: { check: () => Promise.resolve(OK), close: () => undefined },
    }),
  ).rejects.toMatchObject({ reason: 'CannotListen', message: expect.stringContaining(`${VIP}:${PORT}`) });
});

test('a check tells ready, not ready, shutting down and unreachable apart', async () => {
  const authority = testAuthority();
  let answer: [number, string] = [200, 'ok'];
  const server = await startServer({
    authority,
    http2: false,
    handle(request, response) {
      const [code, text] = request.url === '/readyz' ? answer : ([404, ''] as const);
      response.statusCode = code;
      response.end(text);
    },
  });
  closers.push(() => server.close());
  const { certificatePem, privateKeyPem } = authority.client('checker');
  const checker = readyzChecker(
    { ca: authority.root.certificatePem, cert: certificatePem, key: privateKeyPem },
    systemClock,
  );
  closers.push(() => checker.close());
  const backend = { name: 'a', host: '127.0.0.1', port: server.port };
  expect(await checker.check(backend)).toEqual({ kind: 'ready', latencyMs: expect.any(Number) });
  answer = [500, '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n'];
  expect(await checker.check(backend)).toEqual({
    kind: 'not-ready',
    isShuttingDown: false,
    error: '/readyz returned 500: [-]etcd failed: reason withheld',
  });
  answer = [500, '[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'];
  expect(await checker.check(backend)).toMatchObject({ kind: 'not-ready', isShuttingDown: true });
  const stranger = readyzChecker({ ca: testAuthority().root.certificatePem }, systemClock);
  closers.push(() => stranger.close());
  expect(await stranger.check(backend)).toMatchObject({ kind: 'unreachable' });
});

test('a client that comes before the first backend is served by it instead of being reset', async () => {
  const server = await namedEcho(backendAt('cp-1').host, PORT, 'cp-1');
  closers.push(() => server.close().catch(() => undefined));
  const balancer = await createLoadBalancer({
    address: VIP,
    port: PORT,
    backends: [],
    tls: { ca: '' },
    clock: manualClock(),
    log: silentLog,
    firstBackendWaitMs: 8_000,
    checker: { check: () => Promise.resolve(OK), close: () => undefined },
  });
  closers.push(() => balancer.close());
  const client = tcpClient(VIP, PORT);
  closers.push(() => client.socket.destroy());
  await eventually(() => balancer.state().connections === 1);
  balancer.update([backendAt('cp-1')]);
  await client.until('\n');
  expect(client.text).toBe('cp-1\n');
});
