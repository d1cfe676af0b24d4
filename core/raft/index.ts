export * from './bounds.ts';
export * from './configuration.ts';
export * from './core.ts';
export * from './messages.ts';
export type { PeerStatus, RaftStatus } from './status.ts';
export * from './turn.ts';
export * from './types.ts';
