import type { Clock } from '../../base/clock.ts';
import { inEnglish } from '../../contract/index.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import { ApiEventRecorder, type Client } from '../../client/index.ts';
import type { HostPlan } from '../config/hosts.ts';
import type { HostCrash } from './host-keeper.ts';

/** One process may carry a thousand nodes; the first few tell as much as all of them. */
const NODES_TOLD_MAX = 16;

export interface HostEventsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined before the cluster has an API. */
  client(): Client | undefined;
}

/** Tells of hosts that exited, as events on their nodes. Costs nothing before the first. */
export class HostEvents implements Disposable {
  readonly #options: HostEventsOptions;
  #recorder: ApiEventRecorder | undefined;

  constructor(options: HostEventsOptions) {
    this.#options = options;
  }

  exited({ name, nodes }: HostPlan, { reason, outcome, isGivenUp }: HostCrash): void {
    const recorder = this.#open();
    for (const node of nodes.slice(0, NODES_TOLD_MAX))
      recorder?.event(
        // As kubelets do: an event on a node has the name of the node as its uid.
        { apiVersion: 'v1', kind: 'Node', metadata: { name: node.name, uid: node.name } },
        'Warning',
        isGivenUp ? 'HostStaysDown' : 'HostExited',
        `Host ${name} exited unexpectedly: ${inEnglish(reason)}; ${inEnglish(outcome)}`,
      );
  }

  dispose(): void {
    void this.#recorder?.stop('now');
  }

  #open(): ApiEventRecorder | undefined {
    const { clock, log } = this.#options;
    const client = this.#options.client();
    if (!client) return undefined;
    return (this.#recorder ??= new ApiEventRecorder({
      client,
      clock,
      random: systemRandom,
      log,
      component: 'pilothouse',
    }));
  }
}
