import type { Clock } from '../../base/clock.ts';
import { hasReason } from '../../base/errors.ts';
import type { IdToken } from './id-token.ts';
import { renew, signIn, type SignInOptions, type Tokens } from './sign-in.ts';
import { openTokenCache } from './token-cache.ts';

/** A token that expires while a request is on its way is of no use. */
const LEFT_MS_MIN = 10_000;

export interface HeldTokenOptions extends Pick<SignInOptions, 'provider' | 'clock' | 'signal'> {
  readonly cacheFolder: string;
}

export interface GetTokenOptions extends SignInOptions, HeldTokenOptions {
  /** The person asked for a new sign-in, perhaps as somebody else. */
  readonly isNewSignIn?: boolean;
}

const isGood = ({ idToken }: Tokens, clock: Clock): boolean =>
  idToken.expiresAtMs - clock.nowMs() > LEFT_MS_MIN;

const renewed = (
  kept: Tokens | undefined,
  { provider, signal }: HeldTokenOptions,
): Promise<Tokens | undefined> =>
  kept === undefined || kept.refreshToken === ''
    ? Promise.resolve(undefined)
    : renew(provider, kept.refreshToken, signal).catch((error: unknown) => {
        // A provider that is down stays down for a browser, too; only a refusal asks the person.
        if (hasReason(error, 'Denied') || hasReason(error, 'BadToken')) return undefined;
        throw error;
      });

/** As `getToken`, but undefined where a person would have to sign in. */
export const heldToken = async (options: HeldTokenOptions): Promise<IdToken | undefined> => {
  const { provider, clock, signal } = options;
  const cache = openTokenCache(options.cacheFolder, provider, clock);
  const known = await cache.read();
  if (!known || isGood(known, clock)) return known?.idToken;
  return cache.alone(async () => {
    const kept = await cache.read();
    if (kept && isGood(kept, clock)) return kept.idToken;
    const tokens = await renewed(kept, options);
    if (tokens) await cache.write(tokens);
    return tokens?.idToken;
  }, signal);
};

/** An ID token that is still good: the cached one, a renewed one, or one of a new sign-in. */
export const getToken = async (options: GetTokenOptions): Promise<IdToken> => {
  const { provider, clock, signal, isNewSignIn = false } = options;
  const cache = openTokenCache(options.cacheFolder, provider, clock);
  const known = await cache.read();
  if (!isNewSignIn && known && isGood(known, clock)) return known.idToken;
  return cache.alone(async () => {
    // Another process may have signed in while this one waited.
    const kept = isNewSignIn ? undefined : await cache.read();
    if (kept && isGood(kept, clock)) return kept.idToken;
    const tokens = (await renewed(kept, options)) ?? (await signIn(options));
    await cache.write(tokens);
    return tokens.idToken;
  }, signal);
};
