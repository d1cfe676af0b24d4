import {
  apiVersionOf,
  formatTime,
  parseApiVersion,
  sameKind,
  type GroupVersionKind,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { typeNodeOf } from '../../api/patch/schema-types.ts';
import {
  applyDefaults,
  decodeObject,
  fillZeroValues,
  structOfKind,
  type StructType,
} from '../../api/schema/index.ts';
import { convertObject, registryOf, type ResourceType } from '../../api/scheme/index.ts';
import { assert } from '../../base/assert.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import { valueFieldsOf } from '../protobuf/index.ts';
import type { ObjectInterfaces, ServedAs } from '../admission/attributes.ts';

export interface ObjectInterfacesOptions {
  readonly type: ResourceType;
  readonly subresource: string;
  /** Of requests to the endpoint. */
  readonly kind: GroupVersionKind;
  readonly hub: GroupVersionKind;
  readonly minor: number;
  readonly clock: Clock;
}

/** Objects that share a prefix in etcd are the same objects: events are served by two groups. */
const equivalentsOf = ({ type, subresource, kind, minor }: ObjectInterfacesOptions): readonly ServedAs[] => {
  const servedAs = ({ group, version, plural }: ResourceType, as: GroupVersionKind): ServedAs => ({
    resource: { group, version, resource: plural },
    kind: as,
  });
  const own = servedAs(type, kind);
  if (type.storage === undefined) return [own];
  const others = registryOf(minor).resources.flatMap((other) => {
    if (other === type || other.storage?.prefix !== type.storage?.prefix) return [];
    const sub = other.subresources.find(({ name }) => name === subresource);
    if (subresource !== '' && sub === undefined) return [];
    return [servedAs(other, sub?.kind ?? { group: other.group, version: other.version, kind: other.kind })];
  });
  return [own, ...others];
};

/** For plugins that want the objects of a built-in endpoint in another version, or patched. */
export const objectInterfacesOf = (options: ObjectInterfacesOptions): ObjectInterfaces => {
  const { hub, minor, clock } = options;
  let equivalents: readonly ServedAs[] | undefined;
  const structOf = (kind: GroupVersionKind): StructType => {
    const struct = structOfKind(kind, minor);
    assert(struct !== undefined, `there is no type for ${apiVersionOf(kind)} ${kind.kind}`);
    return struct;
  };
  return {
    get equivalents() {
      return (equivalents ??= equivalentsOf(options));
    },
    hub,
    convert(object, to): KubernetesObject {
      const version = object.apiVersion ? parseApiVersion(object.apiVersion) : undefined;
      const from = { ...(version ?? hub), kind: to.kind };
      if (sameKind(from, to)) return object;
      const converted = convertObject(object, from, to);
      fillZeroValues(structOf(to), converted);
      return converted;
    },
    typeOf(kind) {
      const struct = structOfKind(kind, minor);
      return struct && typeNodeOf(struct);
    },
    decode(json, kind, { strict = false } = {}) {
      const struct = structOf(kind);
      const { object, strictErrors } = decodeObject(struct, json, 'json', valueFieldsOf);
      if (strict && strictErrors.length > 0)
        throw new ReasonError('WrongType', `strict decoding error: ${strictErrors.join(', ')}`);
      object['apiVersion'] = apiVersionOf(kind);
      object['kind'] = kind.kind;
      applyDefaults(struct, object, { minor, now: formatTime(clock.nowMs()) });
      fillZeroValues(struct, object);
      return object;
    },
  };
};
