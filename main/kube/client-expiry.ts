import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ClientConfig } from '../../core/client/index.ts';
import { ContractError, say, type ClusterEntry } from '../../core/contract/index.ts';

/** When the certificate ends that alone speaks for the user; undefined where something else may, or it cannot be read. */
export const clientExpiryMs = async ({ auth }: ClientConfig): Promise<number | undefined> => {
  const { certificate, token, tokenFile, basic, exec } = auth;
  if (!certificate || token !== undefined || tokenFile !== undefined || basic || exec) return undefined;
  try {
    const pem = certificate.data ?? (await readFile(certificate.file ?? '', 'utf8'));
    const endMs = Date.parse(new X509Certificate(pem).validTo);
    return Number.isNaN(endMs) ? undefined : endMs;
  } catch {
    return undefined; // the connection itself says what is wrong with it
  }
};

/** A server answers an expired certificate with a bare 401: what it is can only be said here. */
export const assertNotExpired = (entry: ClusterEntry, endMs: number | undefined, nowMs: number): void => {
  if (endMs === undefined || endMs > nowMs) return;
  const date = new Date(endMs).toISOString().slice(0, 'yyyy-mm-dd'.length);
  const { user, kubeconfigPath: path, origin } = entry;
  throw new ContractError('Forbidden', say(`failure.userExpired.${origin}`, { user, path, date }));
};
