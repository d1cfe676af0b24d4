import type { GroupResource, KubernetesObject } from '../../api/meta/index.ts';
import type { ObjectWriter } from './object-writer.ts';

const keyOf = ({ group, resource }: GroupResource, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;

/**
 * The writer with the objects of these resources read immediately, one list for each: a read of its own for each of two
 * hundred objects is most of what a server does when it starts. What is written, or was tried to be, is read again, so a
 * race that was lost is seen.
 */
export const listedReads = async (
  writer: ObjectWriter,
  resources: readonly GroupResource[],
): Promise<ObjectWriter> => {
  const held = new Map<string, KubernetesObject>();
  const stale = new Set<string>();
  const isListed = ({ group, resource }: GroupResource): boolean =>
    resources.some((one) => one.group === group && one.resource === resource);
  const lists = await Promise.all(resources.map((resource) => writer.list(resource, '')));
  for (const [index, objects] of lists.entries())
    for (const object of objects) {
      const { namespace = '', name = '' } = object.metadata ?? {};
      held.set(keyOf(resources[index]!, namespace, name), object);
    }
  const touch = (resource: GroupResource, { metadata }: KubernetesObject): void =>
    void stale.add(keyOf(resource, metadata?.namespace ?? '', metadata?.name ?? ''));
  const get: ObjectWriter['get'] = (resource, namespace, name) => {
    const key = keyOf(resource, namespace, name);
    return !isListed(resource) || stale.has(key)
      ? writer.get(resource, namespace, name)
      : Promise.resolve(held.get(key));
  };
  return {
    get,
    seen: get,
    list: (resource, namespace) => writer.list(resource, namespace),
    create(resource, object) {
      touch(resource, object);
      return writer.create(resource, object);
    },
    update(resource, object, subresource) {
      touch(resource, object);
      return writer.update(resource, object, subresource);
    },
    delete(resource, namespace, name, uid) {
      stale.add(keyOf(resource, namespace, name));
      return writer.delete(resource, namespace, name, uid);
    },
  };
};
