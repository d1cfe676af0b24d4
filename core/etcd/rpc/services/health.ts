import { HealthCheckRequest, HealthCheckResponse, SERVING_STATUS } from '../../proto/index.ts';
import { serverStream, unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import { StatusError } from '../grpc/status.ts';

const SERVICE = 'grpc.health.v1.Health';
/** etcd reports on itself as a whole, which is the empty name. */
const WHOLE_SERVER = '';

/** Whether clients that look at gRPC's health should stay with this member. */
export class ServingState {
  #isServing = true;
  readonly #listeners = new Set<() => void>();

  get isServing(): boolean {
    return this.#isServing;
  }

  set(isServing: boolean): void {
    this.#isServing = isServing;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Resolves at the next change, or when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      if (signal.aborted) done();
      else signal.addEventListener('abort', done, { once: true });
    });
  }
}

export const healthMethods = (state: ServingState): readonly Method[] => {
  const current = () => (state.isServing ? SERVING_STATUS.SERVING : SERVING_STATUS.NOT_SERVING);
  return [
    unary(SERVICE, 'Check', {
      request: HealthCheckRequest,
      response: HealthCheckResponse,
      handle({ service }) {
        if (service !== WHOLE_SERVER) throw new StatusError('NotFound', 'unknown service');
        return { status: current() };
      },
    }),
    serverStream(SERVICE, 'Watch', {
      request: HealthCheckRequest,
      response: HealthCheckResponse,
      async handle({ service }, stream) {
        const known = service === WHOLE_SERVER;
        let told: number | undefined;
        // When the member stops, its connections say so.
        while (!stream.over) {
          const status = known ? current() : SERVING_STATUS.SERVICE_UNKNOWN;
          if (status !== told) stream.send({ status });
          told = status;
          await state.changed(stream.signal);
        }
      },
    }),
  ];
};
