import { connectClient, type Client } from './client.ts';
import { serveConnection, type Handlers, type HostConnection } from './host.ts';

/**
 * A console and a host in one process, for tests: the same dispatcher and client, joined by microtasks
 * and a structured clone in place of a wire.
 */
export const fakeHost = (handlers: Handlers): { client: Client; host: HostConnection; close(): void } => {
  const host = serveConnection(handlers, (message) => {
    const copy = structuredClone(message);
    queueMicrotask(() => client.receive(copy));
  });
  const client = connectClient((message) => {
    const copy = structuredClone(message);
    queueMicrotask(() => host.receive(copy));
  });
  return {
    client,
    host,
    close() {
      host.close();
      client.close('the fake host was closed');
    },
  };
};
