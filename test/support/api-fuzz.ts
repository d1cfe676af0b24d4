import type { Random } from '../../core/base/random.ts';
import type { StructType, TypeNode } from '../../core/api/schema/index.ts';

/** Requests that a client might send by mistake or intentionally: made of a seed, so that each can be sent again. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface FuzzTarget {
  readonly path: string;
  /** Empty for a collection. */
  readonly name: string;
  readonly struct: StructType;
  readonly apiVersion: string;
  readonly kind: string;
}

const DEPTH_MAX = 6;
const TEXTS = [
  ...['', 'a', 'default', 'A_B', 'a.b/c', '-', '..', '%2f', 'x'.repeat(300), '\u0000', '\ud800', '日本'],
  ...['1', '-1', '100m', '1Gi', '2026-01-01T00:00:00Z', '10.0.0.1', '::1', '0.0.0.0/0', 'kubernetes.io/x'],
  ...['Always', 'ClusterIP', 'TCP', 'None', 'RollingUpdate', 'true', '__proto__', 'constructor', 'toString'],
];
const NUMBERS = [0, 1, -1, 80, 65_536, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1.5, 1e300, -0];
const WRONG: readonly unknown[] = [
  null,
  true,
  'text',
  7,
  -1.5,
  [],
  {},
  [null],
  [[]],
  { a: { b: [1] } },
  ['a'],
];

const one = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;
const chance = (random: Random, share: number): boolean => random.next() < share;

const scalarOf = (random: Random, scalar: string): unknown => {
  switch (scalar) {
    case 'boolean':
      return chance(random, 0.5);
    case 'int32':
    case 'int64':
    case 'double':
      return one(random, NUMBERS);
    case 'intOrString':
      return chance(random, 0.5) ? one(random, NUMBERS) : one(random, TEXTS);
    case 'quantity':
      return one(random, ['1', '100m', '1Gi', '-5', 'x', '1e3', '0', 3, '9'.repeat(40)]);
    case 'time':
    case 'microTime':
      return one(random, ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000001Z', 'now', '', null]);
    case 'bytes':
      return one(random, ['', 'aGk=', 'not base64!', '====']);
    default:
      return one(random, TEXTS);
  }
};

const valueOf = (random: Random, type: TypeNode, depth: number): unknown => {
  if (chance(random, 0.03)) return one(random, WRONG);
  switch (type.node) {
    case 'scalar':
      return scalarOf(random, type.scalar);
    case 'opaque':
      return one(random, WRONG);
    case 'list':
      return Array.from({ length: random.below(3) }, () => valueOf(random, type.items, depth - 1));
    case 'map':
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [
          one(random, TEXTS),
          valueOf(random, type.values, depth - 1),
        ]),
      );
    case 'struct':
      return depth <= 0 ? {} : objectOf(random, type.struct, depth - 1);
  }
};

/** Mostly of the right types, mostly refused by validation. */
const objectOf = (random: Random, struct: StructType, depth: number): Record<string, unknown> => {
  const object: Record<string, unknown> = {};
  const share = one(random, [0.15, 0.4, 0.8]);
  for (const field of struct.fields.values())
    if (field.required || chance(random, share)) object[field.name] = valueOf(random, field.type, depth);
  if (chance(random, 0.05)) object[one(random, ['unknown', ...TEXTS])] = one(random, WRONG);
  return object;
};

const documentOf = (random: Random, target: FuzzTarget): Record<string, unknown> => {
  const object = objectOf(random, target.struct, DEPTH_MAX);
  if (!chance(random, 0.05)) object['apiVersion'] = target.apiVersion;
  if (!chance(random, 0.05)) object['kind'] = target.kind;
  if (chance(random, 0.9)) {
    const metadata = object['metadata'];
    const known = typeof metadata === 'object' && metadata !== null && chance(random, 0.3) ? metadata : {};
    object['metadata'] = { ...known, name: target.name === '' ? `n${random.below(6)}` : target.name };
  }
  return object;
};

const PATCHES: readonly [type: string, body: (random: Random, target: FuzzTarget) => unknown][] = [
  ['application/merge-patch+json', documentOf],
  ['application/strategic-merge-patch+json', documentOf],
  ['application/apply-patch+yaml', documentOf],
  [
    'application/json-patch+json',
    (random, target) =>
      Array.from({ length: random.below(4) }, () => ({
        op: one(random, ['add', 'remove', 'replace', 'move', 'copy', 'test', 'none']),
        path: one(random, [
          '',
          '/',
          '/metadata/labels',
          '/spec',
          '/data/a',
          '/-',
          '/metadata/name',
          '/~2',
          5,
        ]),
        from: one(random, ['', '/metadata', '/spec', '/x/y']),
        value: chance(random, 0.5) ? one(random, WRONG) : documentOf(random, target),
      })),
  ],
];

