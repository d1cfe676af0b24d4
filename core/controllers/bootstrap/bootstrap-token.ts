import type { Secret, Stored } from '../../client/index.ts';

export const BOOTSTRAP_SECRETS = {
  namespace: 'kube-system',
  fieldSelector: 'type=bootstrap.kubernetes.io/token',
} as const;

const TOKEN_ID = /^[a-z0-9]{6}$/;
const TOKEN_SECRET = /^[a-z0-9]{16}$/;
const NAME_PREFIX = 'bootstrap-token-';

const dataOf = ({ data }: Secret, key: string): string =>
  Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');

/** Undefined: it never expires. One that cannot be understood has expired long ago. */
export const expirationMsOf = (secret: Secret): number | undefined => {
  const text = dataOf(secret, 'expiration');
  if (text === '') return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? 0 : atMs;
};

/** The token that this Secret lets sign `cluster-info`; undefined: none, or not now. */
export const signingToken = (
  secret: Stored<Secret>,
  nowMs: number,
): { readonly id: string; readonly secret: string } | undefined => {
  const [id, value] = [dataOf(secret, 'token-id'), dataOf(secret, 'token-secret')];
  const isValid =
    TOKEN_ID.test(id) && TOKEN_SECRET.test(value) && secret.metadata.name === `${NAME_PREFIX}${id}`;
  const isOver = (expirationMsOf(secret) ?? Number.POSITIVE_INFINITY) <= nowMs;
  const maySign = dataOf(secret, 'usage-bootstrap-signing') === 'true';
  const isGoing = secret.metadata.deletionTimestamp !== undefined;
  return isValid && maySign && !isOver && !isGoing ? { id, secret: value } : undefined;
};
