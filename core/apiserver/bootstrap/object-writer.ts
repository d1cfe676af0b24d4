import type { Clock } from '../../base/clock.ts';
import {
  conflict,
  formatTime,
  isNotFound,
  kindOf,
  methodNotSupported,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { applyDefaults, fillZeroValues, structOfKind } from '../../api/schema/index.ts';
import { EVERY_FIELD, EVERYTHING } from '../../api/selector/index.ts';
import { PRIVILEGED_GROUP, userInfo } from '../server/user.ts';
import { ownFields } from './own-fields.ts';
import type { RestRegistry, RestStorage, Scope } from '../registry/rest-storage.ts';

/**
 * How a starting server sees to its own objects. Failures are StatusErrors. Objects that are answered are shared:
 * never change them.
 */
export interface ObjectWriter {
  /** The newest; undefined where there is none. */
  get(resource: GroupResource, namespace: string, name: string): Promise<KubernetesObject | undefined>;
  /** What this server's cache has, which may be behind: a look that costs etcd nothing. */
  seen(resource: GroupResource, namespace: string, name: string): Promise<KubernetesObject | undefined>;
  list(resource: GroupResource, namespace: string): Promise<readonly KubernetesObject[]>;
  create(resource: GroupResource, object: KubernetesObject): Promise<KubernetesObject>;
  /** Conflict when the object has a resourceVersion and is stored in another. */
  update(resource: GroupResource, object: KubernetesObject, subresource?: string): Promise<KubernetesObject>;
  /** Conflict when the uid is another's. */
  delete(resource: GroupResource, namespace: string, name: string, uid?: string): Promise<void>;
}

/** Who a server is to itself. */
export const APISERVER_USER = userInfo('system:apiserver', [PRIVILEGED_GROUP, 'system:authenticated']);

export interface RegistryWriterOptions {
  readonly registry: RestRegistry;
  readonly clock: Clock;
  /** The release that is emulated: defaults depend on it. */
  readonly minor: number;
  readonly signal: AbortSignal;
}

/** Writes past authorization and admission: these objects must be there before either can work. */
export const registryWriter = ({ registry, clock, minor, signal }: RegistryWriterOptions): ObjectWriter => {
  const storageOf = <Method extends 'get' | 'list' | 'create' | 'update' | 'delete'>(
    resource: GroupResource,
    method: Method,
    subresource = '',
  ): NonNullable<RestStorage[Method]> => {
    const storage = registry.storageOf(resource.group, resource.resource, subresource);
    const run = storage?.[method];
    if (storage === undefined || run === undefined) throw methodNotSupported(resource, method);
    return run.bind(storage) as NonNullable<RestStorage[Method]>;
  };
  const scope = (namespace: string): Scope => ({
    user: APISERVER_USER,
    namespace,
    signal,
    warn: () => undefined,
  });
  const defaulted = (object: KubernetesObject): KubernetesObject => {
    const copy = structuredClone(object);
    const gvk = kindOf(copy);
    const struct = gvk && structOfKind(gvk, minor);
    if (struct) {
      applyDefaults(struct, copy, { minor, now: formatTime(clock.nowMs()) });
      fillZeroValues(struct, copy);
    }
    return copy;
  };
  const owned = ownFields(minor);
  const allowed = (): Promise<void> => Promise.resolve();
  const read =
    (resourceVersion: string): ObjectWriter['get'] =>
    async (resource, namespace, name) => {
      try {
        return (await storageOf(resource, 'get')(scope(namespace), name, { resourceVersion })).object;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    };

  return {
    get: read(''),
    seen: read('0'),
    async list(resource, namespace) {
      const { items } = await storageOf(resource, 'list')(scope(namespace), {
        labelSelector: EVERYTHING,
        fieldSelector: EVERY_FIELD,
        limit: 0,
        continueToken: '',
        resourceVersion: '',
        resourceVersionMatch: '',
      });
      return items.map((held) => held.object);
    },
    async create(resource, object) {
      const namespace = object.metadata?.namespace ?? '';
      const options = { dryRun: false, validate: allowed };
      const time = formatTime(clock.nowMs());
      const next = owned({ live: undefined, next: defaulted(object), subresource: '', time });
      return (await storageOf(resource, 'create')(scope(namespace), next, options)).object;
    },
    async update(resource, object, subresource = '') {
      const { namespace = '', name = '', resourceVersion = '' } = object.metadata ?? {};
      const wanted = defaulted(object);
      const { held } = await storageOf(resource, 'update', subresource)(scope(namespace), name, {
        dryRun: false,
        change(current) {
          const stored = current?.metadata?.resourceVersion;
          if (resourceVersion !== '' && stored !== resourceVersion)
            return Promise.reject(conflict(resource, name));
          const time = formatTime(clock.nowMs());
          const next = structuredClone(wanted);
          return Promise.resolve(owned({ live: current, next, subresource, time }));
        },
        createIfMissing: false,
        validateCreate: allowed,
        validateUpdate: allowed,
      });
      return held.object;
    },
    async delete(resource, namespace, name, uid) {
      await storageOf(resource, 'delete')(scope(namespace), name, {
        dryRun: false,
        ...(uid !== undefined && { preconditions: { uid } }),
        validate: allowed,
      });
    },
  };
};
