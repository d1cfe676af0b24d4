import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadOwnKubeconfig, pause } from '../../client/index.ts';
import type { HostPlan } from '../config/hosts.ts';
import { superAdminKubeconfigFile } from '../data-folder/layout.ts';
import type { DataFolder } from '../data-folder/open.ts';
import { PORTS } from '../manifests/control-plane.ts';
import type { BalancerKeeper } from './balancer-keeper.ts';
import { releaseDeadLeases } from './bootstrap.ts';
import { urlGate, type Gate } from './gates.ts';
import type { HostLink } from './host-link.ts';

const POLL_MS = 25;

export interface ServingGatesOptions {
  readonly folder: DataFolder;
  readonly balancer: BalancerKeeper;
  readonly clock: Clock;
  readonly log: Log;
  readonly startedAtMs: number;
  /** Aborted when the cluster is being stopped. */
  readonly signal: AbortSignal;
}

/** From a component that serves to one that is ready: its health, its leases, its place behind the load balancer. */
export class ServingGates implements Disposable {
  readonly #options: ServingGatesOptions;
  readonly #plainAgent = new http.Agent({ keepAlive: true });
  #agent: https.Agent | undefined;
  #leasesReleased: Promise<void> | undefined;

  constructor(options: ServingGatesOptions) {
    this.#options = options;
  }

  /** Loopback alone: the health of a server is asked for before its policies are there, so without a certificate. */
  trust(authorityPem: string): void {
    this.#agent = new https.Agent({ ca: authorityPem, keepAlive: true });
  }

  dispose(): void {
    this.#agent?.destroy();
    this.#plainAgent.destroy();
  }

  async whenServing(link: HostLink, component: string): Promise<void> {
    const { clock, signal, balancer } = this.#options;
    const gate = this.#gateOf(link.plan, component);
    const isServing = (): boolean => link.component(component)?.phase === 'serving';
    while (isServing() && (await gate()) !== undefined) {
      if (signal.aborted) return;
      await pause(clock, POLL_MS, signal).catch(() => undefined);
    }
    if (!isServing()) return;
    if (component === 'kube-apiserver') {
      await (this.#leasesReleased ??= this.#releaseDeadLeases(link.plan));
      // Told when it is ready first: the load balancer's own checks are a second apart.
      const { name, address } = link.plan;
      balancer.add({ name, host: address, port: PORTS.apiServer });
    }
    link.markReady(component);
  }

  #gateOf({ address }: HostPlan, component: string): Gate {
    if (component === 'kube-apiserver' && this.#agent)
      return urlGate(`https://${address}:${PORTS.apiServer}/readyz`, this.#agent);
    if (component === 'etcd')
      return urlGate(`http://${address}:${PORTS.etcdMetrics}/readyz`, this.#plainAgent);
    return () => Promise.resolve(undefined);
  }

  /**
   * Anyone who held a lease before this start is dead: the folder was locked and its processes are gone. Done before the
   * first client is let through, so that no one waits for such a lease to run out.
   */
  async #releaseDeadLeases({ address }: HostPlan): Promise<void> {
    const { folder, clock, log, startedAtMs } = this.#options;
    if (folder.isNew) return;
    const config = await loadOwnKubeconfig(superAdminKubeconfigFile(folder.directory));
    const servers = [`https://${address}:${PORTS.apiServer}`];
    const client = connect(
      { ...config, servers },
      { clock, random: systemRandom, log, userAgent: 'pilothouse' },
    );
    try {
      await releaseDeadLeases(client, startedAtMs);
    } catch (error) {
      log.write('warn', 'failed to release old leases; they will expire', { error });
    } finally {
      client.dispose();
    }
  }
}
