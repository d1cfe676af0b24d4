import { findCondition } from '../../api/meta/conditions.ts';
import type { V1ContainerStatus, V1Pod, V1PodCondition } from '../../api/schema/index.ts';
import { isSidecar } from '../containers/container-record.ts';
import type { PodPhase } from './phase.ts';

/** The conditions that no one but the kubelet writes. */
export const KUBELET_CONDITIONS: readonly string[] = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'PodResizePending',
  'PodResizeInProgress',
];

export interface ConditionInput {
  readonly pod: V1Pod;
  readonly phase: PodPhase;
  readonly statuses: ReadonlyMap<string, V1ContainerStatus>;
  readonly isSandboxReady: boolean;
  /** A main container has started at some time. */
  readonly hasInitialized: boolean;
}

export type Draft = Omit<V1PodCondition, 'lastTransitionTime' | 'observedGeneration'>;

/** As Go prints a list of strings. */
const goList = (names: readonly string[]): string => `[${names.join(' ')}]`;

const messages = (parts: readonly (readonly [text: string, names: readonly string[]])[]): string =>
  parts
    .filter(([, names]) => names.length > 0)
    .map(([text, names]) => `${text}: ${goList(names)}`)
    .join(', ');

const containersReady = ({ pod, phase, statuses }: ConditionInput): Draft => {
  const watched = [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])];
  const unknown = watched.filter(({ name }) => !statuses.has(name)).map(({ name }) => name);
  const unready = watched.filter(({ name }) => statuses.get(name)?.ready === false).map(({ name }) => name);
  const no = (reason: string): Draft => ({ type: 'ContainersReady', status: 'False', reason });
  if (phase === 'Succeeded' && unknown.length === 0) return no('PodCompleted');
  if (phase === 'Failed') return no('PodFailed');
  const message = messages([
    ['containers with unknown status', unknown],
    ['containers with unready status', unready],
  ]);
  return message === ''
    ? { type: 'ContainersReady', status: 'True' }
    : { ...no('ContainersNotReady'), message };
};

const podReady = (input: ConditionInput, containers: Draft): Draft => {
  if (containers.status !== 'True') return { ...containers, type: 'Ready' };
  const unmet = (input.pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = findCondition(input.pod.status?.conditions, conditionType);
    if (!condition)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  return unmet.length === 0
    ? { type: 'Ready', status: 'True' }
    : { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: unmet.join(', ') };
};

const initialized = ({ pod, phase, statuses, hasInitialized }: ConditionInput): Draft => {
  const type = 'Initialized';
  const inits = pod.spec?.initContainers ?? [];
  const unknown = inits.filter(({ name }) => !statuses.has(name)).map(({ name }) => name);
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' };
  if (hasInitialized) return { type, status: 'True' };
  const incomplete = inits
    .filter((container) => {
      const status = statuses.get(container.name);
      return status !== undefined && !(isSidecar(container) ? status.started === true : status.ready);
    })
    .map(({ name }) => name);
  const message = messages([
    ['containers with unknown status', unknown],
    ['containers with incomplete status', incomplete],
  ]);
  return message === ''
    ? { type, status: 'True' }
    : { type, status: 'False', reason: 'ContainersNotInitialized', message };
};

/** In the order in which upstream writes them. */
export const kubeletConditions = (input: ConditionInput): readonly Draft[] => {
  const containers = containersReady(input);
  return [
    { type: 'PodReadyToStartContainers', status: input.isSandboxReady ? 'True' : 'False' },
    initialized(input),
    podReady(input, containers),
    containers,
    { type: 'PodScheduled', status: 'True' },
  ];
};

/** Times move only with the status; `observedGeneration` follows the pod. */
export const settleConditions = (
  drafts: readonly Draft[],
  options: {
    readonly before: readonly V1PodCondition[] | undefined;
    readonly pod: V1Pod;
    readonly now: string;
  },
): V1PodCondition[] =>
  drafts.map((draft) => {
    const old = findCondition(options.before, draft.type);
    const generation = options.pod.metadata?.generation;
    return {
      ...draft,
      ...(generation !== undefined && { observedGeneration: generation }),
      lastTransitionTime:
        old?.status === draft.status ? (old.lastTransitionTime ?? options.now) : options.now,
    };
  });
