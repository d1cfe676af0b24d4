import v8 from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { jsonLog } from '../../base/node/log.ts';
import { runComponent } from '../components/index.ts';

export interface ComponentStart {
  readonly component: string;
  readonly args: readonly string[];
  /** `v1.36.0`, or etcd's own; from the tag of the image. */
  readonly version: string;
}

export type FromComponent =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'heap'; readonly heapBytes: number };

export type ToComponent = { readonly kind: 'stop' } | { readonly kind: 'heap' };

const EXIT_FAILED = 1;

/** A component in this worker thread, until it is asked to stop or fails. */
export const runComponentThread = async (
  { component, args, version }: ComponentStart,
  port: MessagePort,
): Promise<void> => {
  const tell = (message: FromComponent): void => port.postMessage(message);
  const fail = (error: unknown): never => {
    tell({ kind: 'failed', message: messageOf(error) });
    process.exit(EXIT_FAILED);
  };
  const log = jsonLog(process.stderr);
  let isAsked = false;
  let stop: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (stop = resolve));
  port.on('message', (message: ToComponent) => {
    if (message.kind === 'stop') {
      isAsked = true;
      stop();
    } else tell({ kind: 'heap', heapBytes: v8.getHeapStatistics().used_heap_size });
  });
  try {
    const running = await runComponent(component, args, { log, version });
    tell({ kind: 'ready' });
    await Promise.race([asked, running.failed]);
    await running.close();
  } catch (error) {
    // What breaks while it ends is not why it ends.
    if (!isAsked) fail(error);
    log.write('warn', 'the component ended with an error', { error: messageOf(error) });
  }
  port.close();
  process.exit(0);
};
