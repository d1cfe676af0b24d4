import { createEnvironment } from '../environment.ts';
import type { Environment } from '../environment.ts';
import { global } from '../library/declare.ts';
import type { Overload } from '../values/overload.ts';
import { BIND_MACROS } from '../syntax/macros.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  formatType,
  listOf,
  mapOf,
  opaqueOf,
  param,
  structOf,
  typeOfType,
} from '../types/type.ts';
import { intOf } from '../values/integers.ts';
import { ArrayList, CelList } from '../values/lists.ts';
import { CelMap, LiteralMap } from '../values/maps.ts';
import { goFloat } from '../values/floats.ts';
import { parseDuration, parseTimestamp } from '../values/time.ts';
import {
  CelDouble,
  CelDuration,
  CelOptional,
  CelTimestamp,
  CelType,
  CelUint,
  type Value,
  typeOf,
} from '../values/value.ts';
import { decodeBase64 } from '../schema/base64.ts';

/** A value, a type or a test of the language's official data, as JSON. */
type Json = Readonly<Record<string, unknown>>;

export interface ConformanceTest {
  readonly name: string;
  readonly original: Json & { readonly name?: string; readonly expr: string };
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: ConformanceTest['original'] }[];
}

/** All tests with names like `basic/self_eval_zeroish/self_eval_int_zero`. */
export const flatten = (suite: Suite, prefix = ''): ConformanceTest[] => [
  ...(suite.tests ?? []).map(({ original }) => ({
    name: `${prefix}${original.name ?? original.expr}`,
    original,
  })),
  ...(suite.suites ?? []).flatMap((each) => flatten(each, `${prefix}${each.name}/`)),
];

/** What Kubernetes' dialect has no values or types for. */
class OutsideDialect extends Error {
  override readonly name = 'OutsideDialect';
}
const outside = (what: string): never => {
  throw new OutsideDialect(what);
};

const doubleOf = (written: unknown): CelDouble => new CelDouble(Number(written));

const objectValue = (value: Json): Value => {
  switch (value['@type']) {
    case 'type.googleapis.com/google.protobuf.Timestamp':
      return parseTimestamp(value.value as string)!;
    case 'type.googleapis.com/google.protobuf.Duration':
      return parseDuration(value.value as string)!;
    default:
      return outside(`message ${String(value['@type'])}`);
  }
};

const READERS: Readonly<Record<string, (written: never) => Value>> = {
  int64Value: (text: string) => intOf(BigInt(text)),
  uint64Value: (text: string) => new CelUint(BigInt(text)),
  doubleValue: doubleOf,
  stringValue: (text: string) => text,
  boolValue: (flag: boolean) => flag,
  nullValue: () => null,
  bytesValue: (text: string) => decodeBase64(text)!,
  typeValue: (name: string) => new CelType(namedType(name)),
  listValue: ({ values }: { values?: Json[] }) => new ArrayList((values ?? []).map(readValue)),
  mapValue: ({ entries }: { entries?: { key: Json; value: Json }[] }) =>
    LiteralMap.of((entries ?? []).map(({ key, value }) => [readValue(key), readValue(value)])),
  objectValue,
};

const readValue = (written: Json): Value => {
  const [kind, content] = Object.entries(written)[0] ?? ['', undefined];
  const read = READERS[kind];
  return read === undefined ? outside(`value ${kind}`) : read(content as never);
};

const NAMED: readonly Type[] = [BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT];
const namedType = (name: string): Type => NAMED.find((type) => type.name === name) ?? opaqueOf(name);

const PRIMITIVES: Readonly<Record<string, Type>> = {
  BOOL,
  BYTES,
  DOUBLE,
  INT64: INT,
  STRING,
  UINT64: UINT,
};
const WELL_KNOWN: Readonly<Record<string, Type>> = { ANY: DYN, TIMESTAMP, DURATION };

const readType = (written: Json): Type => {
  const [kind, content] = Object.entries(written)[0] ?? ['', undefined];
  const inner = content as Json & string;
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[inner]!;
    case 'wellKnown':
      return WELL_KNOWN[inner]!;
    case 'dyn':
      return DYN;
    case 'null':
      return NULL;
    case 'listType':
      return listOf(readType((inner.elemType as Json | undefined) ?? { dyn: {} }));
    case 'mapType':
      return mapOf(readType(inner.keyType as Json), readType(inner.valueType as Json));
    case 'type':
      return typeOfType(readType(inner));
    case 'abstractType':
      return opaqueOf(
        inner.name as string,
        ...((inner.parameterTypes as Json[] | undefined) ?? []).map(readType),
      );
    case 'typeParam':
      return param(inner);
    case 'messageType':
      return (inner as string) === 'google.protobuf.Timestamp'
        ? TIMESTAMP
        : (inner as string) === 'google.protobuf.Duration'
          ? DURATION
          : structOf(inner);
    default:
      return outside(`type ${kind}`);
  }
};

