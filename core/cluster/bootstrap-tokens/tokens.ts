import { randomBytes } from 'node:crypto';
import { ReasonError } from '../../base/errors.ts';
import { isAlreadyExists, isNotFound } from '../../api/meta/status.ts';
import { SECRET, type Client } from '../../client/index.ts';
import {
  assertGroups,
  DEFAULT_GROUP,
  newToken,
  readTokenSecret,
  TOKEN_NAMESPACE,
  TOKEN_TYPE,
  tokenSecret,
  tokenSecretName,
  USAGES,
  type BootstrapToken,
  type TokenRecord,
  type TokenUsage,
} from './bootstrap-token.ts';

/** As kubeadm: a day. */
export const TOKEN_TTL_MS = 24 * 3_600_000;

export interface TokenWish {
  /** A new random one without it. */
  readonly token?: BootstrapToken;
  /** 0: it never expires. */
  readonly ttlMs?: number;
  readonly usages?: readonly TokenUsage[];
  readonly groups?: readonly string[];
  readonly description?: string;
}

export const createToken = async (client: Client, wish: TokenWish, nowMs: number): Promise<TokenRecord> => {
  const { ttlMs = TOKEN_TTL_MS, usages = USAGES, description = '' } = wish;
  const groups = wish.groups ?? (usages.includes('authentication') ? [DEFAULT_GROUP] : []);
  assertGroups(groups);
  const { id, secret } = wish.token ?? newToken(randomBytes);
  const expiresMs = ttlMs === 0 ? undefined : nowMs + ttlMs;
  const record: TokenRecord = { id, secret, description, usages, groups, expiresMs };
  try {
    await client.resource(SECRET, TOKEN_NAMESPACE).create(tokenSecret(record));
  } catch (cause) {
    if (!isAlreadyExists(cause)) throw cause;
    throw new ReasonError('BadToken', `a token with ID ${id} exists already; delete it first`, { cause });
  }
  return record;
};

export const listTokens = async (client: Client): Promise<readonly TokenRecord[]> => {
  const { items } = await client
    .resource(SECRET, TOKEN_NAMESPACE)
    .list({ fieldSelector: `type=${TOKEN_TYPE}` });
  return items.flatMap((secret) => readTokenSecret(secret) ?? []);
};

export const deleteToken = async (client: Client, id: string): Promise<void> => {
  try {
    await client.resource(SECRET, TOKEN_NAMESPACE).delete(tokenSecretName(id));
  } catch (cause) {
    if (!isNotFound(cause)) throw cause;
    throw new ReasonError('NotFound', `token ${id} not found; see pilothouse token list`, { cause });
  }
};
