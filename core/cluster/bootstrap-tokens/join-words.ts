import { formatToken, type BootstrapToken } from './bootstrap-token.ts';

/** What follows `pilothouse` or `kubeadm` on the machine that joins. */
export const joinWords = (endpoint: string, token: BootstrapToken, hash: string): string =>
  `join ${endpoint} --token ${formatToken(token)} --discovery-token-ca-cert-hash ${hash}`;
