/** Why a call on a member failed. The first two say nothing about the cluster; the rest are answers of etcd. */
export type EtcdFailure =
  | 'EtcdUnreachable'
  | 'EtcdRefused'
  /** A member that does not vote yet answers only a few calls. */
  | 'EtcdLearner'
  | 'EtcdStopped'
  /** --strict-reconfig-check: members have not been connected long enough for a change. */
  | 'EtcdUnhealthy'
  /** The revision that was asked for is no longer kept. */
  | 'EtcdCompacted';

/** As etcd's own client does: status codes are shared by many failures, so that the description tells them apart. */
const BY_DESCRIPTION: Readonly<Record<string, EtcdFailure>> = {
  'etcdserver: rpc not supported for learner': 'EtcdLearner',
  'etcdserver: server stopped': 'EtcdStopped',
  'etcdserver: unhealthy cluster': 'EtcdUnhealthy',
  'etcdserver: mvcc: required revision has been compacted': 'EtcdCompacted',
};

export const failureOf = (description: string): EtcdFailure =>
  Object.hasOwn(BY_DESCRIPTION, description) ? BY_DESCRIPTION[description]! : 'EtcdRefused';
