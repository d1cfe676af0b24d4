import { intOf } from './integers.ts';
import { NativeList } from './lists.ts';
import { NativeMap } from './maps.ts';
import { CelDouble, CelObject, type Value, error } from './value.ts';

/**
 * The CEL value of data as JSON gives it. JSON does not say whether `1` is an int or a double; as in Kubernetes a
 * number without a fraction is an int. Data with a schema is converted by the schema instead.
 */
export const fromNative = (raw: unknown): Value => {
  if (typeof raw === 'string' || typeof raw === 'boolean' || raw === null) return raw;
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : new CelDouble(raw);
  if (typeof raw === 'bigint') return intOf(raw);
  if (typeof raw !== 'object') return error(`unsupported conversion to ref.Val: (${typeof raw})`);
  if (raw instanceof CelObject || raw instanceof Uint8Array) return raw;
  return Array.isArray(raw)
    ? new NativeList(raw, fromNative)
    : new NativeMap(raw as Record<string, unknown>, fromNative);
};
