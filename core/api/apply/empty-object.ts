import type { Json, JsonObject, MutableObject } from '../patch/json.ts';
import type { FieldType, StructType } from '../schema/types.ts';

/**
 * What Go writes for a new object: structs held by value are there, and required lists and maps are null.
 * Anyone who sets a field in one of these does not own the container, only the field.
 */
export function emptyObjectOf(struct: StructType): JsonObject {
  const result: MutableObject = {};
  for (const field of struct.fields.values()) {
    const zero = zeroOf(field);
    if (zero !== undefined) result[field.name] = zero;
  }
  return result;
}

function zeroOf({ type, byValue, required }: FieldType): Json | undefined {
  if (type.node === 'struct') return byValue ? emptyObjectOf(type.struct) : undefined;
  return required && (type.node === 'list' || type.node === 'map') ? null : undefined;
}
