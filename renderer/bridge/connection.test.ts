import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hasReason } from '../../core/base/errors.ts';
import { openConnection } from './connection.ts';
import type { Transport, WireEvents } from './transport.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const wires = () => {
  const opened: { events: WireEvents; sent: unknown[]; closed: boolean }[] = [];
  const transport: Transport = {
    shell: 'browser',
    connect(events) {
      const wire = { events, sent: [] as unknown[], closed: false };
      opened.push(wire);
      return { send: (message) => wire.sent.push(message), close: () => (wire.closed = true) };
    },
  };
  return { opened, transport };
};

test('hello is the first message on every wire', () => {
  const { opened, transport } = wires();
  const connection = openConnection(transport, { random: () => 1 });
  opened[0]!.events.onOpen();
  void connection.call('app.info', undefined).catch(() => undefined);
  opened[0]!.events.onClosed('gone');
  vi.advanceTimersByTime(250);
  opened[1]!.events.onOpen();
  expect(opened.map((wire) => wire.sent[0])).toEqual([{ kind: 'hello' }, { kind: 'hello' }]);
  connection.dispose();
});

test('a lost wire is retried with growing delays, and the loss keeps its first time', () => {
  const { opened, transport } = wires();
  let now = 1000;
  const connection = openConnection(transport, { random: () => 1, nowMs: () => now });
  opened[0]!.events.onOpen();
  opened[0]!.events.onClosed('gone');
  expect(connection.state.value).toEqual({
    phase: 'lost',
    sinceMs: 1000,
    why: 'gone',
    attempt: 0,
    retryAtMs: 1250,
  });
  now = 1250;
  vi.advanceTimersByTime(250);
  expect(connection.state.value).toEqual({ phase: 'lost', sinceMs: 1000, why: 'gone', attempt: 0 });
  opened[1]!.events.onClosed('still gone');
  expect(connection.state.value).toMatchObject({ sinceMs: 1000, attempt: 1, retryAtMs: 1750 });
  connection.dispose();
});

test('a retry by hand does not wait, and opens one wire only', () => {
  const { opened, transport } = wires();
  const connection = openConnection(transport);
  opened[0]!.events.onClosed('refused');
  connection.retryNow();
  connection.retryNow();
  vi.advanceTimersByTime(60_000);
  expect(opened.length).toBe(2);
  connection.dispose();
});

test('a call without a host is refused as Unavailable, one in progress is ended by the loss', async () => {
  const { opened, transport } = wires();
  const connection = openConnection(transport);
  const early = connection.call('app.info', undefined);
  await expect(early).rejects.toSatisfy((error) => hasReason(error, 'Unavailable'));
  opened[0]!.events.onOpen();
  const cut = connection.call('app.info', undefined);
  opened[0]!.events.onClosed('gone');
  await expect(cut).rejects.toSatisfy((error) => hasReason(error, 'Unavailable'));
  connection.dispose();
});

test('a closed connection opens nothing any more', () => {
  const { opened, transport } = wires();
  const connection = openConnection(transport);
  opened[0]!.events.onClosed('refused');
  connection.dispose();
  vi.advanceTimersByTime(60_000);
  expect(opened.length).toBe(1);
});
