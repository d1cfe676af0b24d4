import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { groupResourceText, type GroupResource } from '../../api/meta/index.ts';
import {
  MANDATORY_LEVELS,
  MANDATORY_SCHEMAS,
  SUGGESTED_LEVELS,
  SUGGESTED_SCHEMAS,
} from '../bootstrap/flow-control-table.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { FlowController, fairnessStage, flowDebugStage, maxInFlightStage } from '../flowcontrol/index.ts';
import type { InternalInformer } from '../informer/internal-informer.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import type { Stage } from '../server/pipeline.ts';

/** Numbers of objects price lists; a few seconds do not change a price. */
const COUNTS_EVERY_MS = 5_000;
/** Upstream: a request waits for a seat no longer than a quarter of its time. */
const WAIT_SHARE = 0.25;

export interface FlowControl extends Disposable {
  readonly stage: Stage;
  readonly pages: readonly Stage[];
  /** Keeps up with the objects of the API from here on. */
  follow(informer: InternalInformer): Disposable;
}

export interface FlowControlParts {
  readonly config: ApiServerConfig;
  readonly registry: () => ObjectRegistry;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

const objectCounts = (registry: () => ObjectRegistry, clock: Clock) => {
  let counts = new Map<string, number>();
  let readAtMs = -Infinity;
  return (resource: GroupResource): number | undefined => {
    if (clock.monotonicMs() - readAtMs > COUNTS_EVERY_MS) {
      readAtMs = clock.monotonicMs();
      counts = new Map(
        registry()
          .objectCounts()
          .map((one) => [groupResourceText(one.resource), one.count]),
      );
    }
    return counts.get(groupResourceText(resource));
  };
};

/** Priority and fairness, or the two fixed limits, as the flags say. */
export const createFlowControl = ({ config, registry, metrics, clock }: FlowControlParts): FlowControl => {
  const { readOnlyInFlightMax, mutatingInFlightMax } = config;
  if (!config.sharesFairly)
    return {
      stage: maxInFlightStage({
        metrics,
        readOnlyMax: readOnlyInFlightMax,
        mutatingMax: mutatingInFlightMax,
      }),
      pages: [],
      follow: () => toDisposable(() => undefined),
      dispose: () => undefined,
    };
  const controller = new FlowController({
    clock,
    serverSeats: readOnlyInFlightMax + mutatingInFlightMax,
    initial: {
      levels: [...MANDATORY_LEVELS, ...SUGGESTED_LEVELS],
      schemas: [...MANDATORY_SCHEMAS, ...SUGGESTED_SCHEMAS],
    },
  });
  return {
    stage: fairnessStage({
      controller,
      metrics,
      clock,
      waitMs: config.requestTimeoutMs * WAIT_SHARE,
      objectCount: objectCounts(registry, clock),
    }),
    pages: [flowDebugStage(controller, clock)],
    follow: (informer) => controller.follow(informer),
    dispose: () => controller.dispose(),
  };
};
