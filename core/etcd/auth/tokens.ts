import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const PREFIX_LETTERS = 16;
/** Beyond this many the token that was not used for longest is void; its client authenticates again. */
const TOKENS_MAX = 100_000;

interface Token {
  readonly user: string;
  expiresMs: number;
}

/**
 * Simple tokens: a random prefix, and the index of the entry that issued it. Every member learns of them from the log;
 * none outlives a restart. Each use renews a token.
 */
export class SimpleTokens {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  /** In order of their last use, so that the ones that expire first come first. */
  readonly #tokens = new Map<string, Token>();

  constructor(options: { readonly clock: Clock; readonly ttlMs: number }) {
    this.#clock = options.clock;
    this.#ttlMs = options.ttlMs;
  }

  get count(): number {
    return this.#tokens.size;
  }

  assign(user: string, prefix: string, index: number): string {
    const token = `${prefix}.${index}`;
    this.#set(token, user);
    this.#purge();
    return token;
  }

  /** Whose it is; undefined where it is unknown or expired. */
  userOf(token: string): string | undefined {
    const known = this.#tokens.get(token);
    if (known === undefined) return undefined;
    this.#tokens.delete(token);
    if (known.expiresMs <= this.#clock.monotonicMs()) return undefined;
    this.#set(token, known.user);
    return known.user;
  }

  /** Void from now on: those of one user, or all. */
  invalidate(user: string | undefined): void {
    if (user === undefined) return this.#tokens.clear();
    for (const [token, { user: owner }] of this.#tokens) if (owner === user) this.#tokens.delete(token);
  }

  #set(token: string, user: string): void {
    this.#tokens.set(token, { user, expiresMs: this.#clock.monotonicMs() + this.#ttlMs });
  }

  #purge(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [token, { expiresMs }] of this.#tokens) {
      if (expiresMs > nowMs && this.#tokens.size <= TOKENS_MAX) return;
      this.#tokens.delete(token);
    }
  }
}

export const tokenPrefix = (random: Random): string =>
  Array.from({ length: PREFIX_LETTERS }, () => LETTERS[random.below(LETTERS.length)]!).join('');

/** The index in a simple token; undefined where it has another form. */
export const tokenIndex = (token: string): number | undefined => {
  const match = /^[^.]*\.(\d{1,15})$/.exec(token);
  return match === null ? undefined : Number(match[1]);
};
