import type { Clock } from '../../../../base/clock.ts';
import { ContentHost } from './content-host.ts';
import type { FromContent, ToContent } from './messages.ts';

/** Why a thread ended unexpectedly. */
export interface ContentFault {
  readonly message: string;
  readonly isOutOfMemory: boolean;
}

/** The way to a ContentHost, wherever it runs. */
export interface ContentChannel {
  post(message: ToContent): void;
  onMessage(listener: (message: FromContent) => void): void;
  onFault(listener: (fault: ContentFault) => void): void;
  /** The ordinal of the container that was at work last; 0 for none. */
  working(): number;
  /** Ends it; nothing is heard of it any more. */
  close(): void;
}

/** Opens a channel to a new host; called again after a fault. */
export type OpenContent = () => ContentChannel;

/** A host in this thread, on the caller's clock: for tests, and for hosts that run no content of users. */
export const localContent =
  (clock: Clock): OpenContent =>
  () => {
    let heard: (message: FromContent) => void = () => undefined;
    let ordinal = 0;
    const host = new ContentHost({
      clock,
      // Cloned as between threads, so that nothing is shared by accident.
      post: (message) => heard(structuredClone(message)),
      onWork: (working) => (ordinal = working),
      flushMs: 0,
    });
    return {
      post: (message) => host.receive(structuredClone(message)),
      onMessage: (listener) => (heard = listener),
      onFault: () => undefined,
      working: () => ordinal,
      close() {
        heard = () => undefined;
        host.dispose();
      },
    };
  };
