import type { ClientMessage } from '../../core/contract/index.ts';

export interface WireEvents {
  onOpen(): void;
  /** As it came off the wire: anything at all. */
  onMessage(message: unknown): void;
  /** At most once, and nothing after it. */
  onClosed(why: string): void;
}

/** One connection to the host. Closing it calls none of its events. */
export interface Wire {
  send(message: ClientMessage): void;
  close(): void;
}

/** A way to the host: Electron's preload bridge, or the WebSocket of `pilothouse serve`. */
export interface Transport {
  readonly shell: 'desktop' | 'browser';
  connect(events: WireEvents): Wire;
}
