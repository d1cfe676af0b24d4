import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';

/** A connection whose client takes longer over the head of a request is cut. */
const HEAD_TIMEOUT_MS = 60_000;

/** Node's own limit works for servers that listen themselves; ours is handed its connections. */
export class HeadLimit {
  readonly #clock: Clock;
  readonly #timers = new WeakMap<Socket, Disposable>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  awaited(socket: Socket): void {
    this.arrived(socket);
    if (socket.destroyed) return;
    const timer = this.#clock.after(HEAD_TIMEOUT_MS, () => socket.destroy());
    this.#timers.set(socket, timer);
    socket.once('close', () => timer.dispose());
  }

  arrived(socket: Socket): void {
    this.#timers.get(socket)?.dispose();
    this.#timers.delete(socket);
  }
}