const spoil = (random: Random, bytes: Buffer): Buffer => {
  const spoilt = Buffer.from(bytes);
  switch (random.below(5)) {
    case 0:
      return spoilt.subarray(0, random.below(spoilt.length + 1));
    case 1:
      for (let n = 0; n < 3 && spoilt.length > 0; n += 1)
        spoilt[random.below(spoilt.length)] = random.below(256);
      return spoilt;
    case 2:
      return Buffer.concat([spoilt, spoilt]);
    case 3:
      return Buffer.from(`${'['.repeat(1 + random.below(3000))}`);
    default:
      return Buffer.from(spoilt.toString('utf8').replaceAll('"', one(random, ["'", '', '\\"', '\n'])));
  }
};

const QUERIES: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['resourceVersion', ['0', '1', '-1', 'abc', '99999999999999999999', '']],
  ['resourceVersionMatch', ['Exact', 'NotOlderThan', 'x']],
  ['limit', ['1', '-1', 'x', '9223372036854775808']],
  ['continue', ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLiJ9', '%00']],
  ['labelSelector', ['a=b', 'a in (', '!', 'a==', 'x'.repeat(100), ',,', 'a>1']],
  ['fieldSelector', ['metadata.name=n1', 'spec.x=1', '=', 'metadata.name!=n1', '\\']],
  ['dryRun', ['All', 'None', '']],
  ['fieldValidation', ['Strict', 'Warn', 'Ignore', 'x']],
  ['fieldManager', ['m', 'x'.repeat(200), '\u0007']],
  ['force', ['true', 'false', 'x']],
  ['pretty', ['true', 'x']],
  ['timeoutSeconds', ['1', 'x', '-1']],
  ['gracePeriodSeconds', ['0', '-5', 'x', '30']],
  ['propagationPolicy', ['Foreground', 'Orphan', 'x']],
  ['orphanDependents', ['true', 'x']],
  ['%zz', ['%']],
];

const queryOf = (random: Random): string => {
  if (chance(random, 0.5)) return '';
  const parts = Array.from({ length: 1 + random.below(3) }, () => {
    const [name, values] = one(random, QUERIES);
    const value = one(random, values);
    return `${name}=${chance(random, 0.9) ? encodeURIComponent(value) : value.replaceAll(/[^\x21-\x7e]/g, '')}`;
  });
  return `?${parts.join('&')}`;
};

const TYPES = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain',
  '',
];
const ACCEPTS = [
  ...['application/json', 'application/yaml', '*/*', 'application/xml', '', ';;;,', 'a/b;q=x'],
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A path that is nearly one of the server's. */
const bend = (random: Random, path: string): string => {
  switch (random.below(6)) {
    case 0:
      return `${path}/`;
    case 1:
      return path.replace('/', '//');
    case 2:
      return `${path}/..%2f..%2fsecrets`;
    case 3:
      return `${path}/%2e%2e/x`;
    case 4:
      return `${path}%00`;
    default:
      return `${path}/${one(random, ['status', 'scale', 'x', 'a/b/c'])}`;
  }
};

export const fuzzRequest = (random: Random, target: FuzzTarget): FuzzRequest => {
  const usual =
    target.name === '' ? ['GET', 'POST', 'POST', 'DELETE'] : ['GET', 'PUT', 'PATCH', 'PATCH', 'DELETE'];
  const method = chance(random, 0.9) ? one(random, usual) : one(random, METHODS);
  const [patchType, patchBody] = one(random, PATCHES);
  const isPatch = method === 'PATCH';
  const path = chance(random, 0.95) ? target.path : bend(random, target.path);
  const type = chance(random, 0.9) ? (isPatch ? patchType : 'application/json') : one(random, TYPES);
  const headers: Record<string, string> = {
    accept: chance(random, 0.8) ? 'application/json' : one(random, ACCEPTS),
    ...(type !== '' && { 'content-type': type }),
  };
  const hasBody = method !== 'GET' && !(method === 'DELETE' && chance(random, 0.7));
  if (!hasBody) return { method, path: `${path}${queryOf(random)}`, headers, body: undefined };
  const bytes = Buffer.from(
    JSON.stringify(isPatch ? patchBody(random, target) : documentOf(random, target)) ?? '',
  );
  const body = chance(random, 0.85) ? bytes : spoil(random, bytes);
  return { method, path: `${path}${queryOf(random)}`, headers, body };
};
