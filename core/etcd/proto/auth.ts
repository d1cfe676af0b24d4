import { ResponseHeader } from './range.ts';
import { bool, bytes, enumeration, message, nested, repeated, string, uint64Number } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

export const PERMISSION_TYPE = { READ: 0, WRITE: 1, READWRITE: 2 } as const;
export type PermissionType = (typeof PERMISSION_TYPE)[keyof typeof PERMISSION_TYPE];

/** auth.proto: what is stored, and part of requests. */
export const UserAddOptions = message('authpb.UserAddOptions', { noPassword: bool(1) });
export type UserAddOptions = MessageOut<typeof UserAddOptions>;

export const User = message('authpb.User', {
  name: bytes(1),
  password: bytes(2),
  roles: repeated(string(3)),
  options: nested(4, () => UserAddOptions),
});
export type User = MessageOut<typeof User>;
export type UserIn = MessageIn<typeof User>;

export const Permission = message('authpb.Permission', {
  permType: enumeration<PermissionType>(1, PERMISSION_TYPE),
  key: bytes(2),
  rangeEnd: bytes(3),
});
export type Permission = MessageOut<typeof Permission>;
export type PermissionIn = MessageIn<typeof Permission>;

export const Role = message('authpb.Role', {
  name: bytes(1),
  keyPermission: repeated(nested(2, () => Permission)),
});
export type Role = MessageOut<typeof Role>;
export type RoleIn = MessageIn<typeof Role>;

export const AuthEnableRequest = message('etcdserverpb.AuthEnableRequest', {});
export type AuthEnableRequest = MessageOut<typeof AuthEnableRequest>;
export type AuthEnableRequestIn = MessageIn<typeof AuthEnableRequest>;

export const AuthDisableRequest = message('etcdserverpb.AuthDisableRequest', {});
export type AuthDisableRequest = MessageOut<typeof AuthDisableRequest>;
export type AuthDisableRequestIn = MessageIn<typeof AuthDisableRequest>;

export const AuthStatusRequest = message('etcdserverpb.AuthStatusRequest', {});
export type AuthStatusRequest = MessageOut<typeof AuthStatusRequest>;
export type AuthStatusRequestIn = MessageIn<typeof AuthStatusRequest>;

export const AuthenticateRequest = message('etcdserverpb.AuthenticateRequest', {
  name: string(1),
  password: string(2),
});
export type AuthenticateRequest = MessageOut<typeof AuthenticateRequest>;
export type AuthenticateRequestIn = MessageIn<typeof AuthenticateRequest>;

export const AuthUserAddRequest = message('etcdserverpb.AuthUserAddRequest', {
  name: string(1),
  password: string(2),
  options: nested(3, () => UserAddOptions),
  hashedPassword: string(4),
});
export type AuthUserAddRequest = MessageOut<typeof AuthUserAddRequest>;
export type AuthUserAddRequestIn = MessageIn<typeof AuthUserAddRequest>;

export const AuthUserGetRequest = message('etcdserverpb.AuthUserGetRequest', { name: string(1) });
export type AuthUserGetRequest = MessageOut<typeof AuthUserGetRequest>;
export type AuthUserGetRequestIn = MessageIn<typeof AuthUserGetRequest>;

export const AuthUserDeleteRequest = message('etcdserverpb.AuthUserDeleteRequest', { name: string(1) });
export type AuthUserDeleteRequest = MessageOut<typeof AuthUserDeleteRequest>;
export type AuthUserDeleteRequestIn = MessageIn<typeof AuthUserDeleteRequest>;

export const AuthUserChangePasswordRequest = message('etcdserverpb.AuthUserChangePasswordRequest', {
  name: string(1),
  password: string(2),
  hashedPassword: string(3),
});
export type AuthUserChangePasswordRequest = MessageOut<typeof AuthUserChangePasswordRequest>;
export type AuthUserChangePasswordRequestIn = MessageIn<typeof AuthUserChangePasswordRequest>;

export const AuthUserGrantRoleRequest = message('etcdserverpb.AuthUserGrantRoleRequest', {
  user: string(1),
  role: string(2),
});
export type AuthUserGrantRoleRequest = MessageOut<typeof AuthUserGrantRoleRequest>;
export type AuthUserGrantRoleRequestIn = MessageIn<typeof AuthUserGrantRoleRequest>;

