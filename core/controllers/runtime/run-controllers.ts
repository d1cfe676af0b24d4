import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import { InformerFactory, pause, type Client, type EventRecorder } from '../../client/index.ts';
import type { ControllerBook } from './controller-book.ts';
import type { ControllerDefinition } from './controller.ts';

export interface RunControllersOptions<S> {
  readonly controllers: readonly ControllerDefinition<S>[];
  readonly settings: S;
  /** For the informers that all share. */
  readonly client: Client;
  /** The same cluster, under the service account of one controller. */
  clientFor(serviceAccount: string): Client;
  eventsFor(component: string, client: Client): EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  readonly book?: ControllerBook;
  /** All informers are filled and every controller runs. */
  onRunning?(): void;
}

/** A controller that fell over is started again after this long; the others run on. */
const RESTART_PAUSE_MS = 1000;

/** Makes the controllers, fills the informers, and runs all until the signal; resolves when all have ended. */
export const runControllers = async <S>(
  options: RunControllersOptions<S>,
  signal: AbortSignal,
): Promise<void> => {
  const { client, clock, random, log, registry } = options;
  const informers = new InformerFactory({ client, clock, random, log, registry });
  const { book } = options;
  book?.begin(() => informers.health());
  try {
    const made = options.controllers.flatMap((definition) => {
      const own = options.clientFor(definition.serviceAccount);
      const controller = definition.create(
        {
          client: own,
          informers,
          events: options.eventsFor(definition.name, own),
          clock,
          random,
          log: log.with({ controller: definition.name }),
          registry,
          record: book?.recordOf(definition.name),
        },
        options.settings,
      );
      return controller ? [{ definition, controller }] : [];
    });
    informers.start();
    await informers.whenSynced(signal);
    book?.run();
    options.onRunning?.();
    await Promise.all(
      made.map(async ({ definition, controller }) => {
        const record = book?.recordOf(definition.name);
        while (!signal.aborted) {
          try {
            if (record) record.phase = 'running';
            await controller.run(signal);
            return;
          } catch (error) {
            if (signal.aborted) return;
            if (record) {
              record.phase = 'restarting';
              record.error = messageOf(error);
            }
            log.write('error', 'a controller failed and starts over', {
              controller: definition.name,
              error: messageOf(error),
            });
            await pause(clock, RESTART_PAUSE_MS, signal).catch(() => undefined);
          }
        }
      }),
    );
  } finally {
    book?.end();
    await informers.stop();
  }
};
