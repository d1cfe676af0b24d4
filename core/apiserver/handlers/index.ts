export { apiStage, WATCH_TIMEOUT_MIN_SECONDS } from './api-stage.ts';
export type { ApiStageOptions } from './api-stage.ts';
export { builtInEndpoints } from './endpoint.ts';
export type { Endpoint, EndpointSource } from './endpoint.ts';
