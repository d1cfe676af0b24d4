import { formatTime } from '../../api/meta/time.ts';
import type { V1ContainerState, V1ContainerStatus, V1Pod, V1VolumeMount } from '../../api/schema/index.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import { terminatedState } from '../containers/terminated-state.ts';

/** What a container waits for that nothing has happened to yet. */
const defaultWaiting = (pod: V1Pod): V1ContainerState => ({
  waiting: { reason: (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' },
});

const stateOf = (pod: V1Pod, record: ContainerRecord): V1ContainerState => {
  const { current, inherited, waiting } = record;
  if (current && !current.exit) return { running: { startedAt: formatTime(current.startedMs) } };
  if (waiting) return { waiting };
  const terminated = current ? terminatedState(current) : inherited;
  return terminated ? { terminated } : defaultWaiting(pod);
};

const lastStateOf = (record: ContainerRecord, state: V1ContainerState): V1ContainerState => {
  const ended = (record.current && terminatedState(record.current)) ?? record.inherited;
  const terminated = state.waiting && ended ? ended : record.last;
  return terminated ? { terminated } : {};
};

const mountStatus = (mount: V1VolumeMount): NonNullable<V1ContainerStatus['volumeMounts']>[number] => ({
  mountPath: mount.mountPath,
  name: mount.name,
  ...(mount.readOnly && { readOnly: true, recursiveReadOnly: mount.recursiveReadOnly ?? 'Disabled' }),
});

export const containerStatus = (pod: V1Pod, record: ContainerRecord): V1ContainerStatus => {
  const { spec, current } = record;
  const state = stateOf(pod, record);
  const mounts = spec.volumeMounts ?? [];
  const isResourceful = spec.resources !== undefined && record.kind !== 'ephemeral';
  const containerID = current?.container.id ?? record.inherited?.containerID ?? record.last?.containerID;
  const isDoneInit = record.kind === 'init' && state.terminated?.exitCode === 0;
  return {
    name: spec.name,
    state,
    lastState: lastStateOf(record, state),
    ready:
      record.kind === 'init' ? isDoneInit : state.running !== undefined && record.isStarted && record.isReady,
    restartCount: record.restartCount,
    image: spec.image ?? '',
    imageID: current?.imageID ?? '',
    ...(containerID !== undefined && { containerID }),
    ...(record.kind !== 'ephemeral' && { started: state.running !== undefined && record.isStarted }),
    ...(isResourceful && spec.resources?.requests && { allocatedResources: spec.resources.requests }),
    ...(isResourceful && current && { resources: record.applied ?? spec.resources! }),
    ...(mounts.length > 0 && { volumeMounts: mounts.map(mountStatus) }),
  };
};
