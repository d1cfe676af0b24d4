import { ReasonError } from '../../base/errors.ts';

/** Why the auth store refuses; the RPC layer knows etcd's code and text for each. */
export type AuthReason =
  | 'RootUserNotExist'
  | 'RootRoleNotExist'
  | 'UserAlreadyExist'
  | 'UserEmpty'
  | 'UserNotFound'
  | 'RoleAlreadyExist'
  | 'RoleNotFound'
  | 'RoleEmpty'
  | 'AuthFailed'
  | 'NoPasswordUser'
  | 'PermissionNotGiven'
  | 'PermissionDenied'
  | 'RoleNotGranted'
  | 'PermissionNotGranted'
  | 'AuthNotEnabled'
  | 'AuthOldRevision'
  | 'InvalidAuthToken'
  | 'InvalidAuthMgmt';

export class AuthError extends ReasonError<AuthReason> {
  override readonly name = 'AuthError';
}

/** The one reason without a line in etcd's table: clients see this text with the code Unknown. */
const NO_PASSWORD_USER = 'auth: authentication failed, password was given for no password user';

export const authError = (reason: AuthReason): AuthError =>
  new AuthError(reason, reason === 'NoPasswordUser' ? NO_PASSWORD_USER : `auth: ${reason}`);
