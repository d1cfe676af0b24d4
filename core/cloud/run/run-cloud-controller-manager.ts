import type { Log } from '../../base/log.ts';
import { runManager, type RunningManager } from '../../component/run-manager.ts';
import { ApiEventRecorder, connect, type Client } from '../../client/index.ts';
import { runControllers } from '../../controllers/runtime/run-controllers.ts';
import { selectControllers } from '../../controllers/runtime/select-controllers.ts';
import { serviceAccountTokens } from '../../controllers/runtime/service-account-tokens.ts';
import { CLOUD_CONTROLLERS } from '../cloud-controllers.ts';
import type { CloudSettings } from '../config/config.ts';

const NAME = 'cloud-controller-manager';

/** Who tells events, where upstream's name for that is not the controller's. */
const EVENT_SOURCES: Readonly<Record<string, string>> = {
  'service-lb-controller': 'service-controller',
  'node-route-controller': 'route_controller',
};

export interface CloudControllerManagerOptions {
  readonly settings: CloudSettings;
  readonly version: string;
  readonly log: Log;
}

/** The cloud-controller-manager: its lease, its secure port, and the controllers of the cloud while it leads. */
export const runCloudControllerManager = ({
  settings,
  version,
  log,
}: CloudControllerManagerOptions): Promise<RunningManager> => {
  const selected = selectControllers(CLOUD_CONTROLLERS, settings.controllers);
  return runManager({
    name: NAME,
    version,
    settings,
    log,
    async lead({ client, fence, config, clock, random, registry }, signal) {
      // Without a client certificate, which would speak for the manager instead of for the token.
      const bare = connect(
        { ...config, auth: {} },
        { clock, random, log, registry, userAgent: `${NAME}/${version}` },
      );
      const recorders: ApiEventRecorder[] = [];
      try {
        await runControllers(
          {
            controllers: selected,
            settings,
            client,
            clientFor: (serviceAccount): Client =>
              settings['use-service-account-credentials']
                ? fence(bare).withToken(serviceAccountTokens(client, serviceAccount, clock))
                : client,
            eventsFor(controller, own) {
              const component = EVENT_SOURCES[controller] ?? controller;
              const recorder = new ApiEventRecorder({ client: own, clock, random, log, component });
              recorders.push(recorder);
              return recorder;
            },
            clock,
            random,
            log,
            registry,
            onRunning: () => log.write('info', 'all controllers run', { count: selected.length }),
          },
          signal,
        );
      } finally {
        await Promise.all(recorders.map((recorder) => recorder.stop('now')));
        bare.dispose();
      }
    },
  });
};
