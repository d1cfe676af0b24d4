import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { readIdToken, type IdToken } from './id-token.ts';
import { findProvider, signInError, type ProviderConfig } from './provider.ts';
import { openRedirect } from './redirect.ts';

/** A person looks for a password, perhaps for a second factor; kubelogin's limit. */
export const SIGN_IN_MS_MAX = 180_000;

export interface Tokens {
  readonly idToken: IdToken;
  /** Empty where the provider gives none: the person signs in again when the ID token expires. */
  readonly refreshToken: string;
}

export interface SignInOptions {
  readonly provider: ProviderConfig;
  readonly listenAddresses: readonly string[];
  /** Shows the provider's page to the person. */
  openBrowser(url: string): void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const random = (): string => randomBytes(32).toString('base64url');

const authorizationUrl = (
  endpoint: string,
  { clientId, extraScopes }: ProviderConfig,
  parts: {
    readonly redirectUrl: string;
    readonly state: string;
    readonly nonce: string;
    readonly verifier: string;
  },
): string => {
  const url = new URL(endpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: parts.redirectUrl,
    scope: [...new Set(['openid', ...extraScopes])].join(' '),
    state: parts.state,
    nonce: parts.nonce,
    code_challenge: createHash('sha256').update(parts.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    // Providers give a refresh token only to people who agreed to it.
    ...(extraScopes.includes('offline_access') && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.toString();
};

/** One sign-in, from the browser's first page to verified tokens. */
export const signIn = async ({ provider: config, ...options }: SignInOptions): Promise<Tokens> => {
  const { clock, signal } = options;
  const provider = await findProvider(config, signal);
  const redirect = await openRedirect(options.listenAddresses);
  let stop: () => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const timer = clock.after(SIGN_IN_MS_MAX, () =>
      reject(signInError('TimedOut', `no sign-in within ${SIGN_IN_MS_MAX / 1000} seconds; try again`)),
    );
    const aborted = (): void => reject(signInError('TimedOut', 'the sign-in was cancelled'));
    signal.addEventListener('abort', aborted, { once: true });
    stop = () => {
      timer.dispose();
      signal.removeEventListener('abort', aborted);
    };
  });
  try {
    const [state, nonce, verifier] = [random(), random(), random()];
    const arriving = redirect.code(state);
    const parts = { redirectUrl: redirect.url, state, nonce, verifier };
    options.openBrowser(authorizationUrl(provider.authorizationEndpoint, config, parts));
    const code = await Promise.race([arriving, late]);
    const { idToken, refreshToken } = await provider.grant(
      { grant_type: 'authorization_code', code, redirect_uri: redirect.url, code_verifier: verifier },
      signal,
    );
    return { idToken: readIdToken(idToken, { ...config, nonce }), refreshToken };
  } finally {
    late.catch(() => undefined);
    stop();
    redirect.dispose();
  }
};

/** New tokens for a refresh token. Rejects with `Denied` when the person has to sign in again. */
export const renew = async (
  config: ProviderConfig,
  refreshToken: string,
  signal: AbortSignal,
): Promise<Tokens> => {
  const provider = await findProvider(config, signal);
  const answer = await provider.grant({ grant_type: 'refresh_token', refresh_token: refreshToken }, signal);
  return {
    idToken: readIdToken(answer.idToken, config),
    // A provider that does not rotate refresh tokens sends none.
    refreshToken: answer.refreshToken || refreshToken,
  };
};
