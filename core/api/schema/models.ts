import { assert } from '../../base/assert.ts';
import type { GroupVersionKind } from '../meta/group-version.ts';
import { factsOf, type FieldFacts, type TypeFacts } from './facts.ts';
import { MODELS } from './generated/models.ts';
import { NEWEST_MINOR, releaseOf } from '../releases/release.ts';
import type { FieldType, Scalar, StructType, TypeNode } from './types.ts';

/**
 * The built-in types, read from their generated lines. Nothing but an index of the lines is made until a
 * type is asked for: a server touches a few dozen of the 750.
 */
const CODES: Readonly<Record<string, Scalar>> = {
  s: 'string',
  b: 'boolean',
  i: 'int32',
  l: 'int64',
  d: 'double',
  y: 'bytes',
  t: 'time',
  u: 'microTime',
  o: 'intOrString',
};

let index: Map<string, string> | undefined;
const structsOfMinor = new Map<number, Map<string, StructType>>();

const lineOf = (typeId: string): string | undefined => {
  index ??= new Map(MODELS.split('\n').map((line) => [line.slice(0, line.indexOf('|')), line]));
  return index.get(typeId);
};

/** Where a type is read: the package that bare names are of, and the release. */
interface Reading {
  readonly home: string;
  readonly minor: number;
}

const parseNode = (code: string, reading: Reading, facts: FieldFacts | undefined): TypeNode => {
  if (code.startsWith('[]')) return { node: 'list', items: parseNode(code.slice(2), reading, facts) };
  if (code.startsWith('{}')) return { node: 'map', values: parseNode(code.slice(2), reading, facts) };
  if (code.startsWith('@')) {
    const target = code.includes('.') ? code.slice(1) : reading.home + code.slice(1);
    return {
      node: 'struct',
      get struct() {
        return structOf(target, reading.minor);
      },
    };
  }
  if (facts?.opaque) return { node: 'opaque', opaque: facts.opaque };
  if (code === 'j') return { node: 'opaque', opaque: 'any' };
  const scalar = CODES[code];
  assert(scalar !== undefined, `no type has the code ${code}`);
  return { node: 'scalar', scalar: facts?.quantity ? 'quantity' : scalar };
};

/** Only what is a kind of its own, and the metadata everywhere, is held by value without the table saying so. */
const isAlwaysByValue = (name: string, isKind: boolean): boolean =>
  name === 'metadata' || (isKind && (name === 'spec' || name === 'status'));

const parseStruct = (typeId: string, line: string, minor: number): StructType => {
  const reading = { home: typeId.slice(0, typeId.lastIndexOf('.') + 1), minor };
  const facts: TypeFacts = factsOf(typeId);
  const entries = line.slice(typeId.length + 1).split(',');
  const isKind = entries.some((entry) => entry.startsWith('kind:')) && entries.includes('apiVersion:s');
  const fields = new Map<string, FieldType>();
  for (const entry of entries) {
    if (entry === '') continue;
    const colon = entry.indexOf(':');
    const required = entry[colon - 1] === '!';
    const name = entry.slice(0, required ? colon - 1 : colon);
    if (!releaseOf(minor).hasField(typeId, name)) continue;
    const known = facts.get(name);
    const type = parseNode(entry.slice(colon + 1), reading, known);
    fields.set(name, {
      name,
      type,
      required,
      byValue: type.node === 'struct' && (known?.byValue === true || isAlwaysByValue(name, isKind)),
      isPointer: known?.isPointer === true,
      ...(known?.isAlwaysWritten && { isAlwaysWritten: true }),
      ...(type.node === 'list' && known?.listType && { listType: known.listType }),
      ...(known?.listMapKeys && { listMapKeys: known.listMapKeys }),
      ...((type.node === 'map' || type.node === 'struct') && known?.mapType && { mapType: known.mapType }),
      ...(known?.patchStrategy && { patchStrategy: known.patchStrategy }),
      ...(known?.patchMergeKey !== undefined && { patchMergeKey: known.patchMergeKey }),
      ...(known?.default !== undefined && { default: known.default }),
    });
  }
  const own = facts.get('*');
  return { id: typeId, fields, ...(own?.mapType && { mapType: own.mapType }) };
};

