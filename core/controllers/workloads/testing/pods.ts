import { formatTime } from '../../../api/meta/time.ts';
import { POD, type Pod, type Stored } from '../../../client/index.ts';
import type { FakeApi } from '../../../client/testing/index.ts';

const setReady = (pod: Stored<Pod>, isReady: boolean, nowMs: number): void => {
  const condition = {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    lastTransitionTime: formatTime(nowMs),
  };
  pod.status = { ...pod.status, phase: 'Running', conditions: [condition] };
};

export const makeReady = (api: FakeApi, name: string, isReady = true): void =>
  void api.edit(POD, name, (pod) => setReady(pod, isReady, api.clock.nowMs()));

/** Ends a pod as its kubelet would. */
export const finish = (api: FakeApi, name: string, phase: 'Succeeded' | 'Failed'): void =>
  void api.edit(POD, name, (pod) => {
    pod.status = { ...pod.status, phase, conditions: [] };
  });

const isHealthy = (pod: Stored<Pod>): boolean =>
  pod.status?.phase === 'Running' && pod.status.conditions?.[0]?.status === 'True';

/**
 * What kubelets do, until nothing changes: pods that fit start and become ready, pods that are deleted go. `isGood` says
 * which pods ever become ready.
 */
export const actAsKubelet = async (
  api: FakeApi,
  isGood: (pod: Stored<Pod>) => boolean = () => true,
): Promise<void> => {
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
    await api.settle();
    let changes = 0;
    for (const pod of api.list(POD)) {
      const { name, namespace, deletionTimestamp, finalizers } = pod.metadata;
      if (deletionTimestamp) {
        if (finalizers?.length) continue;
        api.remove(POD, name, namespace);
        changes += 1;
      } else if (pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed') {
        if (isHealthy(pod) === isGood(pod) && pod.status?.phase === 'Running') continue;
        api.edit(POD, name, (held) => setReady(held, isGood(pod), api.clock.nowMs()), namespace);
        changes += 1;
      }
    }
    if (changes === 0) return;
  }
  throw new Error('pods change without end');
};

const ROUNDS_MAX = 500;
