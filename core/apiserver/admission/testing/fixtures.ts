import type { GroupResource, GroupVersionKind, KubernetesObject } from '../../../api/meta/index.ts';
import { registryOf, type ResourceType } from '../../../api/scheme/index.ts';
import { userInfo } from '../../server/user.ts';
import type { AdmissionAttributes, AdmissionPlugin, ObjectInterfaces } from '../attributes.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { Reinvocation } from '../reinvocation.ts';
import type { AdmissionRecord } from '../../server/trace.ts';
import { objectInterfacesOf } from '../../handlers/object-interfaces.ts';
import { manualClock } from '../../../base/manual-clock.ts';

const REGISTRY = registryOf(36);

export interface Wish extends Partial<Omit<AdmissionAttributes, 'resource' | 'kind'>> {
  /** `pods` or `leases.coordination.k8s.io` */
  readonly of?: string;
}

const groupResource = (text: string): GroupResource => {
  const dot = text.indexOf('.');
  return dot < 0
    ? { group: '', resource: text }
    : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
};

const objectsOf = (type: ResourceType, kind: GroupVersionKind): ObjectInterfaces =>
  objectInterfacesOf({
    type,
    subresource: '',
    kind,
    hub: type.storage?.gvk ?? kind,
    minor: REGISTRY.minor,
    clock: manualClock(),
  });

const NO_OBJECTS: ObjectInterfaces = {
  equivalents: [],
  hub: { group: '', version: '', kind: '' },
  convert: (object) => object,
  decode: (json) => json,
};

/** Attributes of a request, by default the creation of a pod by somebody. */
export const wish = ({
  of = 'pods',
  ...rest
}: Wish): AdmissionAttributes & {
  readonly warnings: string[];
  readonly annotations: Map<string, string>;
  readonly records: AdmissionRecord[];
} => {
  const resource = groupResource(of);
  const type = REGISTRY.findPreferred(resource);
  const version = type?.version ?? 'v1';
  const warnings: string[] = [];
  const annotations = new Map<string, string>();
  const records: AdmissionRecord[] = [];
  const kind = { group: resource.group, version, kind: type?.kind ?? '' };
  const known = rest.object ?? rest.oldObject;
  return {
    operation: 'CREATE',
    resource: { ...resource, version },
    subresource: '',
    kind,
    namespace: type?.namespaced === false ? '' : (known?.metadata?.namespace ?? 'ns'),
    name: known?.metadata?.name ?? '',
    object: undefined,
    oldObject: undefined,
    options: undefined,
    user: userInfo('somebody', ['system:authenticated']),
    isDryRun: false,
    objects: type ? objectsOf(type, kind) : NO_OBJECTS,
    reinvocation: new Reinvocation(),
    signal: new AbortController().signal,
    ...rest,
    warnings,
    annotations,
    records,
    annotate: (key, value) => void annotations.set(key, value),
    record: (record) => void records.push(record),
    warn: (text) => void warnings.push(text),
  };
};

const keyOf = ({ group, resource }: GroupResource, namespace: string, name: string): string =>
  `${resource}.${group}/${namespace}/${name}`;

/** A reader over objects by kind; `live` is what etcd has and the cache has not heard of. */
export const readerOf = (
  cached: readonly KubernetesObject[],
  live: readonly KubernetesObject[] = [],
): ObjectReader => {
  const entries = (objects: readonly KubernetesObject[]): [string, KubernetesObject][] =>
    objects.map((object) => {
      const [group = '', version = ''] = (object.apiVersion ?? 'v1').includes('/')
        ? object.apiVersion!.split('/')
        : ['', object.apiVersion ?? 'v1'];
      const type = REGISTRY.findByKind({ group, version, kind: object.kind ?? '' });
      // A custom kind has the plural of its name.
      const resource = type?.plural ?? `${object.kind?.toLowerCase()}s`;
      const { namespace = '', name = '' } = object.metadata ?? {};
      return [keyOf({ group, resource }, namespace, name), object];
    });
  const cache = new Map(entries(cached));
  const store = new Map([...cache, ...entries(live)]);
  return {
    get: (resource, namespace, name, options) =>
      Promise.resolve((options?.live ? store : cache).get(keyOf(resource, namespace, name))),
    list: (resource, namespace) =>
      Promise.resolve(
        [...cache]
          .filter(([key]) =>
            key.startsWith(
              namespace === '' ? `${resource.resource}.${resource.group}/` : keyOf(resource, namespace, ''),
            ),
          )
          .map(([, object]) => object),
      ),
  };
};

/** Runs both phases; answers the message of the refusal, or `ok`. */
export const verdict = async (plugin: AdmissionPlugin, attributes: AdmissionAttributes): Promise<string> => {
  if (!plugin.handles(attributes.operation)) return 'ok';
  try {
    const object = (await plugin.admit?.(attributes)) ?? attributes.object;
    await plugin.validate?.({ ...attributes, object });
    return 'ok';
  } catch (error) {
    return (error as Error).message;
  }
};
