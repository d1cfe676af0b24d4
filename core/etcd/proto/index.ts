/** The messages of etcd's v3 API. `X` is both the message's type and its codec, `XIn` what its encoder takes. */
export * from './auth.ts';
export * from './cluster.ts';
export * from './concurrency.ts';
export * from './health.ts';
export * from './kv.ts';
export * from './lease.ts';
export * from './maintenance.ts';
export * from './range.ts';
export * from './txn.ts';
export * from './watch.ts';
export { MalformedError } from './wire/malformed.ts';
