import { ReasonError, messageOf } from '../../base/errors.ts';
import type { CodeName, Status } from '../../base/node/grpc/codes.ts';

/**
 * Everything an etcd member refuses with, by reason: the code and the text that clients match on (etcd's
 * api/v3rpc/rpctypes). Closed: a new failure of the member gets its line here.
 */
const TABLE = {
  EmptyKey: ['InvalidArgument', 'key is not provided'],
  KeyNotFound: ['InvalidArgument', 'key not found'],
  ValueProvided: ['InvalidArgument', 'value is provided'],
  LeaseProvided: ['InvalidArgument', 'lease is provided'],
  TooManyOps: ['InvalidArgument', 'too many operations in txn request'],
  DuplicateKey: ['InvalidArgument', 'duplicate key given in txn request'],
  InvalidClientAPIVersion: ['InvalidArgument', 'invalid client api version'],
  InvalidSortOption: ['InvalidArgument', 'invalid sort option'],
  Compacted: ['OutOfRange', 'mvcc: required revision has been compacted'],
  FutureRev: ['OutOfRange', 'mvcc: required revision is a future revision'],
  NoSpace: ['ResourceExhausted', 'mvcc: database space exceeded'],

  LeaseNotFound: ['NotFound', 'requested lease not found'],
  LeaseExist: ['FailedPrecondition', 'lease already exists'],
  LeaseTTLTooLarge: ['OutOfRange', 'too large lease TTL'],

  WatchCanceled: ['Canceled', 'watch canceled'],

  MemberExist: ['FailedPrecondition', 'member ID already exist'],
  PeerURLExist: ['FailedPrecondition', 'Peer URLs already exists'],
  MemberNotEnoughStarted: ['FailedPrecondition', 're-configuration failed due to not enough started members'],
  MemberBadURLs: ['InvalidArgument', 'given member URLs are invalid'],
  MemberNotFound: ['NotFound', 'member not found'],
  MemberNotLearner: ['FailedPrecondition', 'can only promote a learner member'],
  LearnerNotReady: ['FailedPrecondition', 'can only promote a learner member which is in sync with leader'],
  TooManyLearners: ['FailedPrecondition', 'too many learner members in cluster'],
  ClusterIDMismatch: ['FailedPrecondition', 'cluster ID mismatch'],

  RequestTooLarge: ['InvalidArgument', 'request is too large'],
  TooManyRequests: ['ResourceExhausted', 'too many requests'],

  RootUserNotExist: ['FailedPrecondition', 'root user does not exist'],
  RootRoleNotExist: ['FailedPrecondition', 'root user does not have root role'],
  UserAlreadyExist: ['FailedPrecondition', 'user name already exists'],
  UserEmpty: ['InvalidArgument', 'user name is empty'],
  UserNotFound: ['FailedPrecondition', 'user name not found'],
  RoleAlreadyExist: ['FailedPrecondition', 'role name already exists'],
  RoleNotFound: ['FailedPrecondition', 'role name not found'],
  RoleEmpty: ['InvalidArgument', 'role name is empty'],
  AuthFailed: ['InvalidArgument', 'authentication failed, invalid user ID or password'],
  PermissionNotGiven: ['InvalidArgument', 'permission not given'],
  PermissionDenied: ['PermissionDenied', 'permission denied'],
  RoleNotGranted: ['FailedPrecondition', 'role is not granted to the user'],
  PermissionNotGranted: ['FailedPrecondition', 'permission is not granted to the role'],
  AuthNotEnabled: ['FailedPrecondition', 'authentication is not enabled'],
  InvalidAuthToken: ['Unauthenticated', 'invalid auth token'],
  InvalidAuthMgmt: ['InvalidArgument', 'invalid auth management'],
  AuthOldRevision: ['InvalidArgument', 'revision of auth store is old'],

  NoLeader: ['Unavailable', 'no leader'],
  NotLeader: ['FailedPrecondition', 'not leader'],
  LeaderChanged: ['Unavailable', 'leader changed'],
  NotCapable: ['FailedPrecondition', 'not capable'],
  Stopped: ['Unavailable', 'server stopped'],
  Timeout: ['Unavailable', 'request timed out'],
  TimeoutDueToLeaderFail: ['Unavailable', 'request timed out, possibly due to previous leader failure'],
  TimeoutDueToConnectionLost: ['Unavailable', 'request timed out, possibly due to connection lost'],
  TimeoutWaitAppliedIndex: ['Unavailable', 'request timed out, waiting for the applied index took too long'],
  Unhealthy: ['Unavailable', 'unhealthy cluster'],
  Corrupt: ['DataLoss', 'corrupt cluster'],
  NotSupportedForLearner: ['FailedPrecondition', 'rpc not supported for learner'],
  BadLeaderTransferee: ['FailedPrecondition', 'bad leader transferee'],

  ClusterVersionUnavailable: ['FailedPrecondition', 'cluster version not found during downgrade'],
  WrongDowngradeVersionFormat: ['InvalidArgument', 'wrong downgrade target version format'],
  InvalidDowngradeTargetVersion: ['InvalidArgument', 'invalid downgrade target version'],
  DowngradeInProcess: ['FailedPrecondition', 'cluster has a downgrade job in progress'],
  NoInflightDowngrade: ['FailedPrecondition', 'no inflight downgrade job'],

  Canceled: ['Canceled', 'request canceled'],
  DeadlineExceeded: ['DeadlineExceeded', 'context deadline exceeded'],
} as const satisfies Record<string, readonly [CodeName, string]>;

export type EtcdReason = keyof typeof TABLE;
export const ETCD_REASONS = Object.keys(TABLE) as readonly EtcdReason[];

/** The parts a member is made of name some failures their own way. */
const ALIASES: Readonly<Record<string, EtcdReason>> = {
  FutureRevision: 'FutureRev',
  IDRemoved: 'MemberNotFound',
  IDNotFound: 'MemberNotFound',
  IDExists: 'MemberExist',
  PeerURLExists: 'PeerURLExist',
  NotEnoughStartedMembers: 'MemberNotEnoughStarted',
  UnhealthyCluster: 'Unhealthy',
  BadURLs: 'MemberBadURLs',
};

/** An expected failure of a member, as its clients are told. */
export class EtcdError extends ReasonError<EtcdReason> {
  override readonly name = 'EtcdError';
}

export const statusOfReason = (reason: EtcdReason): Status => ({
  code: TABLE[reason][0],
  text: `etcdserver: ${TABLE[reason][1]}`,
});

export const etcdError = (reason: EtcdReason, options?: { cause?: unknown }): EtcdError =>
  new EtcdError(reason, statusOfReason(reason).text, options);

const isEtcdReason = (reason: string): reason is EtcdReason => Object.hasOwn(TABLE, reason);

/** What a client is told of anything that was thrown. What has no line above is Unknown, with its message. */
export const statusOf = (error: unknown): Status => {
  if (error instanceof ReasonError) {
    const { reason } = error;
    if (isEtcdReason(reason)) return statusOfReason(reason);
    const alias = Object.hasOwn(ALIASES, reason) ? ALIASES[reason] : undefined;
    if (alias !== undefined) return statusOfReason(alias);
  }
  return { code: 'Unknown', text: messageOf(error) };
};
