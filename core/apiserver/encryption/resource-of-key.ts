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

/** `/registry/pods/` and `/registry/services/specs/`. */
const PREFIX = /^(\/registry\/[^/]+\/)([^/]+\/)?/;

/** Whose value it is. Custom resources are below `/registry/<group>/<plural>/`. */
export const resourceOfKey = (key: string): GroupResource | undefined => {
  const [, short = '', more = ''] = PREFIX.exec(key) ?? [];
  const builtIn = PREFIXES.get(`${short}${more}`) ?? PREFIXES.get(short);
  if (builtIn !== undefined) return builtIn;
  const internal = INTERNAL.find(([prefix]) => key.startsWith(prefix));
  if (internal !== undefined) return internal[1];
  const group = short.slice(REGISTRY.length, -1);
  return group.includes('.') && more !== '' ? { group, resource: more.slice(0, -1) } : undefined;
};
