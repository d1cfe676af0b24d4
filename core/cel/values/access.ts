import { CelList } from './lists.ts';
import { CelMap } from './maps.ts';
import { printValue } from './print.ts';
import { CelStruct } from './structs.ts';
import { CelDouble, CelError, CelUint, type Value, error, typeOf } from './value.ts';

/** The index a value stands for; doubles and uints count if they are integers. */
const indexOf = (key: Value): number | CelError => {
  if (typeof key === 'number') return key;
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof CelUint) return Number(key.value);
  if (key instanceof CelDouble)
    return Number.isInteger(key.value)
      ? key.value
      : error(`unsupported index value ${printValue(key)} in list`);
  return error(`unsupported index type '${typeOf(key).name}' in list`);
};

/** The element, entry or field of a value; undefined if it has none by that key. */
export const lookUp = (of: Value, key: Value): Value | undefined => {
  if (of instanceof CelMap) return of.find(key);
  if (of instanceof CelList) {
    const index = indexOf(key);
    if (typeof index !== 'number') return index;
    return index >= 0 && index < of.size ? of.at(index) : undefined;
  }
  if (of instanceof CelStruct) return typeof key === 'string' ? of.find(key) : undefined;
  return of instanceof CelError ? of : undefined;
};

/** As `lookUp`, with a failure for what is missing. */
export const access = (of: Value, key: Value): Value => {
  const found = lookUp(of, key);
  if (found !== undefined) return found;
  const what = of instanceof CelList ? 'index out of bounds' : 'no such key';
  return error(`${what}: ${printValue(key)}`);
};

/** Whether there is an element, entry or field; a failure if the key cannot be one. */
export const isPresent = (of: Value, key: Value): boolean | CelError => {
  if (of instanceof CelStruct) return typeof key === 'string' && of.has(key);
  const found = lookUp(of, key);
  return found instanceof CelError ? found : found !== undefined;
};
