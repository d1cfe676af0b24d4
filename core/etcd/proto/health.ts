import { enumeration, message, string } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

/** grpc/health/v1/health.proto, which etcd serves since 3.5. */
export const SERVING_STATUS = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;
export type ServingStatus = (typeof SERVING_STATUS)[keyof typeof SERVING_STATUS];

export const HealthCheckRequest = message('grpc.health.v1.HealthCheckRequest', {
  service: string(1),
});
export type HealthCheckRequest = MessageOut<typeof HealthCheckRequest>;
export type HealthCheckRequestIn = MessageIn<typeof HealthCheckRequest>;

export const HealthCheckResponse = message('grpc.health.v1.HealthCheckResponse', {
  status: enumeration<ServingStatus>(1, SERVING_STATUS),
});
export type HealthCheckResponse = MessageOut<typeof HealthCheckResponse>;
export type HealthCheckResponseIn = MessageIn<typeof HealthCheckResponse>;
