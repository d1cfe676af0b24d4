import type { Clock } from '../../base/clock.ts';
import { say, saidOf, SaidError, together, verbatim, type Said } from '../../contract/index.ts';
import type { Client } from '../../client/index.ts';
import type { HostPlan } from '../config/hosts.ts';
import { ensureCloudAccess, ELECTED_COMPONENTS, markControlPlanes } from './bootstrap.ts';
import { leadersGate, nodesGate, type Gate } from './gates.ts';
import { START_TIMEOUT_MS } from './host-commands.ts';
import type { HostLink } from './host-link.ts';
import { fatalFailure, startFailures, type StartFailure, type StartLook } from './start-failures.ts';

const POLL_MS = 25;
const NODES_POLL_MS = 60;
/** The pause after a question, in times of what it took. */
const POLL_SHARE = 3;
/** Longer than a lease that somebody has left behind. */
const LEADERS_WAIT_MS = 20_000;

export interface ReadinessOptions {
  readonly clock: Clock;
  /** When the cluster was started, by the wall clock and on the monotonic clock. */
  readonly startedAtMs: number;
  readonly originMs: number;
  hosts(): readonly HostLink[];
  /** A host that was coming or going when it was cut off: it need not come up for the cluster to be ready. */
  unsettled(): string | undefined;
  /** Manifests that nothing can be started from. */
  broken(): readonly StartFailure[];
  /** Rejects as soon as the cluster is being stopped. */
  wait(delayMs: number): Promise<void>;
  /** What is missing and does not keep the cluster from serving. */
  onWarning(message: Said): void;
}

/** What a start waits for, and what it does not wait for any longer. */
export class Readiness {
  readonly #options: ReadinessOptions;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Everything that a start waits for, in the order in which it is told when it is missing. */
  async untilReady(client: Client): Promise<void> {
    const { clock, startedAtMs, onWarning } = this.#options;
    // With the first API server that answers: until then the cloud-controller-manager is refused, and waits to ask again.
    const cloudAccess: Gate = () => ensureCloudAccess(client).then(() => undefined, saidOf);
    await Promise.all([
      this.#wait(() => Promise.resolve(this.missingComponent()), POLL_MS),
      this.#wait(cloudAccess, NODES_POLL_MS),
    ]);
    const failures = startFailures(this.#look());
    for (const { message } of failures) onWarning(message);
    const isDown = ({ plan }: HostLink): boolean =>
      failures.some(({ host, component }) => host === plan.name && component === undefined);
    const staying = this.#staying().filter((link) => !isDown(link));
    const nodes = staying.flatMap(({ plan }) => plan.nodes.map(({ name }) => name));
    await this.#wait(nodesGate(client, nodes, startedAtMs), NODES_POLL_MS);
    const controlPlanes = staying.filter(({ plan }) => plan.role === 'control-plane');
    await markControlPlanes(
      client,
      controlPlanes.map(({ plan }) => plan.name),
    );
    const leaders = leadersGate(client, this.#electedComponents(), startedAtMs);
    const missing = await this.#passes(leaders, NODES_POLL_MS, clock.monotonicMs() + LEADERS_WAIT_MS);
    // A cluster without a scheduler serves, and is the place to find out why there is none.
    if (missing !== undefined) onWarning(missing);
  }

  /** What is not ready among what hosts have started; undefined when all is. */
  missingComponent(): Said | undefined {
    const failures = startFailures(this.#look());
    for (const link of this.#options.hosts()) {
      const { name, phase, message, components } = link.state();
      const failed = failures.filter(({ host }) => host === name).map(({ component }) => component);
      if (name === this.#options.unsettled() || failed.includes(undefined)) continue;
      if (phase !== 'running')
        return together([
          say('found.hosts.host', { host: name, phase }),
          ...(message === undefined ? [] : [message]),
        ]);
      const late = components.find(
        (component) => component.phase !== 'ready' && !failed.includes(component.name),
      );
      if (late)
        return together([
          say('found.hosts.component', { component: late.name, host: name, phase: late.phase }),
          ...(late.message === undefined ? [] : [verbatim(late.message)]),
        ]);
    }
    return undefined;
  }

  async #wait(gate: Gate, pollMs: number): Promise<void> {
    const missing = await this.#passes(gate, pollMs, this.#options.originMs + START_TIMEOUT_MS);
    if (missing === undefined) return;
    throw new SaidError(
      'NotReady',
      say('failure.notReady', { seconds: START_TIMEOUT_MS / 1000, why: missing }),
    );
  }

  async #passes(gate: Gate, pollMs: number, deadlineMs: number): Promise<Said | undefined> {
    const { clock, wait } = this.#options;
    for (;;) {
      const askedMs = clock.monotonicMs();
      const missing = await gate();
      if (missing === undefined) return undefined;
      this.#assertStartable();
      const answeredMs = clock.monotonicMs();
      if (answeredMs > deadlineMs) return missing;
      // A look at a thousand nodes is work for those that are looked at: it takes no more than a share of the time.
      await wait(Math.max(pollMs, (answeredMs - askedMs) * POLL_SHARE));
    }
  }

  #electedComponents(): readonly string[] {
    return ELECTED_COMPONENTS.filter((name) =>
      this.#options.hosts().some((link) => link.component(name)?.phase === 'ready'),
    );
  }

  #staying(): readonly HostLink[] {
    const { hosts, unsettled } = this.#options;
    return hosts().filter(({ plan }) => plan.name !== unsettled());
  }

  #look(): StartLook {
    const staying = this.#staying();
    const named = (isMeant: (plan: HostPlan) => boolean): readonly string[] =>
      staying.filter(({ plan }) => isMeant(plan)).map(({ plan }) => plan.name);
    return {
      hosts: staying.map((link) => link.state()),
      members: named(({ etcd }) => etcd !== undefined),
      apiServers: named(({ role }) => role === 'control-plane'),
      broken: this.#options.broken(),
    };
  }

  /** What cannot be had by waiting ends the wait immediately, where the rest of the cluster cannot do without it. */
  #assertStartable(): void {
    const look = this.#look();
    const fatal = fatalFailure(look, startFailures(look));
    if (fatal !== undefined) throw new SaidError('NotStartable', fatal);
  }
}
