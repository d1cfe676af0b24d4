import type { Json, JsonObject } from '../patch/json.ts';
import { getOwn, isList, isObject, jsonEquals } from '../patch/json.ts';
import { managedFieldsOf, withManagedFields } from './managed-fields.ts';

const withoutTime = (entries: readonly Json[]): Json[] =>
  entries.map((entry) => {
    if (!isObject(entry)) return entry;
    const { time: _time, ...rest } = entry;
    return rest;
  });

const timeOf = (entry: Json): Json | undefined => (isObject(entry) ? getOwn(entry, 'time') : undefined);

/**
 * A write that changes nothing but the times of its entries is no write: gives back the object with the old
 * times, so that the store sees nothing to store and no watcher wakes.
 */
export function ignoreTimestampChanges(before: JsonObject, after: JsonObject): JsonObject {
  const olds = managedFieldsOf(before);
  const news = managedFieldsOf(after);
  if (!isList(olds) || !isList(news) || olds.length !== news.length) return after;
  if (olds.every((entry, i) => timeOf(entry) === timeOf(news[i] ?? null))) return after;
  const same = jsonEquals(withoutTime(olds), withoutTime(news));
  if (!same || !sameBesideEntries(before, after)) return after;
  return withManagedFields(after, olds);
}

const sameBesideEntries = (before: JsonObject, after: JsonObject): boolean =>
  jsonEquals(withManagedFields(before, undefined), withManagedFields(after, undefined));
