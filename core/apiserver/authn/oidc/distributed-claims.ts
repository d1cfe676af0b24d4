import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { wait } from '../../../base/wait.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { isJsonObject } from '../../../api/meta/index.ts';
import { parseJwt } from '../jwt.ts';
import type { HttpsGet } from './https-get.ts';
import type { Claims } from './identity.ts';
import type { Issuer } from './issuer.ts';

/** Issuers of claims that are followed at a time; a provider that names more is lying. */
const ISSUERS_MAX = 16;
/** How long a request waits for the discovery of an issuer that was not asked before. */
const DISCOVERY_MS_MAX = 5_000;

export interface DistributedClaimsOptions {
  /** The one claim that is looked for elsewhere. */
  readonly claim: string;
  readonly get: HttpsGet;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  createIssuer(url: string): Issuer;
}

/** The claims with the one that the token only points to (OpenID Connect Core, section 5.6.2). Rejects with one line. */
export type ExpandClaims = (claims: Claims) => Promise<Claims>;

interface Source {
  readonly endpoint: string;
  readonly accessToken: string;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Where the claim is; undefined where the token has it itself, or does not speak of it. */
const sourceOf = (claims: Claims, claim: string): Source | undefined => {
  if (Object.hasOwn(claims, claim) || !Object.hasOwn(claims, '_claim_names')) return undefined;
  const { _claim_names: names, _claim_sources: sources } = claims;
  if (!isJsonObject(names)) throw new Error('oidc: error parsing distributed claim names: not an object');
  if (sources === undefined) throw new Error('oidc: no claim sources');
  if (!isJsonObject(sources)) throw new Error('oidc: could not parse claim sources: not an object');
  if (!Object.hasOwn(names, claim)) return undefined;
  const name = textOf(names[claim]);
  const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (!isJsonObject(source))
    throw new Error(`id token _claim_names contained a source ${name} missing in _claims_sources`);
  const endpoint = textOf(source['endpoint']);
  // Without an endpoint it may be an aggregated claim, which upstream does not read either.
  return endpoint === '' ? undefined : { endpoint, accessToken: textOf(source['access_token']) };
};

export const createClaimExpansion = (options: DistributedClaimsOptions): ExpandClaims => {
  const { claim, get, clock, signal } = options;
  const issuers = new Map<string, Issuer>();

  const issuerOf = async (url: string): Promise<Issuer> => {
    let issuer = issuers.get(url);
    if (!issuer) {
      if (issuers.size >= ISSUERS_MAX) throw new Error(`more than ${ISSUERS_MAX} issuers of claims`);
      issuers.set(url, (issuer = options.createIssuer(url)));
    }
    if (issuer.problem !== undefined)
      await Promise.race([issuer.found(), wait(clock, DISCOVERY_MS_MAX, signal)]);
    if (issuer.problem !== undefined) throw new Error(`verifier not initialized for issuer: ${goQuote(url)}`);
    return issuer;
  };

  return async (claims) => {
    const source = sourceOf(claims, claim);
    if (!source) return claims;
    const { endpoint, accessToken } = source;
    const token = await get(endpoint, signal, accessToken).catch((cause: unknown) => {
      throw new Error(`while getting distributed claim ${goQuote(claim)}: ${messageOf(cause)}`, { cause });
    });
    const jwt = parseJwt(token.trim());
    if (!jwt)
      throw new Error(
        `getting untrusted issuer from endpoint ${endpoint} failed for claim ${goQuote(claim)}: malformed token`,
      );
    const url = textOf(jwt.claims['iss']);
    const issuer = await issuerOf(url).catch((cause: unknown) => {
      throw new Error(`verifying untrusted issuer ${url} failed: ${messageOf(cause)}`, { cause });
    });
    const problem = await issuer.problemWith(jwt);
    if (problem !== undefined) throw new Error(`verify distributed claim token: ${problem}`);
    if (!Object.hasOwn(jwt.claims, claim))
      throw new Error(
        `jwt returned by distributed claim endpoint ${goQuote(endpoint)} did not contain claim: ${claim}`,
      );
    return { ...claims, [claim]: jwt.claims[claim] };
  };
};
