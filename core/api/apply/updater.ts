import type { JsonObject } from '../patch/json.ts';
import { jsonEquals } from '../patch/json.ts';
import type { TypeNode } from '../patch/type-node.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET } from './field-set.ts';
import type { VersionedSet } from './managed-fields.ts';
import type { Path } from './path-element.ts';
import type { Comparison } from './typed-compare.ts';
import { compareTyped, excludeFields } from './typed-compare.ts';
import { fieldSetOf } from './typed-fields.ts';
import { mergeTyped, removeFields } from './typed-merge.ts';

/** The kind in each version it is or was served in. */
export interface Versions {
  /** Undefined for a version that is served no longer: its managers are forgotten. */
  typeOf(apiVersion: string): TypeNode | undefined;
  /** Only asked for versions that have a type. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** Fields that a write through this endpoint does not change, such as status of a main resource. */
  ignored?(apiVersion: string): FieldSet | undefined;
}

export type Managers = Map<string, VersionedSet>;

export interface Conflict {
  readonly managerId: string;
  readonly path: Path;
}

/** Thrown inside of apply; the field manager makes a Status of it. */
export class ConflictsError extends Error {
  override readonly name = 'ConflictsError';
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(`${conflicts.length} conflicts`);
    this.conflicts = conflicts;
  }
}

interface Step {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly apiVersion: string;
  readonly actor: string;
  readonly force: boolean;
}

/** Takes from every other manager what the step changes or removes; throws if it may not. */
function settle(
  managers: Managers,
  step: Step,
  versions: Versions,
): { readonly managers: Managers; readonly comparison: Comparison } {
  const comparisons = new Map<string, Comparison | undefined>();
  const compareIn = (apiVersion: string): Comparison | undefined => {
    if (comparisons.has(apiVersion)) return comparisons.get(apiVersion);
    const type = versions.typeOf(apiVersion);
    const result =
      type &&
      excludeFields(
        compareTyped(
          apiVersion === step.apiVersion ? step.before : versions.convert(step.before, apiVersion),
          apiVersion === step.apiVersion ? step.after : versions.convert(step.after, apiVersion),
          type,
        ),
        versions.ignored?.(apiVersion),
      );
    comparisons.set(apiVersion, result);
    return result;
  };
  const result: Managers = new Map();
  const conflicts: Conflict[] = [];
  for (const [id, owned] of managers) {
    if (id === step.actor) {
      result.set(id, owned);
      continue;
    }
    const comparison = compareIn(owned.apiVersion);
    if (comparison === undefined) continue;
    const taken = owned.set.intersection(comparison.modified.union(comparison.added));
    for (const path of taken.paths()) conflicts.push({ managerId: id, path });
    const left = owned.set.difference(taken).difference(comparison.removed);
    if (!left.isEmpty) result.set(id, { ...owned, set: left });
  }
  if (!step.force && conflicts.length > 0) throw new ConflictsError(conflicts);
  const own = result.get(step.actor);
  if (own?.set.isEmpty === true) result.delete(step.actor);
  const comparison = compareIn(step.apiVersion) ?? {
    removed: EMPTY_SET,
    modified: EMPTY_SET,
    added: EMPTY_SET,
  };
  return { managers: result, comparison };
}

/** A plain write: the actor owns what it changed, everybody else loses it. */
export function recordUpdate(managers: Managers, step: Omit<Step, 'force'>, versions: Versions): Managers {
  const settled = settle(managers, { ...step, force: true }, versions);
  const { removed, modified, added } = settled.comparison;
  const before = settled.managers.get(step.actor)?.set ?? EMPTY_SET;
  const set = before.difference(removed).union(modified).union(added);
  if (set.isEmpty) settled.managers.delete(step.actor);
  else settled.managers.set(step.actor, { set, apiVersion: step.apiVersion, applied: false });
  return settled.managers;
}

export interface Applied {
  /** Undefined when the live object already is what it would become. */
  readonly object: JsonObject | undefined;
  readonly managers: Managers;
}

/** An apply: what the configuration sets is merged in and owned, what it set last time and no one else owns goes. */
export function applyConfig(
  managers: Managers,
  request: {
    readonly live: JsonObject;
    readonly config: JsonObject;
    readonly apiVersion: string;
    readonly actor: string;
    readonly force: boolean;
  },
  versions: Versions,
): Applied {
  const { live, config, apiVersion, actor, force } = request;
  const type = versions.typeOf(apiVersion);
  if (type === undefined) return { object: undefined, managers };
  const ignored = versions.ignored?.(apiVersion);
  const configured = fieldSetOf(config, type);
  const set = ignored === undefined ? configured : configured.recursiveDifference(ignored);
  const last = managers.get(actor);
  const owners: Managers = new Map(managers).set(actor, { set, apiVersion, applied: true });
  const merged = mergeTyped(live, config, type);
  const object = prune(merged, { owners, last, apiVersion, versions });
  const settled = settle(owners, { before: live, after: object, apiVersion, actor, force }, versions);
  return { object: jsonEquals(live, object) ? undefined : object, managers: settled.managers };
}

function prune(
  merged: JsonObject,
  context: {
    readonly owners: Managers;
    readonly last: VersionedSet | undefined;
    readonly apiVersion: string;
    readonly versions: Versions;
  },
): JsonObject {
  const { owners, last, versions } = context;
  if (last === undefined || last.set.isEmpty) return merged;
  const type = versions.typeOf(last.apiVersion);
  if (type === undefined) return merged;
  const converted =
    last.apiVersion === context.apiVersion ? merged : versions.convert(merged, last.apiVersion);
  const lastFields = last.set.ensureNamedFieldsAreMembers(type);
  let pruned = removeFields(converted, lastFields, type);
  pruned = addBackOwned(converted, pruned, { owners, prunedVersion: last.apiVersion, versions });
  // Only what this manager set the last time may go: the rest dangles from no owner and stays.
  const prunedFields = fieldSetOf(pruned, type).ensureNamedFieldsAreMembers(type);
  const mergedFields = fieldSetOf(converted, type).ensureNamedFieldsAreMembers(type);
  pruned = removeFields(converted, mergedFields.difference(prunedFields).intersection(lastFields), type);
  return last.apiVersion === context.apiVersion ? pruned : versions.convert(pruned, context.apiVersion);
}

/** What any manager owns comes back, version by version, as each only knows its own. */
function addBackOwned(
  merged: JsonObject,
  pruned: JsonObject,
  context: { readonly owners: Managers; readonly prunedVersion: string; readonly versions: Versions },
): JsonObject {
  const { owners, prunedVersion, versions } = context;
  const ownedIn = new Map<string, FieldSet>([[prunedVersion, EMPTY_SET]]);
  for (const { apiVersion, set } of owners.values())
    ownedIn.set(apiVersion, (ownedIn.get(apiVersion) ?? EMPTY_SET).union(set));
  let current = pruned;
  for (const [apiVersion, owned] of ownedIn) {
    const type = versions.typeOf(apiVersion);
    if (type === undefined) continue;
    const isSame = apiVersion === prunedVersion;
    const whole = isSame ? merged : versions.convert(merged, apiVersion);
    const rest = isSame ? current : versions.convert(current, apiVersion);
    const wholeFields = fieldSetOf(whole, type).ensureNamedFieldsAreMembers(type);
    const restFields = fieldSetOf(rest, type).ensureNamedFieldsAreMembers(type);
    const kept = restFields.union(owned.ensureNamedFieldsAreMembers(type));
    const next = removeFields(whole, wholeFields.difference(kept), type);
    current = isSame ? next : versions.convert(next, prunedVersion);
  }
  return current;
}
