import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Strangers } from './strangers.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort: number;
  destroyed = false;

  constructor(remotePort: number) {
    super();
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const socketOn = (remotePort: number): Socket => new FakeSocket(remotePort) as unknown as Socket;

test('past the bound the oldest connection of a stranger is closed, never one that is known', () => {
  const strangers = new Strangers(2);
  const sockets = [1, 2, 3, 4].map(socketOn);
  strangers.add(sockets[0]!);
  strangers.recognize(sockets[0]!);
  for (const socket of sockets.slice(1)) strangers.add(socket);
  expect([sockets.map(({ destroyed }) => destroyed), strangers.size]).toEqual([
    [false, true, false, false],
    2,
  ]);
});

test('a connection that closes makes room', () => {
  const strangers = new Strangers(1);
  const [first, second] = [socketOn(1), socketOn(2)];
  strangers.add(first!);
  first!.emit('close');
  strangers.add(second!);
  expect([second!.destroyed, strangers.size]).toEqual([false, 1]);
});
