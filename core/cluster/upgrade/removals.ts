import { registryOf } from '../../api/scheme/index.ts';
import type { UpgradePlan } from '../../contract/schemas/operations.ts';
import { placeOfKey } from '../backup/registry-key.ts';

export type Removal = UpgradePlan['removals'][number];

/** Where JSON says what it is; both stand within the first bytes, since API servers write them first. */
const HEAD_BYTES = 512;
const API_VERSION = /"apiVersion":"([^"]+)"/;
const KIND = /"kind":"([^"]+)"/;

/** Kept by API servers for themselves, and served by none. */
const INTERNAL_KINDS: ReadonlySet<string> = new Set(['RangeAllocation']);

/** What an object is kept as; undefined where it is no JSON. */
export const storedKind = (value: Uint8Array): { apiVersion: string; kind: string } | undefined => {
  const head = Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, HEAD_BYTES)).toString();
  if (!head.startsWith('{')) return undefined;
  const [apiVersion, kind] = [API_VERSION.exec(head)?.[1], KIND.exec(head)?.[1]];
  return apiVersion !== undefined && kind !== undefined ? { apiVersion, kind } : undefined;
};

/** Counts objects of built-in groups that are kept in a version which a release no longer reads. */
export class RemovalCount {
  readonly #registry: ReturnType<typeof registryOf>;
  readonly #groups: ReadonlySet<string>;
  readonly #counts = new Map<string, Removal>();

  constructor(minor: number) {
    this.#registry = registryOf(minor);
    this.#groups = new Set(this.#registry.groups.map(({ group }) => group));
  }

  add(key: string, value: Uint8Array): void {
    const found = storedKind(value);
    if (!found || INTERNAL_KINDS.has(found.kind)) return;
    const [version, group = ''] = found.apiVersion.split('/').reverse() as [string, string?];
    // Groups of custom resources are their definitions' affair.
    if (!this.#groups.has(group)) return;
    if (this.#registry.findByKind({ group, version, kind: found.kind })) return;
    const resource = placeOfKey(key)?.resource ?? found.kind;
    const name = `${resource}\0${found.apiVersion}`;
    const before = this.#counts.get(name) ?? { resource, version: found.apiVersion, count: 0 };
    this.#counts.set(name, { ...before, count: before.count + 1 });
  }

  get removals(): readonly Removal[] {
    return [...this.#counts.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }
}
