import type { V1Pod } from '../../api/schema/index.ts';
import { exitCodeOf, isRunning, type ContainerRecord } from '../containers/container-record.ts';
import { shouldRestart } from '../containers/restart-policy.ts';

export interface PodPlan {
  /** In the order of the specification; those that are being started already are left out. */
  readonly start: readonly ContainerRecord[];
  /** Nothing will run any more: what is left (sidecars) is stopped and the pod is over. */
  readonly isFinished: boolean;
}

const isBusy = (record: ContainerRecord): boolean => isRunning(record) || record.isStarting;
const hasRun = (record: ContainerRecord): boolean =>
  record.current !== undefined || record.inherited !== undefined;

const mayRunAgain = (pod: V1Pod, record: ContainerRecord): boolean =>
  record.mustRestart || shouldRestart(pod, record.spec, exitCodeOf(record) ?? 0);

interface InitPlan extends PodPlan {
  readonly isInitialized: boolean;
}

/** Init containers run one after the other; a sidecar lets the next one go as soon as it has started. */
const planInit = (pod: V1Pod, records: readonly ContainerRecord[]): InitPlan => {
  const start: ContainerRecord[] = [];
  for (const [index, record] of records.entries()) {
    const isSidecar = record.kind === 'sidecar';
    if (isBusy(record)) {
      if (isSidecar && isRunning(record) && record.isStarted) continue;
      return { start, isFinished: false, isInitialized: false };
    }
    const exitCode = exitCodeOf(record);
    if (exitCode === 0 && !isSidecar) continue;
    if (exitCode !== undefined && !isSidecar && !mayRunAgain(pod, record))
      return { start: [], isFinished: true, isInitialized: false };
    start.push(record);
    const hasSuccessor = records.slice(index + 1).some(hasRun);
    if (!isSidecar || !hasSuccessor) return { start, isFinished: false, isInitialized: false };
  }
  return { start, isFinished: false, isInitialized: true };
};

const planMain = (pod: V1Pod, mains: readonly ContainerRecord[]): PodPlan => {
  const start = mains.filter((record) => !isBusy(record) && (!hasRun(record) || mayRunAgain(pod, record)));
  return { start, isFinished: start.length === 0 && !mains.some(isBusy) };
};

/** What has to be started now, by the order of init containers, sidecars and restart policies. */
export const planPod = (pod: V1Pod, records: readonly ContainerRecord[]): PodPlan => {
  const inits = records.filter(({ kind }) => kind === 'init' || kind === 'sidecar');
  const mains = records.filter(({ kind }) => kind === 'main');
  const hasInitialized = mains.some((record) => record.current !== undefined || record.isStarting);
  const init: InitPlan = hasInitialized
    ? {
        start: inits.filter((record) => record.kind === 'sidecar' && !isBusy(record)),
        isFinished: false,
        isInitialized: true,
      }
    : planInit(pod, inits);
  if (!init.isInitialized) return init;
  const main = planMain(pod, mains);
  // Sidecars do not keep a pod alive, and are not restarted into a pod that is over.
  if (main.isFinished) return { start: [], isFinished: true };
  const ephemeral = records.filter(
    (record) => record.kind === 'ephemeral' && !hasRun(record) && !isBusy(record),
  );
  return { start: [...init.start, ...main.start, ...ephemeral], isFinished: false };
};
