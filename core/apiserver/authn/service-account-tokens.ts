import { randomUUID, type KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { authenticationFailed, NO_NOTES, type CredentialNotes } from './authenticator.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import { keyIdOf, parseJwt, signJwt, verifyJwt } from './jwt.ts';
import { LEGACY_ISSUER, validateLegacyClaims, type OnLegacyToken } from './legacy-token-claims.ts';
import {
  readClaims,
  validateClaims,
  type BoundReference,
  type ServiceAccountClaims,
  type TokenObjectGetter,
} from './service-account-claims.ts';
import type { TokenCounters } from './token-counters.ts';
import { serviceAccountUsername, type UserInfo } from '../server/user.ts';

export interface ServiceAccountTokenOptions {
  /** The first signs new tokens; all are accepted. Upstream's --service-account-issuer, given once or more. */
  readonly issuers: readonly string[];
  /** Upstream's --api-audiences; absent: the issuers. */
  readonly audiences?: readonly string[];
  /** Public keys; more than one while a key is replaced. */
  readonly verificationKeys: readonly KeyObject[];
  readonly getObject: TokenObjectGetter;
  /** Told of each token of a secret that is looked up. */
  readonly onLegacyToken?: OnLegacyToken;
  readonly counters?: TokenCounters;
  readonly clock: Clock;
}

export interface VerifiedToken {
  readonly user: UserInfo;
  /** Those of the token that were asked for. */
  readonly audiences: readonly string[];
}

export interface ServiceAccountTokens {
  /** For requests: the token must be for this API server. */
  readonly authenticate: TokenAuthenticator;
  /** For TokenReview, which may ask for other audiences. Undefined: no token of our issuers. */
  review(token: string, audiences?: readonly string[]): Promise<VerifiedToken | undefined>;
}

const quoteList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;

const wrongAudience = (named: readonly string[], wanted: readonly string[]) =>
  authenticationFailed(
    `token audiences ${quoteList(named)} is invalid for the target audiences ${quoteList(wanted)}`,
  );

export const createServiceAccountTokens = (options: ServiceAccountTokenOptions): ServiceAccountTokens => {
  const { issuers, verificationKeys, getObject, onLegacyToken, counters, clock } = options;
  const ownAudiences = options.audiences ?? issuers;
  const keys = verificationKeys.map((key) => ({ key, id: keyIdOf(key) }));
  /** The key that the token names, or all where it names none of ours. */
  const candidates = (keyId: string | undefined): readonly KeyObject[] => {
    const named = keys.filter(({ id }) => id === keyId);
    return (named.length > 0 ? named : keys).map(({ key }) => key);
  };

  /** A pod's token is good for a year, but should have been read again after an hour. */
  const noteAge = ({ subject, warnAfterSeconds }: ServiceAccountClaims, notes: CredentialNotes): void => {
    if (!warnAfterSeconds) return;
    const late = Math.floor(clock.nowMs() / 1000) - warnAfterSeconds;
    if (clock.nowMs() <= warnAfterSeconds * 1000) return counters?.valid.inc();
    counters?.stale.inc();
    notes.annotate(
      'authentication.k8s.io/stale-token',
      `subject: ${subject}, seconds after warning threshold: ${late}`,
    );
  };

  const review = async (
    token: string,
    wanted: readonly string[] = ownAudiences,
    notes: CredentialNotes = NO_NOTES,
  ): Promise<VerifiedToken | undefined> => {
    const jwt = parseJwt(token);
    if (!jwt) return undefined;
    const issuer = jwt.claims['iss'];
    const isLegacy = issuer === LEGACY_ISSUER;
    if (typeof issuer !== 'string' || (!isLegacy && !issuers.includes(issuer))) return undefined;
    if (!candidates(jwt.keyId).some((key) => verifyJwt(jwt, key)))
      throw authenticationFailed('the signature of the token is of none of the known keys');
    if (isLegacy) {
      notes.annotate('authentication.k8s.io/legacy-token', String(jwt.claims['sub'] ?? ''));
      counters?.legacy.inc();
      // A token of a secret names no audience: it is for this API.
      const audiences = ownAudiences.filter((one) => wanted.includes(one));
      if (audiences.length === 0) throw wrongAudience(ownAudiences, wanted);
      return {
        user: await validateLegacyClaims(token, jwt.claims, getObject, onLegacyToken, notes),
        audiences,
      };
    }
    const claims = readClaims(jwt.claims);
    if (!claims) throw authenticationFailed('the token has no claims of a service account');
    if (claims.subject !== serviceAccountUsername(claims.namespace, claims.serviceAccount.name))
      throw authenticationFailed('the subject of the token is not its service account');
    const audiences = claims.audiences.filter((one) => wanted.includes(one));
    if (audiences.length === 0) throw wrongAudience(claims.audiences, wanted);
    const user = await validateClaims(claims, getObject, clock);
    noteAge(claims, notes);
    return { user, audiences };
  };
  return {
    authenticate: async (token, notes) => (await review(token, undefined, notes))?.user,
    review: (token, wanted) => review(token, wanted),
  };
};

/** Bounds of TokenRequest: validation refuses what is outside, with these texts. */
export const TOKEN_EXPIRATION_SECONDS_MIN = 10 * 60;
export const TOKEN_EXPIRATION_SECONDS_MAX = 2 ** 32;
export const TOKEN_EXPIRATION_SECONDS_DEFAULT = 60 * 60;

/** Undefined: the expiration is allowed. */
export const expirationProblem = (seconds: number): string | undefined => {
  if (seconds < TOKEN_EXPIRATION_SECONDS_MIN) return 'may not specify a duration less than 10 minutes';
  if (seconds > TOKEN_EXPIRATION_SECONDS_MAX) return 'may not specify a duration larger than 2^32 seconds';
  return undefined;
};

/** What admission asks for in the token of a pod; other durations are meant as they are. */
const POD_TOKEN_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 60 * 60;

export interface TokenSignerOptions {
  readonly issuer: string;
  readonly privateKey: KeyObject;
  readonly clock: Clock;
  /** Upstream's --service-account-max-token-expiration: longer requests are cut to it. */
  readonly expirationSecondsMax?: number;
  /** For tokens that ask for none; absent: the issuer. */
  readonly audiences?: readonly string[];
  /**
   * Upstream's --service-account-extend-token-expiration: a pod's token for this API is good for a year, so that old
   * programs that read it only once continue working; it says itself from when on it should have been renewed.
   */
  readonly extendsPodTokens?: boolean;
}

export interface TokenOrder {
  readonly namespace: string;
  readonly serviceAccount: BoundReference;
  readonly expirationSeconds: number;
  readonly audiences?: readonly string[];
  readonly pod?: BoundReference;
  readonly secret?: BoundReference;
  readonly node?: BoundReference;
}

export interface IssuedToken {
  readonly token: string;
  /** As audit events name it. */
  readonly credentialId: string;
  readonly expirationTimestampMs: number;
  readonly audiences: readonly string[];
}

export type TokenSigner = (order: TokenOrder) => IssuedToken;

/** Signs what TokenRequest asks for. Whether it may be asked for is settled before. */
export const createTokenSigner = (options: TokenSignerOptions): TokenSigner => {
  const { issuer, privateKey, clock, expirationSecondsMax = Infinity } = options;
  return (order) => {
    const { namespace, serviceAccount, pod, secret, node } = order;
    const ownAudiences = options.audiences ?? [issuer];
    const audiences = order.audiences?.length ? order.audiences : ownAudiences;
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const expirySeconds = nowSeconds + Math.min(order.expirationSeconds, expirationSecondsMax);
    const isExtended =
      options.extendsPodTokens === true &&
      pod !== undefined &&
      order.expirationSeconds === POD_TOKEN_SECONDS &&
      audiences.every((audience) => ownAudiences.includes(audience));
    const id = randomUUID();
    const token = signJwt(
      {
        aud: audiences,
        exp: isExtended ? nowSeconds + EXTENDED_SECONDS : expirySeconds,
        iat: nowSeconds,
        iss: issuer,
        jti: id,
        'kubernetes.io': {
          namespace,
          ...(node && { node }),
          ...(pod && { pod }),
          ...(secret && { secret }),
          serviceaccount: serviceAccount,
          ...(isExtended && { warnafter: expirySeconds }),
        },
        nbf: nowSeconds,
        sub: serviceAccountUsername(namespace, serviceAccount.name),
      },
      privateKey,
    );
    return { token, credentialId: `JTI=${id}`, expirationTimestampMs: expirySeconds * 1000, audiences };
  };
};
