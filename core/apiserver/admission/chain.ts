import type { Clock } from '../../base/clock.ts';
import type { Histogram, Registry } from '../../base/metrics/index.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import {
  withObject,
  type AdmissionAttributes,
  type AdmissionChain,
  type AdmissionPlugin,
  type Operation,
} from './attributes.ts';

const DURATION_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

type Step = 'admit' | 'validate';

export interface AdmissionChainOptions {
  readonly clock: Clock;
  /** Without one nothing is measured. */
  readonly metrics?: Registry | undefined;
}

type Observe = (operation: Operation, rejected: boolean, ms: number) => void;

interface Observers {
  readonly step: (step: Step) => Observe;
  readonly controller: (step: Step, name: string) => Observe;
}

const IGNORED: Observers = { step: () => () => undefined, controller: () => () => undefined };

/** Finds each histogram once: there are two for each operation. */
const remembering = (find: (operation: Operation, rejected: boolean) => Histogram): Observe => {
  const passed = new Map<Operation, Histogram>();
  const refused = new Map<Operation, Histogram>();
  return (operation, rejected, ms) => {
    const known = rejected ? refused : passed;
    let histogram = known.get(operation);
    if (histogram === undefined) known.set(operation, (histogram = find(operation, rejected)));
    histogram.observe(ms / 1000);
  };
};

/** Upstream's two histograms, by phase and by plugin. */
const observersOf = (metrics: Registry | undefined): Observers => {
  if (!metrics) return IGNORED;
  const step = metrics.histogramFamily({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Time of one phase of admission in seconds, by phase (admit or validate), operation and outcome.',
    labels: ['type', 'operation', 'rejected'],
    buckets: DURATION_BUCKETS_SECONDS,
  });
  const controller = metrics.histogramFamily({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Time of one admission plugin in seconds, by plugin, phase (admit or validate), operation and outcome.',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: DURATION_BUCKETS_SECONDS,
  });
  return {
    step: (type) => remembering((operation, rejected) => step.labels(type, operation, String(rejected))),
    controller: (type, name) =>
      remembering((operation, rejected) => controller.labels(name, type, operation, String(rejected))),
  };
};

interface Link {
  readonly plugin: AdmissionPlugin;
  readonly observe: Observe;
}

/** All plugins as one. The first that refuses ends the phase; `admit` runs twice where a plugin asks for it. */
export const createAdmissionChain = (
  plugins: readonly AdmissionPlugin[],
  { clock, metrics }: AdmissionChainOptions,
): AdmissionChain => {
  const observers = observersOf(metrics);
  const phase = (step: Step) => {
    const links: readonly Link[] = plugins
      .filter((plugin) => plugin[step] !== undefined)
      .map((plugin) => ({ plugin, observe: observers.controller(step, plugin.name) }));
    const observeAll = observers.step(step);
    return async (attributes: AdmissionAttributes): Promise<KubernetesObject | undefined> => {
      const { operation } = attributes;
      const startMs = clock.monotonicMs();
      let current = attributes;
      let sinceMs = startMs;
      let at: Link | undefined;
      try {
        for (const link of links) {
          if (!link.plugin.handles(operation)) continue;
          at = link;
          const running = link.plugin[step]?.(current);
          const object = running instanceof Promise ? await running : running;
          if (object && object !== current.object) current = withObject(current, object);
          const nowMs = clock.monotonicMs();
          link.observe(operation, false, nowMs - sinceMs);
          sinceMs = nowMs;
        }
      } catch (error) {
        const nowMs = clock.monotonicMs();
        at?.observe(operation, true, nowMs - sinceMs);
        observeAll(operation, true, nowMs - startMs);
        throw error;
      }
      observeAll(operation, false, sinceMs - startMs);
      return current.object;
    };
  };
  const [admitOnce, validateOnce] = [phase('admit'), phase('validate')];
  return {
    async admit(attributes) {
      const { reinvocation } = attributes;
      const object = await admitOnce(attributes);
      if (!reinvocation.isWanted) return object;
      reinvocation.isReinvoked = true;
      return admitOnce(withObject(attributes, object));
    },
    async validate(attributes) {
      await validateOnce(attributes);
    },
  };
};
