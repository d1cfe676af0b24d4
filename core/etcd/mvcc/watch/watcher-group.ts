import type { KeySpan, KeyString } from '../model.ts';
import { IntervalMap } from './interval-map.ts';

export interface Spanned {
  readonly span: KeySpan;
}

/** Watchers by what they watch: one key, or a range of keys. Equal ranges share one interval. */
export class WatcherGroup<W extends Spanned> {
  readonly #all = new Set<W>();
  readonly #byKey = new Map<KeyString, Set<W>>();
  readonly #ranges = new IntervalMap<Set<W>>();

  get size(): number {
    return this.#all.size;
  }

  has(watcher: W): boolean {
    return this.#all.has(watcher);
  }

  values(): IterableIterator<W> {
    return this.#all.values();
  }

  add(watcher: W): void {
    this.#all.add(watcher);
    const { start, end } = watcher.span;
    const known = end === undefined ? this.#byKey.get(start) : this.#ranges.get(start, end);
    if (known !== undefined) {
      known.add(watcher);
      return;
    }
    const alone = new Set([watcher]);
    if (end === undefined) this.#byKey.set(start, alone);
    else this.#ranges.add(start, end, alone);
  }

  delete(watcher: W): boolean {
    if (!this.#all.delete(watcher)) return false;
    const { start, end } = watcher.span;
    const known = end === undefined ? this.#byKey.get(start) : this.#ranges.get(start, end);
    known?.delete(watcher);
    if (known?.size === 0) {
      if (end === undefined) this.#byKey.delete(start);
      else this.#ranges.remove(start, end);
    }
    return true;
  }

  /** The watchers of one key, in a list of its own: anyone who walks it may change the group. */
  watching(key: KeyString): W[] {
    const found: W[] = [];
    const own = this.#byKey.get(key);
    if (own !== undefined) for (const watcher of own) found.push(watcher);
    this.#ranges.stab(key, (set) => {
      for (const watcher of set) found.push(watcher);
    });
    return found;
  }
}
