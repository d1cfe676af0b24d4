import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../../../../base/node/clock.ts';
import { ContentHost } from './content-host.ts';
import type { ToContent } from './messages.ts';
import type { ContentThreadData } from './thread-channel.ts';

/** Serves a kubelet from this thread, until the thread is ended. */
export const runContentThread = ({ working }: ContentThreadData, port: MessagePort): void => {
  const host = new ContentHost({
    clock: systemClock,
    post: (message) => port.postMessage(message),
    onWork: (ordinal) => Atomics.store(working, 0, ordinal),
  });
  port.on('message', (message: ToContent) => host.receive(message));
};
