export { EtcdClient, startCompactor, tlsFromFiles } from './etcd-client/index.ts';
export type { EtcdClientMetrics, EtcdClientOptions, TlsSource } from './etcd-client/index.ts';
export { StorageError } from './errors.ts';
export type { StorageReason } from './errors.ts';
export { EtcdStore } from './etcd-store.ts';
export type * from './store.ts';
export * from './watch-cache/index.ts';
export { MeteredStore } from './metered-store.ts';
