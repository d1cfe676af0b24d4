import { Access, authError, tokenIndex, type Identity, type Jwt } from '../auth/index.ts';
import type { RequestContext } from '../rpc/member-api.ts';
import type { ReadGate } from './read-gate.ts';
import type { StateMachine } from './state-machine.ts';

/** etcd's clients send the first, its JSON gateway the second. */
const TOKEN_HEADERS = ['token', 'authorization'];
const BEARER = /^Bearer /;

export interface AuthGateOptions {
  readonly machine: StateMachine;
  readonly reads: Pick<ReadGate, 'pass'>;
  readonly jwt: Jwt | undefined;
  readonly commonNameAuth: boolean;
}

/** Finds out who calls. Nothing here is asked while auth is off. */
export class AuthGate {
  readonly #options: AuthGateOptions;

  constructor(options: AuthGateOptions) {
    this.#options = options;
  }

  get isEnabled(): boolean {
    return this.#options.machine.auth.isEnabled;
  }

  /** Undefined for a caller without a name. Throws InvalidAuthToken. */
  async identify(context: RequestContext): Promise<Identity | undefined> {
    const { auth } = this.#options.machine;
    const header = TOKEN_HEADERS.map((name) => context.metadata(name)).find((value) => value !== undefined);
    if (header !== undefined) {
      const identity = await this.#identityOf(header.replace(BEARER, ''));
      if (identity === undefined) throw authError('InvalidAuthToken');
      return identity;
    }
    const username = this.#options.commonNameAuth ? context.peer.commonName() : undefined;
    return username === undefined ? undefined : { username, revision: auth.revision };
  }

  /** Undefined where auth was turned off meanwhile. */
  accessOf(identity: Identity | undefined): Access | undefined {
    const { auth, lessor } = this.#options.machine;
    return auth.isEnabled ? new Access(auth, lessor, identity) : undefined;
  }

  async access(context: RequestContext): Promise<Access | undefined> {
    return this.accessOf(await this.identify(context));
  }

  async #identityOf(token: string): Promise<Identity | undefined> {
    const { jwt, machine, reads } = this.#options;
    if (jwt !== undefined) return jwt.read(token);
    const index = tokenIndex(token);
    if (index === undefined) return undefined;
    // Issued by another member, in an entry that is committed and not applied here yet.
    if (index > machine.appliedIndex) await reads.pass();
    const username = machine.tokens.userOf(token);
    return username === undefined ? undefined : { username, revision: machine.auth.revision };
  }
}
