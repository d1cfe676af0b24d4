import { isJsonObject, type KubernetesObject } from './object-meta.ts';
import { parseTime } from './time.ts';

/** A client that wrote to an object, as managedFields say. */
export interface Author {
  readonly manager: string;
  readonly operation: string;
  readonly subresource: string;
  /** To the second; undefined where managedFields do not say. */
  readonly atMs: number | undefined;
}

const entriesOf = (object: KubernetesObject | undefined): readonly Record<string, unknown>[] => {
  const managed: unknown = object?.metadata?.managedFields;
  return Array.isArray(managed) ? managed.filter(isJsonObject) : [];
};

const authorIn = (entry: Record<string, unknown>): Author => ({
  manager: String(entry['manager'] ?? ''),
  operation: String(entry['operation'] ?? ''),
  subresource: String(entry['subresource'] ?? ''),
  atMs: parseTime(String(entry['time'] ?? '')),
});

/**
 * The client that wrote last: of the entries that the version `before` does not have, or of all where it has them all.
 * `isCounted` leaves out those that are not asked about, such as writes of the status.
 */
export const authorOf = (
  object: KubernetesObject,
  before?: KubernetesObject,
  isCounted: (author: Author) => boolean = () => true,
): Author | undefined => {
  const known = new Set(entriesOf(before).map((entry) => JSON.stringify(entry)));
  const entries = entriesOf(object);
  const fresh = entries.filter((entry) => !known.has(JSON.stringify(entry)));
  return (fresh.length > 0 ? fresh : entries)
    .map(authorIn)
    .filter(isCounted)
    .toSorted((a, b) => (b.atMs ?? 0) - (a.atMs ?? 0))[0];
};
