import type * as proto from '../proto/index.ts';
import type { CallContext } from './grpc/method.ts';

/** What the member may know of the call it serves: whether anybody still waits, and who asks. */
export type RequestContext = Pick<CallContext, 'over' | 'signal' | 'peer' | 'metadata'>;

/**
 * A response as the member gives it. Of the header it sets the revision; the services add who answered and in
 * which term. Absent header or revision 0: the current revision.
 */
export type Answer<T> = T & { readonly header?: { readonly revision?: number | undefined } | undefined };

/** Everything the services need of a member. Failures are EtcdError, or any error that `statusOf` knows. */
export interface MemberApi {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** The Raft term, the store's current revision, and the leader (0n when there is none) as this member sees them. */
  term(): number;
  revision(): number;
  leaderId(): bigint;
  isLearner(): boolean;

  /**
   * Undefined while auth is off. Otherwise rejects unless the caller is known by name, or is an administrator; what
   * calls about keys need beyond that, their own methods check.
   */
  permit(context: RequestContext, need: 'known' | 'admin'): Promise<void> | undefined;
  /** Undefined while auth is off. Otherwise rejects unless the caller may read all of the range. */
  permitRead(
    context: RequestContext,
    range: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array },
  ): Promise<void> | undefined;
  /** Whether the name in a client's certificate says who calls. */
  isCommonNameUsed(): boolean;
  readonly auth: AuthApi;

  range(request: proto.RangeRequest, context: RequestContext): Promise<Answer<proto.RangeResponseIn>>;
  put(request: proto.PutRequest, context: RequestContext): Promise<Answer<proto.PutResponseIn>>;
  deleteRange(
    request: proto.DeleteRangeRequest,
    context: RequestContext,
  ): Promise<Answer<proto.DeleteRangeResponseIn>>;
  txn(request: proto.TxnRequest, context: RequestContext): Promise<Answer<proto.TxnResponseIn>>;
  compact(
    request: proto.CompactionRequest,
    context: RequestContext,
  ): Promise<Answer<proto.CompactionResponseIn>>;

  readonly watches: WatchSource;

  leaseGrant(
    request: proto.LeaseGrantRequest,
    context: RequestContext,
  ): Promise<Answer<proto.LeaseGrantResponseIn>>;
  leaseRevoke(
    request: proto.LeaseRevokeRequest,
    context: RequestContext,
  ): Promise<Answer<proto.LeaseRevokeResponseIn>>;
  /** Resolves with the granted TTL in seconds; throws LeaseNotFound when it is gone. */
  leaseRenew(id: bigint, context: RequestContext): Promise<number>;
  leaseTimeToLive(
    request: proto.LeaseTimeToLiveRequest,
    context: RequestContext,
  ): Promise<Answer<proto.LeaseTimeToLiveResponseIn>>;
  leaseLeases(context: RequestContext): Promise<Answer<proto.LeaseLeasesResponseIn>>;

  memberAdd(
    request: proto.MemberAddRequest,
    context: RequestContext,
  ): Promise<{ readonly member: proto.MemberIn; readonly members: readonly proto.MemberIn[] }>;
  /** The rest resolve with the members after the change. */
  memberRemove(id: bigint, context: RequestContext): Promise<readonly proto.MemberIn[]>;
  memberUpdate(
    request: proto.MemberUpdateRequest,
    context: RequestContext,
  ): Promise<readonly proto.MemberIn[]>;
  memberPromote(id: bigint, context: RequestContext): Promise<readonly proto.MemberIn[]>;
  memberList(request: proto.MemberListRequest, context: RequestContext): Promise<readonly proto.MemberIn[]>;

  /** Without header and errors, which the service knows from `leaderId` and `activeAlarms`. */
  status(): proto.StatusResponseIn;
  activeAlarms(): readonly proto.AlarmMember[];
  alarm(request: proto.AlarmRequest, context: RequestContext): Promise<Answer<proto.AlarmResponseIn>>;
  defragment(context: RequestContext): Promise<void>;
  hash(context: RequestContext): Promise<Answer<proto.HashResponseIn>>;
  hashKV(request: proto.HashKVRequest, context: RequestContext): Promise<Answer<proto.HashKVResponseIn>>;
  moveLeader(targetId: bigint, context: RequestContext): Promise<void>;
  snapshot(context: RequestContext): Promise<SnapshotSource>;
}