/** A value as text, in which values of different types differ. */
export const showValue = (value: Value): string => {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return `b[${value.join(' ')}]`;
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelDouble) return `double ${goFloat(value.value)}`;
  if (value instanceof CelTimestamp) return `timestamp ${value.seconds}.${value.nanos}`;
  if (value instanceof CelDuration) return `duration ${value.nanos}`;
  if (value instanceof CelType) return `type ${value.denoted.name}`;
  if (value instanceof CelOptional)
    return value.value === undefined ? 'none' : `optional ${showValue(value.value)}`;
  if (value instanceof CelList) return `[${value.toArray().map(showValue).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = Array.from(value.keys(), (key) => `${showValue(key)}: ${showValue(value.find(key)!)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return typeOf(value).name;
};

const variablesOf = ({ typeEnv, bindings }: Json): Record<string, Type> => {
  const declared = ((typeEnv as Json[] | undefined) ?? []).flatMap(({ name, ident }) =>
    ident === undefined ? [] : [[name as string, readType((ident as Json).type as Json)] as const],
  );
  const bound = Object.keys((bindings as Json | undefined) ?? {}).map((name) => [name, DYN] as const);
  return Object.fromEntries([...bound, ...declared]);
};

/** Functions that a test declares; it does not call them. */
const functionsOf = ({ typeEnv }: Json): Overload[] =>
  ((typeEnv as Json[] | undefined) ?? []).flatMap(({ name, function: fn }) =>
    (((fn as Json | undefined)?.overloads as Json[] | undefined) ?? []).map(
      ({ overloadId, params, resultType }) =>
        global([
          name as string,
          overloadId as string,
          (params as Json[]).map(readType),
          readType(resultType as Json),
        ]),
    ),
  );

const environmentOf = (original: Json): Environment =>
  createEnvironment({
    version: 'stored',
    variables: variablesOf(original),
    // Kubernetes rejects literals of mixed types; the data is about the language.
    homogeneousLiterals: false,
    libraries: [{ name: 'test', overloads: functionsOf(original), macros: BIND_MACROS }],
  });

const activationOf = ({ bindings }: Json): Record<string, Value> =>
  Object.fromEntries(
    Object.entries((bindings as Record<string, { value: Json }> | undefined) ?? {}).map(
      ([name, { value }]) => [name, readValue(value)],
    ),
  );

/** What a test wants and what there was; equal texts mean that it passes. */
export interface Outcome {
  readonly wanted: string;
  readonly found: string;
}

const run = (original: ConformanceTest['original']): Outcome => {
  const compiled = environmentOf(original).compile(original.expr);
  const typed = original.typedResult as { deducedType?: Json; result?: Json } | undefined;
  const wantedType = typed?.deducedType === undefined ? '' : `${formatType(readType(typed.deducedType))} `;
  const isError = original.evalError !== undefined || original.anyEvalErrors !== undefined;
  const result = typed?.result ?? (original.value as Json | undefined);
  const wanted = isError
    ? 'failure'
    : `${wantedType}${original.checkOnly === true ? '' : showValue(result === undefined ? true : readValue(result))}`;
  if (!compiled.ok) return { wanted, found: isError ? 'failure' : compiled.text };
  const foundType = wantedType === '' ? '' : `${formatType(compiled.program.resultType)} `;
  if (original.checkOnly === true) return { wanted, found: foundType };
  const evaluated = compiled.program.evaluate(activationOf(original));
  if (!evaluated.ok) return { wanted, found: isError ? 'failure' : evaluated.error };
  return { wanted, found: `${foundType}${showValue(evaluated.value)}` };
};

/** Runs a test; undefined means that it uses what Kubernetes' dialect does not have. */
export const runConformance = (test: ConformanceTest): Outcome | undefined => {
  try {
    return run(test.original);
  } catch (thrown) {
    if (thrown instanceof OutsideDialect) return undefined;
    throw thrown;
  }
};
