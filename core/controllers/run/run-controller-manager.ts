import type { Log } from '../../base/log.ts';
import { runManager, type RunningManager } from '../../component/run-manager.ts';
import { ApiEventRecorder, connect, type Client } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { runControllers } from '../runtime/run-controllers.ts';
import { selectControllers } from '../runtime/select-controllers.ts';
import { serviceAccountTokens } from '../runtime/service-account-tokens.ts';

export interface ControllerManagerOptions {
  readonly settings: ControllerSettings;
  readonly controllers: readonly ControllerDefinition<ControllerSettings>[];
  readonly version: string;
  readonly log: Log;
}

/** The controller-manager: its lease, its secure port, and the controllers while it leads. */
export const runControllerManager = ({
  settings,
  controllers,
  version,
  log,
}: ControllerManagerOptions): Promise<RunningManager> => {
  const selected = selectControllers(controllers, settings.controllers);
  return runManager({
    name: 'kube-controller-manager',
    version,
    settings,
    log,
    async lead({ client, fence, config, clock, random, registry }, signal) {
      // Without a client certificate, which would speak for the manager instead of for the token.
      const bare = connect(
        { ...config, auth: {} },
        { clock, random, log, registry, userAgent: `kube-controller-manager/${version}` },
      );
      const recorders: ApiEventRecorder[] = [];
      try {
        const clientFor = (serviceAccount: string): Client =>
          settings['use-service-account-credentials'] && serviceAccount !== ''
            ? fence(bare).withToken(serviceAccountTokens(client, serviceAccount, clock))
            : client;
        await runControllers(
          {
            controllers: selected,
            settings,
            client,
            clientFor,
            eventsFor(component, own) {
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
