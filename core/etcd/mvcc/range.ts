import { InvariantError } from '../../base/assert.ts';
import type { Backend } from './backend/backend.ts';
import { compacted, futureRevision } from './errors.ts';
import type { KeyIndex } from './key-index.ts';
import { KeyValue } from './key-value.ts';
import { toSpan, type KeyRange, type KeyString, type RangeRequest, type RangeResult } from './model.ts';
import { encodeRevision, type Revision } from './revision.ts';

/** What a reader stands on: the newest revision it may see and the oldest that history still holds. */
export interface ReadView {
  readonly index: KeyIndex;
  readonly backend: Backend;
  readonly revision: number;
  readonly compactRevision: number;
}

export const readRevision = (backend: Backend, { main, sub }: Revision): KeyValue => {
  const stored = backend.get('key', encodeRevision(main, sub));
  if (stored === undefined)
    throw new InvariantError(`the index names revision ${main}_${sub}, which the backend does not hold`);
  return new KeyValue(stored);
};

const hasRevisionFilters = (r: RangeRequest): boolean =>
  Boolean(r.minModRevision) ||
  Boolean(r.maxModRevision) ||
  Boolean(r.minCreateRevision) ||
  Boolean(r.maxCreateRevision);

const isKeyOrder = (r: RangeRequest): boolean => {
  const order = r.sortOrder ?? 'none';
  return order === 'none' || (order === 'ascend' && (r.sortTarget ?? 'key') === 'key');
};

/** Throws as etcd does for a revision that is not there yet, or not any more. 0 is the newest. */
export const checkRevision = (revision: number, view: ReadView): void => {
  if (revision > view.revision) throw futureRevision();
  if (revision > 0 && revision < view.compactRevision) throw compacted();
};

/** The first `limit` living keys of a range at a revision, and how many there are in all. */
const collect = (view: ReadView, range: KeyRange, at: number, limit: number): [Revision[], number] => {
  const span = toSpan(range);
  const found: Revision[] = [];
  if (limit === 0) return [found, view.index.count(span, at)];
  let last: KeyString | undefined;
  view.index.walk(span, (revisions) => {
    const revision = revisions.at(at);
    if (revision === undefined) return true;
    if (found.push(revision) < limit) return true;
    last = revisions.key;
    return false;
  });
  if (last === undefined || span.end === undefined) return [found, found.length];
  return [found, found.length + view.index.count({ start: `${last}\0`, end: span.end }, at)];
};

/** Every key of a range as it is at the view's revision. */
export const readAll = (view: ReadView, range: KeyRange): KeyValue[] =>
  collect(view, range, view.revision, Infinity)[0].map((revision) => readRevision(view.backend, revision));

/**
 * etcd's order of work: read (cut at limit + 1 unless sorting or filtering needs all), filter, sort, cut. So
 * `more` speaks of what passed the filters, and `count` of what was there before them.
 */
export const readRange = (view: ReadView, request: RangeRequest): RangeResult => {
  const wanted = request.revision ?? 0;
  checkRevision(wanted, view);
  const at = wanted > 0 ? wanted : view.revision;
  const limit = request.limit ?? 0;
  const needsAll = limit <= 0 || !isKeyOrder(request) || hasRevisionFilters(request);
  const readLimit = request.countOnly ? 0 : needsAll ? Infinity : limit + 1;
  const [revisions, count] = collect(view, request, at, readLimit);
  let kvs = revisions.map((revision) => readRevision(view.backend, revision));
  if (hasRevisionFilters(request)) kvs = kvs.filter((kv) => passes(kv, request));
  sort(kvs, request);
  const more = limit > 0 && kvs.length > limit;
  if (more) kvs.length = limit;
  if (request.keysOnly) kvs = kvs.map((kv) => kv.withoutValue());
  return { revision: view.revision, kvs, more, count };
};

const passes = (kv: KeyValue, r: RangeRequest): boolean =>
  !(r.maxModRevision && kv.modRevision > r.maxModRevision) &&
  !(r.minModRevision && kv.modRevision < r.minModRevision) &&
  !(r.maxCreateRevision && kv.createRevision > r.maxCreateRevision) &&
  !(r.minCreateRevision && kv.createRevision < r.minCreateRevision);

const COMPARE = {
  key: (a: KeyValue, b: KeyValue) => Buffer.compare(a.key, b.key),
  version: (a: KeyValue, b: KeyValue) => a.version - b.version,
  create: (a: KeyValue, b: KeyValue) => a.createRevision - b.createRevision,
  mod: (a: KeyValue, b: KeyValue) => a.modRevision - b.modRevision,
  value: (a: KeyValue, b: KeyValue) => Buffer.compare(a.value, b.value),
} as const;

const sort = (kvs: KeyValue[], request: RangeRequest): void => {
  const target = request.sortTarget ?? 'key';
  const order = request.sortOrder ?? 'none';
  if (target === 'key' && order !== 'descend') return;
  // A target without an order sorts ascending, after the limit has cut by key: as etcd does.
  const compare = COMPARE[target];
  kvs.sort(order === 'descend' ? (a, b) => compare(b, a) : compare);
};
