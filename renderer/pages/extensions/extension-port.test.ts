// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { settle } from '../../testing/mount.ts';
import {
  ExtensionPort,
  IN_PROGRESS_MAX,
  MESSAGE_CHARACTERS_MAX,
  MESSAGES_PER_SECOND_MAX,
  WAITING_MAX,
  type Answered,
  type OpenTarget,
} from './extension-port.ts';

const connect = () => {
  const posted: Record<string, unknown>[] = [];
  const asked: { request: unknown; answer(answered: Answered): void }[] = [];
  const opened: OpenTarget[] = [];
  const events: string[] = [];
  let nowMs = 0;
  const wire: ConstructorParameters<typeof ExtensionPort>[0]['port'] = {
    onmessage: null,
    postMessage: (message: unknown) => void posted.push(message as Record<string, unknown>),
    close: () => void events.push('closed'),
  };
  const port = new ExtensionPort({
    port: wire,
    read: (request) => new Promise((answer) => asked.push({ request, answer })),
    open: (target) => {
      opened.push(target);
      return { ok: true, value: null };
    },
    onReady: () => void events.push('ready'),
    onPong: () => void events.push('pong'),
    onStop: (why) => void events.push(why),
    nowMs: () => nowMs,
  });
  const send = (data: unknown): void => {
    wire.onmessage?.call(wire as MessagePort, { data } as MessageEvent);
  };
  let id = 0;
  const ask = (request: unknown = { kind: 'list', resource: 'pods' }): void =>
    send(JSON.stringify({ kind: 'ask', id: (id += 1), request }));
  return { port, posted, asked, opened, events, send, ask, pass: (ms: number) => void (nowMs += ms) };
};

test('a question goes to the host as it is, and its answer comes back under its number', async () => {
  const { asked, posted, ask, send, events } = connect();
  send('{"kind":"ready"}');
  ask({ kind: 'get', resource: 'pods', name: 'a' });
  asked[0]?.answer({ ok: true, value: { kind: 'Pod' } });
  ask();
  asked[1]?.answer({ ok: false, reason: 'Forbidden', message: 'no' });
  await settle();
  expect([events, asked[0]?.request]).toEqual([['ready'], { kind: 'get', resource: 'pods', name: 'a' }]);
  expect(posted).toEqual([
    { kind: 'result', id: 1, value: { kind: 'Pod' } },
    { kind: 'failure', id: 2, reason: 'Forbidden', message: 'no' },
  ]);
});

test('a few questions are asked together, some wait, and the next is refused', async () => {
  const { asked, posted, ask } = connect();
  for (let at = 0; at < IN_PROGRESS_MAX + WAITING_MAX + 1; at += 1) ask();
  expect([asked.length, posted]).toEqual([
    IN_PROGRESS_MAX,
    [expect.objectContaining({ kind: 'failure', reason: 'Unavailable' })],
  ]);
  for (let at = 0; at < IN_PROGRESS_MAX + WAITING_MAX; at += 1) {
    asked[at]?.answer({ ok: true, value: at });
    await settle();
  }
  expect(posted.filter(({ kind }) => kind === 'result')).toHaveLength(IN_PROGRESS_MAX + WAITING_MAX);
});

test('while its page is not visible nothing is asked', () => {
  const { port, asked, ask } = connect();
  port.pause(true);
  ask();
  expect(asked).toHaveLength(0);
  port.pause(false);
  expect(asked).toHaveLength(1);
});

test('a flood ends the extension, and nothing of it is heard any more', () => {
  const { ask, asked, events, pass } = connect();
  for (let at = 0; at < MESSAGES_PER_SECOND_MAX; at += 1) ask({ kind: 'open' });
  pass(1000);
  ask({ kind: 'open' });
  expect(events).toEqual([]);
  for (let at = 0; at < MESSAGES_PER_SECOND_MAX * 10; at += 1) ask();
  expect(events).toEqual(['closed', 'flood']);
  expect(asked.length).toBeLessThanOrEqual(IN_PROGRESS_MAX);
});

test.for<[string, unknown, string]>([
  ['an object', { kind: 'ask' }, 'malformed'],
  ['bytes', new ArrayBuffer(8), 'malformed'],
  ['no JSON', '{', 'malformed'],
  ['an array', '[]', 'malformed'],
  ['an unknown kind', '{"kind":"call","name":"cluster.act"}', 'malformed'],
  ['a question without a number', '{"kind":"ask","request":{}}', 'malformed'],
  ['a question that is a text', '{"kind":"ask","id":1,"request":"pods"}', 'malformed'],
  ['a large text', 'x'.repeat(MESSAGE_CHARACTERS_MAX + 1), 'tooLarge'],
])('%s ends the extension', ([, data, why]) => {
  const { send, asked, events } = connect();
  send(data);
  expect([events, asked]).toEqual([['closed', why], []]);
});

test('an answer that comes after the end goes nowhere', async () => {
  const { port, asked, posted, ask } = connect();
  ask();
  port.close();
  asked[0]?.answer({ ok: true, value: 1 });
  await settle();
  expect(posted).toEqual([]);
});

test('a target to open arrives as texts, whatever was sent', () => {
  const { ask, opened } = connect();
  ask({ kind: 'open', resource: 'pods', name: 'a', namespace: 'b', path: '/settings' });
  ask({ kind: 'open', resource: ['pods'], name: { toString: 'x' } });
  expect(opened).toEqual([
    { resource: 'pods', namespace: 'b', name: 'a' },
    { resource: '', namespace: '', name: '' },
  ]);
});