/** A type as one release has it, with all that it leads to; without a release, as the newest has it. */
export const findStruct = (typeId: string, minor = NEWEST_MINOR): StructType | undefined => {
  const release = Math.min(minor, NEWEST_MINOR);
  const structs = structsOfMinor.get(release) ?? new Map<string, StructType>();
  structsOfMinor.set(release, structs);
  const known = structs.get(typeId);
  if (known) return known;
  const line = lineOf(typeId);
  if (line === undefined) return undefined;
  const struct = parseStruct(typeId, line, release);
  structs.set(typeId, struct);
  return struct;
};

/** For ids that our own tables name; one that has no model is a defect of the table. */
export const structOf = (typeId: string, minor = NEWEST_MINOR): StructType => {
  const struct = findStruct(typeId, minor);
  assert(struct !== undefined, `there is no type ${typeId}`);
  return struct;
};

export const typeIds = (): readonly string[] => {
  lineOf('');
  return [...index!.keys()];
};

const PACKAGE_OF_GROUP: Readonly<Record<string, string>> = {
  '': 'core',
  'internal.apiserver.k8s.io': 'apiserverinternal',
  'flowcontrol.apiserver.k8s.io': 'flowcontrol',
  'rbac.authorization.k8s.io': 'rbac',
};

/** Kinds of `meta.k8s.io` are spoken in every group. */
const META_KINDS = new Set([
  'Status',
  'DeleteOptions',
  'WatchEvent',
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
]);

export const typeIdOfKind = ({ group, version, kind }: GroupVersionKind): string => {
  const owner = PACKAGE_OF_GROUP[group] ?? group.replace(/\.k8s\.io$/, '');
  return `${owner}.${version}.${kind}`;
};

/** The type of a built-in kind in a release; undefined for custom resources and what no one knows. */
export const structOfKind = (gvk: GroupVersionKind, minor = NEWEST_MINOR): StructType | undefined =>
  findStruct(typeIdOfKind(gvk), minor) ??
  (META_KINDS.has(gvk.kind) ? findStruct(`meta.v1.${gvk.kind}`, minor) : undefined);

const GROUP_OF_PACKAGE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(PACKAGE_OF_GROUP).map(([group, owner]) => [owner, group])),
  meta: '',
  apps: 'apps',
  autoscaling: 'autoscaling',
  batch: 'batch',
  policy: 'policy',
};

/** Kinds that have no metadata, or are no object at all, but travel under their name. */
const BARE_KINDS = new Set([...META_KINDS, 'APIVersions']);

/** The kind that a type is on the wire; undefined for a type that is only a part of others. */
export const kindOfType = (struct: StructType): GroupVersionKind | undefined => {
  const [owner = '', version = '', kind = ''] = struct.id.split('.');
  const { fields } = struct;
  const isObject = fields.has('apiVersion') && fields.has('kind') && fields.has('metadata');
  if (!isObject && !(owner === 'meta' && BARE_KINDS.has(kind))) return undefined;
  return { group: GROUP_OF_PACKAGE[owner] ?? `${owner}.k8s.io`, version, kind };
};

const DEFINITION_HOMES: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
  version: 'io.k8s.apimachinery.pkg.version',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
};

/** What OpenAPI calls a type: `io.k8s.api.core.v1.Pod`. */
export const definitionNameOf = (typeId: string): string => {
  const dot = typeId.indexOf('.');
  const owner = typeId.slice(0, dot);
  return `${DEFINITION_HOMES[owner] ?? `io.k8s.api.${owner}`}${typeId.slice(dot)}`;
};
