import type { GroupResource, GroupVersionResource, KubernetesObject } from '../../api/meta/index.ts';

/**
 * How plugins, authenticators and authorizers see the cluster: this server's own watch caches, which may be a moment
 * old. What must be certain is asked with `live`. Objects are shared: never change them.
 */
export interface ObjectReader {
  get(
    resource: GroupResource,
    namespace: string,
    name: string,
    options?: { readonly live?: boolean },
  ): Promise<KubernetesObject | undefined>;
  /** All of a namespace, or of the cluster when it is empty. */
  list(resource: GroupResource, namespace: string): Promise<readonly KubernetesObject[]>;
}

/** Objects of a custom resource as a reader gives them, in the version that is stored, converted to a served one. */
export type ConvertCustom = (
  objects: readonly KubernetesObject[],
  resource: GroupVersionResource,
) => Promise<readonly KubernetesObject[]>;

/** For plugins that write: ResourceQuota charges usage, compare-and-swap on the resourceVersion. */
export interface QuotaWriter {
  /** Answers the updated object; throws a Conflict StatusError when it changed meanwhile. */
  updateStatus(quota: KubernetesObject): Promise<KubernetesObject>;
}
