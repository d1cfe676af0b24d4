import * as proto from '../../proto/index.ts';
import { unary } from '../grpc/method.ts';
import type { CallContext, Method, UnaryMethod } from '../grpc/method.ts';
import type { MemberApi } from '../member-api.ts';
import { withHeader } from './header.ts';

const SERVICE = 'etcdserverpb.Auth';

export const authMethods = (member: MemberApi): readonly Method[] => {
  const { auth } = member;
  const method = <Req, Res extends object>(
    name: string,
    request: UnaryMethod<Req, Res>['request'],
    response: UnaryMethod<Req, Res>['response'],
    handle: (request: Req, context: CallContext) => Promise<Res>,
  ): Method =>
    unary(SERVICE, name, {
      request,
      response,
      handle: async (decoded: Req, context) => withHeader(member, await handle(decoded, context)),
    });
  return [
    method('AuthEnable', proto.AuthEnableRequest, proto.AuthEnableResponse, (_request, context) =>
      auth.enable(context),
    ),
    method('AuthDisable', proto.AuthDisableRequest, proto.AuthDisableResponse, (_request, context) =>
      auth.disable(context),
    ),
    method('AuthStatus', proto.AuthStatusRequest, proto.AuthStatusResponse, (_request, context) =>
      auth.status(context),
    ),
    method('Authenticate', proto.AuthenticateRequest, proto.AuthenticateResponse, (request, context) =>
      auth.authenticate(request, context),
    ),
    method('UserAdd', proto.AuthUserAddRequest, proto.AuthUserAddResponse, (request, context) =>
      auth.userAdd(request, context),
    ),
    method('UserGet', proto.AuthUserGetRequest, proto.AuthUserGetResponse, (request, context) =>
      auth.userGet(request, context),
    ),
    method('UserList', proto.AuthUserListRequest, proto.AuthUserListResponse, (_request, context) =>
      auth.userList(context),
    ),
    method('UserDelete', proto.AuthUserDeleteRequest, proto.AuthUserDeleteResponse, (request, context) =>
      auth.userDelete(request, context),
    ),
    method(
      'UserChangePassword',
      proto.AuthUserChangePasswordRequest,
      proto.AuthUserChangePasswordResponse,
      (request, context) => auth.userChangePassword(request, context),
    ),
    method(
      'UserGrantRole',
      proto.AuthUserGrantRoleRequest,
      proto.AuthUserGrantRoleResponse,
      (request, context) => auth.userGrantRole(request, context),
    ),
    method(
      'UserRevokeRole',
      proto.AuthUserRevokeRoleRequest,
      proto.AuthUserRevokeRoleResponse,
      (request, context) => auth.userRevokeRole(request, context),
    ),
    method('RoleAdd', proto.AuthRoleAddRequest, proto.AuthRoleAddResponse, (request, context) =>
      auth.roleAdd(request, context),
    ),
    method('RoleGet', proto.AuthRoleGetRequest, proto.AuthRoleGetResponse, (request, context) =>
      auth.roleGet(request, context),
    ),
    method('RoleList', proto.AuthRoleListRequest, proto.AuthRoleListResponse, (_request, context) =>
      auth.roleList(context),
    ),
    method('RoleDelete', proto.AuthRoleDeleteRequest, proto.AuthRoleDeleteResponse, (request, context) =>
      auth.roleDelete(request, context),
    ),
    method(
      'RoleGrantPermission',
      proto.AuthRoleGrantPermissionRequest,
      proto.AuthRoleGrantPermissionResponse,
      (request, context) => auth.roleGrantPermission(request, context),
    ),
    method(
      'RoleRevokePermission',
      proto.AuthRoleRevokePermissionRequest,
      proto.AuthRoleRevokePermissionResponse,
      (request, context) => auth.roleRevokePermission(request, context),
    ),
  ];
};
