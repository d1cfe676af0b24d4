export { readProxyConfig } from './config/config.ts';
export type { BindAddress, ProxyConfig } from './config/config.ts';
export { PROXY_FLAGS } from './config/flags.ts';
export { createProxy } from './create-proxy.ts';
export type { Proxy, ProxyOptions } from './create-proxy.ts';
export { runProxy } from './run-proxy.ts';
export type { RunningProxy } from './run-proxy.ts';