/** Users and roles. Every method checks on its own what its caller may do. */
export interface AuthApi {
  enable(context: RequestContext): Promise<object>;
  disable(context: RequestContext): Promise<object>;
  status(context: RequestContext): Promise<proto.AuthStatusResponseIn>;
  authenticate(
    request: proto.AuthenticateRequest,
    context: RequestContext,
  ): Promise<proto.AuthenticateResponseIn>;
  userAdd(request: proto.AuthUserAddRequest, context: RequestContext): Promise<object>;
  userGet(request: proto.AuthUserGetRequest, context: RequestContext): Promise<proto.AuthUserGetResponseIn>;
  userList(context: RequestContext): Promise<proto.AuthUserListResponseIn>;
  userDelete(request: proto.AuthUserDeleteRequest, context: RequestContext): Promise<object>;
  userChangePassword(request: proto.AuthUserChangePasswordRequest, context: RequestContext): Promise<object>;
  userGrantRole(request: proto.AuthUserGrantRoleRequest, context: RequestContext): Promise<object>;
  userRevokeRole(request: proto.AuthUserRevokeRoleRequest, context: RequestContext): Promise<object>;
  roleAdd(request: proto.AuthRoleAddRequest, context: RequestContext): Promise<object>;
  roleGet(request: proto.AuthRoleGetRequest, context: RequestContext): Promise<proto.AuthRoleGetResponseIn>;
  roleList(context: RequestContext): Promise<proto.AuthRoleListResponseIn>;
  roleDelete(request: proto.AuthRoleDeleteRequest, context: RequestContext): Promise<object>;
  roleGrantPermission(
    request: proto.AuthRoleGrantPermissionRequest,
    context: RequestContext,
  ): Promise<object>;
  roleRevokePermission(
    request: proto.AuthRoleRevokePermissionRequest,
    context: RequestContext,
  ): Promise<object>;
}

/** The bytes of a database file as of one moment, without the checksum that the service appends. */
export interface SnapshotSource {
  readonly sizeBytes: number;
  /** The storage version, as `3.6.0`. */
  readonly version: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** One change of one key. The same object reaches every watcher, so its encoding is kept by its identity. */
export interface WatchEvent {
  readonly type: 'put' | 'delete';
  readonly kv: { readonly encoded: Uint8Array };
  /** Set for watchers that asked for it; null when the key did not exist before. */
  readonly prevKv?: { readonly encoded: Uint8Array } | null | undefined;
}

export interface WatchBatch {
  readonly revision: number;
  readonly events: readonly WatchEvent[];
  /** Not 0: what was asked for has been compacted, and the watcher has ended. */
  readonly compactRevision: number;
}

/** Where a watcher's batches go. False means no room: the source keeps the batch and offers it again. */
export interface WatchSink {
  deliver(batch: WatchBatch): boolean;
}

export interface Watcher {
  cancel(): void;
}

export interface WatchSource {
  /**
   * Delivers every change from `startRevision` on (0: from now), in order, all changes of a revision in one
   * batch. Nothing is delivered before this returns.
   */
  watch(request: {
    readonly key: Uint8Array;
    readonly rangeEnd: Uint8Array;
    readonly startRevision: number;
    readonly filters: readonly ('noput' | 'nodelete')[];
    readonly prevKv: boolean;
    readonly sink: WatchSink;
  }): Watcher;
  /** The revision up to which all of them received everything; undefined while one is behind. */
  progress(watchers: Iterable<Watcher>): number | undefined;
  /** A sink that refused has room again. */
  resume(): void;
}
