import { ReasonError } from '../../base/errors.ts';

/**
 * `Corrupt`: what was once synced reads back wrong. `Missing`: segments are gone from the folder. Neither can
 * be repaired from here; the member must be rebuilt from its peers or from a snapshot.
 */
export type WalReason = 'Corrupt' | 'Missing' | 'Exists' | 'Closed' | 'Failed';

export class WalError extends ReasonError<WalReason> {
  override readonly name = 'WalError';
}

const ADVICE =
  'do not delete or edit it: remove this member from the cluster, clear its data folder and add it again, ' +
  'or restore the cluster from a snapshot if no other member is healthy';

export const corrupt = (where: { readonly path: string; readonly offset: number }, what: string): WalError =>
  new WalError('Corrupt', `${what} in ${where.path} at offset ${where.offset}; ${ADVICE}`);
export const missing = (directory: string, what: string): WalError =>
  new WalError('Missing', `${what} in ${directory}; ${ADVICE}`);
