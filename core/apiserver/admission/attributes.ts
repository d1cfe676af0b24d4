import type { GroupVersionKind, GroupVersionResource, KubernetesObject } from '../../api/meta/index.ts';
import type { TypeNode } from '../../api/patch/type-node.ts';
import type { UserInfo } from '../server/user.ts';
import type { AdmissionRecord } from '../server/trace.ts';
import type { Reinvocation } from './reinvocation.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A resource in one version, and the kind that its requests carry. */
export interface ServedAs {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** What plugins that ask for objects in a version of their own need to know about the kind of a request. */
export interface ObjectInterfaces {
  /** Every version and group that the same objects are served in, the one that was requested first. */
  readonly equivalents: readonly ServedAs[];
  /** The object in that version. The object given is not changed; it is answered itself where it has the version. */
  convert(object: KubernetesObject, to: GroupVersionKind): KubernetesObject | Promise<KubernetesObject>;
  /**
   * Reads JSON as an object of the kind and sets defaults. Fields that the kind does not have are dropped, or fail a
   * strict reading where the kind has a fixed type.
   */
  decode(
    json: Record<string, unknown>,
    kind: GroupVersionKind,
    options?: { readonly strict?: boolean },
  ): KubernetesObject;
  /** The type of the kind, for merging; undefined: it is not known (yet). */
  typeOf?(kind: GroupVersionKind): TypeNode | undefined;
  /** Any object of the requested resource in the version that it is stored in. */
  readonly hub: GroupVersionKind;
}

/** A request, as admission sees it. Objects are in the version they are stored in. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  /** As requested: the version is that of the path. */
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  /** As requested. */
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  /** Empty on a creation with generateName, until the name is made. */
  readonly name: string;
  /** The object as it will be; it belongs to the request. Absent on DELETE. */
  readonly object: KubernetesObject | undefined;
  /** As it is stored; absent on CREATE. Never changed. */
  readonly oldObject: KubernetesObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions of the request. */
  readonly options: KubernetesObject | undefined;
  readonly user: UserInfo;
  readonly isDryRun: boolean;
  readonly objects: ObjectInterfaces;
  readonly reinvocation: Reinvocation;
  /** Aborted when the client is gone or the time of the request is over. */
  readonly signal: AbortSignal;
  /** Told to the client in a Warning header. */
  warn(text: string): void;
  /** Written into the audit event of the request. The first value of a key stays. */
  annotate(key: string, value: string): void;
  /** Written into the trace of the request. */
  record(record: AdmissionRecord): void;
}

/** The same request with another object. Not a spread alone: `signal` may be a getter. */
export const withObject = (
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
): AdmissionAttributes => ({ ...attributes, object, signal: attributes.signal });

type Answer<T> = Promise<T> | T;

/** One rule of the cluster about writes. It refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  handles(operation: Operation): boolean;
  /** Answers the object that takes the place of `attributes.object`; nothing: it stays, with changes made to it. */
  admit?(attributes: AdmissionAttributes): Answer<KubernetesObject | undefined | void>;
  /** Sees the object as it will be stored. */
  validate?(attributes: AdmissionAttributes): Answer<void>;
}

/** All plugins in order: first every `admit`, and later, on the final object, every `validate`. */
export interface AdmissionChain {
  /** Answers the object as plugins want it; undefined where the operation has none. */
  admit(attributes: AdmissionAttributes): Promise<KubernetesObject | undefined>;
  validate(attributes: AdmissionAttributes): Promise<void>;
}
