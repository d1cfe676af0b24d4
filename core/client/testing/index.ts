export { FakeApi } from './fake-api.ts';
export type { FakeApiOptions, FakeRequest, Interceptor, RequestMatch } from './fake-api.ts';
export { settle } from './settle.ts';
