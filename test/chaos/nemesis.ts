import { setTimeout as sleep } from 'node:timers/promises';
import { callControl } from '../../core/cluster/control/client.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';
import type { FaultRequest } from '../../core/cluster/faults/fault.ts';
import { CONTAINER_BACK_OFF } from '../../core/kubelet/containers/back-off.ts';
import { isWell } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';
import type { HostilePods } from './hostile-pods.ts';
import type { Seeded } from './random.ts';

const HOLD_MS_MIN = 2_000;
const HOLD_MS_MAX = 7_000;
/** A component that has ended often waits in its kubelet's back-off, which is upstream's: minutes, then it has to start. */
const WELL_LIMIT_MS = CONTAINER_BACK_OFF.maxMs + 180_000;
const CLOCK_MS_MAX = 4_000;
const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;

/** Breaks one control plane at a time, so that a quorum is always left, and waits until everything has recovered. */
export class Nemesis {
  readonly #data: string;
  readonly #random: Seeded;
  readonly #log: (line: string) => void;
  readonly #hostile: HostilePods;

  constructor(data: string, random: Seeded, log: (line: string) => void, hostile: HostilePods) {
    this.#data = data;
    this.#random = random;
    this.#log = log;
    this.#hostile = hostile;
  }

  async strike(): Promise<void> {
    const { hosts } = await this.#state();
    const victims = hosts.filter(({ role }) => role === 'control-plane').map(({ name }) => name);
    const victim = this.#random.pick(victims);
    const other = this.#random.pick(victims.filter((name) => name !== victim));
    const { pick, between, next } = this.#random;
    const kind = pick([
      ...(['cut', 'cut', 'isolate', 'delay', 'slow-disk', 'clock', 'component', 'kill', 'pause'] as const),
      ...(['hostile-pods', 'hostile-pods'] as const),
    ]);
    const holdMs = between(HOLD_MS_MIN, HOLD_MS_MAX);
    switch (kind) {
      case 'hostile-pods':
        this.#log(await this.#hostile.strike(holdMs));
        break;
      case 'isolate':
        this.#log(`isolate ${victim} for ${holdMs} ms`);
        await callControl(this.#data, 'fault.isolate', { host: victim });
        await sleep(holdMs);
        break;
      case 'component': {
        const component = pick(COMPONENTS);
        this.#log(`kill ${component} on ${victim}`);
        await callControl(this.#data, 'component.kill', { host: victim, component });
        await sleep(holdMs);
        break;
      }
      case 'kill':
        this.#log(`kill ${victim} for ${holdMs} ms`);
        await callControl(this.#data, 'host.kill', { host: victim });
        await sleep(holdMs);
        await callControl(this.#data, 'host.start', { host: victim });
        break;
      case 'pause':
        this.#log(`pause ${victim} for ${holdMs} ms`);
        await callControl(this.#data, 'host.pause', { host: victim });
        await sleep(holdMs);
        await callControl(this.#data, 'host.resume', { host: victim });
        break;
      case 'cut':
      case 'delay':
      case 'slow-disk':
      case 'clock': {
        const isOneWay = next() < 0.5;
        const requests: Record<typeof kind, FaultRequest> = {
          cut: { kind: 'cut', from: victim, to: other, isOneWay },
          delay: { kind: 'delay', from: victim, to: other, delayMs: between(20, 250), isOneWay },
          'slow-disk': { kind: 'slow-disk', host: victim, delayMs: between(10, 120) },
          clock: { kind: 'clock', host: victim, offsetMs: pick([-1, 1]) * between(500, CLOCK_MS_MAX) },
        };
        const { text } = await callControl(this.#data, 'fault.add', {
          request: JSON.stringify(requests[kind]),
        });
        this.#log(`${text}, for ${holdMs} ms`);
        await sleep(holdMs);
      }
    }
    await this.heal();
  }

  /** Resolves when everything is ready again. */
  async heal(): Promise<void> {
    await callControl(this.#data, 'fault.heal', { id: 'all' });
    const startedMs = Date.now();
    await until('everything to be well again', async () => isWell(await this.#state()), WELL_LIMIT_MS);
    this.#log(`well after ${Date.now() - startedMs} ms`);
  }

  #state(): Promise<ClusterState> {
    return callControl(this.#data, 'status', {});
  }
}
