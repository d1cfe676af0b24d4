import v8 from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { isUsageError } from '../../base/flags.ts';
import { jsonLog } from '../../base/node/log.ts';
import { runComponent } from '../components/index.ts';
import { applyFaults } from './thread-faults.ts';
import type { HostFaults } from './messages.ts';

export interface ComponentStart {
  readonly component: string;
  readonly args: readonly string[];
  /** `v1.36.0`, or etcd's own; from the tag of the image. */
  readonly version: string;
  /** Where connections into the cluster come from. */
  readonly place: { readonly address: string; readonly network: string };
  readonly faults: HostFaults;
}

export type FromComponent =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** Its flags or its configuration files. */
      readonly isUsage: boolean;
    }
  | { readonly kind: 'heap'; readonly heapBytes: number };

export type ToComponent =
  | { readonly kind: 'stop' }
  /** Immediately and without a word to anybody. */
  | { readonly kind: 'die' }
  | { readonly kind: 'heap' }
  | { readonly kind: 'faults'; readonly faults: HostFaults };

const EXIT_FAILED = 1;
/** As a shell tells a SIGKILL. */
const EXIT_KILLED = 137;

/** A component in this worker thread, until it is asked to stop or fails. */
export const runComponentThread = async (
  { component, args, version, place, faults }: ComponentStart,
  port: MessagePort,
): Promise<void> => {
  const broken = applyFaults(place);
  broken.set(faults);
  const tell = (message: FromComponent): void => port.postMessage(message);
  // The platform aborts the whole process when a thread that ends still reads HTTP: nothing is read from here on.
  const end = (code: number): void => {
    broken.silence();
    setImmediate(() => process.exit(code));
  };
  const fail = (error: unknown): void => {
    tell({ kind: 'failed', message: messageOf(error), isUsage: isUsageError(error) });
    end(EXIT_FAILED);
  };
  const log = jsonLog(process.stderr);
  let isAsked = false;
  let stop: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (stop = resolve));
  port.on('message', (message: ToComponent) => {
    if (message.kind === 'stop') {
      isAsked = true;
      stop();
    } else if (message.kind === 'faults') broken.set(message.faults);
    else if (message.kind === 'die') end(EXIT_KILLED);
    else tell({ kind: 'heap', heapBytes: v8.getHeapStatistics().used_heap_size });
  });
  try {
    const running = await runComponent(component, args, { log, version });
    tell({ kind: 'ready' });
    await Promise.race([asked, running.failed]);
    await running.close();
  } catch (error) {
    // What breaks while it ends is not why it ends.
    if (!isAsked) return fail(error);
    log.write('warn', 'the component exited with an error', { error: messageOf(error) });
  }
  port.close();
  end(0);
};
