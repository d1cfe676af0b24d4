import type { Clock } from '../../base/clock.ts';
import { isAlreadyExists, isNotFound } from '../../api/meta/index.ts';
import { SERVICE_ACCOUNT, type Client, type TokenSource } from '../../client/index.ts';

const NAMESPACE = 'kube-system';
const TOKEN_SECONDS = 3600;
/** Renewed after this share of its lifetime, as kubelets do. */
const REFRESH_AT = 0.8;

interface TokenRequest {
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token: string; readonly expirationTimestamp: string };
}

/**
 * Tokens of one service account, made by the manager's own identity: the account is created when it is missing, and a
 * token is asked for again before it ends or when it was refused.
 */
export const serviceAccountTokens = (manager: Client, name: string, clock: Clock): TokenSource => {
  let known: { readonly token: string; readonly untilMs: number } | undefined;
  let asking: Promise<string> | undefined;
  const accounts = manager.resource(SERVICE_ACCOUNT, NAMESPACE);

  const request = (): Promise<TokenRequest> =>
    accounts.createSubresource<object, TokenRequest>(name, 'token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS },
    });
  const ask = async (): Promise<string> => {
    const startMs = clock.nowMs();
    let answer: TokenRequest;
    try {
      answer = await request();
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await accounts.create({ metadata: { name, namespace: NAMESPACE } }).catch((failure: unknown) => {
        if (!isAlreadyExists(failure)) throw failure;
      });
      answer = await request();
    }
    const { token = '', expirationTimestamp = '' } = answer.status ?? {};
    const endMs = Date.parse(expirationTimestamp) || startMs + TOKEN_SECONDS * 1000;
    known = { token, untilMs: startMs + (endMs - startMs) * REFRESH_AT };
    return token;
  };

  return {
    token() {
      if (known && clock.nowMs() < known.untilMs) return Promise.resolve(known.token);
      asking ??= ask().finally(() => (asking = undefined));
      return asking;
    },
    rejected() {
      known = undefined;
    },
  };
};
