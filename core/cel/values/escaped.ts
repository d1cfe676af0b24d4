import { unescapeName } from './escape.ts';
import { NativeList } from './lists.ts';
import { NativeMap } from './maps.ts';
import { fromNative } from './native.ts';
import { CelDouble, type Value } from './value.ts';

/** JSON whose names may be written escaped, at every depth: `claims.kubernetes__dot__io.pod` for `kubernetes.io`. */
class EscapedMap extends NativeMap {
  override find(key: Value): Value | undefined {
    const name = typeof key === 'string' ? unescapeName(key) : undefined;
    return (name === undefined ? undefined : super.find(name)) ?? super.find(key);
  }
}

/** The CEL value of the claims of a token, and of what is known of a user. As Go decodes JSON, a number is a double. */
export const fromEscaped = (raw: unknown): Value => {
  if (typeof raw === 'number') return new CelDouble(raw);
  if (typeof raw !== 'object' || raw === null) return fromNative(raw);
  return Array.isArray(raw)
    ? new NativeList(raw, fromEscaped)
    : new EscapedMap(raw as Record<string, unknown>, fromEscaped);
};
