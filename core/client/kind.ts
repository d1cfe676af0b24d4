import type { GroupVersion } from '../api/meta/group-version.ts';
import type { KubernetesObject, ObjectMeta } from '../api/meta/object-meta.ts';
import type { ResourceType } from '../api/scheme/resource-type.ts';

declare const OBJECT: unique symbol;

/** A resource as clients address it. `T` is the type of its objects and exists for the compiler alone. */
export interface Kind<T extends KubernetesObject = KubernetesObject> extends GroupVersion {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly [OBJECT]?: T;
}

/** What a server has given to every object that it answers with. */
export interface StoredMeta extends ObjectMeta {
  name: string;
  uid: string;
  resourceVersion: string;
}

/** An object as it was read from a server: its metadata is there. */
export type Stored<T extends KubernetesObject = KubernetesObject> = T & { metadata: StoredMeta };

/** The kind of a row of the scheme or of discovery, for code that handles any resource. */
export const kindFrom = (
  type: Pick<ResourceType, 'group' | 'version' | 'kind' | 'plural' | 'namespaced'>,
): Kind => ({
  group: type.group,
  version: type.version,
  kind: type.kind,
  plural: type.plural,
  namespaced: type.namespaced,
});
