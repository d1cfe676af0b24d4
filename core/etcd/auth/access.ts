import type { LessorPort } from '../lease/index.ts';
import type { DeleteRangeRequest, PutRequest, RequestOp, TxnRequest } from '../proto/index.ts';
import type { AuthStore } from './auth-store.ts';
import { authError } from './reasons.ts';

/** On whose behalf something is asked, and the auth revision at which that was established. */
export interface Identity {
  readonly username: string;
  readonly revision: number;
}

const ONE_KEY = new Uint8Array(0);

/** What one identity may do while auth is on. Every method throws AuthError where it may not. */
export class Access {
  readonly #store: AuthStore;
  readonly #lessor: Pick<LessorPort, 'lookup'>;
  readonly #identity: Identity | undefined;

  constructor(store: AuthStore, lessor: Pick<LessorPort, 'lookup'>, identity: Identity | undefined) {
    this.#store = store;
    this.#lessor = lessor;
    this.#identity = identity;
  }

  /** Anybody with a name: etcd asks no more of some calls. */
  known(): void {
    if (this.#identity === undefined) throw authError('UserEmpty');
  }

  admin(): void {
    if (this.#identity === undefined || this.#identity.username === '') throw authError('UserEmpty');
    const { username } = this.#identity;
    if (this.#store.user(username) === undefined) throw authError('UserNotFound');
    if (!this.#store.isRoot(username)) throw authError('PermissionDenied');
  }

  isAdmin(): boolean {
    return this.#identity !== undefined && this.#store.isRoot(this.#identity.username);
  }

  get username(): string {
    return this.#identity?.username ?? '';
  }

  read(key: Uint8Array, rangeEnd: Uint8Array = ONE_KEY): void {
    this.#check((user) => this.#store.permissionsOf(user)!.mayRead(key, rangeEnd));
  }

  write(key: Uint8Array, rangeEnd: Uint8Array = ONE_KEY): void {
    this.#check((user) => this.#store.permissionsOf(user)!.mayWrite(key, rangeEnd));
  }

  put(request: PutRequest): void {
    this.write(request.key);
    // Anyone who attaches a key to a lease can have the other keys of the lease deleted.
    if (request.lease !== 0n) this.leaseWrites(request.lease);
    if (request.prevKv) this.read(request.key);
  }

  deleteRange({ key, rangeEnd, prevKv }: DeleteRangeRequest): void {
    this.write(key, rangeEnd);
    if (prevKv) this.read(key, rangeEnd);
  }

  /** All of it, also the branch that is not taken: which one was would tell about keys. */
  txn({ compare, success, failure }: TxnRequest): void {
    for (const { key, rangeEnd } of compare) this.read(key, rangeEnd);
    for (const op of success) this.#op(op);
    for (const op of failure) this.#op(op);
  }

  leaseWrites(id: bigint): void {
    if (this.isAdmin()) return;
    for (const key of this.#lessor.lookup(id)?.keys() ?? []) this.write(key);
  }

  leaseReads(id: bigint): void {
    if (this.isAdmin()) return;
    for (const key of this.#lessor.lookup(id)?.keys() ?? []) this.read(key);
  }

  #op(op: RequestOp): void {
    if (op.requestRange !== undefined) this.read(op.requestRange.key, op.requestRange.rangeEnd);
    else if (op.requestPut !== undefined) this.put(op.requestPut);
    else if (op.requestDeleteRange !== undefined) this.deleteRange(op.requestDeleteRange);
    else if (op.requestTxn !== undefined) this.txn(op.requestTxn);
  }

  #check(isPermitted: (user: string) => boolean): void {
    if (this.#identity === undefined || this.#identity.revision === 0) throw authError('UserEmpty');
    const { username, revision } = this.#identity;
    if (revision < this.#store.revision) throw authError('AuthOldRevision');
    if (this.#store.user(username) === undefined) throw authError('PermissionDenied');
    if (!this.#store.isRoot(username) && !isPermitted(username)) throw authError('PermissionDenied');
  }
}
