import { silentLog } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/index.ts';
import { InformerFactory, type EventRecorder } from '../../../client/index.ts';
import type { FakeApi } from '../../../client/testing/index.ts';
import { DEFAULT_SETTINGS, type ControllerSettings } from '../../config/config.ts';
import type { ControllerDefinition } from '../../runtime/controller.ts';

export interface RunningControllers {
  /** `Normal ScalingReplicaSet Scaled up ...`, in order. */
  readonly events: string[];
  stop(): Promise<void>;
  /** As a process that is killed: nothing of it is sent any more, and nothing is waited for. */
  kill(): void;
}

/** Controllers on a fake API, as the manager runs them; shared objects are frozen, to find who changes them. */
export const runOn = async (
  api: FakeApi,
  ...definitions: readonly ControllerDefinition<ControllerSettings>[]
): Promise<RunningControllers> => {
  const end = new AbortController();
  const client = api.client().fenced(end.signal);
  const { clock, random } = api;
  const informers = new InformerFactory({ client, clock, random, log: silentLog, freeze: true });
  const events: string[] = [];
  const recorder: EventRecorder = {
    event: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`),
  };
  const controllers = definitions.map((definition) =>
    definition.create(
      { client, informers, events: recorder, clock, random, log: silentLog, registry: new Registry() },
      DEFAULT_SETTINGS,
    ),
  );
  informers.start();
  await informers.whenSynced();
  const running = controllers.map((controller) => controller?.run(end.signal));
  const kill = (): void => {
    end.abort();
    informers.dispose();
  };
  return {
    events,
    kill,
    async stop() {
      kill();
      await Promise.allSettled(running);
      await informers.stop();
    },
  };
};
