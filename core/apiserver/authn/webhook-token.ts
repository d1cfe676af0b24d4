import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';
import { authenticationFailed } from './authenticator.ts';
import { userInfo, type UserInfo } from '../server/user.ts';

export interface WebhookTokenOptions {
  readonly version: 'v1' | 'v1beta1';
  /** How long an answer is believed; 0: every token is asked about. */
  readonly cacheTtlMs: number;
  /** Audiences of this API: the webhook says for which of them a token is. */
  readonly audiences: readonly string[];
  /** Sends a TokenReview and answers the review that comes back. */
  readonly post: (review: object) => Promise<KubernetesObject>;
  readonly clock: Clock;
}

export interface WebhookTokenReview {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

/** Undefined: the webhook does not know the token. Throws `AuthenticationFailed` where it cannot be asked. */
export type WebhookTokens = (
  token: string,
  audiences: readonly string[] | undefined,
) => Promise<WebhookTokenReview | undefined>;

const CACHED_MAX = 4096;

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

const userOf = (value: unknown): UserInfo => {
  const user = isJsonObject(value) ? value : {};
  const { username, uid, groups, extra } = user;
  if (typeof username !== 'string' || username === '')
    throw authenticationFailed('webhook authenticator returned an empty user name');
  return userInfo(username, textsIn(groups), {
    uid: typeof uid === 'string' ? uid : '',
    extra: isJsonObject(extra)
      ? Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, textsIn(values)]))
      : {},
  });
};

const reviewed = (
  { status }: KubernetesObject,
  wanted: readonly string[],
): WebhookTokenReview | undefined => {
  if (!isJsonObject(status)) throw authenticationFailed('webhook authenticator answered without a status');
  const { authenticated, error, user, audiences } = status;
  if (authenticated !== true) {
    if (typeof error === 'string' && error !== '') throw authenticationFailed(error);
    return undefined;
  }
  // A webhook that says nothing about audiences vouches for this API alone.
  const named = textsIn(audiences);
  const common = named.length === 0 ? wanted : wanted.filter((one) => named.includes(one));
  return common.length === 0 ? undefined : { user: userOf(user), audiences: common };
};

/** Tokens that an HTTPS server of the user's knows (upstream's --authentication-token-webhook-config-file). */
export const webhookTokens = (options: WebhookTokenOptions): WebhookTokens => {
  const { version, cacheTtlMs, post, clock } = options;
  const cache = new Map<
    string,
    { readonly review: WebhookTokenReview | undefined; readonly untilMs: number }
  >();
  const ask = async (token: string, wanted: readonly string[]): Promise<KubernetesObject> => {
    const review = {
      kind: 'TokenReview',
      apiVersion: `authentication.k8s.io/${version}`,
      metadata: { creationTimestamp: null },
      spec: { token, audiences: wanted },
      status: { user: {} },
    };
    try {
      return await post(review);
    } catch (error) {
      throw authenticationFailed(messageOf(error), error);
    }
  };
  return async (token, audiences) => {
    const wanted = audiences ?? options.audiences;
    const key = createHash('sha256')
      .update(JSON.stringify([token, wanted]))
      .digest('base64');
    const known = cache.get(key);
    if (known && clock.monotonicMs() < known.untilMs) return known.review;
    cache.delete(key);
    const review = reviewed(await ask(token, wanted), wanted);
    if (cacheTtlMs > 0) {
      const oldest = cache.keys().next();
      if (cache.size >= CACHED_MAX && !oldest.done) cache.delete(oldest.value);
      cache.set(key, { review, untilMs: clock.monotonicMs() + cacheTtlMs });
    }
    return review;
  };
};
