import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import type tls from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { installLinkGate, type LinkGate } from './link-gate.ts';

const CLIENT = '127.9.0.2';
const SERVER = '127.9.0.1';
const fromClient = (delayMs: number | null) => [{ addresses: [CLIENT], delayMs }];

let gate: LinkGate;
const closing: (() => void)[] = [];

beforeEach(() => {
  gate = installLinkGate({ address: CLIENT, network: '127.9.' });
});
afterEach(() => {
  gate.dispose();
  for (const close of closing.splice(0)) close();
});

const listen = async (server: net.Server): Promise<number> => {
  server.listen(0, SERVER);
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as net.AddressInfo).port;
};

/** Answers every text with the same text. */
const echo = (socket: net.Socket): void => {
  closing.push(() => socket.destroy());
  socket.on('data', (chunk) => socket.write(chunk)).on('error', () => undefined);
};

const plainEcho = async (): Promise<net.Socket> => {
  const port = await listen(net.createServer(echo));
  const socket = net.connect({ host: SERVER, port });
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
};

const answerWithin = async (socket: net.Socket, text: string, limitMs: number): Promise<string> => {
  socket.write(text);
  const heard = once(socket, 'data').then(([chunk]) => String(chunk));
  const silence = new Promise<string>((resolve) => setTimeout(resolve, limitMs, 'silence'));
  return Promise.race([heard, silence]);
};

test('connections into the network come from the address of the host', async () => {
  const socket = await plainEcho();
  expect(socket.localAddress).toBe(CLIENT);
});

test('a cut link is silent in a connection that was open, and continues when it is healed', async () => {
  const socket = await plainEcho();
  expect(await answerWithin(socket, 'before', 2_000)).toBe('before');
  gate.setRules(fromClient(null));
  expect(await answerWithin(socket, 'lost', 120)).toBe('silence');
  expect(socket.destroyed).toBe(false);
  const late = once(socket, 'data');
  gate.setRules([]);
  expect(String((await late)[0])).toBe('lost');
});

test('a cut of one way leaves the other', async () => {
  const heard: string[] = [];
  const server = net.createServer((socket) => {
    closing.push(() => socket.destroy());
    socket.on('data', (chunk) => heard.push(String(chunk)));
  });
  const port = await listen(server);
  const socket = net.connect({ host: SERVER, port });
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  gate.setRules([{ addresses: [SERVER], delayMs: null }]);
  socket.write('arrives');
  await expect.poll(() => heard).toEqual(['arrives']);
});

test('a delay holds every byte back by so much, in order', async () => {
  const socket = await plainEcho();
  gate.setRules(fromClient(150));
  const startedMs = performance.now();
  let heard = '';
  socket.on('data', (chunk) => (heard += String(chunk)));
  socket.write('a');
  setTimeout(() => socket.write('b'), 20);
  await expect.poll(() => heard, { interval: 5 }).toBe('ab');
  expect(performance.now() - startedMs).toBeGreaterThan(145);
});

test('the end of a connection does not cross a cut link either', async () => {
  const ended: string[] = [];
  const port = await listen(
    net.createServer((socket) => {
      closing.push(() => socket.destroy());
      socket.on('end', () => ended.push('end')).resume();
    }),
  );
  const socket = net.connect({ host: SERVER, port });
  await once(socket, 'connect');
  gate.setRules(fromClient(null));
  socket.end();
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(ended).toEqual([]);
  gate.setRules([]);
  await expect.poll(() => ended).toEqual(['end']);
});

test('a thread that is about to end has every connection closed, of a cut link too', async () => {
  const [open, cut] = [await plainEcho(), await plainEcho()];
  gate.setRules(fromClient(null));
  cut.write('never answered');
  await gate.endAll(60_000);
  expect([open.closed, cut.closed]).toEqual([true, true]);
});

test('HTTP/2 over TLS, which the platform reads natively, is cut and healed too', async () => {
  const authority = openAuthority(createAuthority({ clock: systemClock, commonName: 'test' }));
  const { certificatePem, privateKeyPem } = issueLeaf(authority, {
    subject: { commonName: 'server' },
    usages: ['server'],
    alternativeNames: alternativeNames([SERVER]),
    clock: systemClock,
  });
  const server = http2.createSecureServer(
    { cert: certificatePem, key: privateKeyPem },
    (_request, response) => response.end('ok'),
  );
  const port = await listen(server as unknown as tls.Server);
  const session = http2.connect(`https://${SERVER}:${port}`, { rejectUnauthorized: false });
  closing.push(() => session.destroy());
  const ask = async (): Promise<string> => {
    const stream = session.request({ ':path': '/' });
    const answered = once(stream, 'response').then(() => 'answer');
    const silence = new Promise<string>((resolve) => setTimeout(resolve, 150, 'silence'));
    stream.resume();
    return Promise.race([answered, silence]);
  };
  // With the handshake, which a busy machine may take longer for than silence is.
  await expect.poll(ask).toBe('answer');
  gate.setRules(fromClient(null));
  // What was on its way may still arrive: the platform starts reading again after a write of its own.
  await expect.poll(ask, { interval: 5 }).toBe('silence');
  expect(await ask()).toBe('silence');
  gate.setRules([]);
  await expect.poll(ask).toBe('answer');
});
