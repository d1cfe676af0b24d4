import type { Clock } from '../../core/base/clock.ts';
import { toDisposable, type Disposable } from '../../core/base/disposable.ts';
import { callControl } from '../../core/cluster/control/client.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';
import type { HostedCluster } from './hosted-cluster.ts';

const LOOK_PAUSE_MS = 3_000;
/** A process that is frozen takes the connection and does not respond. */
const ANSWER_TIMEOUT_MS = 2_000;

const stateElsewhere = async (directory: string, clock: Clock): Promise<ClusterState | undefined> => {
  let late: Disposable | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    late = clock.after(ANSWER_TIMEOUT_MS, () => resolve(undefined));
  });
  // No one listens there, or no one who answers: either way no other process is known to run it.
  const asked = callControl(directory, 'status', {}).catch(() => undefined);
  const state = await Promise.race([asked, timeout]);
  late?.dispose();
  return state;
};

/** Looks whether another process (`pilothouse up`) runs clusters that do not run here, and tells them what it says. */
export const lookElsewhere = (clusters: () => readonly HostedCluster[], clock: Clock): Disposable => {
  let timer: Disposable | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const asked = clusters().filter(({ isOurs }) => !isOurs);
    await Promise.all(
      asked.map(async (cluster) => cluster.tellElsewhere(await stateElsewhere(cluster.directory, clock))),
    );
    if (!isOver) timer = clock.after(LOOK_PAUSE_MS, () => void look());
  };
  timer = clock.after(0, () => void look());
  return toDisposable(() => {
    isOver = true;
    timer?.dispose();
  });
};
