import type { Random } from '../../core/base/random.ts';

/** Values that are stored as they are and interpreted later: of the right type, and of the worst content. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...['', ' ', 'a', '..', '/', '//', '%2f', '-', 'x'.repeat(5000), '\u0000', '\ud800', '日本', '\r\nX: y'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '${x}', '{{.}}', '(a+)+$', '[', '*', '\\'],
  ...[
    '0',
    '-1',
    '1e400',
    '9'.repeat(60),
    '1.5.5',
    '100%',
    '-5%',
    '150%',
    '1e-9',
    '0x10',
    '1Ki',
    '1e3Gi',
    'NaN',
  ],
  ...[
    '* * * * *',
    '*/0 * * * *',
    '0 0 31 2 *',
    '60 * * * *',
    '0 0 1 1 8',
    '@every 1ns',
    '@yearly',
    '1-0 * * * *',
  ],
  ...[
    '*/99999999999 * * * *',
    'TZ=UTC * * * * *',
    '0,'.repeat(2000),
    'JAN-DEC * * * *',
    '* * * * * *',
    '@never',
  ],
  ...[
    'UTC',
    'Local',
    'Europe/Berlin',
    '../../etc/passwd',
    'Asia/Kathmandu',
    'Etc/GMT+99',
    'america/new_york',
  ],
  ...['2026-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0000-00-00T00:00:00Z', 'now', '2026-02-30T25:61:61Z'],
  ...[
    '127.0.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '::1',
    '127.0.0.1/99',
    '10.0.0.0/-1',
    'a.b.c.d',
    '1.1.1.1/8/8',
  ],
  ...[
    'kubernetes.io/hostname',
    'topology.kubernetes.io/zone',
    'In',
    'NotIn',
    'Exists',
    'DoesNotExist',
    'Gt',
    'Lt',
  ],
  ...[
    'NoExecute',
    'NoSchedule',
    'Equal',
    'Always',
    'Never',
    'Indexed',
    'NonIndexed',
    'RollingUpdate',
    'Recreate',
  ],
];
const NUMBERS: readonly number[] = [
  0,
  1,
  -1,
  2,
  100,
  65_536,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 53,
  1.5,
  1e300,
  -0,
];
const WRONG: readonly unknown[] = [null, true, 7, 'text', [], {}, [null], [[]], { a: { b: [1] } }];
/** A controller may rightly create so many objects: that is not what is tried here. */
const COUNTS = new Set(['replicas', 'parallelism', 'completions', 'containerPort', 'port']);
const SMALL: readonly number[] = [0, 1, 2, -1];
/** Names, owners and selectors hold a store together; the API server checks them before anything is stored. */
const KEPT = new Set([
  ...['name', 'namespace', 'uid', 'apiVersion', 'kind', 'resourceVersion'],
  ...['matchLabels', 'matchExpressions', 'labels', 'containers', 'addresses'],
]);
/** Never left out, for the same reason. */
const REQUIRED = new Set([
  ...['metadata', 'spec', 'template', 'selector', 'topologyKey'],
  ...['podAffinityTerm', 'nodeSelectorTerms', 'requiredDuringSchedulingIgnoredDuringExecution'],
]);
const WRONG_SHARE = 0;

const one = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;

const hostileScalar = (random: Random, key: string, value: unknown): unknown => {
  if (random.next() < WRONG_SHARE) return one(random, WRONG);
  if (typeof value === 'number') return one(random, COUNTS.has(key) ? SMALL : NUMBERS);
  if (typeof value === 'boolean') return random.next() < 0.5;
  return one(random, HOSTILE_TEXTS);
};

/** The same object with some of its content replaced, dropped or doubled. */
export const hostile = (random: Random, value: unknown, share: number, key = ''): unknown => {
  if (Array.isArray(value)) {
    const items = value.map((item) => hostile(random, item, share, key));
    if (random.next() < share / 4) return [];
    return random.next() < share / 4 ? [...items, ...items] : items;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).flatMap(([name, child]): [string, unknown][] => {
      if (KEPT.has(name)) return [[name, child]];
      if (!REQUIRED.has(name) && random.next() < share / 4) return [];
      return [[name, hostile(random, child, share, name)]];
    });
    return Object.fromEntries(entries);
  }
  return random.next() < share ? hostileScalar(random, key, value) : value;
};
