import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { InformerFactory, type EventRecorder } from '../../client/index.ts';
import type { FakeApi } from '../../client/testing/index.ts';
import type { ControllerDefinition } from '../../controllers/runtime/controller.ts';
import { DEFAULT_CLOUD_SETTINGS, type CloudSettings } from '../config/config.ts';

export interface RunningCloud {
  /** `Normal EnsuringLoadBalancer default/web: Ensuring load balancer`, in order. */
  readonly events: string[];
  /** Ends it as a lost leadership does. */
  stop(): Promise<void>;
}

/** Runs controllers of the cloud on an API server in memory, as one leader does. */
export const startOnFake = async (
  api: FakeApi,
  definitions: readonly ControllerDefinition<CloudSettings>[],
  settings: Partial<CloudSettings> = {},
): Promise<RunningCloud> => {
  const { clock, random } = api;
  const client = api.client();
  const registry = new Registry();
  const informers = new InformerFactory({ client, clock, random, log: silentLog, freeze: true });
  const told: string[] = [];
  const events: EventRecorder = {
    event: ({ metadata = {} }, type, reason, message) => {
      const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
      told.push(`${type} ${reason} ${name}: ${message}`);
    },
  };
  const context = { client, informers, events, clock, random, log: silentLog, registry };
  const made = definitions.map((definition) =>
    definition.create(context, { ...DEFAULT_CLOUD_SETTINGS, ...settings }),
  );
  const stop = new AbortController();
  informers.start();
  await informers.whenSynced();
  const running = made.map((controller) => controller?.run(stop.signal));
  await api.settle();
  return {
    events: told,
    async stop() {
      stop.abort();
      await Promise.all(running);
      await informers.stop();
    },
  };
};
