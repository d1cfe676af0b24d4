import type { GroupResource } from '../../api/meta/index.ts';
import { RESOURCES } from '../../api/scheme/index.ts';

const REGISTRY = '/registry/';

/** Values that API servers keep for themselves, under the names that upstream encrypts them by. */
const INTERNAL: readonly (readonly [string, GroupResource])[] = [
  ['/registry/masterleases/', { group: '', resource: 'apiServerIPInfo' }],
  ['/registry/ranges/serviceips', { group: '', resource: 'serviceipallocations' }],
  ['/registry/ranges/secondaryserviceips', { group: '', resource: 'serviceipallocations' }],
  ['/registry/ranges/servicenodeports', { group: '', resource: 'servicenodeportallocations' }],
];

const PREFIXES: ReadonlyMap<string, GroupResource> = new Map(
  RESOURCES.flatMap(({ storage, group, plural }) =>
    storage ? [[storage.prefix, { group, resource: plural }] as const] : [],
  ).reverse(),
);

/** The first parts of prefixes that have two: `/registry/services/` of `/registry/services/specs/`. */
const LONGER = new Set(
  [...PREFIXES.keys()].flatMap((prefix) => {
    const end = prefix.indexOf('/', REGISTRY.length) + 1;
    return end < prefix.length ? [prefix.slice(0, end)] : [];
  }),
);

/** Whose value it is. Custom resources are below `/registry/<group>/<plural>/`. Called for every value: no pattern. */
export const resourceOfKey = (key: string): GroupResource | undefined => {
  if (!key.startsWith(REGISTRY)) return undefined;
  const end = key.indexOf('/', REGISTRY.length) + 1;
  const first = key.slice(0, end);
  const builtIn = LONGER.has(first) ? undefined : PREFIXES.get(first);
  if (builtIn !== undefined) return builtIn;
  const longerEnd = end === 0 ? 0 : key.indexOf('/', end) + 1;
  const longer = PREFIXES.get(key.slice(0, longerEnd)) ?? PREFIXES.get(first);
  if (longer !== undefined) return longer;
  const internal = INTERNAL.find(([prefix]) => key.startsWith(prefix));
  if (internal !== undefined) return internal[1];
  const group = key.slice(REGISTRY.length, end - 1);
  return group.includes('.') && longerEnd > 0
    ? { group, resource: key.slice(end, longerEnd - 1) }
    : undefined;
};
