/** One program: a host in the main thread, a component of it in a worker thread. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { ComponentStart } from './component-thread.ts';
import type { FromHost, ToHost } from './messages.ts';

const program = new URL(import.meta.url);

if (!isMainThread && parentPort) {
  const { runComponentThread } = await import('./component-thread.ts');
  await runComponentThread(workerData as ComponentStart, parentPort);
} else {
  const { runHost } = await import('./run-host.ts');
  // The terminal's Ctrl-C reaches every process of the group; the order of stopping is the supervisor's.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  runHost(program, {
    send: (message: FromHost) => {
      if (process.connected) process.send?.(message);
    },
    onMessage: (listener) => process.on('message', (message) => listener(message as ToHost)),
    onClosed: (listener) => process.once('disconnect', listener),
    exit: (code) => process.exit(code),
  });
}
