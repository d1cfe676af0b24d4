import type { Backend } from '../mvcc/backend/backend.ts';
import { encodeUint64, readUint64 } from '../mvcc/revision.ts';
import * as proto from '../proto/index.ts';
import { isValidPermissionRange, KeyPermissions } from './permissions.ts';
import { authError } from './reasons.ts';

export const ROOT = 'root';

const NOTHING = Buffer.alloc(0);
const ENABLED = Buffer.from('authEnabled');
const REVISION = Buffer.from('authRevision');
const ON = Buffer.of(1);
const OFF = Buffer.of(0);
/** A user costs memory on every member, and every change of a role looks at all of them. */
const ROWS_MAX = 100_000;
const EVERYTHING: proto.Permission = {
  permType: proto.PERMISSION_TYPE.READWRITE,
  key: NOTHING,
  rangeEnd: OFF,
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/**
 * Users, roles and whether they count, in etcd's rows. Everything that changes it comes out of the log, so that all
 * members agree; each change moves the auth revision, and what was decided at an older one is void.
 */
export class AuthStore {
  #backend: Backend;
  #enabled = false;
  #revision = 0;
  #users = new Map<string, proto.User>();
  #roles = new Map<string, proto.Role>();
  /** Made when a user is first asked about after a change. */
  #permissions = new Map<string, KeyPermissions>();
  readonly #onInvalid: (user: string | undefined) => void;

  /** `onInvalid` is told whose tokens are void; undefined stands for all. */
  constructor(backend: Backend, onInvalid: (user: string | undefined) => void) {
    this.#backend = backend;
    this.#onInvalid = onInvalid;
    this.#load();
  }

  /** Takes over what another backend holds. */
  restore(backend: Backend): void {
    this.#backend = backend;
    this.#load();
  }

  get isEnabled(): boolean {
    return this.#enabled;
  }

  /** 1 until something changes, as with etcd. */
  get revision(): number {
    return this.#revision;
  }

  enable(): void {
    if (this.#enabled) return;
    const root = this.#users.get(ROOT);
    if (root === undefined) throw authError('RootUserNotExist');
    if (!root.roles.includes(ROOT)) throw authError('RootRoleNotExist');
    this.#enabled = true;
    this.#backend.put('auth', ENABLED, ON);
  }

  disable(): void {
    if (!this.#enabled) return;
    this.#enabled = false;
    this.#backend.put('auth', ENABLED, OFF);
    this.#changed();
    this.#onInvalid(undefined);
  }

  user(name: string): proto.User | undefined {
    return this.#users.get(name);
  }

  userNames(): string[] {
    return [...this.#users.keys()].sort(byBytes);
  }

  roleNames(): string[] {
    return [...this.#roles.keys()].sort(byBytes);
  }

  rolesOf(name: string): readonly string[] {
    return this.#userOrThrow(name).roles;
  }

  permissionsOfRole(name: string): readonly proto.Permission[] {
    const role = this.#roleOrThrow(name);
    return name === ROOT ? [EVERYTHING] : role.keyPermission;
  }

  userAdd({ name, hashedPassword, options }: proto.AuthUserAddRequest): void {
    if (name === '') throw authError('UserEmpty');
    if (this.#users.has(name)) throw authError('UserAlreadyExist');
    const noPassword = options?.noPassword === true;
    const password = noPassword ? NOTHING : Buffer.from(hashedPassword, 'base64');
    this.#putUser({ name: Buffer.from(name), password, roles: [], options: { noPassword } });
    this.#changed();
  }

  userDelete({ name }: proto.AuthUserDeleteRequest): void {
    if (this.#enabled && name === ROOT) throw authError('InvalidAuthMgmt');
    this.#userOrThrow(name);
    this.#users.delete(name);
    this.#backend.delete('authUsers', Buffer.from(name));
    this.#changed();
    this.#onInvalid(name);
  }

  userChangePassword({ name, hashedPassword }: proto.AuthUserChangePasswordRequest): void {
    const user = this.#userOrThrow(name);
    const password = user.options?.noPassword === true ? NOTHING : Buffer.from(hashedPassword, 'base64');
    this.#putUser({ ...user, password });
    this.#changed();
    this.#onInvalid(name);
  }

  userGrantRole({ user: name, role }: proto.AuthUserGrantRoleRequest): void {
    const user = this.#userOrThrow(name);
    if (role !== ROOT) this.#roleOrThrow(role);
    if (user.roles.includes(role)) return;
    this.#putUser({ ...user, roles: [...user.roles, role].sort(byBytes) });
    this.#changed();
  }

  userRevokeRole({ name, role }: proto.AuthUserRevokeRoleRequest): void {
    if (this.#enabled && name === ROOT && role === ROOT) throw authError('InvalidAuthMgmt');
    const user = this.#userOrThrow(name);
    if (!user.roles.includes(role)) throw authError('RoleNotGranted');
    this.#putUser({ ...user, roles: user.roles.filter((granted) => granted !== role) });
    this.#changed();
  }

  roleAdd({ name }: proto.AuthRoleAddRequest): void {
    if (name === '') throw authError('RoleEmpty');
    if (this.#roles.has(name)) throw authError('RoleAlreadyExist');
    this.#putRole({ name: Buffer.from(name), keyPermission: [] });
    this.#changed();
  }

  roleDelete({ role: name }: proto.AuthRoleDeleteRequest): void {
    if (this.#enabled && name === ROOT) throw authError('InvalidAuthMgmt');
    this.#roleOrThrow(name);
    this.#roles.delete(name);
    this.#backend.delete('authRoles', Buffer.from(name));
    for (const user of this.#users.values())
      if (user.roles.includes(name))
        this.#putUser({ ...user, roles: user.roles.filter((granted) => granted !== name) });
    this.#changed();
  }

  roleGrantPermission({ name, perm }: proto.AuthRoleGrantPermissionRequest): void {
    if (perm === undefined) throw authError('PermissionNotGiven');
    if (!isValidPermissionRange(perm)) throw authError('InvalidAuthMgmt');
    const role = this.#roleOrThrow(name);
    const others = role.keyPermission.filter(
      ({ key, rangeEnd }) => !sameBytes(key, perm.key) || !sameBytes(rangeEnd, perm.rangeEnd),
    );
    // Bytes of a request are views of its entry, which must not be kept alive by a role.
    const granted = {
      permType: perm.permType,
      key: Buffer.from(perm.key),
      rangeEnd: Buffer.from(perm.rangeEnd),
    };
    const keyPermission = [...others, granted].sort((a, b) => Buffer.compare(a.key, b.key));
    this.#putRole({ ...role, keyPermission });
    this.#changed();
  }

  roleRevokePermission({ role: name, key, rangeEnd }: proto.AuthRoleRevokePermissionRequest): void {
    const role = this.#roleOrThrow(name);
    const keyPermission = role.keyPermission.filter(
      (granted) => !sameBytes(granted.key, key) || !sameBytes(granted.rangeEnd, rangeEnd),
    );
    if (keyPermission.length === role.keyPermission.length) throw authError('PermissionNotGranted');
    this.#putRole({ ...role, keyPermission });
    this.#changed();
  }

  isRoot(name: string): boolean {
    return this.#users.get(name)?.roles.includes(ROOT) === true;
  }

  /** Undefined for a user that does not exist. */
  permissionsOf(name: string): KeyPermissions | undefined {
    const known = this.#permissions.get(name);
    if (known !== undefined) return known;
    const user = this.#users.get(name);
    if (user === undefined) return undefined;
    const made = new KeyPermissions(user.roles.flatMap((role) => this.#roles.get(role)?.keyPermission ?? []));
    this.#permissions.set(name, made);
    return made;
  }

  #userOrThrow(name: string): proto.User {
    const user = this.#users.get(name);
    if (user === undefined) throw authError('UserNotFound');
    return user;
  }

  #roleOrThrow(name: string): proto.Role {
    const role = this.#roles.get(name);
    if (role === undefined) throw authError('RoleNotFound');
    return role;
  }

  #putUser(user: proto.User): void {
    this.#users.set(Buffer.from(user.name).toString(), user);
    this.#backend.put('authUsers', Buffer.from(user.name), proto.User.encode(user));
  }

  #putRole(role: proto.Role): void {
    this.#roles.set(Buffer.from(role.name).toString(), role);
    this.#backend.put('authRoles', Buffer.from(role.name), proto.Role.encode(role));
  }

  #changed(): void {
    this.#revision += 1;
    this.#permissions.clear();
    this.#backend.put('auth', REVISION, encodeUint64(this.#revision));
  }

  #load(): void {
    const backend = this.#backend;
    this.#enabled = backend.get('auth', ENABLED)?.equals(ON) === true;
    const revision = backend.get('auth', REVISION);
    this.#revision = revision === undefined ? FIRST_REVISION : readUint64(revision, 0);
    this.#users = new Map(
      backend
        .range('authUsers', NOTHING, undefined, ROWS_MAX)
        .map(({ key, value }) => [key.toString(), proto.User.decode(value)]),
    );
    this.#roles = new Map(
      backend
        .range('authRoles', NOTHING, undefined, ROWS_MAX)
        .map(({ key, value }) => [key.toString(), proto.Role.decode(value)]),
    );
    this.#permissions.clear();
    this.#onInvalid(undefined);
  }
}

/** etcd commits it when it first opens a store; reading an absent one as this needs no write. */
const FIRST_REVISION = 1;

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
