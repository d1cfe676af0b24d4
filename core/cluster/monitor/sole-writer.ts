import type { Disposable } from '../../base/disposable.ts';
import { hasReason } from '../../base/errors.ts';
import { lockDirectory } from '../../base/node/directory-lock.ts';
import { makeMetricsFolder } from './metrics-folder.ts';

/**
 * Two consoles may look at one cluster; one of them writes its records, and the other reads them. Anyone who writes first
 * stays the writer until it ends, however it ends; then the other continues.
 */
export class SoleWriter implements Disposable {
  readonly #folder: string;
  #lock: Disposable | undefined;
  #asking: Promise<boolean> | undefined;
  #isOver = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Once true it stays so until it is disposed. */
  readonly mayWrite = (): Promise<boolean> => {
    if (this.#isOver) return Promise.resolve(false);
    if (this.#lock) return Promise.resolve(true);
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  };

  dispose(): void {
    this.#isOver = true;
    this.#lock?.dispose();
    this.#lock = undefined;
  }

  async #ask(): Promise<boolean> {
    // Before the lock, which would make it with its parents.
    await makeMetricsFolder(this.#folder);
    let lock: Disposable;
    try {
      lock = await lockDirectory(this.#folder);
    } catch (error) {
      if (hasReason(error, 'Locked')) return false;
      throw error;
    }
    if (this.#isOver) {
      lock.dispose();
      return false;
    }
    this.#lock = lock;
    return true;
  }
}
