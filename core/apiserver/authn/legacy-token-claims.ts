import { goQuote } from '../../api/validation/go-text.ts';
import { authenticationFailed } from './authenticator.ts';
import type { TokenObjectGetter } from './service-account-claims.ts';
import { serviceAccountGroups, serviceAccountUsername, userInfo, type UserInfo } from './user.ts';

/** Of tokens that are kept in secrets, whatever issuer a cluster has given itself. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount';
const CLAIM = 'kubernetes.io/serviceaccount';

const claimOf = (claims: Readonly<Record<string, unknown>>, name: string): string => {
  const value = claims[name];
  return typeof value === 'string' ? value : '';
};

const required = (claims: Readonly<Record<string, unknown>>, name: string, word: string): string => {
  const value = claimOf(claims, name);
  if (value === '') throw authenticationFailed(`${word} claim is missing`);
  return value;
};

/** The token of a secret was presented. */
export interface LegacyTokenUse {
  readonly namespace: string;
  readonly secretName: string;
  readonly secretUid: string;
  readonly lastUsed: string;
  /** `auto`: generated for its account before 1.24; `invalid`: put out of use by the cleaner. */
  readonly kind: 'auto' | 'manual' | 'invalid';
}
export type OnLegacyToken = (use: LegacyTokenUse) => void;

/**
 * Whom a token of a secret speaks for. It has no end of its own: it is good as long as its secret holds it and its
 * service account is the one it was made for.
 */
export const validateLegacyClaims = async (
  token: string,
  claims: Readonly<Record<string, unknown>>,
  get: TokenObjectGetter,
  onUsed: OnLegacyToken = () => undefined,
): Promise<UserInfo> => {
  const subject = required(claims, 'sub', 'sub');
  const namespace = required(claims, `${CLAIM}/namespace`, 'namespace');
  const secretName = required(claims, `${CLAIM}/secret.name`, 'secretName');
  const name = required(claims, `${CLAIM}/service-account.name`, 'serviceAccountName');
  const uid = required(claims, `${CLAIM}/service-account.uid`, 'serviceAccountUID');
  if (subject !== serviceAccountUsername(namespace, name)) throw authenticationFailed('sub claim is invalid');

  const secret = await get('Secret', { namespace, name: secretName });
  if (!secret || secret.deletedAtMs !== undefined) throw authenticationFailed('Token has been invalidated');
  if (secret.token !== token) throw authenticationFailed("Token does not match server's copy");
  const account = await get('ServiceAccount', { namespace, name });
  if (!account) throw authenticationFailed(`serviceaccounts ${goQuote(name)} not found`);
  if (account.deletedAtMs !== undefined)
    throw authenticationFailed(`ServiceAccount ${namespace}/${name} has been deleted`);
  if (account.uid !== uid)
    throw authenticationFailed(`ServiceAccount UID (${account.uid}) does not match claim (${uid})`);
  const isGenerated = account.secretNames?.includes(secretName) === true;
  onUsed({
    namespace,
    secretName,
    secretUid: secret.uid,
    lastUsed: secret.lastUsed ?? '',
    kind: secret.isMarkedInvalid === true ? 'invalid' : isGenerated ? 'auto' : 'manual',
  });
  if (secret.isMarkedInvalid === true)
    throw authenticationFailed(
      `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. ` +
        "Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' " +
        'label from the secret to temporarily allow use of this token',
    );
  return userInfo(subject, serviceAccountGroups(namespace), { uid });
};
