import type { KubernetesObject } from '../../core/api/meta/index.ts';
import { silentLog, type Log } from '../../core/base/log.ts';
import { Registry } from '../../core/base/metrics/index.ts';
import { lastingController } from '../../core/base/node/lasting-signal.ts';
import { DEPLOYMENT, InformerFactory, POD, silentEvents, type Kind } from '../../core/client/index.ts';
import { FakeApi } from '../../core/client/testing/index.ts';
import { CLUSTER_CONTROLLERS } from '../../core/controllers/cluster-loops.ts';
import { DEFAULT_SETTINGS } from '../../core/controllers/config/config.ts';
import { WORKLOAD_CONTROLLERS } from '../../core/controllers/workload-controllers.ts';

const TURNS_MAX = 100_000;

const GOOD_DEPLOYMENT = {
  metadata: { name: 'good' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { good: 'yes' } },
    template: { metadata: { labels: { good: 'yes' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
} as KubernetesObject;

/** What a log should never say: that something threw where no one expects it. */
const errorsIn = (): { readonly log: Log; readonly errors: string[] } => {
  const errors: string[] = [];
  return {
    errors,
    log: {
      ...silentLog,
      write: (level, message, fields) => {
        if (level === 'error' && message.includes('informer handler threw'))
          errors.push(`${message}: ${JSON.stringify(fields)}`);
      },
    },
  };
};

export interface ControllersOutcome {
  /** Objects that could be stored: what cannot needs no controller. */
  readonly stored: number;
  /** Pods of a good Deployment that was added beside the objects: one, when its controllers still work. */
  readonly made: number;
  /** What handlers of informers threw. */
  readonly errors: readonly string[];
}

/** Runs every controller on the objects, and then on a good one. */
export const runControllers = async (
  seeds: readonly (readonly [Kind, KubernetesObject])[],
): Promise<ControllersOutcome> => {
  const { log, errors } = errorsIn();
  const api = new FakeApi();
  const client = api.client();
  const { clock } = api;
  const informers = new InformerFactory({ client, clock, random: api.random, log, freeze: true });
  const shared = { client, informers, events: silentEvents, clock, random: api.random, log };
  const stop = lastingController();
  const controllers = [...WORKLOAD_CONTROLLERS, ...CLUSTER_CONTROLLERS].map((definition) =>
    definition.create({ ...shared, registry: new Registry() }, DEFAULT_SETTINGS),
  );
  let stored = 0;
  for (const [kind, object] of seeds)
    try {
      api.seed(kind, object);
      stored += 1;
    } catch {
      continue;
    }
  informers.start();
  await informers.whenSynced();
  const running = controllers.map((controller) => controller?.run(stop.signal));
  api.seed(DEPLOYMENT as Kind, GOOD_DEPLOYMENT);
  await api.settle({ turnsMax: TURNS_MAX });
  clock.advance(1_000);
  await api.settle({ turnsMax: TURNS_MAX });
  const made = api.list(POD as Kind).filter(({ metadata }) => metadata.labels?.['good'] === 'yes');
  stop.abort();
  await Promise.all(running);
  await informers.stop();
  return { stored, made: made.length, errors };
};
