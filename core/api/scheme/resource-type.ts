import type { GroupVersion, GroupVersionKind } from '../meta/group-version.ts';

/** What can be done to a resource, in the words of discovery and RBAC. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface Subresource {
  readonly name: string;
  /** What is read or written there, which may be of another group than the resource. */
  readonly kind: GroupVersionKind;
  readonly verbs: readonly Verb[];
  /** Answered by a stream or another server instead of an object: exec, attach, portforward, proxy. */
  readonly connects: boolean;
}

export interface ResourceType extends GroupVersion {
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: readonly Subresource[];
  /**
   * Where objects are kept: the key before `<namespace>/<name>`, and the kind and version they are written
   * in. Absent for what is only asked (reviews, bindings, component statuses).
   */
  readonly storage?: { readonly prefix: string; readonly gvk: GroupVersionKind };
}

export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
export const READ_WRITE_VERBS: readonly Verb[] = ['get', 'patch', 'update'];
export const STREAM_VERBS: readonly Verb[] = ['create', 'get'];
export const PROXY_VERBS: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update'];
