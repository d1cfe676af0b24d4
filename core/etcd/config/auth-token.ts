import { parseDurationMs } from '../../base/duration.ts';
import { ReasonError } from '../../base/errors.ts';

/** `--auth-token`: how clients show who they are once they have authenticated. */
export type AuthToken =
  | { readonly type: 'simple' }
  | {
      readonly type: 'jwt';
      readonly method: string;
      readonly privateKeyFile: string;
      readonly publicKeyFile: string;
      readonly ttlMs: number;
    };

const OPTIONS = ['sign-method', 'priv-key', 'pub-key', 'ttl'];
const JWT_TTL_DEFAULT_MS = 5 * 60 * 1000;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', `--auth-token: ${message}`);
};

export const authToken = (text: string): AuthToken => {
  const [type, ...settings] = text.split(',');
  if (type === 'simple' && settings.length === 0) return { type };
  if (type !== 'jwt') return bad(`${JSON.stringify(text)} must be simple, or jwt with its options`);
  const options = new Map<string, string>();
  for (const setting of settings) {
    const [name = '', value, ...rest] = setting.split('=');
    if (value === undefined || rest.length > 0 || options.has(name))
      bad(`invalid option ${JSON.stringify(setting)}`);
    if (!OPTIONS.includes(name)) bad(`unknown option ${name}; known are ${OPTIONS.join(', ')}`);
    options.set(name, value!);
  }
  const method = options.get('sign-method') ?? bad('jwt needs sign-method');
  const ttl = options.get('ttl');
  const ttlMs = ttl === undefined ? JWT_TTL_DEFAULT_MS : parseDurationMs(ttl);
  return {
    type: 'jwt',
    method,
    privateKeyFile: options.get('priv-key') ?? '',
    publicKeyFile: options.get('pub-key') ?? '',
    ttlMs: ttlMs ?? bad(`ttl=${ttl} must be a duration such as 10m`),
  };
};
