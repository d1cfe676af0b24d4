import type { Event, KeyRange, KeySpan } from '../model.ts';

export type WatchFilter = 'noput' | 'nodelete';

/**
 * What a watcher receives. Without events and `compactRevision` it is a progress notification: everything up
 * to `revision` has been delivered. The array and its events are shared by all receivers; anyone who encodes
 * them can remember the bytes by the identity of either.
 */
export interface WatchBatch {
  readonly watcher: Watcher;
  readonly revision: number;
  readonly events: readonly Event[];
  /** Not 0: history from the wanted revision on is gone and the watcher has ended. */
  readonly compactRevision: number;
}

/** Where batches go. False means no room: the hub keeps this one batch and asks again. */
export interface WatchSink {
  deliver(batch: WatchBatch): boolean;
}

export interface WatchRequest extends KeyRange {
  /** 0 or absent: from the next change on. */
  readonly startRevision?: number | undefined;
  readonly filters?: readonly WatchFilter[] | undefined;
  readonly prevKv?: boolean | undefined;
  readonly sink: WatchSink;
}

/**
 * `synced` gets changes as they happen, `unsynced` is read up to the present from history, a `victim` refused a
 * batch, `ended` gets nothing more.
 */
export type WatcherState = 'synced' | 'unsynced' | 'victim' | 'ended';

export interface Watcher {
  readonly span: KeySpan;
  readonly startRevision: number;
  readonly state: WatcherState;
  cancel(): void;
}
