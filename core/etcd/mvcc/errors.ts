import { ReasonError } from '../../base/errors.ts';

/** Why the store refused. The texts are etcd's; the RPC layer puts `etcdserver: ` in front of them. */
export type MvccReason =
  'Compacted' | 'FutureRevision' | 'KeyNotFound' | 'LeaseNotFound' | 'DuplicateKey' | 'EmptyWatcherRange';

export class MvccError extends ReasonError<MvccReason> {
  override readonly name = 'MvccError';
}

export const compacted = (): MvccError =>
  new MvccError('Compacted', 'mvcc: required revision has been compacted');
export const futureRevision = (): MvccError =>
  new MvccError('FutureRevision', 'mvcc: required revision is a future revision');
export const keyNotFound = (): MvccError => new MvccError('KeyNotFound', 'key not found');
export const leaseNotFound = (): MvccError => new MvccError('LeaseNotFound', 'requested lease not found');
export const duplicateKey = (): MvccError =>
  new MvccError('DuplicateKey', 'duplicate key given in txn request');
export const emptyWatcherRange = (): MvccError =>
  new MvccError('EmptyWatcherRange', 'mvcc: watcher range is empty');
