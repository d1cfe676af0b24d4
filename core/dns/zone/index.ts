export { answerQuestion, REVERSE_ZONES, SCHEMA_VERSION } from './answer.ts';
export type { ZoneAnswer } from './answer.ts';
export { canonical } from './endpoints.ts';
export { SERVICE_LABEL } from './source.ts';
export type { ZoneConfig, ZoneSource } from './source.ts';
