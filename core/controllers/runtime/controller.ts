import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import type { Client, EventRecorder, InformerFactory } from '../../client/index.ts';
import type { ControllerRecord } from './controller-book.ts';

/** What every controller is given. */
export interface ControllerContext {
  /** Writes, and what no informer answers; under the service account of the controller. */
  readonly client: Client;
  /** Shared by all controllers of the process: one watch a resource. */
  readonly informers: InformerFactory;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  /** Where its turns are written down for people; absent where nothing shows them. */
  readonly record?: ControllerRecord | undefined;
}

/** A loop that brings what is there to what is declared. It can be killed at any point and start over. */
export interface Controller {
  /**
   * Runs until the signal is aborted, and resolves when everything in progress is done. The informers that it asked for
   * when it was made are filled by then.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** A controller as the manager knows it. `S` are the settings it is made with. */
export interface ControllerDefinition<S> {
  /** Upstream's name, as in `--controllers`: `deployment-controller`. */
  readonly name: string;
  /** Names before 1.28, still accepted by `--controllers`: `deployment`. */
  readonly aliases: readonly string[];
  /**
   * The account in kube-system whose rights it has; upstream's bootstrap policy binds a role to it. Empty: it has the
   * manager's own, as what hands out tokens must.
   */
  readonly serviceAccount: string;
  readonly isOnByDefault: boolean;
  /** Asks for informers and adds handlers, and does nothing else yet. Undefined: nothing to do with these settings. */
  create(context: ControllerContext, settings: S): Controller | undefined;
}
