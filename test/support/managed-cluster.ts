import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { startKubelets, type Kubelets } from './kubelets.ts';
import { Managers } from './managers.ts';

export interface ManagedClusterOptions {
  readonly octet: number;
  readonly apiServers?: number;
  readonly members?: number;
  readonly etcd?: ControlPlaneOptions['etcd'];
  /** Nodes that run pods; none without it. */
  readonly nodes?: number;
  readonly podsPerNode?: number;
}

export interface ManagedCluster {
  readonly managers: Managers;
  readonly kubelets: Kubelets | undefined;
  close(): Promise<void>;
}

/** Every request that a test can cause is kept. */
const TRACES_MAX = 50_000;

/** PILOTHOUSE_TEST_ETCD=etcd puts a real etcd behind every test of the managers. */
const flavour = (): ControlPlaneOptions['etcd'] =>
  process.env['PILOTHOUSE_TEST_ETCD'] === 'etcd' ? 'etcd' : 'pilothouse';

/** Members, API servers and nodes in a folder of their own. Managers are started by the test. */
export const startManagedCluster = async (options: ManagedClusterOptions): Promise<ManagedCluster> => {
  const { octet, apiServers = 1, members = 1, etcd = flavour(), nodes = 0, podsPerNode } = options;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-managers-'));
  const plane = await ControlPlane.create({
    etcd,
    members,
    apiServers,
    octet,
    directory,
    apiServerFlags: [`--debug-traces=${TRACES_MAX}`],
  });
  const managers = new Managers(plane);
  let kubelets: Kubelets | undefined;
  const close = async (): Promise<void> => {
    await kubelets?.stop();
    await managers.stop();
    await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await plane.start();
    if (nodes > 0)
      kubelets = await startKubelets({
        client: managers.client(),
        octet,
        nodes,
        ...(podsPerNode !== undefined && { podsPerNode }),
      });
  } catch (error) {
    await close();
    throw error;
  }
  return { managers, kubelets, close };
};
