import { assert } from '../../base/assert.ts';
import { CLUSTER_FACTS } from './facts/cluster.ts';
import { CORE_FACTS } from './facts/core.ts';
import { EXTENSION_FACTS } from './facts/extension.ts';
import { WORKLOADS_FACTS } from './facts/workloads.ts';
import type { ListType, MapType, Opaque, PatchStrategy } from './types.ts';

/**
 * What the generated models do not say. A line is a type and groups of `flags(fields)`; a line that starts
 * with spaces continues the one before; the field `*` is the type itself. Flags, separated by commas:
 *
 * - `atomic`, `set`, `map:key/key`: how a list merges; `atomic` and `granular` also for maps and structs
 * - `merge`, `merge:key`, `replace`, `retainKeys`: the patch strategy, and the key elements are matched by
 * - `struct`: held by value, so written as `{}` when empty (metadata, spec and status of a kind always are)
 * - `quantity`, `object`, `schema-or-...`: a type the models show as a string or as anything
 * - `always`: written when absent although it is optional or a list: as `""`, `0` or `null`; with `pointer` as `null`
 * - `default:<json>`: the static default; `pointer`: a required scalar without a zero value
 */
export interface FieldFacts {
  listType?: ListType;
  listMapKeys?: readonly string[];
  mapType?: MapType;
  patchStrategy?: PatchStrategy[];
  patchMergeKey?: string;
  byValue?: boolean;
  isPointer?: boolean;
  isAlwaysWritten?: boolean;
  opaque?: Opaque;
  quantity?: boolean;
  default?: string | number | boolean;
}

export type TypeFacts = ReadonlyMap<string, FieldFacts>;

const OPAQUE: Readonly<Record<string, Opaque>> = {
  object: 'object',
  'schema-or-bool': 'schemaOrBool',
  'schema-or-array': 'schemaOrArray',
  'schema-or-strings': 'schemaOrStrings',
};

/** A default may hold a comma or a parenthesis only inside quotes; none does, which the parser relies on. */
const GROUP = /(\S+?)\(([^)]*)\)/g;

const readFlag = (facts: FieldFacts, flag: string): void => {
  const colon = flag.indexOf(':');
  const [name, value] = colon < 0 ? [flag, ''] : [flag.slice(0, colon), flag.slice(colon + 1)];
  switch (name) {
    case 'atomic':
      facts.listType = 'atomic';
      facts.mapType = 'atomic';
      return;
    case 'granular':
      facts.mapType = 'granular';
      return;
    case 'set':
      facts.listType = 'set';
      return;
    case 'map':
      facts.listType = 'map';
      facts.listMapKeys = value.split('/');
      return;
    case 'merge':
    case 'replace':
    case 'retainKeys':
      (facts.patchStrategy ??= []).push(name);
      if (value !== '') facts.patchMergeKey = value;
      return;
    case 'struct':
      facts.byValue = true;
      return;
    case 'always':
      facts.isAlwaysWritten = true;
      return;
    case 'pointer':
      facts.isPointer = true;
      return;
    case 'quantity':
      facts.quantity = true;
      return;
    case 'default':
      facts.default = JSON.parse(value) as string | number | boolean;
      return;
    default: {
      const opaque = OPAQUE[name];
      assert(opaque !== undefined, `unknown flag ${name} in the table of facts`);
      facts.opaque = opaque;
    }
  }
};

const parseLine = (groups: string): TypeFacts => {
  const fields = new Map<string, FieldFacts>();
  for (const [, flags, names] of groups.matchAll(GROUP))
    for (const name of names!.split(/\s+/)) {
      const facts: FieldFacts = fields.get(name) ?? {};
      for (const flag of flags!.split(',')) readFlag(facts, flag);
      fields.set(name, facts);
    }
  return fields;
};

const readLines = (): Map<string, string> => {
  const lines = new Map<string, string>();
  for (const table of [CORE_FACTS, WORKLOADS_FACTS, EXTENSION_FACTS, CLUSTER_FACTS])
    for (const line of table.trim().replaceAll('\n  ', ' ').split('\n')) {
      const space = line.indexOf(' ');
      lines.set(line.slice(0, space), line.slice(space + 1));
    }
  return lines;
};

let lines: Map<string, string> | undefined;
const NONE: TypeFacts = new Map();

export const factsOf = (typeId: string): TypeFacts => {
  const groups = (lines ??= readLines()).get(typeId);
  return groups === undefined ? NONE : parseLine(groups);
};

/** Types that the table has a line for; a test holds each of them against the models. */
export const typesWithFacts = (): readonly string[] => [...(lines ??= readLines()).keys()];
