export * from './transport.ts';
export { decodeMessage, encodeMessage } from './codec.ts';
export { peerMetrics } from './metrics.ts';
export type { PeerInstruments, PeerMetrics } from './metrics.ts';
export type { PeerLimits, PeerTls } from './settings.ts';
export { tlsPeerProbe } from './tls-probe.ts';
export type { TlsPeerProbeOptions } from './tls-probe.ts';
export { TlsPeerTransport } from './tls-transport.ts';
export type { TlsPeerTransportOptions } from './tls-transport.ts';
