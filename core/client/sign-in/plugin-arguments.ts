import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LISTEN_ADDRESSES } from './redirect.ts';

export const defaultCacheFolder = (home = homedir()): string =>
  join(home, '.kube', 'cache', 'pilothouse-login');

/** What a kubeconfig tells `pilothouse login get-token`. */
export interface PluginArguments {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly extraScopes: readonly string[];
  /** Empty: the authorities that the machine trusts. */
  readonly authorityFile: string;
  readonly listenAddresses: readonly string[];
  readonly cacheFolder: string;
}

const OPTIONS = {
  'oidc-issuer-url': { type: 'string' },
  'oidc-client-id': { type: 'string' },
  'oidc-client-secret': { type: 'string' },
  'oidc-extra-scope': { type: 'string', multiple: true },
  'certificate-authority': { type: 'string' },
  'listen-address': { type: 'string', multiple: true },
  'skip-open-browser': { type: 'boolean' },
  'token-cache-dir': { type: 'string' },
} as const;

/** Undefined for the arguments of another program. */
export const readPluginArguments = (args: readonly string[]): PluginArguments | undefined => {
  const at = args.findIndex((arg, index) => arg === 'login' && args[index + 1] === 'get-token');
  if (at < 0) return undefined;
  try {
    const { values } = parseArgs({ args: args.slice(at + 2), options: OPTIONS });
    const { 'oidc-issuer-url': issuerUrl, 'oidc-client-id': clientId } = values;
    if (!issuerUrl?.startsWith('https://') || !clientId) return undefined;
    const addresses = values['listen-address'] ?? [];
    return {
      issuerUrl,
      clientId,
      clientSecret: values['oidc-client-secret'] ?? '',
      extraScopes: values['oidc-extra-scope'] ?? [],
      authorityFile: values['certificate-authority'] ?? '',
      listenAddresses: addresses.length > 0 ? addresses : LISTEN_ADDRESSES,
      cacheFolder: values['token-cache-dir'] ?? defaultCacheFolder(),
    };
  } catch {
    // A flag that is not ours: another program with the same words.
    return undefined;
  }
};
