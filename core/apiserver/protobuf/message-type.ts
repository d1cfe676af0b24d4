import { assert } from '../../base/assert.ts';
import { findStruct, type FieldType, type StructType } from '../../api/schema/index.ts';
import { EXTENSION_NUMBERS } from './extension-numbers.ts';
import { FIELD_NUMBERS } from './generated/field-numbers.ts';

/** One numbered field: of the struct itself, or a struct whose fields JSON has in its owner. */
export type NumberedField =
  | { readonly field: FieldType; readonly isPointer: boolean }
  | { readonly inline: ReadonlyMap<number, NumberedField> };

let index: Map<string, string> | undefined;
const made = new WeakMap<StructType, ReadonlyMap<number, NumberedField>>();

const lineOf = (typeId: string): string | undefined => {
  index ??= new Map(
    `${FIELD_NUMBERS}\n${EXTENSION_NUMBERS}`
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('|')), line]),
  );
  return index.get(typeId);
};

const parse = (typeId: string, owner: StructType): ReadonlyMap<number, NumberedField> => {
  const fields = new Map<number, NumberedField>();
  const line = lineOf(typeId);
  if (line === undefined) return fields;
  for (const entry of line.slice(typeId.length + 1).split(',')) {
    const [name = '', number = ''] = entry.split('=');
    const at = Number(number);
    assert(at > 0, `${typeId}: ${entry} has no number`);
    if (name.startsWith('^')) {
      fields.set(at, { inline: parse(name.slice(1), owner) });
      continue;
    }
    const isPointer = name.endsWith('*');
    const field = owner.fields.get(isPointer ? name.slice(0, -1) : name);
    // Newer or older than the release that is served: left out, as an unknown field of JSON is.
    if (field) fields.set(at, { field, isPointer });
  }
  return fields;
};

/** The fields of a type by their number; none for a type that does not travel as protobuf. */
export const messageOf = (struct: StructType): ReadonlyMap<number, NumberedField> => {
  const known = made.get(struct);
  if (known) return known;
  const fields = parse(struct.id, struct);
  made.set(struct, fields);
  return fields;
};

const valueFields = new WeakMap<StructType, ReadonlySet<string>>();

const addValueFields = (names: Set<string>, fields: ReadonlyMap<number, NumberedField>): void => {
  for (const numbered of fields.values())
    if ('inline' in numbered) addValueFields(names, numbered.inline);
    else {
      const { field, isPointer } = numbered;
      const isOptional = !field.required && field.isAlwaysWritten !== true;
      if (isOptional && !isPointer && field.type.node === 'scalar') names.add(field.name);
    }
};

/** Optional scalars that are no pointers: Go cannot tell their zero from nothing, so it does not write it. */
export const valueFieldsOf = (struct: StructType): ReadonlySet<string> => {
  const known = valueFields.get(struct);
  if (known) return known;
  const names = new Set<string>();
  addValueFields(names, messageOf(struct));
  valueFields.set(struct, names);
  return names;
};

export const hasMessage = (struct: StructType): boolean => lineOf(struct.id) !== undefined;

/** For the test that holds the table against the types. */
export const numberedTypes = (): readonly string[] => {
  lineOf('');
  return [...index!.keys()].filter((id) => findStruct(id) !== undefined);
};
