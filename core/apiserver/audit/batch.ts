import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { AuditBackend, EncodedEvent } from './event.ts';

export interface BatchOptions {
  readonly bufferSize: number;
  readonly batchSizeMax: number;
  readonly waitMs: number;
  /** Batches per second on average; 0: as fast as they come. */
  readonly throttleQps: number;
  readonly throttleBurst: number;
  readonly clock: Clock;
  onDropped?(count: number): void;
}

/** How long a server that stops waits for what is still buffered. */
const CLOSE_MS = 10_000;

/** Buffers events, so that no request waits for the backend. What does not fit into the buffer is dropped and counted. */
export const batched = (backend: AuditBackend, options: BatchOptions): AuditBackend => {
  const { bufferSize, batchSizeMax, waitMs, throttleQps, throttleBurst, clock } = options;
  let buffer: EncodedEvent[] = [];
  let timer: Disposable | undefined;
  let sending: Promise<void> | undefined;
  let tokens = throttleBurst;
  let refilledAtMs = clock.monotonicMs();

  const pauseMs = (): number => {
    if (throttleQps === 0) return 0;
    const nowMs = clock.monotonicMs();
    tokens = Math.min(throttleBurst, tokens + ((nowMs - refilledAtMs) / 1000) * throttleQps);
    refilledAtMs = nowMs;
    if (tokens >= 1) {
      tokens -= 1;
      return 0;
    }
    return ((1 - tokens) / throttleQps) * 1000;
  };

  const drain = async (): Promise<void> => {
    while (buffer.length > 0) {
      const delayMs = pauseMs();
      if (delayMs > 0) {
        await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
        continue;
      }
      const batch = buffer.slice(0, batchSizeMax);
      buffer = buffer.slice(batch.length);
      // The backend counts what it loses.
      await Promise.resolve(backend.process(batch)).catch(() => false);
    }
  };

  const send = (): void => {
    timer?.dispose();
    timer = undefined;
    sending ??= drain().finally(() => {
      sending = undefined;
      if (buffer.length > 0) schedule();
    });
  };

  const schedule = (): void => {
    if (buffer.length >= batchSizeMax) send();
    else timer ??= clock.after(waitMs, send);
  };

  return {
    process(events) {
      const room = bufferSize - buffer.length;
      if (events.length > room) options.onDropped?.(events.length - Math.max(0, room));
      for (const event of events.slice(0, Math.max(0, room))) buffer.push(event);
      schedule();
      return true;
    },
    async close() {
      send();
      const deadline = new Promise<void>((resolve) => void clock.after(CLOSE_MS, resolve));
      await Promise.race([sending ?? Promise.resolve(), deadline]);
      await backend.close();
    },
  };
};

/** Upstream's `blocking`: requests wait, and continue whether the events were stored or not. */
export const ignoringFailures = (backend: AuditBackend): AuditBackend => ({
  async process(events) {
    await Promise.resolve(backend.process(events)).catch(() => false);
    return true;
  },
  close: () => backend.close(),
});

/** Every backend gets every event; all of them must store it. */
export const joined = (backends: readonly AuditBackend[]): AuditBackend =>
  backends.length === 1
    ? backends[0]!
    : {
        async process(events) {
          const stored = await Promise.all(
            backends.map((backend) => Promise.resolve(backend.process(events)).catch(() => false)),
          );
          return stored.every(Boolean);
        },
        async close() {
          await Promise.all(backends.map((backend) => backend.close()));
        },
      };
