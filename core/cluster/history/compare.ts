import { jsonText, type KubernetesObject } from '../../api/meta/index.ts';
import { placeOf, type Place } from './place.ts';
import type { Source, StoredValue } from './source.ts';
import type { Decoder } from './stored-object.ts';

export type Change = 'added' | 'removed' | 'changed' | 'status';

export interface ChangedObject extends Place {
  readonly key: string;
  readonly change: Change;
}

export interface Comparison {
  /** In the order of keys, up to a bound. */
  readonly objects: readonly ChangedObject[];
  readonly counts: Readonly<Record<Change, number>>;
  readonly same: number;
  /** Values that differ and cannot be read; they are told as changed. */
  readonly unreadable: number;
  readonly isCut: boolean;
}

/** Fields that the server alone sets, and that say nothing about what was wanted. */
const normal = (object: KubernetesObject): { readonly wanted: string; readonly all: string } => {
  const { status, metadata = {}, ...rest } = object;
  const { managedFields: _managed, resourceVersion: _version, ...kept } = metadata;
  const wanted = jsonText(sorted({ ...rest, metadata: { ...kept, generation: 0 } }));
  return { wanted, all: `${wanted}${jsonText(sorted(status ?? null))}` };
};

/** Members in one order: protobuf and JSON have their own. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
};

export const changeOf = (before: KubernetesObject, after: KubernetesObject): Change | undefined => {
  const [a, b] = [normal(before), normal(after)];
  if (a.wanted !== b.wanted) return 'changed';
  return a.all === b.all ? undefined : 'status';
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** What is different between two moments. Both are read once, in the order of keys, and nothing is held. */
export const compareMoments = async (
  [before, after]: readonly [Source, Source],
  decoder: Decoder,
  {
    prefix,
    objectsMax,
    signal,
  }: { readonly prefix: string; readonly objectsMax: number; readonly signal?: AbortSignal },
): Promise<Comparison> => {
  const objects: ChangedObject[] = [];
  const counts = { added: 0, removed: 0, changed: 0, status: 0 };
  let same = 0;
  let unreadable = 0;
  const tell = (key: string, change: Change): void => {
    const place = placeOf(key);
    if (!place) return;
    counts[change] += 1;
    if (objects.length < objectsMax) objects.push({ ...place, key, change });
  };
  const compareValues = async (a: StoredValue, b: StoredValue): Promise<void> => {
    if (sameBytes(a.value, b.value)) return void (same += 1);
    const [left, right] = [await decoder.decode(a), await decoder.decode(b)];
    if (left.object && right.object) {
      const change = changeOf(left.object, right.object);
      if (change) tell(a.key, change);
      else same += 1;
      return;
    }
    unreadable += 1;
    tell(a.key, 'changed');
  };

  const [lefts, rights] = [before.values(prefix), after.values(prefix)].map((values) =>
    values[Symbol.asyncIterator](),
  );
  try {
    let [left, right] = [await lefts!.next(), await rights!.next()];
    while (left.done !== true || right.done !== true) {
      signal?.throwIfAborted();
      const order =
        left.done === true
          ? 1
          : right.done === true
            ? -1
            : left.value.key < right.value.key
              ? -1
              : left.value.key > right.value.key
                ? 1
                : 0;
      if (order < 0) tell((left.value as StoredValue).key, 'removed');
      else if (order > 0) tell((right.value as StoredValue).key, 'added');
      else await compareValues(left.value as StoredValue, right.value as StoredValue);
      if (order <= 0) left = await lefts!.next();
      if (order >= 0) right = await rights!.next();
    }
  } finally {
    await Promise.all([lefts!.return?.(), rights!.return?.()]);
  }
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { objects, counts, same, unreadable, isCut: total > objects.length };
};
