import type { CodeCache } from './code-cache.ts';

/**
 * By then a thread has done what it does first, and the functions for it are compiled; later on a busy machine. Not while
 * the cluster starts: it would be late by what this takes.
 */
const SETTLED_AFTER_MS = 8_000;
const SETTLED_AT_LAST_AFTER_MS = 20_000;

/** Keeps what this thread has compiled for those that come after it; calls `settled` after each attempt. */
export const keepCodeLater = (cache: CodeCache, settled: () => void): void => {
  setTimeout(() => {
    const isNew = cache.save();
    if (!isNew) cache.release();
    settled();
    setTimeout(() => {
      if (isNew) cache.save(true);
      cache.release();
      settled();
    }, SETTLED_AT_LAST_AFTER_MS - SETTLED_AFTER_MS).unref();
  }, SETTLED_AFTER_MS).unref();
};
