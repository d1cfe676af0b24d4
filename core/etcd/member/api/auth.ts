import { authError, bcryptHash, bcryptMatches, tokenPrefix, type Access } from '../../auth/index.ts';
import * as proto from '../../proto/index.ts';
import { etcdError } from '../../refusals/errors.ts';
import type { AuthApi, RequestContext } from '../../rpc/member-api.ts';
import type { Member } from '../member.ts';
import type { RequestKind } from '../request-entry.ts';

const SALT_BYTES = 16;
/** Hashing takes a tenth of a second of CPU: anyone who asks more often is told to come back. */
const HASHES_WAITING_MAX = 256;
/** A password that is changed again and again while it is checked is given up. */
const AUTHENTICATE_ATTEMPTS_MAX = 5;
const NOTHING = new Uint8Array(0);

/** Users and roles: changed by the log, read behind a linearizable read. */
export const authApi = (member: Member): AuthApi => {
  const { machine, proposals, reads, ports, config } = member;
  const { auth } = machine;

  const propose = async (
    kind: RequestKind,
    payload: Uint8Array,
    context: RequestContext,
  ): Promise<object> => {
    const identity = member.auth.isEnabled ? await member.auth.identify(context) : undefined;
    return (await proposals.propose(kind, payload, identity)) as object;
  };

  /** One after the other, with pauses: a flood of passwords must not hold up a heartbeat. */
  let hashing: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const hashed = <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= HASHES_WAITING_MAX) return Promise.reject(etcdError('TooManyRequests'));
    waiting += 1;
    const done = hashing.then(work);
    hashing = done.then(
      () => (waiting -= 1),
      () => (waiting -= 1),
    );
    return done;
  };
  const pause = (): Promise<void> => new Promise((resolve) => ports.defer(resolve));
  const hashOf = (password: string): Promise<string> => {
    const salt = Buffer.from(Array.from({ length: SALT_BYTES }, () => ports.random.below(256)));
    return hashed(async () =>
      Buffer.from(await bcryptHash(password, { cost: config.bcryptCost, salt, pause })).toString('base64'),
    );
  };

  /** The auth revision at which the password was right. */
  const checkPassword = async (name: string, password: string): Promise<number> => {
    if (!auth.isEnabled) throw authError('AuthNotEnabled');
    const user = auth.user(name);
    if (user === undefined) throw authError('AuthFailed');
    if (user.options?.noPassword === true) throw authError('NoPasswordUser');
    const { revision } = auth;
    const stored = Buffer.from(user.password).toString();
    if (!(await hashed(() => bcryptMatches(password, stored, pause)))) throw authError('AuthFailed');
    return revision;
  };

  const token = async (name: string): Promise<proto.AuthenticateResponseIn> => {
    if (ports.jwt === undefined) {
      // The prefix travels where the password was: neither the log nor another member ever sees that.
      const request = { name, password: tokenPrefix(ports.random) };
      return (await proposals.propose('authenticate', proto.AuthenticateRequest.encode(request))) as object;
    }
    const issued = ports.jwt.issue({ username: name, revision: auth.revision });
    if (issued === undefined) throw new Error('auth: token signing attempted with verify-only key');
    return { token: issued };
  };

  /** Undefined where auth is off: then everybody may see users and roles, as with etcd. */
  const reading = async (context: RequestContext): Promise<Access | undefined> => {
    await reads.pass();
    return member.auth.isEnabled ? member.auth.access(context) : undefined;
  };

  return {
    enable: (context) => propose('authEnable', NOTHING, context),
    disable: (context) => propose('authDisable', NOTHING, context),
    async status() {
      await reads.pass();
      return { enabled: auth.isEnabled, authRevision: auth.revision };
    },
    async authenticate({ name, password }) {
      await reads.pass();
      for (let attempt = 0; attempt < AUTHENTICATE_ATTEMPTS_MAX; attempt += 1) {
        const revision = await checkPassword(name, password);
        const answer = await token(name);
        // A password that was changed while it was checked is checked again.
        if (auth.revision === revision) return answer;
      }
      throw authError('AuthOldRevision');
    },
    async userAdd(request, context) {
      const hashedPassword = request.options?.noPassword === true ? '' : await hashOf(request.password);
      const sent = { ...request, password: '', hashedPassword };
      return propose('userAdd', proto.AuthUserAddRequest.encode(sent), context);
    },
    async userChangePassword(request, context) {
      const sent = { ...request, password: '', hashedPassword: await hashOf(request.password) };
      return propose('userChangePassword', proto.AuthUserChangePasswordRequest.encode(sent), context);
    },
    async userGet({ name }, context) {
      const access = await reading(context);
      if (access?.username !== name) access?.admin();
      return { roles: [...auth.rolesOf(name)] };
    },
    async userList(context) {
      (await reading(context))?.admin();
      return { users: auth.userNames() };
    },
    userDelete: (request, context) =>
      propose('userDelete', proto.AuthUserDeleteRequest.encode(request), context),
    userGrantRole: (request, context) =>
      propose('userGrantRole', proto.AuthUserGrantRoleRequest.encode(request), context),
    userRevokeRole: (request, context) =>
      propose('userRevokeRole', proto.AuthUserRevokeRoleRequest.encode(request), context),
    roleAdd: (request, context) => propose('roleAdd', proto.AuthRoleAddRequest.encode(request), context),
    async roleGet({ role }, context) {
      const access = await reading(context);
      const isOwn = access !== undefined && auth.user(access.username)?.roles.includes(role) === true;
      if (!isOwn) access?.admin();
      return { perm: [...auth.permissionsOfRole(role)] };
    },
    async roleList(context) {
      (await reading(context))?.admin();
      return { roles: auth.roleNames() };
    },
    roleDelete: (request, context) =>
      propose('roleDelete', proto.AuthRoleDeleteRequest.encode(request), context),
    roleGrantPermission: (request, context) =>
      propose('roleGrantPermission', proto.AuthRoleGrantPermissionRequest.encode(request), context),
    roleRevokePermission: (request, context) =>
      propose('roleRevokePermission', proto.AuthRoleRevokePermissionRequest.encode(request), context),
  };
};
