import type { KubernetesObject } from '../../api/meta/index.ts';
import { SaidError, say } from '../../contract/index.ts';
import type { World } from './world.ts';

const DELETED_MS_MAX = 60_000;
const POLL_MS = 200;

/** Waits for a namespace that is deleted in the background to be as `isSettled` wants it. */
export const untilNamespace = async (
  world: Pick<World, 'objects' | 'supervisor'>,
  namespace: string,
  isSettled: (found: KubernetesObject | undefined) => boolean,
): Promise<void> => {
  const { clock } = world.supervisor;
  const deadlineMs = clock.monotonicMs() + DELETED_MS_MAX;
  const namespaces = await world.objects({ apiVersion: 'v1', kind: 'Namespace' });
  while (!isSettled(await namespaces.find(namespace))) {
    if (clock.monotonicMs() >= deadlineMs)
      throw new SaidError('Conflict', say('drill.leftOver', { namespace }));
    await world.supervisor.wait(POLL_MS);
  }
};
