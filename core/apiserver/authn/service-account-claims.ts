import type { Clock } from '../../base/clock.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import { authenticationFailed } from './authenticator.ts';
import {
  CREDENTIAL_ID_KEY,
  serviceAccountGroups,
  serviceAccountUsername,
  userInfo,
  type UserInfo,
} from '../server/user.ts';

export interface BoundReference {
  readonly name: string;
  readonly uid: string;
}

/** What a token says about whom it is for. */
export interface ServiceAccountClaims {
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly id: string;
  readonly expirySeconds: number | undefined;
  readonly notBeforeSeconds: number | undefined;
  readonly issuedAtSeconds: number | undefined;
  readonly namespace: string;
  readonly serviceAccount: BoundReference;
  readonly pod: BoundReference | undefined;
  readonly secret: BoundReference | undefined;
  readonly node: BoundReference | undefined;
  /** When a token that is good for longer should have been renewed. */
  readonly warnAfterSeconds?: number | undefined;
}

/** An object that a token depends on. */
export interface TokenObject {
  readonly uid: string;
  /** Set while it is being deleted. */
  readonly deletedAtMs?: number;
  /** Of a secret: the token that it holds. */
  readonly token?: string;
  /** Of a secret: whether the cleaner of unused tokens has put it out of use. */
  readonly isMarkedInvalid?: boolean;
  /** Of a secret: the day on which its token was last seen, as its label says. */
  readonly lastUsed?: string;
  /** Of an account: the secrets that were generated for it. */
  readonly secretNames?: readonly string[];
}

export type TokenObjectKind = 'ServiceAccount' | 'Pod' | 'Secret' | 'Node';

/** Looks up what a token is bound to; undefined: there is none. */
export type TokenObjectGetter = (
  kind: TokenObjectKind,
  key: { readonly namespace: string; readonly name: string },
) => TokenObject | undefined | Promise<TokenObject | undefined>;

const SECOND_MS = 1000;
/** For clocks of control-plane hosts that differ a little. */
export const LEEWAY_MS = 60 * SECOND_MS;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const referenceOf = (value: unknown): BoundReference | undefined =>
  isJsonObject(value) ? { name: textOf(value['name']), uid: textOf(value['uid']) } : undefined;

/** Undefined where the private claims of a service account are missing. */
export const readClaims = (claims: Readonly<Record<string, unknown>>): ServiceAccountClaims | undefined => {
  const own = claims['kubernetes.io'];
  if (!isJsonObject(own)) return undefined;
  const serviceAccount = referenceOf(own['serviceaccount']);
  if (!serviceAccount) return undefined;
  const audience = claims['aud'];
  return {
    subject: textOf(claims['sub']),
    audiences: (Array.isArray(audience) ? audience : [audience]).filter(
      (one): one is string => typeof one === 'string',
    ),
    id: textOf(claims['jti']),
    expirySeconds: numberOf(claims['exp']),
    notBeforeSeconds: numberOf(claims['nbf']),
    issuedAtSeconds: numberOf(claims['iat']),
    namespace: textOf(own['namespace']),
    serviceAccount,
    pod: referenceOf(own['pod']),
    secret: referenceOf(own['secret']),
    node: referenceOf(own['node']),
    warnAfterSeconds: numberOf(own['warnafter']),
  };
};

const checkTimes = (claims: ServiceAccountClaims, nowMs: number): void => {
  const { expirySeconds, notBeforeSeconds, issuedAtSeconds } = claims;
  // Upstream signs none without; a token that never ends is not one of ours.
  if (expirySeconds === undefined || nowMs - LEEWAY_MS > expirySeconds * SECOND_MS)
    throw authenticationFailed('service account token has expired');
  if (notBeforeSeconds !== undefined && nowMs + LEEWAY_MS < notBeforeSeconds * SECOND_MS)
    throw authenticationFailed('service account token is not valid yet');
  if (issuedAtSeconds !== undefined && nowMs + LEEWAY_MS < issuedAtSeconds * SECOND_MS)
    throw authenticationFailed('service account token is issued in the future');
};

const INVALIDATED = 'service account token has been invalidated';

/** Checks times and every object that the token is bound to, and says whom it speaks for. */
export const validateClaims = async (
  claims: ServiceAccountClaims,
  get: TokenObjectGetter,
  clock: Clock,
): Promise<UserInfo> => {
  const nowMs = clock.nowMs();
  checkTimes(claims, nowMs);
  const { namespace, serviceAccount, pod, secret, node } = claims;
  const isDeleted = ({ deletedAtMs }: TokenObject): boolean =>
    deletedAtMs !== undefined && deletedAtMs < nowMs - LEEWAY_MS;

  const account = await get('ServiceAccount', { namespace, name: serviceAccount.name });
  if (!account) throw authenticationFailed(`serviceaccounts "${serviceAccount.name}" not found`);
  if (account.uid !== serviceAccount.uid)
    throw authenticationFailed(
      `service account UID (${account.uid}) does not match claim (${serviceAccount.uid})`,
    );
  if (isDeleted(account))
    throw authenticationFailed(`service account ${namespace}/${serviceAccount.name} has been deleted`);

  const checkBound = async (kind: TokenObjectKind, reference: BoundReference): Promise<void> => {
    const word = kind.toLowerCase();
    const found = await get(kind, { namespace: kind === 'Node' ? '' : namespace, name: reference.name });
    if (!found) throw authenticationFailed(INVALIDATED);
    if (found.uid !== reference.uid)
      throw authenticationFailed(
        `${word} UID (${found.uid}) does not match service account ${word} ref claim (${reference.uid})`,
      );
    if (isDeleted(found)) throw authenticationFailed(INVALIDATED);
  };
  if (secret) await checkBound('Secret', secret);
  if (pod) await checkBound('Pod', pod);
  // A token of a pod names its node for information; only one of a node alone depends on it.
  else if (node) await checkBound('Node', node);

  const extra: Record<string, string[]> = {
    ...(pod && {
      'authentication.kubernetes.io/pod-name': [pod.name],
      'authentication.kubernetes.io/pod-uid': [pod.uid],
    }),
    ...(node && {
      'authentication.kubernetes.io/node-name': [node.name],
      'authentication.kubernetes.io/node-uid': [node.uid],
    }),
    ...(claims.id !== '' && { [CREDENTIAL_ID_KEY]: [`JTI=${claims.id}`] }),
  };
  return userInfo(serviceAccountUsername(namespace, serviceAccount.name), serviceAccountGroups(namespace), {
    uid: serviceAccount.uid,
    extra,
  });
};
