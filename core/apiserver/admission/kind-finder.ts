import type { GroupVersionKind, GroupVersionResource } from '../../api/meta/index.ts';
import { registryOf } from '../../api/scheme/index.ts';
import { obj, objs, str } from '../../api/validation/read.ts';
import type { ObjectReader } from '../storage/object-reader.ts';

/** A resource that a kind is served as. */
export interface FoundResource extends GroupVersionResource {
  readonly namespaced: boolean;
  /** False for what is only asked, such as reviews. */
  readonly isStored: boolean;
  readonly isCustom: boolean;
}

/** Finds where objects of a kind are served, for plugins that know kinds by name alone; custom resources, too. */
export type FindResource = (kind: GroupVersionKind) => Promise<FoundResource | undefined>;

const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

export const createKindFinder = (minor: number, reader: Pick<ObjectReader, 'list'>): FindResource => {
  const scheme = registryOf(minor);
  return async (kind) => {
    const type = scheme.findByKind(kind);
    if (type)
      return {
        group: type.group,
        version: type.version,
        resource: type.plural,
        namespaced: type.namespaced,
        isStored: type.storage !== undefined,
        isCustom: false,
      };
    const definition = (await reader.list(DEFINITIONS, '')).find((one) => {
      const spec = obj(one, 'spec');
      return (
        str(spec, 'group') === kind.group &&
        str(obj(spec, 'names'), 'kind') === kind.kind &&
        objs(spec, 'versions').some(({ name, served }) => name === kind.version && served === true)
      );
    });
    if (!definition) return undefined;
    const spec = obj(definition, 'spec');
    return {
      group: kind.group,
      version: kind.version,
      resource: str(obj(spec, 'names'), 'plural'),
      namespaced: str(spec, 'scope') === 'Namespaced',
      isStored: true,
      isCustom: true,
    };
  };
};
