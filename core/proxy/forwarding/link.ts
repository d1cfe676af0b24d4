import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Target } from './target.ts';

/** As conntrack's close-wait timeout: how long one side may continue after the other has ended. */
const HALF_CLOSED_MAX_MS = 3_600_000;
const KEEP_ALIVE_MS = 30_000;

/** Two sockets joined. Bytes, ends and resets go over in both directions; back pressure is the pipe's own. */
export interface Link {
  readonly target: Target;
  /** Resets both sides at the same time. */
  reset(): void;
}

const reset = (socket: Socket): void => {
  if (!socket.destroyed) socket.resetAndDestroy();
};

/** Joins two connected sockets; `onClosed` is called once, when both are closed. */
export const joinSockets = (options: {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly target: Target;
  readonly clock: Clock;
  onClosed(): void;
}): Link => {
  const { client, upstream, target, clock, onClosed } = options;
  let open = 2;
  let linger: Disposable | undefined;

  const watch = (socket: Socket, other: Socket): void => {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    // Its reason is of no use to anybody here; that it failed continues to the other side by 'close'.
    socket.on('error', () => undefined);
    socket.once('end', () => {
      linger ??= clock.after(HALF_CLOSED_MAX_MS, () => {
        reset(client);
        reset(upstream);
      });
    });
    socket.once('close', (hadError) => {
      // A side that went without an end was cut, and the other must not take what it got for all there is.
      if (hadError || !socket.readableEnded) reset(other);
      open -= 1;
      if (open > 0) return;
      linger?.dispose();
      onClosed();
    });
  };

  watch(client, upstream);
  watch(upstream, client);
  // The client may have been cut while the target was dialled; a 'close' that is past does not come again.
  if (client.closed) open -= 1;
  if (client.destroyed) {
    reset(upstream);
  } else {
    client.pipe(upstream);
    upstream.pipe(client);
  }
  return {
    target,
    reset() {
      reset(client);
      reset(upstream);
    },
  };
};
