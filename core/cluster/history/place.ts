import { RESOURCES } from '../../api/scheme/index.ts';

/** What a key of etcd stands for. */
export interface Place {
  readonly group: string;
  readonly plural: string;
  /** Empty for custom resources, whose objects say it. */
  readonly kind: string;
  readonly namespaced: boolean;
  readonly namespace: string;
  readonly name: string;
}

export const REGISTRY = '/registry/';

interface BuiltIn {
  readonly prefix: string;
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map(
  RESOURCES.flatMap(({ storage, group, plural, kind, namespaced }) =>
    storage ? [[storage.prefix, { prefix: storage.prefix, group, plural, kind, namespaced }] as const] : [],
  ).reverse(),
);

/** `/registry/pods/` and, as for Services, `/registry/services/specs/`. */
const PREFIX = /^(\/registry\/[^/]+\/)([^/]+\/)?/;

const builtInOf = (key: string): BuiltIn | undefined => {
  const [, short = '', more = ''] = PREFIX.exec(key) ?? [];
  return BUILT_IN.get(`${short}${more}`) ?? BUILT_IN.get(short);
};

/** Undefined for what is no object: allocations, leases of API servers, keys of other programs. */
export const placeOf = (key: string): Place | undefined => {
  const built = builtInOf(key);
  if (built) {
    const { prefix, ...resource } = built;
    const parts = key.slice(prefix.length).split('/');
    if (parts.some((part) => part === '') || parts.length !== (built.namespaced ? 2 : 1)) return undefined;
    const [namespace = '', name = ''] = built.namespaced ? parts : ['', parts[0]];
    return { ...resource, namespace, name };
  }
  if (!key.startsWith(REGISTRY)) return undefined;
  const [group = '', plural = '', ...rest] = key.slice(REGISTRY.length).split('/');
  if (!group.includes('.') || rest.length < 1 || rest.length > 2 || rest.some((part) => part === ''))
    return undefined;
  const namespaced = rest.length === 2;
  const [namespace = '', name = ''] = namespaced ? rest : ['', rest[0]];
  return { group, plural, kind: '', namespaced, namespace, name };
};

/** Where objects of a resource are, or those of one namespace. */
export const prefixOf = (
  resource: { readonly group: string; readonly plural: string },
  namespace = '',
): string => {
  const built = [...BUILT_IN.values()].find(
    ({ group, plural }) => group === resource.group && plural === resource.plural,
  );
  const prefix = built?.prefix ?? `${REGISTRY}${resource.group}/${resource.plural}/`;
  return namespace === '' || built?.namespaced === false ? prefix : `${prefix}${namespace}/`;
};
