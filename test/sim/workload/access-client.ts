import * as proto from '../../../core/etcd/proto/index.ts';
import type { MemberApi, RequestContext } from '../../../core/etcd/rpc/member-api.ts';
import type { CallResult, World } from '../world/world.ts';
import { CONTEXT, putRequest, rangeRequest, swapRequest } from './requests.ts';

const LIMIT_MS = 1500;
const PASSWORD = 'secret';
const ROOT = 'root';
const ROLE = 'writer';
const PREFIX = 'acl/';
const PREFIX_END = 'acl0';
const TRAFFIC_MS_MAX = 60;
const PAUSE_MS = 100;
const ATTEMPTS_MAX = 60;
const CALLS_AFTER_REVOCATION_MAX = 30;

/** One user: allowed by one acknowledged grant, denied by one acknowledged revocation, never allowed again. */
interface User {
  readonly name: string;
  /** In the order of the timeline. A request that is sent after this must not be served. */
  revokedAt: number;
  isOver: boolean;
}

const as = (token: string): RequestContext => ({
  ...CONTEXT,
  metadata: (name) => (name === 'token' ? token : undefined),
});

/** An administrator who turns auth on, lets one user after the other in and out again, and what those users do. */
export class AccessClient {
  readonly #world: World;
  #rootToken = '';
  servedCount = 0;
  deniedCount = 0;
  revocationCount = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async run(): Promise<void> {
    if (!(await this.#enable())) return;
    for (let count = 1; this.#world.isBusy; count += 1) {
      const user = { name: `user${count}`, revokedAt: Infinity, isOver: false };
      if (await this.#admit(user)) await this.#revokeWhile(user, this.#traffic(user));
      await this.#world.timeline.sleep(PAUSE_MS);
    }
  }

  async #enable(): Promise<boolean> {
    const user = { name: ROOT, password: PASSWORD, options: undefined, hashedPassword: '' };
    const writer = proto.AuthRoleGrantPermissionRequest.create({
      name: ROLE,
      perm: {
        permType: proto.PERMISSION_TYPE.READWRITE,
        key: Buffer.from(PREFIX),
        rangeEnd: Buffer.from(PREFIX_END),
      },
    });
    return (
      (await this.#insist((api) => api.auth.userAdd(user, CONTEXT), 'UserAlreadyExist')) &&
      (await this.#insist((api) => api.auth.roleAdd({ name: ROOT }, CONTEXT), 'RoleAlreadyExist')) &&
      (await this.#insist((api) => api.auth.userGrantRole({ user: ROOT, role: ROOT }, CONTEXT))) &&
      (await this.#insist((api) => api.auth.roleAdd({ name: ROLE }, CONTEXT), 'RoleAlreadyExist')) &&
      (await this.#insist((api) => api.auth.roleGrantPermission(writer, CONTEXT))) &&
      (await this.#insist((api) => api.auth.enable(CONTEXT), 'UserEmpty'))
    );
  }

  /** Until it is done; `done` is the reason that says that it was done before. */
  async #insist(change: (api: MemberApi) => Promise<unknown>, done = ''): Promise<boolean> {
    const world = this.#world;
    for (let attempt = 0; attempt < ATTEMPTS_MAX && world.isBusy; attempt += 1) {
      const result = await world.call(world.pickMember(), LIMIT_MS, change);
      if (result.kind === 'ok' || (result.kind === 'failed' && result.reason === done)) return true;
      await world.timeline.sleep(PAUSE_MS);
    }
    return false;
  }

  /** A grant whose answer is lost may be applied at any time, so such a user is given up. */
  async #admit(user: User): Promise<boolean> {
    const added = { name: user.name, password: PASSWORD, options: undefined, hashedPassword: '' };
    if (!(await this.#asRoot((api, root) => api.auth.userAdd(added, root)))) return false;
    const granted = await this.#asRoot((api, root) =>
      api.auth.userGrantRole({ user: user.name, role: ROLE }, root),
    );
    this.#world.trace.note(`${user.name} ${granted ? 'is allowed' : 'is given up'}`);
    return granted;
  }

  async #revokeWhile(user: User, traffic: Promise<void>): Promise<void> {
    const world = this.#world;
    await world.timeline.sleep(world.between(0, 600));
    const isRevoked = await this.#asRoot((api, root) => this.#revoke(api, root, user.name));
    if (isRevoked) {
      user.revokedAt = world.timeline.stamp();
      this.revocationCount += 1;
      world.trace.note(`${user.name} is denied`);
    } else user.isOver = true;
    await traffic;
  }

  /** Either takes the permission away. */
  #revoke(api: MemberApi, root: RequestContext, name: string): Promise<object> {
    return this.#world.chance(0.5)
      ? api.auth.userRevokeRole({ name, role: ROLE }, root)
      : api.auth.userDelete({ name }, root);
  }

  /** One attempt, so that nothing is done twice. */
  async #asRoot(change: (api: MemberApi, root: RequestContext) => Promise<object>): Promise<boolean> {
    const world = this.#world;
    for (let attempt = 0; attempt < ATTEMPTS_MAX && world.isBusy; attempt += 1) {
      const result = await world.call(world.pickMember(), LIMIT_MS, (api) =>
        change(api, as(this.#rootToken)),
      );
      if (result.kind === 'ok') return true;
      // Refused before it could do anything: another attempt is no repetition.
      const isUnknown = result.kind === 'lost' || (result.kind === 'failed' && !isRefusal(result.reason));
      if (isUnknown) return false;
      if (result.kind === 'failed') this.#rootToken = (await this.#authenticate(ROOT)) ?? '';
      await world.timeline.sleep(PAUSE_MS);
    }
    return false;
  }

  async #authenticate(name: string): Promise<string | undefined> {
    const world = this.#world;
    const result = await world.call(world.pickMember(), LIMIT_MS, (api) =>
      api.auth.authenticate({ name, password: PASSWORD }, CONTEXT),
    );
    return result.kind === 'ok' ? result.value.token : undefined;
  }

  /** Reads and writes through all members, before, while and after the permission is taken away. */
  async #traffic(user: User): Promise<void> {
    const world = this.#world;
    let token: string | undefined;
    let after = 0;
    for (let count = 0; world.isBusy && !user.isOver && after < CALLS_AFTER_REVOCATION_MAX; count += 1) {
      token ??= await this.#authenticate(user.name);
      const calledAt = world.timeline.stamp();
      if (calledAt > user.revokedAt) after += 1;
      if (token === undefined) {
        await world.timeline.sleep(PAUSE_MS);
        continue;
      }
      const result = await this.#request(as(token), `${user.name}.${count}`);
      if (result.kind === 'ok') this.#served(user, calledAt, result.value);
      else if (result.kind === 'failed' && result.reason === 'InvalidAuthToken') token = undefined;
      else if (result.kind === 'failed' && isRefusal(result.reason)) this.deniedCount += 1;
      await world.timeline.sleep(world.between(1, TRAFFIC_MS_MAX));
    }
  }

  #served(user: User, calledAt: number, what: string): void {
    this.servedCount += 1;
    if (calledAt > user.revokedAt)
      this.#world.trace.fail('auth', `${user.name} is served ${what} after its permission was revoked`);
  }

  #request(context: RequestContext, value: string): Promise<CallResult<string>> {
    const world = this.#world;
    const machine = world.pickMember();
    const key = `${PREFIX}${world.random.below(3)}`;
    const told = async (what: string, run: Promise<unknown>): Promise<string> => {
      await run;
      return `${what} of ${key} by ${machine.name}`;
    };
    const dice = world.random.below(3);
    return world.call(machine, LIMIT_MS, (api) =>
      dice === 0
        ? told('a read', api.range(rangeRequest(key), context))
        : dice === 1
          ? told('a put', api.put(putRequest(key, value), context))
          : told('a transaction', api.txn(swapRequest(key, undefined, value), context)),
    );
  }
}

const REFUSALS = new Set([
  'PermissionDenied',
  'InvalidAuthToken',
  'AuthOldRevision',
  'UserEmpty',
  'UserNotFound',
]);
const isRefusal = (reason: string): boolean => REFUSALS.has(reason);
