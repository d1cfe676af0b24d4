import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { UserInfo } from '../../server/user.ts';

/** Objects that a strategy may change: a draft's top level and its metadata are its own, what lies below may be shared. */
export type Draft = KubernetesObject;

export interface WriteContext {
  readonly user: UserInfo;
  readonly namespace: string;
  /** The group of the request's path; undefined for writes of the server itself. */
  readonly apiGroup?: string | undefined;
  readonly isDryRun: boolean;
  readonly nowMs: number;
  warn(text: string): void;
}

/**
 * Something taken for a write that is not a part of the object: addresses, ports. One of the two is called, unless
 * no one knows whether the write happened.
 */
export interface Claim {
  /** The object is written. */
  keep(): Promise<void> | void;
  /** It is not: give back what was taken. */
  release(): Promise<void> | void;
}

/** How one resource differs from the others; all that they share is in the generic store. */
export interface Strategy {
  /** PUT on a name that is not there creates it. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites; true unless said otherwise. */
  readonly allowUnconditionalUpdate?: boolean;
  /** What happens to dependents where the request does not say. */
  readonly dependents?: 'Orphan' | 'Unsupported';
  /** Told when dependents are orphaned although the request did not ask for it. */
  readonly orphanWarning?: string;
  /** DELETE answers the object instead of a Status. */
  readonly returnsDeletedObject?: boolean;
  readonly ttlSeconds?: number;
  /** Field sets that a client cannot own through this endpoint, because they are put back. */
  readonly resetFields?: readonly (readonly string[])[];
  /** Validation rules to use: those of a subresource, or the resource's own. */
  readonly subresource?: string;
  /** Sets what only the server may say, and drops what the client may not. */
  prepareForCreate?(draft: Draft, context: WriteContext): void;
  prepareForUpdate?(draft: Draft, old: KubernetesObject, context: WriteContext): void;
  /** Rules that need more than the object: escalation, other objects. Throws to refuse. */
  checkCreate?(draft: Draft, context: WriteContext): Promise<void>;
  checkUpdate?(draft: Draft, old: KubernetesObject, context: WriteContext): Promise<void>;
  /** What a client is told of an object that is valid, where its kind alone cannot say it. */
  warnings?(draft: Draft): readonly string[];
  /** Before validation; `old` is undefined on creation. Sets what was taken on the draft. */
  claim?(draft: Draft, old: KubernetesObject | undefined, context: WriteContext): Promise<Claim>;
  /** The object is gone. */
  afterDelete?(object: KubernetesObject): Promise<void>;
  /** Present where deletion is graceful: how many seconds, given what was asked for. */
  graceSeconds?(object: KubernetesObject, asked: number | undefined): number;
  /** Beyond "no finalizers are left". */
  mayDeleteDuringUpdate?(draft: Draft): boolean;
}
