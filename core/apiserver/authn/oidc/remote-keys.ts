import type { Clock } from '../../../base/clock.ts';
import { wait } from '../../../base/wait.ts';
import { verifyJwtWith, type ParsedJwt } from '../jwt.ts';
import type { HttpsGet } from './https-get.ts';
import { readKeySet, type VerificationKey } from './json-web-keys.ts';

/** Tokens with unknown keys must not make this server flood an issuer. */
const FETCH_PAUSE_MS = 1000;

export interface RemoteKeysOptions {
  readonly url: string;
  readonly get: HttpsGet;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The keys an issuer publishes, fetched when a token needs one that is not known yet. */
export class RemoteKeys {
  readonly #options: RemoteKeysOptions;
  #keys: readonly VerificationKey[] = [];
  #fetching: Promise<void> | undefined;
  #fetchedAtMs = -Infinity;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
  }

  async verifies(jwt: ParsedJwt): Promise<boolean> {
    if (this.#verifiesNow(jwt)) return true;
    await this.#refresh();
    return this.#verifiesNow(jwt);
  }

  #verifiesNow(jwt: ParsedJwt): boolean {
    return this.#keys.some(
      ({ id, key }) => (jwt.keyId === undefined || jwt.keyId === id) && verifyJwtWith(jwt, key),
    );
  }

  /** One fetch serves everyone who waits for it. The old keys stay while the issuer does not respond. */
  #refresh(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetch(): Promise<void> {
    const { url, get, clock, signal } = this.#options;
    const restMs = this.#fetchedAtMs + FETCH_PAUSE_MS - clock.monotonicMs();
    if (restMs > 0) await wait(clock, restMs, signal);
    this.#fetchedAtMs = clock.monotonicMs();
    this.#keys = readKeySet(await get(url, signal));
  }
}
