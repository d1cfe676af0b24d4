import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { eventually, namedEcho, tcpClient, tcpServer, testNetwork, whoAnswers } from './testing/sockets.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { targetAt, type Target } from './target.ts';
import { plainAddress, TcpForwarder } from './tcp-forwarder.ts';

const NET = testNetwork(0);
const FRONT = `${NET}.1.1`;
const BACK = `${NET}.1.2`;
const PORT = 4000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const forward = async (targets: readonly Target[], connectionsMax = 100) => {
  const budget = new ConnectionBudget(connectionsMax);
  const events: string[] = [];
  const forwarder = new TcpForwarder({
    clock: manualClock(),
    budget,
    pick: (_client, tried) => targets.find(({ name }) => !tried.has(name)),
    observer: {
      opened: ({ name }) => events.push(`opened ${name}`),
      closed: ({ name }) => events.push(`closed ${name}`),
      connectFailed: ({ name }) => events.push(`failed ${name}`),
      refused: () => events.push('refused'),
      dropped: () => events.push('dropped'),
    },
  });
  await forwarder.listen(FRONT, PORT);
  closers.push(() => forwarder.destroy());
  return { forwarder, budget, events };
};

const serve = async (...args: Parameters<typeof tcpServer>) => {
  const server = await tcpServer(...args);
  closers.push(() => server.close());
  return server;
};

test('an end goes over while the other direction still speaks', async () => {
  await serve(BACK, 5001, (socket) => {
    let got = '';
    socket.on('data', (chunk) => (got += chunk.toString()));
    // Answers only when all of the question is there: without half-close this never comes.
    socket.on('end', () => socket.end(`got ${got}`));
  });
  const { budget, events } = await forward([targetAt(BACK, 5001)]);
  const client = tcpClient(FRONT, PORT);
  client.socket.end('question');
  expect(await client.over).toBe('end');
  expect(client.text).toBe('got question');
  await eventually(() => budget.open === 0);
  expect(events).toEqual([`opened ${BACK}:5001`, `closed ${BACK}:5001`]);
});

test('a target that cannot be reached is passed over', async () => {
  const echo = await namedEcho(BACK, 5002, 'b');
  closers.push(() => echo.close());
  const { events } = await forward([targetAt(BACK, 5999), targetAt(BACK, 5002)]);
  expect(await whoAnswers(FRONT, PORT)).toBe('b');
  expect(events.slice(0, 2)).toEqual([`failed ${BACK}:5999`, `opened ${BACK}:5002`]);
});

test('a client for whom there is no target is reset', async () => {
  const { events, budget } = await forward([]);
  expect(await whoAnswers(FRONT, PORT)).toBe('ECONNRESET');
  expect({ events, open: budget.open }).toEqual({ events: ['refused'], open: 0 });
});

test('a reset of the target reaches the client as a reset, not as an end', async () => {
  const server = await serve(BACK, 5003, (socket) => socket.write('part of the answer\n'));
  await forward([targetAt(BACK, 5003)]);
  const client = tcpClient(FRONT, PORT);
  await client.until('\n');
  for (const socket of server.sockets) socket.resetAndDestroy();
  expect(await client.over).toBe('ECONNRESET');
});

test('one connection more than the bound is reset, and there is room again when one ends', async () => {
  const echo = await namedEcho(BACK, 5004, 'e');
  closers.push(() => echo.close());
  const { events, budget } = await forward([targetAt(BACK, 5004)], 1);
  const first = tcpClient(FRONT, PORT);
  await first.until('\n');
  expect(await whoAnswers(FRONT, PORT)).toBe('ECONNRESET');
  expect(events).toContain('dropped');
  first.socket.destroy();
  await eventually(() => budget.open === 0);
  expect(await whoAnswers(FRONT, PORT)).toBe('e');
});

test('a client that does not read makes the target wait', async () => {
  let written = 0;
  let isBlocked = false;
  const chunk = Buffer.alloc(64 * 1024);
  await serve(BACK, 5005, (socket) => {
    const fill = (): void => {
      // Far above what sockets and kernel hold between the two.
      while (written < 512 * 1024 * 1024) {
        written += chunk.length;
        if (!socket.write(chunk)) {
          isBlocked = true;
          return;
        }
      }
    };
    socket.on('drain', () => {
      isBlocked = false;
      fill();
    });
    fill();
  });
  const { forwarder } = await forward([targetAt(BACK, 5005)]);
  const client = tcpClient(FRONT, PORT);
  client.socket.pause();
  await eventually(() => forwarder.connectionsCount === 1 && isBlocked && written > 0);
  let before = -1;
  await eventually(() => {
    const isSteady = isBlocked && before === written;
    before = written;
    return isSteady;
  });
  expect(written).toBeLessThan(64 * 1024 * 1024);
  client.socket.destroy();
});

test('draining takes no new connections, lets the old ones end, and then says so', async () => {
  const echo = await namedEcho(BACK, 5006, 'e');
  closers.push(() => echo.close());
  const { forwarder } = await forward([targetAt(BACK, 5006)]);
  const client = tcpClient(FRONT, PORT);
  await client.until('\n');
  let isDrained = false;
  forwarder.drain(() => (isDrained = true));
  expect(await whoAnswers(FRONT, PORT)).toBe('ECONNREFUSED');
  client.socket.write('still here\n');
  await client.until('still here\n');
  expect(isDrained).toBe(false);
  client.socket.end();
  await eventually(() => isDrained);
});

test('only what goes to the targets that are meant is reset', async () => {
  const [one, two] = [await namedEcho(BACK, 5007, '1'), await namedEcho(BACK, 5008, '2')];
  closers.push(
    () => one.close(),
    () => two.close(),
  );
  const targets = [targetAt(BACK, 5007), targetAt(BACK, 5008)];
  const { forwarder } = await forward(targets);
  const first = tcpClient(FRONT, PORT);
  await first.until('1\n');
  targets.reverse();
  const second = tcpClient(FRONT, PORT);
  await second.until('2\n');
  expect(forwarder.resetTargets(({ port }) => port === 5007)).toBe(1);
  expect(await first.over).toBe('ECONNRESET');
  second.socket.write('x\n');
  await second.until('x\n');
});

test.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  [undefined, ''],
])('the plain form of %s is %s', (address, plain) => {
  expect(plainAddress(address)).toBe(plain);
});
