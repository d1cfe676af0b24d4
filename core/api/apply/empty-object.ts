import type { JsonObject } from '../patch/json.ts';
import { fillZeroValues } from '../schema/index.ts';
import type { StructType } from '../schema/types.ts';

/** What Go writes for a new object. Setting a field of it to the value it already has does not make anyone its owner. */
export function emptyObjectOf(struct: StructType): JsonObject {
  const object: Record<string, unknown> = {};
  fillZeroValues(struct, object);
  return object as JsonObject;
}
