import { ReasonError } from '../../base/errors.ts';
import type { Secret } from '../../client/index.ts';

export const TOKEN_NAMESPACE = 'kube-system';
export const TOKEN_TYPE = 'bootstrap.kubernetes.io/token';
/** The group of machines that join, which kubeadm's bindings name. */
export const DEFAULT_GROUP = 'system:bootstrappers:kubeadm:default-node-token';
export const USAGES = ['signing', 'authentication'] as const;
export type TokenUsage = (typeof USAGES)[number];

const NAME_PREFIX = 'bootstrap-token-';
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const TOKEN_ID = /^[a-z0-9]{6}$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 6;
const SECRET_LENGTH = 16;

export interface BootstrapToken {
  readonly id: string;
  /** Empty where a Secret has none that can be used. */
  readonly secret: string;
}

export interface TokenRecord extends BootstrapToken {
  readonly description: string;
  readonly usages: readonly TokenUsage[];
  readonly groups: readonly string[];
  /** Undefined: it never expires. */
  readonly expiresMs: number | undefined;
}

const bad = (message: string): never => {
  throw new ReasonError('BadToken', message);
};

/** Twenty-two characters of thirty-six, each as likely as any other. */
export const newToken = (randomBytes: (count: number) => Uint8Array): BootstrapToken => {
  const limit = 256 - (256 % CHARACTERS.length);
  let text = '';
  while (text.length < ID_LENGTH + SECRET_LENGTH)
    for (const byte of randomBytes(ID_LENGTH + SECRET_LENGTH))
      if (byte < limit && text.length < ID_LENGTH + SECRET_LENGTH)
        text += CHARACTERS[byte % CHARACTERS.length]!;
  return { id: text.slice(0, ID_LENGTH), secret: text.slice(ID_LENGTH) };
};

export const formatToken = ({ id, secret }: BootstrapToken): string => `${id}.${secret}`;

/** The text is not repeated in the message: it may be a token with one wrong character. */
export const parseToken = (text: string): BootstrapToken => {
  const match = TOKEN.exec(text);
  return match
    ? { id: match[1]!, secret: match[2]! }
    : bad('a bootstrap token has six characters, a dot and sixteen more, of a-z and 0-9');
};

/** `abcdef`, or a whole token. */
export const tokenIdOf = (text: string): string =>
  TOKEN_ID.test(text)
    ? text
    : (TOKEN.exec(text)?.[1] ??
      bad('a token ID has six characters of a-z and 0-9; see pilothouse token list'));

export const tokenSecretName = (id: string): string => `${NAME_PREFIX}${id}`;

export const assertGroups = (groups: readonly string[]): void => {
  const wrong = groups.find((group) => !GROUP.test(group));
  if (wrong !== undefined) bad(`group ${JSON.stringify(wrong)} must begin with system:bootstrappers:`);
};

const encoded = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

export const tokenSecret = (token: TokenRecord): Secret => {
  const { id, secret, description, usages, groups, expiresMs } = token;
  const data: Record<string, string> = {
    ...(description !== '' && { description }),
    ...(expiresMs !== undefined && {
      expiration: new Date(expiresMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    }),
    'token-id': id,
    'token-secret': secret,
    ...Object.fromEntries(usages.map((usage) => [`usage-bootstrap-${usage}`, 'true'])),
    ...(groups.length > 0 && { 'auth-extra-groups': groups.join(',') }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: tokenSecretName(id), namespace: TOKEN_NAMESPACE },
    type: TOKEN_TYPE,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoded(text)])),
  };
};

/** Undefined: a Secret that is no bootstrap token. */
export const readTokenSecret = ({ metadata, type, data }: Secret): TokenRecord | undefined => {
  const textOf = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  const id = textOf('token-id');
  if (type !== TOKEN_TYPE || metadata?.name !== tokenSecretName(id) || !TOKEN_ID.test(id)) return undefined;
  const expiration = textOf('expiration');
  const atMs = Date.parse(expiration);
  return {
    id,
    secret: textOf('token-secret'),
    description: textOf('description'),
    usages: USAGES.filter((usage) => textOf(`usage-bootstrap-${usage}`) === 'true'),
    groups: textOf('auth-extra-groups').split(',').filter(Boolean),
    expiresMs: expiration === '' ? undefined : Number.isNaN(atMs) ? 0 : atMs,
  };
};
