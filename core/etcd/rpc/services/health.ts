import { HealthCheckRequest, HealthCheckResponse, SERVING_STATUS } from '../../proto/index.ts';
import { serverStream, unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import { StatusError } from '../grpc/status.ts';

const SERVICE = 'grpc.health.v1.Health';
/** etcd reports on itself as a whole, which is the empty name. */
const WHOLE_SERVER = '';

export const healthMethods = (): readonly Method[] => [
  unary(SERVICE, 'Check', {
    request: HealthCheckRequest,
    response: HealthCheckResponse,
    handle({ service }) {
      if (service !== WHOLE_SERVER) throw new StatusError('NotFound', 'unknown service');
      return { status: SERVING_STATUS.SERVING };
    },
  }),
  serverStream(SERVICE, 'Watch', {
    request: HealthCheckRequest,
    response: HealthCheckResponse,
    async handle({ service }, stream) {
      const known = service === WHOLE_SERVER;
      stream.send({ status: known ? SERVING_STATUS.SERVING : SERVING_STATUS.SERVICE_UNKNOWN });
      // A member that answers is serving; when it stops, its connections say so.
      await new Promise<void>((resolve) => {
        if (stream.over) resolve();
        else stream.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  }),
];
