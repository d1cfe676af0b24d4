import { preloadTransport } from './preload-transport.ts';
import type { Transport } from './transport.ts';
import { contractUrl, webSocketTransport } from './websocket-transport.ts';

export { connectionKey, openConnection, useConnection } from './connection.ts';
export type { Connection, ConnectionState } from './connection.ts';
export type { Transport } from './transport.ts';

/** The desktop app has a preload bridge; everything else is a browser on `pilothouse serve`. */
export const pickTransport = (): Transport =>
  window.pilothouse ? preloadTransport(window.pilothouse) : webSocketTransport(contractUrl(window.location));
