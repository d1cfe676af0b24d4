import type { GroupVersionKind, GroupVersionResource, KubernetesObject } from '../../api/meta/index.ts';
import type { UserInfo } from '../authn/user.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What is about to happen, as admission sees it. Objects are in the version they are kept in. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  /** Empty on a creation with generateName, until the name is made. */
  readonly name: string;
  /** The object as it will be; mutating plugins change it in place. Absent on DELETE. */
  readonly object: KubernetesObject | undefined;
  /** As it is stored; absent on CREATE. Never changed. */
  readonly oldObject: KubernetesObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request. */
  readonly options: KubernetesObject | undefined;
  readonly user: UserInfo;
  readonly isDryRun: boolean;
  /** Told to the client in a Warning header. */
  warn(text: string): void;
}

/** One rule of the cluster about writes. It refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  handles(operation: Operation): boolean;
  /** May change `attributes.object`. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  /** Sees the object as it will be stored. */
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

/** All plugins in order: first every `admit`, and later, on the final object, every `validate`. */
export interface AdmissionChain {
  admit(attributes: AdmissionAttributes): Promise<void>;
  validate(attributes: AdmissionAttributes): Promise<void>;
}
