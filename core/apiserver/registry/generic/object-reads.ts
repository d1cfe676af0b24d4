import { badRequest, StatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import { requiredFieldValue } from '../../../api/selector/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { isDns1123Label, isPathSegmentName } from '../../../api/field/formats.ts';
import { encodeContinue } from '../../storage/continue-token.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import { StorageError } from '../../storage/errors.ts';
import type { CacheWatcher } from '../../storage/watch-cache/watcher.ts';
import type { StoredValue } from '../../storage/store.ts';
import type { GetOptions, Held, HeldList, ListOptions, Scope, WatchOptions } from '../rest-storage.ts';
import type { ResourceCore } from './resource-core.ts';
import { eventFor, selectionOf, type Selection } from './selection.ts';
import { fromStorage } from './storage-errors.ts';

/** Objects read from etcd at a time while a page of a selection is filled. */
const SCAN_ITEMS_MIN = 500;
const SCAN_ITEMS_MAX = 10_000;

const DIGITS = /^[0-9]+$/;
const UINT64_MAX = 2n ** 64n - 1n;

/** Undefined for what Go's ParseUint does not read. */
const revisionIn = (text: string): { readonly revision: number } | { readonly why: string } => {
  if (!DIGITS.test(text)) return { why: 'invalid syntax' };
  if (BigInt(text) > UINT64_MAX) return { why: 'value out of range' };
  return { revision: Number(text) };
};

const noRevision = (prefix: string, text: string, why: string): StatusError =>
  new StatusError('', `${prefix}strconv.ParseUint: parsing ${goQuote(text)}: ${why}`, { code: 500 });

/** Of a query; 0 without one. Upstream answers 500 to one that is no number, without a reason. */
export const parseRevision = (text: string): number => {
  if (text === '') return 0;
  const read = revisionIn(text);
  if ('revision' in read) return read.revision;
  throw noRevision(`resourceVersion: Invalid value: ${goQuote(text)}: `, text, read.why);
};

/** Of a list, whose revision the watch cache reads first. */
const parseListRevision = (text: string): number => {
  const read = text === '' ? { revision: 0 } : revisionIn(text);
  if ('revision' in read) return read.revision;
  const why = `strconv.ParseUint: parsing ${goQuote(text)}: ${read.why}`;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${goQuote(text)}: ${why}`);
};

/** Of an object that is to replace another. */
export const parseObjectRevision = (text: string): number => {
  if (text === '') return 0;
  const read = revisionIn(text);
  if ('revision' in read) return read.revision;
  throw noRevision('', text, read.why);
};

/** A new object may not name a version; one that is no number counts as none. */
export const namesRevision = (text: string): boolean => {
  const read = revisionIn(text);
  return 'revision' in read && read.revision !== 0;
};

interface Scan {
  readonly prefix: string;
  readonly limit: number;
  readonly selection: Selection;
  readonly continueToken: string | undefined;
  readonly exactRevision: number | undefined;
  readonly signal: AbortSignal;
}

/** Gets, lists and watches of one resource. */
export class ObjectReads {
  readonly #core: ResourceCore;

  constructor(core: ResourceCore) {
    this.#core = core;
  }

  /** Empty: the newest, from etcd. `0`: whatever the cache has. A number: the cache, once it is that far. */
  async get(scope: Scope, name: string, options: GetOptions): Promise<Held> {
    const { type, store, resource } = this.#core;
    const wrong = isPathSegmentName(name, false);
    if (wrong.length > 0) throw badRequest(`invalid name ${JSON.stringify(name)}: ${wrong.join(', ')}`);
    if (type.namespaced && scope.namespace === '')
      throw badRequest('an empty namespace may not be set when a resource name is provided');
    const key = this.#core.key(scope.namespace, name);
    try {
      if (options.resourceVersion === '') return this.heldOf(await store.get(key));
      const notOlderThan = parseRevision(options.resourceVersion);
      const { cache } = this.#core;
      if (!cache.isReady) return this.heldOf(await store.get(key, { notOlderThan }));
      return await cache.get(key, notOlderThan === 0 ? 'any' : notOlderThan);
    } catch (error) {
      throw fromStorage(error, 'get', resource, name);
    }
  }

  async list(scope: Scope, options: ListOptions): Promise<HeldList> {
    const { definition, resource } = this.#core;
    const selection = selectionOf((object) => definition.fieldsOf(object), options);
    const revision = parseListRevision(options.resourceVersion);
    const { continueToken, limit, resourceVersionMatch, resourceVersion } = options;
    const prefix = this.#prefixFor(scope.namespace, options);
    // A limit with a revision and no word on how to match it has always meant exactly that revision.
    const isExact =
      resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0 && revision > 0);
    try {
      if (continueToken !== '' || isExact)
        return await this.#scan({
          prefix,
          limit,
          selection,
          continueToken: continueToken === '' ? undefined : continueToken,
          exactRevision: continueToken === '' ? revision : undefined,
          signal: scope.signal,
        });
      const at = resourceVersion === '' ? 'latest' : revision === 0 ? 'any' : revision;
      // What the cache has is answered whole: it could not promise the pages after the first.
      return await this.#fromCache(prefix, resourceVersion === '0' ? 0 : limit, selection, at);
    } catch (error) {
      throw fromStorage(error, 'list', resource);
    }
  }

  async watch(scope: Scope, options: WatchOptions): Promise<CacheWatcher<KubernetesObject>> {
    const { cache, definition, resource } = this.#core;
    const selection = selectionOf((object) => definition.fieldsOf(object), options);
    try {
      return await cache.watch({
        prefix: this.#prefixFor(scope.namespace, options),
        start: options.start,
        at: options.at,
        stateBookmark: options.stateBookmark,
        bookmarks: options.bookmarks,
        wants: selection.isEverything ? undefined : (event) => eventFor(selection, event) !== undefined,
      });
    } catch (error) {
      throw fromStorage(error, 'watch', resource);
    }
  }

  /** The same object that the cache holds, where it holds this version of it. */
  heldOf({ key, value, revision }: StoredValue): Held {
    const cached = this.#core.cacheIfStarted?.peek(key);
    if (cached?.revision === revision) return cached;
    return new CachedObject(key, value, revision, this.#core.codec.decode(key, value, revision));
  }

  /** A selector that names one object, or one namespace, is answered without looking at the others. */
  #prefixFor(namespace: string, options: Pick<ListOptions, 'fieldSelector'>): string {
    const { type } = this.#core;
    const { fieldSelector } = options;
    let within = namespace;
    if (type.namespaced && within === '') {
      const wanted = requiredFieldValue(fieldSelector, 'metadata.namespace');
      if (wanted !== undefined && isDns1123Label(wanted).length === 0) within = wanted;
    }
    const name = requiredFieldValue(fieldSelector, 'metadata.name');
    if (name === undefined || name === '' || isPathSegmentName(name, false).length > 0)
      return this.#core.prefix(within);
    return type.namespaced && within === '' ? this.#core.prefix('') : this.#core.key(within, name);
  }

  async #fromCache(
    prefix: string,
    limit: number,
    selection: Selection,
    at: 'latest' | 'any' | number,
  ): Promise<HeldList> {
    const { cache } = this.#core;
    if (selection.isEverything) {
      const { objects, revision, continueToken, remainingItemCount } = await cache.list(prefix, {
        at,
        limit,
      });
      return { items: objects, resourceVersion: String(revision), continueToken, remainingItemCount };
    }
    const { objects, revision } = await cache.list(prefix, { at });
    const items: Held[] = [];
    const resourceVersion = String(revision);
    for (const object of objects) {
      if (!selection.matches(object.object)) continue;
      if (limit > 0 && items.length === limit) {
        const startKey = `${items[limit - 1]!.key}\0`;
        return { items, resourceVersion, continueToken: encodeContinue({ startKey, revision }, prefix) };
      }
      items.push(object);
    }
    return { items, resourceVersion };
  }

  /** From etcd, at one revision, page by page until enough is found that the selection shows. */
  async #scan(scan: Scan): Promise<HeldList> {
    const { prefix, limit, selection, exactRevision, signal } = scan;
    const { store } = this.#core;
    const items: Held[] = [];
    let { continueToken } = scan;
    let pageItems = selection.isEverything ? limit : Math.max(limit, limit > 0 ? SCAN_ITEMS_MIN : 0);
    for (;;) {
      const page = await store.list(prefix, {
        limit: pageItems,
        continueToken,
        at:
          continueToken === undefined && exactRevision !== undefined
            ? { match: 'exact', revision: exactRevision }
            : undefined,
        signal,
      });
      const resourceVersion = String(page.revision);
      for (const [position, value] of page.items.entries()) {
        const held = this.heldOf(value);
        if (!selection.matches(held.object)) continue;
        items.push(held);
        if (limit === 0 || items.length < limit) continue;
        const isLast = position === page.items.length - 1 && page.continueToken === undefined;
        if (isLast) return { items, resourceVersion };
        const startKey = `${value.key}\0`;
        return {
          items,
          resourceVersion,
          continueToken: encodeContinue({ startKey, revision: page.revision }, prefix),
          remainingItemCount: selection.isEverything ? page.remainingItemCount : undefined,
        };
      }
      continueToken = page.continueToken;
      if (continueToken === undefined) return { items, resourceVersion };
      if (signal.aborted) throw new StorageError('Timeout', 'the list was given up');
      pageItems = Math.min(pageItems * 2, SCAN_ITEMS_MAX);
    }
  }
}
