import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';

const SECRET_BYTES = 32;
const MINUTE_MS = 60 * 1000;
export const TOKEN_VALIDITY_MS = 30 * MINUTE_MS;
export const SESSION_IDLE_MS = 12 * 60 * MINUTE_MS;
/** Links that were printed and not used yet; a new one beyond this voids the oldest. */
const TOKENS_MAX = 8;
/** Browsers that are signed in; one more signs out the one that was idle longest. */
const SESSIONS_MAX = 16;

interface Secret {
  readonly hash: Buffer;
  expiresAtMs: number;
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Secrets that open something until they expire. Only hashes are kept, so memory holds nothing that could be
 * presented; every known hash is compared in constant time.
 */
class SecretSet {
  readonly #clock: Clock;
  readonly #max: number;
  #known: Secret[] = [];

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#alive().length;
  }

  issue(validityMs: number): string {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const fresh = { hash: hashOf(secret), expiresAtMs: this.#clock.monotonicMs() + validityMs };
    this.#known = [...this.#alive(), fresh].sort((a, b) => a.expiresAtMs - b.expiresAtMs).slice(-this.#max);
    return secret;
  }

  find(presented: string): Secret | undefined {
    const hash = hashOf(presented);
    let found: Secret | undefined;
    for (const secret of this.#alive()) if (timingSafeEqual(secret.hash, hash)) found = secret;
    return found;
  }

  take(presented: string): boolean {
    const found = this.find(presented);
    this.#known = this.#known.filter((secret) => secret !== found);
    return found !== undefined;
  }

  #alive(): Secret[] {
    return this.#known.filter(({ expiresAtMs }) => expiresAtMs > this.#clock.monotonicMs());
  }
}

/** Who may use the console: a one-time token from the terminal buys a session for one browser. */
export interface Access {
  mintToken(): string;
  /** The session's secret, or undefined for a token that is unknown, used or expired. */
  redeem(token: string): string | undefined;
  /** Whether the session is open; keeps it open for another while. */
  admits(session: string | undefined): boolean;
  readonly sessionCount: number;
}

export const createAccess = (clock: Clock): Access => {
  const tokens = new SecretSet(clock, TOKENS_MAX);
  const sessions = new SecretSet(clock, SESSIONS_MAX);
  return {
    mintToken: () => tokens.issue(TOKEN_VALIDITY_MS),
    redeem: (token) => (tokens.take(token) ? sessions.issue(SESSION_IDLE_MS) : undefined),
    admits(presented) {
      const session = presented === undefined ? undefined : sessions.find(presented);
      if (session) session.expiresAtMs = clock.monotonicMs() + SESSION_IDLE_MS;
      return session !== undefined;
    },
    get sessionCount() {
      return sessions.size;
    },
  };
};
