import type { Clock } from '../base/clock.ts';
import { toDisposable, type Disposable } from '../base/disposable.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import {
  InformerFactory,
  NETWORK_POLICY,
  type Client,
  type Informer,
  type NetworkPolicy,
} from '../client/index.ts';
import {
  evaluate,
  type Connecting,
  type ConnectionJudge,
  type Judgement,
  type PolicyEnd,
  type Protocol,
  type SideVerdict,
} from '../network-policy/index.ts';
import { PolicyObjects } from './policy-objects.ts';

/** A connection is not kept waiting for the API for longer than a client would wait for an answer. */
const SYNC_TIMEOUT_MS = 10_000;
const RETRY_MS = 5_000;

export interface PolicyAgentOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Opened when the first container has something to police; rejects where the identity is missing. */
  connect(): Promise<Client & Disposable>;
}

const ALLOWED: Judgement = { isAllowed: true };
const UNKNOWN: Judgement = { isAllowed: false, reason: 'NetworkPolicies are not known yet' };

const deniedBy = ({ direction, isolating }: SideVerdict): Judgement => ({
  isAllowed: false,
  reason: `${direction} is denied by NetworkPolicy ${isolating.join(', ')}`,
});

/**
 * What NetworkPolicies say about connections of simulated pods, and about those that kube-proxy passes on. It watches policies from the first container on, and
 * pods, namespaces and Services only while there is a policy: clusters without one pay for a single watch.
 */
export class PolicyAgent implements ConnectionJudge {
  readonly #options: PolicyAgentOptions;
  readonly #listeners = new Set<() => void>();
  #started: Promise<void> | undefined;
  #client: (Client & Disposable) | undefined;
  #watch: InformerFactory | undefined;
  #policies: Informer<NetworkPolicy> | undefined;
  #objects: PolicyObjects | undefined;
  #isDisposed = false;

  constructor(options: PolicyAgentOptions) {
    this.#options = options;
  }

  /** True also while it is not known yet. */
  get isPoliced(): boolean {
    return this.#policies?.synced !== true || this.#policies.store.size > 0;
  }

  start(): void {
    this.#started ??= this.#open().catch((error: unknown) => {
      this.#options.log.write('error', 'NetworkPolicies cannot be watched; connections of pods are denied', {
        error,
      });
      // Not at every connection: each would be a try and a line of the log.
      this.#options.clock.after(RETRY_MS, () => (this.#started = undefined));
    });
  }

  /** Called when `isPoliced` may have changed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  async judge(connection: Connecting): Promise<Judgement> {
    this.start();
    const abort = new AbortController();
    const timer = this.#options.clock.after(SYNC_TIMEOUT_MS, () => abort.abort());
    try {
      await Promise.race([
        this.#started,
        new Promise((_, reject) => abort.signal.addEventListener('abort', () => reject(new Error('late')))),
      ]);
      await this.#policies?.whenSynced(abort.signal);
      if (!this.isPoliced) return ALLOWED;
      await this.#objects?.ready(abort.signal);
    } catch {
      return UNKNOWN;
    } finally {
      timer.dispose();
    }
    return this.#objects ? this.#decide(connection, this.#objects) : UNKNOWN;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#objects?.dispose();
    this.#watch?.dispose();
    this.#client?.dispose();
    this.#listeners.clear();
  }

  async #open(): Promise<void> {
    const { clock, random, log, connect } = this.#options;
    const client = await connect();
    if (this.#isDisposed) return client.dispose();
    this.#client = client;
    this.#watch = new InformerFactory({ client, clock, random, log });
    this.#policies = this.#watch.informer(NETWORK_POLICY);
    const onChange = (): void => this.#changed(client);
    this.#policies.addHandler({ added: onChange, updated: onChange, deleted: onChange });
    this.#policies.onHealth(onChange);
    this.#watch.start();
  }

  #changed(client: Client): void {
    if (this.#isDisposed || this.#policies?.synced !== true) return;
    const { clock, random, log } = this.#options;
    if (this.#policies.store.size > 0)
      this.#objects ??= new PolicyObjects({ client, clock, random, log, policies: this.#policies.store });
    else {
      this.#objects?.dispose();
      this.#objects = undefined;
    }
    for (const listener of this.#listeners) listener();
  }

  #decide({ kind, from, to, protocol, port, service }: Connecting, objects: PolicyObjects): Judgement {
    const source = objects.endAt(from);
    if (kind !== 'connect') {
      const behind = service ? objects.behind({ ...service, protocol }) : [];
      const target = behind.find((one) => one.to.address === to && one.port === port);
      const verdict = evaluate(
        { from: source, protocol, ...(target ?? { to: objects.endAt(to), port }) },
        objects,
      );
      if (verdict.isAllowed) return ALLOWED;
      return deniedBy(verdict.ingress.isAllowed ? verdict.egress : verdict.ingress);
    }
    return this.#decideEgress(source, { to, protocol, port }, objects);
  }

  /** Behind a Service it is enough that one endpoint may be reached: the pod that is picked judges for itself. */
  #decideEgress(
    from: PolicyEnd,
    { to, protocol, port }: { readonly to: string; readonly protocol: Protocol; readonly port: number },
    objects: PolicyObjects,
  ): Judgement {
    const direct = { to: objects.endAt(to), port, servicePort: undefined };
    const verdicts = [direct, ...objects.behind({ address: to, protocol, port })].map(
      (target) => evaluate({ from, protocol, ...target }, objects).egress,
    );
    return verdicts.some(({ isAllowed }) => isAllowed) ? ALLOWED : deniedBy(verdicts[0]!);
  }
}
