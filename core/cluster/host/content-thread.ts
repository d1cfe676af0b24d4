import type { MessagePort } from 'node:worker_threads';
import { runContentThread } from '../../kubelet/runtimes/simulated/content/content-thread.ts';
import type { ContentThreadData } from '../../kubelet/runtimes/simulated/content/thread-channel.ts';
import { applyFaults } from './thread-faults.ts';
import type { ComponentStart } from './component-thread.ts';
import type { HostFaults } from './messages.ts';

export interface ContentStart {
  readonly content: ContentThreadData;
  readonly place: ComponentStart['place'];
  readonly faults: HostFaults;
}

/** Beside the kubelet's own messages. */
export interface ContentFaults {
  readonly kind: 'faults';
  readonly faults: HostFaults;
}

/** Simulated containers in this worker thread, under the faults of their host. */
export const runHostContent = ({ content, place, faults }: ContentStart, port: MessagePort): void => {
  const broken = applyFaults(place);
  broken.set(faults);
  port.on('message', (message: ContentFaults | { readonly kind: '' }) => {
    if (message.kind === 'faults') broken.set(message.faults);
  });
  runContentThread(content, port);
};
