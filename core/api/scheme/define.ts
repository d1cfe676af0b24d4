import {
  ALL_VERBS,
  READ_WRITE_VERBS,
  type ResourceType,
  type Subresource,
  type Verb,
} from './resource-type.ts';

/** What a row of the tables says; all else follows from the names. */
export interface Row {
  readonly kind: string;
  readonly plural: string;
  readonly cluster?: true;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly Verb[];
  readonly singular?: string;
  readonly listKind?: string;
  /** `/status`, read and written as the kind itself. */
  readonly status?: true;
  /** `/scale`, read and written as autoscaling/v1 Scale. */
  readonly scale?: true;
  readonly subresources?: readonly SubresourceRow[];
  /** The key below `/registry/` where it is not the plural; false for what is not kept. */
  readonly prefix?: string | false;
  /** Version (and group) it is kept in where that is another. */
  readonly storedAs?: { readonly group: string; readonly version: string };
}

export interface SubresourceRow {
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** Without one it is the resource's own kind. */
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly connects?: true;
}

const SCALE: SubresourceRow = {
  name: 'scale',
  verbs: READ_WRITE_VERBS,
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
};
const STATUS: SubresourceRow = { name: 'status', verbs: READ_WRITE_VERBS };

export const define = (group: string, version: string, rows: readonly Row[]): ResourceType[] =>
  rows.map((row) => {
    const rawSubresources = [
      ...(row.subresources ?? []),
      ...(row.scale ? [SCALE] : []),
      ...(row.status ? [STATUS] : []),
    ];
    const subresources = rawSubresources
      .map((sub): Subresource => ({
        name: sub.name,
        kind: { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind ?? row.kind },
        verbs: sub.verbs,
        connects: sub.connects === true,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const prefix = row.prefix ?? row.plural;
    return {
      group,
      version,
      kind: row.kind,
      listKind: row.listKind ?? `${row.kind}List`,
      plural: row.plural,
      singular: row.singular ?? row.kind.toLowerCase(),
      namespaced: row.cluster !== true,
      shortNames: row.short ?? [],
      categories: row.categories ?? [],
      verbs: row.verbs ?? ALL_VERBS,
      subresources,
      ...(prefix !== false && {
        storage: { prefix: `/registry/${prefix}/`, gvk: { group, version, kind: row.kind, ...row.storedAs } },
      }),
    };
  });
