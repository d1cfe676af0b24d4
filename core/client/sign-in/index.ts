export { getToken, heldToken } from './get-token.ts';
export { defaultCacheFolder, readPluginArguments } from './plugin-arguments.ts';
export { openTokenCache } from './token-cache.ts';
export type { GetTokenOptions } from './get-token.ts';
export { withExecUser } from './kubeconfig-user.ts';
export type { ExecUser } from './kubeconfig-user.ts';
export type { ProviderConfig } from './provider.ts';
export { LISTEN_ADDRESSES } from './redirect.ts';
