import type { Registry } from '../../base/metrics/index.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import { sendTextError, type ApiResponse } from '../server/response.ts';
import { exemptionOf, type Exemption } from './exempt.ts';
import { inFlightMetrics, kindOf, type RequestKind } from './in-flight-metrics.ts';

/** Upstream's --max-requests-inflight and --max-mutating-requests-inflight; 0 sets no limit. */
export const READ_ONLY_IN_FLIGHT_MAX = 400;
export const MUTATING_IN_FLIGHT_MAX = 200;

export interface MaxInFlightOptions {
  readonly metrics: Registry;
  readonly readOnlyMax?: number;
  readonly mutatingMax?: number;
}

const RETRY_AFTER_SECONDS = '1';
const TOO_MANY_TEXT = 'Too many requests, please try again later.';

/** Of each limit, what one identity may hold: no one can shut out all others alone. */
const IDENTITY_SHARE = 0.5;

const refuse = async (response: ApiResponse): Promise<StageResult> => {
  response.setHeader('retry-after', RETRY_AFTER_SECONDS);
  await sendTextError(response, 429, TOO_MANY_TEXT);
  return 'done';
};

/** Requests of one kind that are worked on, all together and by identity. */
class InFlight {
  readonly #max: number;
  readonly #identityMax: number;
  readonly #byIdentity = new Map<string, number>();
  total = 0;

  constructor(max: number) {
    this.#max = max;
    this.#identityMax = Math.max(1, Math.ceil(max * IDENTITY_SHARE));
  }

  isFull(identity: string, exemption: Exemption): boolean {
    if (this.#max === 0 || exemption === 'full') return false;
    if ((this.#byIdentity.get(identity) ?? 0) >= this.#identityMax) return true;
    return exemption === 'none' && this.total >= this.#max;
  }

  change(identity: string, by: 1 | -1): void {
    this.total += by;
    const count = (this.#byIdentity.get(identity) ?? 0) + by;
    if (count > 0) this.#byIdentity.set(identity, count);
    else this.#byIdentity.delete(identity);
  }
}

/**
 * Bounds the requests that are worked on at a time. A request gives its place back when its answer is made: how slowly
 * a client takes it is no work. Long-running ones do not count. Stands behind authentication, which exemptions need.
 */
export const maxInFlightStage = (options: MaxInFlightOptions): Stage => {
  const { metrics, readOnlyMax = READ_ONLY_IN_FLIGHT_MAX, mutatingMax = MUTATING_IN_FLIGHT_MAX } = options;
  const inFlight = { readOnly: new InFlight(readOnlyMax), mutating: new InFlight(mutatingMax) };
  const exposed = inFlightMetrics(metrics);
  const change = (kind: RequestKind, identity: string, by: 1 | -1): void => {
    inFlight[kind].change(identity, by);
    exposed.change(kind, by);
  };
  return {
    name: 'flow-control',
    run(context) {
      if (context.isLongRunning) return 'next';
      const kind = kindOf(context.info);
      const identity = context.user?.name ?? '';
      if (inFlight[kind].isFull(identity, exemptionOf(context))) {
        exposed.dropped(kind);
        return refuse(context.response);
      }
      change(kind, identity, 1);
      let isHeld = true;
      const giveBack = (): void => {
        if (isHeld) change(kind, identity, -1);
        isHeld = false;
      };
      context.response.onComplete(giveBack);
      context.defer(giveBack);
      return 'next';
    },
  };
};
