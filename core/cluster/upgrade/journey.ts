import { say, verbatim, type Said } from '../../contract/index.ts';
import { NODE } from '../../client/index.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import { ELECTED_COMPONENTS } from '../supervisor/bootstrap.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { drainNode, setCordon } from '../supervisor/drain-node.ts';
import { nodeStepId, type NodeBatch } from './itinerary.ts';
import { assertHealthy, clientOf, moveComponent, moveKubelet } from '../supervisor/move.ts';
import { writeUpgradeState, type UpgradeState } from '../data-folder/upgrade-state.ts';

/** Moves hosts to one release, a stop at a time. Every stop finds out on its own whether it was made before. */
export class Journey {
  readonly #supervisor: Supervisor;
  readonly #report: StepReport;
  readonly #version: string;
  /** How a person continues when a gate is shut. */
  readonly #resumeCommand: string;
  #state: UpgradeState;
  #written: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly supervisor: Supervisor;
    readonly report: StepReport;
    readonly version: string;
    readonly resumeCommand: string;
    readonly state: UpgradeState;
  }) {
    this.#supervisor = options.supervisor;
    this.#report = options.report;
    this.#version = options.version;
    this.#resumeCommand = options.resumeCommand;
    this.#state = options.state;
  }

  get state(): UpgradeState {
    return this.#state;
  }

  async apiServer(host: string): Promise<void> {
    await this.#stop(`apiserver/${host}`, () => this.#moveAll(host, ['kube-apiserver']));
  }

  async managers(host: string): Promise<void> {
    await this.#stop(`managers/${host}`, () => this.#moveAll(host, [...ELECTED_COMPONENTS, 'kube-dns']));
  }

  /** Nothing but the kubelet's host runs it, and no step of its own is worth it. */
  async proxy(host: string): Promise<void> {
    await this.#moveAll(host, ['kube-proxy']);
  }

  async nodes(batch: NodeBatch): Promise<void> {
    const id = nodeStepId(batch);
    await this.#stop(id, async () => {
      const moved = await Promise.all(batch.nodes.map((node) => this.#node(batch, node, id)));
      return moved.some(Boolean)
        ? verbatim(this.#version)
        : say('detail.already', { version: this.#version });
    });
  }

  async #stop(id: string, run: () => Promise<Said>): Promise<void> {
    await inStep(
      this.#report,
      id,
      async () => {
        await assertHealthy(this.#supervisor, this.#resumeCommand);
        return run();
      },
      (detail) => detail,
    );
  }

  async #moveAll(host: string, components: readonly string[]): Promise<Said> {
    const link = this.#supervisor.host(host);
    // Side by side: none of them needs another, and the host's turn is as long as its slowest.
    const moved = await Promise.all(
      components.map((component) => moveComponent(this.#supervisor, link, component, this.#version)),
    );
    return moved.some(Boolean) ? verbatim(this.#version) : say('detail.already', { version: this.#version });
  }

  async #node(batch: NodeBatch, node: string, id: string): Promise<boolean> {
    const { clock, signal } = this.#supervisor;
    const client = clientOf(this.#supervisor);
    const found = await client.resource(NODE).get(node);
    const isThere = found.status?.nodeInfo?.kubeletVersion === this.#version;
    if (isThere && !this.#state.cordoned.includes(node)) return false;
    const wasCordoned = found.spec?.unschedulable === true && !this.#state.cordoned.includes(node);
    const isDrained = !isThere && this.#hasElsewhere(batch);
    if (isDrained) {
      if (!wasCordoned) await this.#update({ cordoned: [...this.#state.cordoned, node] });
      const count = await drainNode(client, node, {
        clock,
        signal,
        onWaiting: (left, isRefused) =>
          this.#report.detail(
            id,
            say(isRefused ? 'detail.evicting.blocked' : 'detail.evicting', { count: left, node }),
          ),
      });
      this.#report.detail(id, say('detail.evicted.from', { count, node }));
    }
    await this.#update({ nodeVersions: { ...this.#state.nodeVersions, [node]: this.#version } });
    this.#supervisor.setNodeVersions(this.#state.nodeVersions);
    await moveKubelet(this.#supervisor, this.#supervisor.host(batch.host), node, this.#version);
    if (this.#state.cordoned.includes(node)) {
      await setCordon(client, node, false);
      await this.#update({ cordoned: this.#state.cordoned.filter((one) => one !== node) });
    }
    return true;
  }

  /** Pods of the only worker have nowhere to go; pods of a control plane are its own. */
  #hasElsewhere({ host, nodes }: NodeBatch): boolean {
    const { plan } = this.#supervisor.host(host);
    return plan.role === 'workers' && plan.nodes.length > nodes.length;
  }

  async #update(change: Partial<UpgradeState>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    // Nodes of a batch change it side by side; the file must end with the newest.
    this.#written = this.#written.then(() =>
      writeUpgradeState(this.#supervisor.folder.directory, this.#state),
    );
    await this.#written;
  }
}
