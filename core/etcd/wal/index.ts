export { WalError, type WalReason } from './errors.ts';
export type { WalMetadata } from './record.ts';
export type { WalContents } from './replay.ts';
export { Wal, type WalBatch, type WalOptions } from './wal.ts';
