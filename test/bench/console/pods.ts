import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadClient } from '../../support/api-load.ts';
import { ControlPlane } from '../../support/control-plane.ts';

const OCTET = 223;
const CREATES_AT_ONCE = 32;
const CHANGES_PER_TURN = 10;
const PATH = '/api/v1/namespaces/default/pods';

const podOf = (name: string): string =>
  JSON.stringify({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, labels: { app: 'bench', tier: 'back' } },
    spec: {
      automountServiceAccountToken: false,
      nodeName: 'worker-1',
      containers: [{ name: 'main', image: 'registry.example/app:1.2.3' }],
    },
  });

const PHASES = ['Running', 'Pending', 'Succeeded', 'Failed'];

/** What a kubelet writes: phase, readiness and the restarts that the list shows. */
const statusOf = (turn: number): string => {
  const phase = PHASES[turn % PHASES.length]!;
  return JSON.stringify({
    status: {
      phase,
      podIP: `10.0.${(turn >> 8) & 255}.${turn & 255}`,
      containerStatuses: [
        {
          name: 'main',
          image: 'registry.example/app:1.2.3',
          imageID: '',
          ready: phase === 'Running',
          restartCount: turn % 100,
        },
      ],
    },
  });
};

/** A real API server on a member of its own, with so many pods that no one runs. */
export class PodSource {
  readonly #plane: ControlPlane;
  readonly #client: LoadClient;
  #count = 0;

  private constructor(plane: ControlPlane, client: LoadClient) {
    this.#plane = plane;
    this.#client = client;
  }

  static async start(): Promise<PodSource> {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-console-bench-'));
    const plane = await ControlPlane.create({
      etcd: 'pilothouse',
      members: 1,
      apiServers: 1,
      octet: OCTET,
      directory,
    });
    try {
      await plane.start();
      const pki = (file: string): Buffer => readFileSync(join(directory, 'pki', file));
      const client = await LoadClient.connect(plane.apiServers[0]!.url, {
        ca: pki('ca.crt'),
        cert: pki('apiserver-kubelet-client.crt'),
        key: pki('apiserver-kubelet-client.key'),
      });
      // No controller runs that would make it, and no pod is admitted without it.
      await client.request({
        method: 'POST',
        path: '/api/v1/namespaces/default/serviceaccounts',
        body: JSON.stringify({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } }),
      });
      return new PodSource(plane, client);
    } catch (error) {
      await plane.stop();
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  get kubeconfig(): string {
    return this.#plane.kubeconfig();
  }

  /** Creates pods until there are so many. */
  async growTo(count: number): Promise<void> {
    const work = async (): Promise<void> => {
      while (this.#count < count) {
        const name = `pod-${String((this.#count += 1)).padStart(5, '0')}`;
        const { code, body } = await this.#client.request({ method: 'POST', path: PATH, body: podOf(name) });
        if (code !== 201) throw new Error(`${code}: ${body.toString().slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: CREATES_AT_ONCE }, work));
  }

  /** Changes so many pods a second, spread over all of them, until it is told to stop. */
  churn(changesPerSecond: number): { stop(): Promise<number> } {
    let isOver = false;
    let made = 0;
    let failure: unknown;
    const change = async (turn: number): Promise<void> => {
      // A step without a common divisor visits every pod before it comes back to one.
      const name = `pod-${String(((turn * 7919) % this.#count) + 1).padStart(5, '0')}`;
      const { code, body } = await this.#client.request({
        method: 'PATCH',
        path: `${PATH}/${name}/status`,
        contentType: 'application/merge-patch+json',
        body: statusOf(turn),
      });
      if (code !== 200) throw new Error(`${code}: ${body.toString().slice(0, 300)}`);
      made += 1;
    };
    const running = (async () => {
      const startedMs = performance.now();
      for (let turn = 0; !isOver;) {
        const due = ((performance.now() - startedMs) / 1000) * changesPerSecond;
        if (turn + CHANGES_PER_TURN <= due) {
          await Promise.all(Array.from({ length: CHANGES_PER_TURN }, () => change((turn += 1))));
        } else await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })().catch((error: unknown) => (failure = error));
    return {
      async stop() {
        isOver = true;
        await running;
        if (failure) throw failure;
        return made;
      },
    };
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#plane.stop();
    rmSync(this.#plane.options.directory, { recursive: true, force: true });
  }
}
