import type { Log } from '../../base/log.ts';
import { runManager, type ManagerSettings, type RunningManager } from '../../component/run-manager.ts';
import { ApiEventRecorder, connect, type Client } from '../../client/index.ts';
import type { ControllerFlagValues } from '../config/shared-flags.ts';
import { systemClock } from '../../base/node/clock.ts';
import { ControllerBook } from '../runtime/controller-book.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { runControllers } from '../runtime/run-controllers.ts';
import { selectControllers } from '../runtime/select-controllers.ts';
import { serviceAccountTokens } from '../runtime/service-account-tokens.ts';

/** What every manager of controllers is told besides what its controllers want to know. */
type SharedSettings = ManagerSettings & ControllerFlagValues;

export interface ControllerManagerOptions<S extends SharedSettings> {
  /** `kube-controller-manager`. */
  readonly name: string;
  readonly settings: S;
  readonly controllers: readonly ControllerDefinition<S>[];
  readonly version: string;
  readonly log: Log;
  /** Who tells the events of a controller, where upstream's name for that is another. */
  readonly eventSources?: Readonly<Record<string, string>>;
  /** What `/configz` shows, by the name of the configuration. */
  readonly configuration?: Readonly<Record<string, unknown>>;
}

/** A manager of controllers: its lease, its secure port, and the controllers while it leads. */
export const runControllerManager = <S extends SharedSettings>(
  options: ControllerManagerOptions<S>,
): Promise<RunningManager> => {
  const { name, settings, version, log, configuration, eventSources = {} } = options;
  const selected = selectControllers(options.controllers, settings.controllers);
  const book = new ControllerBook(
    selected.map((controller) => controller.name),
    systemClock,
  );
  return runManager({
    name,
    version,
    settings,
    log,
    pages: {
      ...(configuration && { '/configz': () => Promise.resolve(configuration) }),
      /** Every controller with its queue, its newest turns, and what fails; empty where another process leads. */
      '/debug/controllers': () => Promise.resolve(book.view()),
    },
    async lead({ client, fence, settled, config, clock, random, registry }, signal) {
      // Without a client certificate, which would speak for the manager instead of for the token.
      const bare = connect(
        { ...config, auth: {} },
        { clock, random, log, registry, userAgent: `${name}/${version}`, onWarning: () => undefined },
      );
      const recorders: ApiEventRecorder[] = [];
      try {
        await runControllers(
          {
            controllers: selected,
            settings,
            client,
            clientFor: (serviceAccount): Client =>
              settings['use-service-account-credentials'] && serviceAccount !== ''
                ? fence(bare).withToken(serviceAccountTokens(client, serviceAccount, clock))
                : client,
            eventsFor(controller, own) {
              const component = eventSources[controller] ?? controller;
              const recorder = new ApiEventRecorder({ client: own, clock, random, log, component });
              recorders.push(recorder);
              return recorder;
            },
            clock,
            random,
            log,
            registry,
            book,
            onRunning: () => log.write('info', 'all controllers run', { count: selected.length }),
          },
          signal,
        );
      } finally {
        await Promise.all(recorders.map((recorder) => recorder.stop('now')));
        await settled();
        bare.dispose();
      }
    },
  });
};
