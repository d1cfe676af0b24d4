import type { FromHost, ToHost } from './messages.ts';
import type { HostPort } from './run-host.ts';

/** The port of a process that Electron's `utilityProcess` has made; a fork of Node has none. */
interface ParentPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

const parentPort = (): ParentPort | undefined =>
  (process as unknown as { readonly parentPort?: ParentPort }).parentPort;

/** How this process speaks with the supervisor that started it. */
export const supervisorPort = (): HostPort => {
  const port = parentPort();
  const exit = (code: number): void => process.exit(code);
  if (port)
    return {
      send: (message: FromHost) => port.postMessage(message),
      onMessage: (listener) => port.on('message', ({ data }) => listener(data as ToHost)),
      // Chromium ends its children immediately when the application is gone, however that ended.
      onClosed: () => undefined,
      exit,
    };
  return {
    send: (message: FromHost) => {
      if (process.connected) process.send?.(message);
    },
    onMessage: (listener) => process.on('message', (message) => listener(message as ToHost)),
    onClosed: (listener) => process.once('disconnect', listener),
    exit,
  };
};
