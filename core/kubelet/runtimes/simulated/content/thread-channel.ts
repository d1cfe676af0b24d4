import type { Worker } from 'node:worker_threads';
import { messageOf } from '../../../../base/errors.ts';
import type { ContentChannel, ContentFault, OpenContent } from './content-channel.ts';
import type { FromContent, ToContent } from './messages.ts';

/** What the program of a thread is started with. */
export interface ContentThreadData {
  /** One number, written by the thread: the container that is at work. */
  readonly working: Int32Array;
}

export const contentThreadData = (): ContentThreadData => ({
  working: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
});

/** A thread of simulated containers may hold so much; beyond it the thread ends, not the host. */
export const CONTENT_RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 } as const;

/** A host in a worker thread, which `start` begins with the given data. */
export const threadContent =
  (start: (data: ContentThreadData) => Worker): OpenContent =>
  (): ContentChannel => {
    const data = contentThreadData();
    const worker = start(data);
    let onFault: (fault: ContentFault) => void = () => undefined;
    let fault: ContentFault | undefined;
    let isClosed = false;
    worker.on('error', (error) => {
      fault ??= {
        message: messageOf(error),
        isOutOfMemory: (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY',
      };
    });
    worker.once('exit', (code) => {
      if (!isClosed) onFault(fault ?? { message: `it ended with code ${code}`, isOutOfMemory: false });
    });
    return {
      post: (message: ToContent) => worker.postMessage(message),
      onMessage: (listener: (message: FromContent) => void) =>
        void worker.on('message', (message: FromContent) => {
          if (!isClosed) listener(message);
        }),
      onFault: (listener) => (onFault = listener),
      working: () => Atomics.load(data.working, 0),
      close() {
        isClosed = true;
        void worker.terminate();
      },
    };
  };
