import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import {
  ApiEventRecorder,
  connect,
  InformerFactory,
  loadOwnKubeconfig,
  TokenBucket,
  type EventRecorder,
} from '../../client/index.ts';
import { clientRotation } from '../../kubelet/certificates/tls-bootstrap.ts';
import { apiAuth, type KubeletAuth } from '../../kubelet/server/auth.ts';
import type { NodeApi } from '../../kubelet/kubelet-host.ts';
import { kubeletKubeconfigFile } from '../data-folder/layout.ts';

/**
 * Upstream's --event-qps and --event-burst, for all kubelets of the process: what thousands of pods have to tell when they
 * start must not keep their statuses waiting.
 */
export const EVENT_RATE = { qps: 50, burst: 100 } as const;

/** As the keeper of the other certificates: a cluster that has just started has other things to do. */
const FIRST_ROTATION_MS = 60_000;

interface NodeAccess extends NodeApi {
  readonly auth: KubeletAuth;
}

export interface NodeIdentitiesOptions {
  readonly dataDirectory: string;
  readonly nodeNames: readonly string[];
  readonly kubernetesVersion: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Each node of a host with its own certificate, and so its own connection: the API server tells nodes apart by the
 * certificate of the connection. A connection is opened by the first request of its node.
 */
export class NodeIdentities implements Disposable {
  readonly #owned = new DisposableStore();
  readonly #recorders: ApiEventRecorder[] = [];
  readonly #nodes = new Map<string, NodeAccess>();
  readonly #options: NodeIdentitiesOptions;
  readonly #eventLimiter: TokenBucket;

  private constructor(options: NodeIdentitiesOptions) {
    this.#options = options;
    this.#eventLimiter = new TokenBucket({ clock: options.clock, ...EVENT_RATE });
  }

  /** Rejects where a kubeconfig is missing or damaged. */
  static async load(options: NodeIdentitiesOptions): Promise<NodeIdentities> {
    const identities = new NodeIdentities(options);
    for (const name of options.nodeNames) await identities.#load(name);
    return identities;
  }

  api(nodeName: string): NodeApi {
    return this.#node(nodeName);
  }

  auth(nodeName: string): KubeletAuth {
    return this.#node(nodeName).auth;
  }

  events(nodeName: string): EventRecorder {
    const { clock, log } = this.#options;
    const recorder = new ApiEventRecorder({
      client: this.#node(nodeName).client,
      clock,
      random: systemRandom,
      log,
      component: 'kubelet',
      host: nodeName,
      limiter: this.#eventLimiter,
    });
    this.#recorders.push(recorder);
    return recorder;
  }

  dispose(): void {
    this.#owned.dispose();
    for (const recorder of this.#recorders) void recorder.stop('now');
  }

  async #load(name: string): Promise<void> {
    const { dataDirectory, clock, log, kubernetesVersion } = this.#options;
    const file = kubeletKubeconfigFile(dataDirectory, name);
    const config = await loadOwnKubeconfig(file);
    const shape = { clock, random: systemRandom, log };
    const client = this.#owned.add(connect(config, { ...shape, userAgent: `kubelet/${kubernetesVersion}` }));
    const informers = this.#owned.add(new InformerFactory({ client, ...shape }));
    this.#nodes.set(name, { client, informers, auth: apiAuth(client, clock) });
    const rotation = clientRotation({ nodeName: name, kubeconfig: file, client, clock, log });
    this.#owned.add(rotation).start(FIRST_ROTATION_MS);
  }

  #node(name: string): NodeAccess {
    const node = this.#nodes.get(name);
    assert(node, `${name} is a node of this host`);
    return node;
  }
}
