import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { authenticationFailed } from '../authenticator.ts';
import type { TokenAuthenticator } from '../bearer-token.ts';
import { parseJwt, type JwtAlgorithm } from '../jwt.ts';
import type { CompiledAuthenticator } from './compile.ts';
import { createClaimExpansion, type ExpandClaims } from './distributed-claims.ts';
import { createHttpsGet, type HttpsGet } from './https-get.ts';
import { identityOf } from './identity.ts';
import { Issuer } from './issuer.ts';

export interface OidcAuthenticator extends Disposable {
  readonly authenticate: TokenAuthenticator;
  /** Undefined while tokens of the issuer can be verified. */
  readonly problem: string | undefined;
  /** Resolves when the issuer was found, or when the authenticator is disposed. */
  found(): Promise<void>;
}

export interface OidcOptions {
  readonly compiled: CompiledAuthenticator;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly clock: Clock;
  readonly log: Log;
  /** For tests; otherwise HTTPS with the authority of the configuration. */
  readonly get?: HttpsGet;
}

/** The old name under which one large issuer still signs some tokens. */
const issuerOf = (claim: unknown): unknown =>
  claim === 'accounts.google.com' ? 'https://accounts.google.com' : claim;

/** Accepts ID tokens of one OpenID Connect issuer. Tokens of other issuers are left to others. */
export const createOidcAuthenticator = (options: OidcOptions): OidcAuthenticator => {
  const { compiled, algorithms, clock, log } = options;
  const { issuer: settings, claimMappings } = compiled.authenticator;
  const { url, discoveryUrl, audiences, certificateAuthority } = settings;
  const life = new AbortController();
  const get = options.get ?? createHttpsGet(certificateAuthority === '' ? {} : { certificateAuthority });
  const common = { audiences, algorithms, get, clock, log, signal: life.signal };
  const issuer = new Issuer({ ...common, url, ...(discoveryUrl !== '' && { discoveryUrl }) });
  const { claim } = claimMappings.groups;
  // As upstream: groups alone may be kept elsewhere, and only where a claim names them.
  const expand: ExpandClaims =
    claim === ''
      ? (claims) => Promise.resolve(claims)
      : createClaimExpansion({
          claim,
          get,
          clock,
          signal: life.signal,
          createIssuer: (other) => new Issuer({ ...common, url: other }),
        });
  return {
    async authenticate(token) {
      const jwt = parseJwt(token);
      if (!jwt || issuerOf(jwt.claims['iss']) !== url) return undefined;
      const problem = await issuer.problemWith(jwt);
      if (problem !== undefined) throw authenticationFailed(problem);
      const claims = await expand(jwt.claims).catch((cause: unknown) => {
        throw authenticationFailed(`oidc: could not expand distributed claims: ${messageOf(cause)}`);
      });
      return identityOf(compiled, claims);
    },
    get problem() {
      return issuer.problem;
    },
    found: () => issuer.found(),
    dispose: () => life.abort(),
  };
};
