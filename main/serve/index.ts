export { startServe } from './serve.ts';
export type { ServeOptions, ServeStats, Serving } from './serve.ts';
