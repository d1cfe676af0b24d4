import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import { userInfo } from '../server/user.ts';

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const SECRET_TYPE = 'bootstrap.kubernetes.io/token';
const USER_PREFIX = 'system:bootstrap:';
const GROUP = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
export const BOOTSTRAP_NAMESPACE = 'kube-system';

/** The Secret of that name in kube-system. */
export type BootstrapSecretGetter = (name: string) => Promise<KubernetesObject | undefined>;

const dataOf = ({ data }: KubernetesObject, key: string): string => {
  const encoded = isJsonObject(data) ? data[key] : undefined;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
};

const isEqual = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** Undefined where a group is none that a bootstrap token may have. */
const groupsOf = (secret: KubernetesObject): string[] | undefined => {
  const text = dataOf(secret, 'auth-extra-groups');
  const extra = text === '' ? [] : text.split(',');
  return extra.every((group) => EXTRA_GROUP.test(group)) ? [...new Set([GROUP, ...extra])].sort() : undefined;
};

/** Tokens `id.secret` with which nodes join (upstream's --enable-bootstrap-token-auth). */
export const bootstrapTokenAuthenticator =
  (getSecret: BootstrapSecretGetter, clock: Clock): TokenAuthenticator =>
  async (token) => {
    const [, id, value] = TOKEN.exec(token) ?? [];
    if (id === undefined || value === undefined) return undefined;
    const secret = await getSecret(`bootstrap-token-${id}`);
    if (!secret || secret.metadata?.deletionTimestamp !== undefined || secret['type'] !== SECRET_TYPE)
      return undefined;
    if (!isEqual(dataOf(secret, 'token-secret'), value) || dataOf(secret, 'token-id') !== id)
      return undefined;
    const expiration = dataOf(secret, 'expiration');
    // One that does not parse counts as expired.
    if (expiration !== '' && !(Date.parse(expiration) > clock.nowMs())) return undefined;
    if (dataOf(secret, 'usage-bootstrap-authentication') !== 'true') return undefined;
    const groups = groupsOf(secret);
    return groups && userInfo(`${USER_PREFIX}${id}`, groups);
  };
