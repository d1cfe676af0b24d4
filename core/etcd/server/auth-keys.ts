import type { Clock } from '../../base/clock.ts';
import { readPem } from '../../base/node/pem-files.ts';
import { Jwt } from '../auth/index.ts';
import type { AuthToken } from '../config/auth-token.ts';

/** Undefined for simple tokens. */
export const loadJwt = async (settings: AuthToken, clock: Clock): Promise<Jwt | undefined> => {
  if (settings.type === 'simple') return undefined;
  const read = (path: string): Promise<Buffer> | undefined =>
    path === '' ? undefined : readPem(path, 'key of --auth-token');
  const [privateKey, publicKey] = await Promise.all([
    read(settings.privateKeyFile),
    read(settings.publicKeyFile),
  ]);
  return new Jwt({ method: settings.method, privateKey, publicKey, ttlMs: settings.ttlMs }, clock);
};
