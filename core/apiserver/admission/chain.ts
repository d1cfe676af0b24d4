import type { Clock } from '../../base/clock.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { AdmissionAttributes, AdmissionChain, AdmissionPlugin } from './attributes.ts';

const DURATION_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

type Step = 'admit' | 'validate';

export interface AdmissionChainOptions {
  readonly clock: Clock;
  /** Without one nothing is measured. */
  readonly metrics?: Registry | undefined;
}

type Observe = (step: Step, attributes: AdmissionAttributes, rejected: boolean, ms: number) => void;

interface Observers {
  readonly step: Observe;
  readonly controller: (name: string) => Observe;
}

const IGNORED: Observers = { step: () => undefined, controller: () => () => undefined };

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
    step: (type, { operation }, rejected, ms) =>
      step.labels(type, operation, String(rejected)).observe(ms / 1000),
    controller: (name) => (type, attributes, rejected, ms) =>
      controller.labels(name, type, attributes.operation, String(rejected)).observe(ms / 1000),
  };
};

/** All plugins as one. The first that refuses ends the phase. */
export const createAdmissionChain = (
  plugins: readonly AdmissionPlugin[],
  { clock, metrics }: AdmissionChainOptions,
): AdmissionChain => {
  const observers = observersOf(metrics);
  const measured = async (
    observe: Observe,
    step: Step,
    attributes: AdmissionAttributes,
    run: () => Promise<void> | void,
  ): Promise<void> => {
    const startMs = clock.monotonicMs();
    let rejected = true;
    try {
      await run();
      rejected = false;
    } finally {
      observe(step, attributes, rejected, clock.monotonicMs() - startMs);
    }
  };
  const links = plugins.map((plugin) => ({ plugin, observe: observers.controller(plugin.name) }));
  const phase = (step: Step, attributes: AdmissionAttributes): Promise<void> =>
    measured(observers.step, step, attributes, async () => {
      for (const { plugin, observe } of links) {
        if (plugin[step] === undefined || !plugin.handles(attributes.operation)) continue;
        await measured(observe, step, attributes, () => plugin[step]?.(attributes));
      }
    });
  return {
    admit: (attributes) => phase('admit', attributes),
    validate: (attributes) => phase('validate', attributes),
  };
};
