import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { wait } from '../../../base/wait.ts';
import { isJsonObject } from '../../../api/meta/index.ts';
import { isJwtAlgorithm, type JwtAlgorithm, type ParsedJwt } from '../jwt.ts';
import type { HttpsGet } from './https-get.ts';
import { RemoteKeys } from './remote-keys.ts';

const RETRY_MS = 10_000;
/** As upstream's library: a clock that runs ahead must not make new tokens fail. */
const NOT_BEFORE_LEEWAY_SECONDS = 5 * 60;
const SECOND_MS = 1000;

export interface IssuerOptions {
  readonly url: string;
  /** Where its configuration is, if not below the issuer itself. */
  readonly discoveryUrl?: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly JwtAlgorithm[];
  readonly get: HttpsGet;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const audiencesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string');

/** An OpenID Connect issuer: found in the background, because it may run in this very cluster. */
export class Issuer {
  readonly #options: IssuerOptions;
  #keys: RemoteKeys | undefined;
  #problem: string;
  readonly #found: Promise<void>;

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#problem = `oidc: authenticator for issuer "${options.url}" is not initialized`;
    this.#found = this.#discover();
  }

  /** Undefined once the issuer was found. */
  get problem(): string | undefined {
    return this.#keys ? undefined : this.#problem;
  }

  /** Resolves when the issuer was found, or when it is given up. */
  found(): Promise<void> {
    return this.#found;
  }

  async #discover(): Promise<void> {
    const { signal, clock, log, url } = this.#options;
    while (!signal.aborted) {
      try {
        this.#keys = await this.#discoverOnce();
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#problem = messageOf(error);
        log.write('warn', 'oidc: cannot reach an issuer; its tokens are rejected until it answers', {
          issuer: url,
          error: this.#problem,
        });
      }
      await wait(clock, RETRY_MS, signal);
    }
  }

  async #discoverOnce(): Promise<RemoteKeys> {
    const { url, discoveryUrl, get, clock, signal } = this.#options;
    const from = discoveryUrl ?? `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const document: unknown = JSON.parse(await get(from, signal));
    const { issuer, jwks_uri: keysUrl } = isJsonObject(document) ? document : {};
    if (issuer !== url)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(url)} got ${JSON.stringify(issuer ?? '')}`,
      );
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://'))
      throw new Error('provider did not return JWKS URL');
    return new RemoteKeys({ url: keysUrl, get, clock, signal });
  }

  /** Why a token is not one of this issuer's for us, as upstream says it; undefined: it is verified. */
  async problemWith(jwt: ParsedJwt): Promise<string | undefined> {
    if (!this.#keys) return 'oidc: authenticator not initialized';
    const { audiences, algorithms, clock } = this.#options;
    const verify = (problem: string): string => `oidc: verify token: ${problem}`;
    const { claims, algorithm } = jwt;
    const own = audiencesOf(claims['aud']);
    if (!own.some((audience) => audiences.includes(audience)))
      return verify(`oidc: expected audience in ${JSON.stringify(audiences)} got ${JSON.stringify(own)}`);
    const nowSeconds = clock.nowMs() / SECOND_MS;
    const { exp, nbf } = claims;
    if (typeof exp !== 'number' || exp < nowSeconds)
      return verify(
        `oidc: token is expired${typeof exp === 'number' ? ` (Token Expiry: ${new Date(exp * SECOND_MS).toISOString()})` : ''}`,
      );
    if (typeof nbf === 'number' && nowSeconds + NOT_BEFORE_LEEWAY_SECONDS < nbf)
      return verify('oidc: current time is before the nbf (not before) time');
    if (!isJwtAlgorithm(algorithm) || !algorithms.includes(algorithm))
      return verify(
        `oidc: id token signed with unsupported algorithm, expected ${JSON.stringify(algorithms)} got ${JSON.stringify(algorithm)}`,
      );
    try {
      return (await this.#keys.verifies(jwt)) ? undefined : verify('failed to verify signature');
    } catch (error) {
      return verify(`failed to verify signature: fetching keys ${messageOf(error)}`);
    }
  }
}
