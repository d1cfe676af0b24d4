import { AuthStatusRequest, AuthStatusResponse } from '../../proto/index.ts';
import { unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import { StatusError } from '../grpc/status.ts';
import { etcdError, type EtcdReason } from '../errors.ts';
import type { MemberApi } from '../member-api.ts';
import { headerAt } from './header.ts';

const SERVICE = 'etcdserverpb.Auth';
const UNSUPPORTED = [
  'AuthEnable',
  'UserAdd',
  'UserDelete',
  'UserChangePassword',
  'UserGrantRole',
  'UserRevokeRole',
  'RoleAdd',
  'RoleDelete',
  'RoleGrantPermission',
  'RoleRevokePermission',
];
/** True of a member without users and roles: there are none to list, and auth is off already. */
const EMPTY = ['AuthDisable', 'UserList', 'RoleList'];
/** Clients that were given a password carry on without one when they are told that auth is off. */
const REFUSED: Readonly<Record<string, EtcdReason>> = {
  Authenticate: 'AuthNotEnabled',
  UserGet: 'UserNotFound',
  RoleGet: 'RoleNotFound',
};
/** etcd leaves auth alone at 1 until somebody enables it. */
const AUTH_REVISION = 1;

/** The answer does not depend on the request, so nothing of it is read. */
const UNREAD = { decode: () => undefined };

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
  ...EMPTY.map((method) =>
    unary(SERVICE, method, {
      request: UNREAD,
      // Its first field is the header in all of them, and the only one that is not empty.
      response: AuthStatusResponse,
      handle: () => ({ header: headerAt(member, member.revision()) }),
    }),
  ),
  ...Object.entries(REFUSED).map(([method, reason]) =>
    unary(SERVICE, method, {
      request: UNREAD,
      response: AuthStatusResponse,
      handle() {
        throw etcdError(reason);
      },
    }),
  ),
  ...UNSUPPORTED.map((method) =>
    unary(SERVICE, method, {
      request: UNREAD,
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