export const AuthUserRevokeRoleRequest = message('etcdserverpb.AuthUserRevokeRoleRequest', {
  name: string(1),
  role: string(2),
});
export type AuthUserRevokeRoleRequest = MessageOut<typeof AuthUserRevokeRoleRequest>;
export type AuthUserRevokeRoleRequestIn = MessageIn<typeof AuthUserRevokeRoleRequest>;

export const AuthRoleAddRequest = message('etcdserverpb.AuthRoleAddRequest', { name: string(1) });
export type AuthRoleAddRequest = MessageOut<typeof AuthRoleAddRequest>;
export type AuthRoleAddRequestIn = MessageIn<typeof AuthRoleAddRequest>;

export const AuthRoleGetRequest = message('etcdserverpb.AuthRoleGetRequest', { role: string(1) });
export type AuthRoleGetRequest = MessageOut<typeof AuthRoleGetRequest>;
export type AuthRoleGetRequestIn = MessageIn<typeof AuthRoleGetRequest>;

export const AuthUserListRequest = message('etcdserverpb.AuthUserListRequest', {});
export type AuthUserListRequest = MessageOut<typeof AuthUserListRequest>;
export type AuthUserListRequestIn = MessageIn<typeof AuthUserListRequest>;

export const AuthRoleListRequest = message('etcdserverpb.AuthRoleListRequest', {});
export type AuthRoleListRequest = MessageOut<typeof AuthRoleListRequest>;
export type AuthRoleListRequestIn = MessageIn<typeof AuthRoleListRequest>;

export const AuthRoleDeleteRequest = message('etcdserverpb.AuthRoleDeleteRequest', { role: string(1) });
export type AuthRoleDeleteRequest = MessageOut<typeof AuthRoleDeleteRequest>;
export type AuthRoleDeleteRequestIn = MessageIn<typeof AuthRoleDeleteRequest>;

export const AuthRoleGrantPermissionRequest = message('etcdserverpb.AuthRoleGrantPermissionRequest', {
  name: string(1),
  perm: nested(2, () => Permission),
});
export type AuthRoleGrantPermissionRequest = MessageOut<typeof AuthRoleGrantPermissionRequest>;
export type AuthRoleGrantPermissionRequestIn = MessageIn<typeof AuthRoleGrantPermissionRequest>;

export const AuthRoleRevokePermissionRequest = message('etcdserverpb.AuthRoleRevokePermissionRequest', {
  role: string(1),
  key: bytes(2),
  rangeEnd: bytes(3),
});
export type AuthRoleRevokePermissionRequest = MessageOut<typeof AuthRoleRevokePermissionRequest>;
export type AuthRoleRevokePermissionRequestIn = MessageIn<typeof AuthRoleRevokePermissionRequest>;

