import { AuthStatusRequest, AuthStatusResponse } from '../../proto/index.ts';
import { unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import { StatusError } from '../grpc/status.ts';
import type { MemberApi } from '../member-api.ts';
import { headerAt } from './header.ts';

const SERVICE = 'etcdserverpb.Auth';
const UNSUPPORTED = [
  'AuthEnable',
  'AuthDisable',
  'Authenticate',
  'UserAdd',
  'UserGet',
  'UserList',
  'UserDelete',
  'UserChangePassword',
  'UserGrantRole',
  'UserRevokeRole',
  'RoleAdd',
  'RoleGet',
  'RoleList',
  'RoleDelete',
  'RoleGrantPermission',
  'RoleRevokePermission',
];
/** etcd leaves auth alone at 1 until somebody enables it. */
const AUTH_REVISION = 1;

/** Access to a member is by client certificate; users and roles do not exist, and saying so beats pretending. */
export const authMethods = (member: MemberApi): readonly Method[] => [
  unary(SERVICE, 'AuthStatus', {
    request: AuthStatusRequest,
    response: AuthStatusResponse,
    handle: () => ({
      header: headerAt(member, member.revision()),
      enabled: false,
      authRevision: AUTH_REVISION,
    }),
  }),
  ...UNSUPPORTED.map((method) =>
    unary(SERVICE, method, {
      // The request is refused whatever it says, so nothing of it is read.
      request: { decode: () => undefined },
      response: AuthStatusResponse,
      handle() {
        throw new StatusError(
          'Unimplemented',
          `etcdserver: ${method} is not supported: access is by client certificate, without users and roles`,
        );
      },
    }),
  ),
];
