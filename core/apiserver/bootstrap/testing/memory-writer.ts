import {
  alreadyExists,
  conflict,
  notFound,
  type GroupResource,
  type KubernetesObject,
} from '../../../api/meta/index.ts';
import type { ObjectWriter } from '../object-writer.ts';

/** For tests: objects in memory with resource versions, and hooks to lose races. */
export interface MemoryWriter extends ObjectWriter {
  readonly objects: Map<string, KubernetesObject>;
  readonly writes: string[];
  /** Runs before the next write, once: another server's write. */
  interfere(run: () => void): void;
  put(resource: GroupResource, object: KubernetesObject): void;
}

export const memoryWriter = (): MemoryWriter => {
  const objects = new Map<string, KubernetesObject>();
  const writes: string[] = [];
  let revision = 0;
  let interference: (() => void) | undefined;
  const keyOf = ({ group, resource }: GroupResource, namespace: string, name: string): string =>
    `${resource}${group === '' ? '' : `.${group}`}/${namespace}/${name}`;
  const put = (resource: GroupResource, object: KubernetesObject): KubernetesObject => {
    const { namespace = '', name = '' } = object.metadata ?? {};
    revision += 1;
    const metadata = { uid: `uid-${name}`, ...object.metadata, resourceVersion: String(revision) };
    const stored = { ...structuredClone(object), metadata };
    objects.set(keyOf(resource, namespace, name), stored);
    return stored;
  };
  const before = (): void => {
    const run = interference;
    interference = undefined;
    run?.();
  };
  const get = (
    resource: GroupResource,
    namespace: string,
    name: string,
  ): Promise<KubernetesObject | undefined> => Promise.resolve(objects.get(keyOf(resource, namespace, name)));
  return {
    objects,
    writes,
    interfere: (run) => (interference = run),
    put: (resource, object) => void put(resource, object),
    get,
    seen: get,
    list: (resource, namespace) =>
      Promise.resolve(
        [...objects].filter(([key]) => key.startsWith(keyOf(resource, namespace, ''))).map(([, one]) => one),
      ),
    create(resource, object) {
      before();
      const { namespace = '', name = '' } = object.metadata ?? {};
      if (objects.has(keyOf(resource, namespace, name))) return Promise.reject(alreadyExists(resource, name));
      writes.push(`create ${keyOf(resource, namespace, name)}`);
      return Promise.resolve(put(resource, object));
    },
    update(resource, object) {
      before();
      const { namespace = '', name = '', resourceVersion } = object.metadata ?? {};
      const stored = objects.get(keyOf(resource, namespace, name));
      if (!stored) return Promise.reject(notFound(resource, name));
      if (resourceVersion !== undefined && resourceVersion !== stored.metadata?.resourceVersion)
        return Promise.reject(conflict(resource, name));
      writes.push(`update ${keyOf(resource, namespace, name)}`);
      return Promise.resolve(put(resource, object));
    },
    delete(resource, namespace, name) {
      before();
      if (!objects.delete(keyOf(resource, namespace, name))) return Promise.reject(notFound(resource, name));
      writes.push(`delete ${keyOf(resource, namespace, name)}`);
      return Promise.resolve();
    },
  };
};
