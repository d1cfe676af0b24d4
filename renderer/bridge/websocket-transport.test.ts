import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { contractUrl, HANDSHAKE_MAX_MS, webSocketTransport } from './websocket-transport.ts';

class SilentSocket extends EventTarget {
  static readonly OPEN = 1;
  static last: SilentSocket | undefined;
  readyState = 0;
  readonly sent: string[] = [];
  closed = false;

  constructor() {
    super();
    SilentSocket.last = this;
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.readyState = SilentSocket.OPEN;
    this.dispatchEvent(new Event('open'));
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', SilentSocket);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const connect = () => {
  const events = { onOpen: vi.fn(), onMessage: vi.fn(), onClosed: vi.fn() };
  const wire = webSocketTransport('wss://host/contract').connect(events);
  return { events, wire, socket: SilentSocket.last! };
};

test('the contract is at the origin of the page, encrypted where the page is', () => {
  expect(contractUrl({ protocol: 'https:', host: '127.0.0.1:8443' })).toBe('wss://127.0.0.1:8443/contract');
  expect(contractUrl({ protocol: 'http:', host: 'localhost:5173' })).toBe('ws://localhost:5173/contract');
});

test('messages travel as JSON text; a frame that is none is dropped by the contract, not thrown', () => {
  const { events, wire, socket } = connect();
  socket.open();
  wire.send({ kind: 'hello' });
  socket.dispatchEvent(new MessageEvent('message', { data: '{"kind":"end","id":1}' }));
  socket.dispatchEvent(new MessageEvent('message', { data: '{broken' }));
  expect(socket.sent).toEqual(['{"kind":"hello"}']);
  expect(events.onMessage.mock.calls).toEqual([[{ kind: 'end', id: 1 }], [undefined]]);
});

test('integers of objects keep their digits both ways', () => {
  const { events, wire, socket } = connect();
  socket.open();
  wire.send({ kind: 'call', id: 1, name: 'n', input: { spec: { big: 9007199254740993n } } });
  socket.dispatchEvent(new MessageEvent('message', { data: '{"big":9007199254740993,"id":2}' }));
  expect(socket.sent).toEqual([
    '{"kind":"call","id":1,"name":"n","input":{"spec":{"big":9007199254740993}}}',
  ]);
  expect(events.onMessage.mock.calls).toEqual([[{ big: 9007199254740993n, id: 2 }]]);
});

test('a host that never finishes the handshake is given up, once', () => {
  const { events, socket } = connect();
  vi.advanceTimersByTime(HANDSHAKE_MAX_MS);
  socket.open();
  expect([events.onClosed.mock.calls, events.onOpen.mock.calls.length, socket.closed]).toEqual([
    [['the host did not answer in time']],
    0,
    true,
  ]);
});

test('a wire closed by the console reports nothing any more', () => {
  const { events, wire } = connect();
  wire.close();
  vi.advanceTimersByTime(HANDSHAKE_MAX_MS);
  expect(events.onClosed).not.toHaveBeenCalled();
});
