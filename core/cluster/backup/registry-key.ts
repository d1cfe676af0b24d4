import { RESOURCES } from '../../api/scheme/index.ts';

export interface KeyPlace {
  /** `pods`, `apps/deployments`. */
  readonly resource: string;
  /** `namespace/name`, or the name alone. */
  readonly name: string;
}

const REGISTRY = '/registry/';

/** Prefixes of built-in resources, the longest first: `services/specs/` before `services/`. */
const PREFIXES: readonly { readonly prefix: string; readonly resource: string }[] = RESOURCES.flatMap(
  ({ storage, group, plural }) =>
    storage ? [{ prefix: storage.prefix, resource: group === '' ? plural : `${group}/${plural}` }] : [],
).sort((a, b) => b.prefix.length - a.prefix.length);

/** What a key of etcd stands for. Custom resources are `/registry/<group>/<plural>/...`; undefined for no object. */
export const placeOfKey = (key: string): KeyPlace | undefined => {
  const built = PREFIXES.find(({ prefix }) => key.startsWith(prefix));
  if (built) return { resource: built.resource, name: key.slice(built.prefix.length) };
  if (!key.startsWith(REGISTRY)) return undefined;
  const [group = '', plural = '', ...rest] = key.slice(REGISTRY.length).split('/');
  if (!group.includes('.') || rest.length === 0)
    return { resource: group, name: [plural, ...rest].join('/') };
  return { resource: `${group}/${plural}`, name: rest.join('/') };
};
