import { ReasonError } from '../../base/errors.ts';
import type { Json, JsonObject, MutableObject } from '../patch/json.ts';
import { getOwn, isList, isObject } from '../patch/json.ts';
import { goQuote } from '../field/go-text.ts';
import type { FieldSet } from './field-set.ts';
import { fieldsV1ToSet, setToFieldsV1 } from './fields-v1.ts';

/** What one manager owns, in the version it spoke. */
export interface VersionedSet {
  readonly set: FieldSet;
  readonly apiVersion: string;
  readonly applied: boolean;
}

export interface ManagerKey {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
}

/** Every manager by its identifier, and when it last changed something. */
export interface Managed {
  readonly fields: Map<string, VersionedSet>;
  readonly times: Map<string, string>;
}

export const emptyManaged = (): Managed => ({ fields: new Map(), times: new Map() });

/**
 * One text per manager. An applier is the same in every version, since its next apply replaces what it owned;
 * an updater is not, since its fields only make sense in the version it wrote.
 */
export function managerId(key: ManagerKey): string {
  return JSON.stringify({
    manager: key.manager,
    operation: key.operation,
    ...(key.operation === 'Update' && key.apiVersion !== '' && { apiVersion: key.apiVersion }),
    ...(key.subresource !== '' && { subresource: key.subresource }),
  });
}

const textOf = (entry: JsonObject, key: string): string => {
  const value = getOwn(entry, key);
  return typeof value === 'string' ? value : '';
};

export function parseManagerId(id: string): ManagerKey {
  const entry = JSON.parse(id) as JsonObject;
  return {
    manager: textOf(entry, 'manager'),
    operation: textOf(entry, 'operation') === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textOf(entry, 'apiVersion'),
    subresource: textOf(entry, 'subresource'),
  };
}

const malformed = (message: string): ReasonError<'FieldsMalformed'> =>
  new ReasonError('FieldsMalformed', message);

/** Throws a ReasonError 'FieldsMalformed' for an entry that cannot be read. */
export function decodeManagedFields(entries: Json | undefined): Managed {
  const managed = emptyManaged();
  if (!isList(entries)) return managed;
  entries.forEach((entry, i) => {
    if (!isObject(entry)) throw malformed(`managed fields entry ${i} is not an object`);
    const operation = textOf(entry, 'operation');
    if (operation !== 'Apply' && operation !== 'Update')
      throw malformed('operation must be `Apply` or `Update`');
    const apiVersion = textOf(entry, 'apiVersion');
    if (apiVersion === '') throw malformed('apiVersion must not be empty');
    const fieldsType = textOf(entry, 'fieldsType');
    if (fieldsType === '') throw malformed(`missing fieldsType in managed fields entry ${i}`);
    if (fieldsType !== 'FieldsV1')
      throw malformed(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${i}`);
    const id = managerId({
      manager: textOf(entry, 'manager'),
      operation,
      apiVersion,
      subresource: textOf(entry, 'subresource'),
    });
    managed.fields.set(id, {
      set: fieldsV1ToSet(getOwn(entry, 'fieldsV1') ?? {}),
      apiVersion,
      applied: operation === 'Apply',
    });
    const time = textOf(entry, 'time');
    if (time !== '') managed.times.set(id, time);
  });
  return managed;
}

/** Undefined when there is no manager. Appliers first, then by time, name, version and subresource. */
export function encodeManagedFields({ fields, times }: Managed): readonly JsonObject[] | undefined {
  if (fields.size === 0) return undefined;
  const entries = [...fields].map(([id, { set, apiVersion, applied }]): JsonObject => {
    const { manager, subresource } = parseManagerId(id);
    const time = times.get(id);
    return {
      ...(manager !== '' && { manager }),
      operation: applied ? 'Apply' : 'Update',
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: setToFieldsV1(set),
      ...(subresource !== '' && { subresource }),
    };
  });
  return entries.sort(compareEntries);
}

const ORDER = ['operation', 'time', 'manager', 'apiVersion', 'subresource'] as const;

const compareEntries = (a: JsonObject, b: JsonObject): number => {
  for (const key of ORDER) {
    // RFC 3339 in UTC sorts as text.
    const [left, right] = [textOf(a, key), textOf(b, key)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
};

/** `[]` and `[{}]` ask to forget all managers; an absent list asks for nothing. */
export function isReset(entries: Json | undefined): boolean {
  if (!isList(entries)) return false;
  const [first] = entries;
  if (first === undefined) return true;
  return entries.length === 1 && isObject(first) && Object.keys(first).length === 0;
}

export const metadataOf = (object: JsonObject): JsonObject => {
  const metadata = getOwn(object, 'metadata');
  return isObject(metadata) ? metadata : {};
};

export const managedFieldsOf = (object: JsonObject): Json | undefined =>
  getOwn(metadataOf(object), 'managedFields');

/** The object with these entries in place of its own; it is shared when nothing changes. */
export function withManagedFields(object: JsonObject, entries: readonly Json[] | undefined): JsonObject {
  const metadata = metadataOf(object);
  if (entries === undefined && !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _dropped, ...rest } = metadata;
  const next: MutableObject = { ...rest };
  if (entries !== undefined) next['managedFields'] = entries;
  return { ...object, metadata: next };
}
