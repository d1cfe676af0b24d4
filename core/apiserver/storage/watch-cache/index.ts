export { CacheEvent, CachedObject } from './cached-object.ts';
export type { CacheBookmark, WatchItem } from './cached-object.ts';
export { ListTurns } from './list-turns.ts';
export { WatchCache } from './watch-cache.ts';
export type {
  CacheCodec,
  CacheListOptions,
  CacheListResult,
  CacheWatchOptions,
  ReadAt,
  WatchCacheMetrics,
  WatchCacheOptions,
} from './watch-cache.ts';
export type { CacheWatcher, WatcherEnd } from './watcher.ts';
export { WINDOW_BOUNDS_DEFAULT } from './event-window.ts';
export type { WindowBounds } from './event-window.ts';
