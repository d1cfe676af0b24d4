import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { InformerFactory, type EventRecorder } from '../../client/index.ts';
import type { FakeApi } from '../../client/testing/index.ts';
import { DEFAULT_SETTINGS, type ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from './controller.ts';

export interface RunningController {
  /** `Warning FailedBinding default/data: no persistent volumes available ...`, in order. */
  readonly events: string[];
  /** Ends it as a lost leadership does, and resolves when it has. */
  stop(): Promise<void>;
}

/** Runs one controller on an API server in memory, for tests. Its informers refuse to be written to. */
export const startOnFake = async (
  api: FakeApi,
  definition: ControllerDefinition<ControllerSettings>,
  settings: Partial<ControllerSettings> = {},
): Promise<RunningController> => {
  const client = api.client(definition.name);
  const { clock, random } = api;
  const registry = new Registry();
  const informers = new InformerFactory({ client, clock, random, log: silentLog, registry, freeze: true });
  const told: string[] = [];
  const events: EventRecorder = {
    event: ({ metadata = {} }, type, reason, message) => {
      const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
      told.push(`${type} ${reason} ${name}: ${message}`);
    },
  };
  const controller = definition.create(
    { client, informers, events, clock, random, log: silentLog, registry },
    { ...DEFAULT_SETTINGS, ...settings },
  );
  const stop = new AbortController();
  informers.start();
  await informers.whenSynced();
  const running = controller?.run(stop.signal);
  await api.settle();
  return {
    events: told,
    async stop() {
      stop.abort();
      await running;
      await informers.stop();
    },
  };
};