export const AuthEnableResponse = message('etcdserverpb.AuthEnableResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthEnableResponse = MessageOut<typeof AuthEnableResponse>;
export type AuthEnableResponseIn = MessageIn<typeof AuthEnableResponse>;

export const AuthDisableResponse = message('etcdserverpb.AuthDisableResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthDisableResponse = MessageOut<typeof AuthDisableResponse>;
export type AuthDisableResponseIn = MessageIn<typeof AuthDisableResponse>;

export const AuthStatusResponse = message('etcdserverpb.AuthStatusResponse', {
  header: nested(1, () => ResponseHeader),
  enabled: bool(2),
  authRevision: uint64Number(3),
});
export type AuthStatusResponse = MessageOut<typeof AuthStatusResponse>;
export type AuthStatusResponseIn = MessageIn<typeof AuthStatusResponse>;

export const AuthenticateResponse = message('etcdserverpb.AuthenticateResponse', {
  header: nested(1, () => ResponseHeader),
  token: string(2),
});
export type AuthenticateResponse = MessageOut<typeof AuthenticateResponse>;
export type AuthenticateResponseIn = MessageIn<typeof AuthenticateResponse>;

export const AuthUserAddResponse = message('etcdserverpb.AuthUserAddResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthUserAddResponse = MessageOut<typeof AuthUserAddResponse>;
export type AuthUserAddResponseIn = MessageIn<typeof AuthUserAddResponse>;

export const AuthUserGetResponse = message('etcdserverpb.AuthUserGetResponse', {
  header: nested(1, () => ResponseHeader),
  roles: repeated(string(2)),
});
export type AuthUserGetResponse = MessageOut<typeof AuthUserGetResponse>;
export type AuthUserGetResponseIn = MessageIn<typeof AuthUserGetResponse>;

export const AuthUserDeleteResponse = message('etcdserverpb.AuthUserDeleteResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthUserDeleteResponse = MessageOut<typeof AuthUserDeleteResponse>;
export type AuthUserDeleteResponseIn = MessageIn<typeof AuthUserDeleteResponse>;

export const AuthUserChangePasswordResponse = message('etcdserverpb.AuthUserChangePasswordResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthUserChangePasswordResponse = MessageOut<typeof AuthUserChangePasswordResponse>;
export type AuthUserChangePasswordResponseIn = MessageIn<typeof AuthUserChangePasswordResponse>;

export const AuthUserGrantRoleResponse = message('etcdserverpb.AuthUserGrantRoleResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthUserGrantRoleResponse = MessageOut<typeof AuthUserGrantRoleResponse>;
export type AuthUserGrantRoleResponseIn = MessageIn<typeof AuthUserGrantRoleResponse>;

export const AuthUserRevokeRoleResponse = message('etcdserverpb.AuthUserRevokeRoleResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthUserRevokeRoleResponse = MessageOut<typeof AuthUserRevokeRoleResponse>;
export type AuthUserRevokeRoleResponseIn = MessageIn<typeof AuthUserRevokeRoleResponse>;

export const AuthRoleAddResponse = message('etcdserverpb.AuthRoleAddResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthRoleAddResponse = MessageOut<typeof AuthRoleAddResponse>;
export type AuthRoleAddResponseIn = MessageIn<typeof AuthRoleAddResponse>;

export const AuthRoleGetResponse = message('etcdserverpb.AuthRoleGetResponse', {
  header: nested(1, () => ResponseHeader),
  perm: repeated(nested(2, () => Permission)),
});
export type AuthRoleGetResponse = MessageOut<typeof AuthRoleGetResponse>;
export type AuthRoleGetResponseIn = MessageIn<typeof AuthRoleGetResponse>;

export const AuthRoleListResponse = message('etcdserverpb.AuthRoleListResponse', {
  header: nested(1, () => ResponseHeader),
  roles: repeated(string(2)),
});
export type AuthRoleListResponse = MessageOut<typeof AuthRoleListResponse>;
export type AuthRoleListResponseIn = MessageIn<typeof AuthRoleListResponse>;

export const AuthUserListResponse = message('etcdserverpb.AuthUserListResponse', {
  header: nested(1, () => ResponseHeader),
  users: repeated(string(2)),
});
export type AuthUserListResponse = MessageOut<typeof AuthUserListResponse>;
export type AuthUserListResponseIn = MessageIn<typeof AuthUserListResponse>;

export const AuthRoleDeleteResponse = message('etcdserverpb.AuthRoleDeleteResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthRoleDeleteResponse = MessageOut<typeof AuthRoleDeleteResponse>;
export type AuthRoleDeleteResponseIn = MessageIn<typeof AuthRoleDeleteResponse>;

export const AuthRoleGrantPermissionResponse = message('etcdserverpb.AuthRoleGrantPermissionResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthRoleGrantPermissionResponse = MessageOut<typeof AuthRoleGrantPermissionResponse>;
export type AuthRoleGrantPermissionResponseIn = MessageIn<typeof AuthRoleGrantPermissionResponse>;

export const AuthRoleRevokePermissionResponse = message('etcdserverpb.AuthRoleRevokePermissionResponse', {
  header: nested(1, () => ResponseHeader),
});
export type AuthRoleRevokePermissionResponse = MessageOut<typeof AuthRoleRevokePermissionResponse>;
export type AuthRoleRevokePermissionResponseIn = MessageIn<typeof AuthRoleRevokePermissionResponse>;
