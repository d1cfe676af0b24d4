import type { KubernetesObject } from '../../meta/object-meta.ts';
import { parseTime } from '../../meta/time.ts';
import { isConditionTrue } from './formats.ts';
import {
  AGE,
  ageOf,
  at,
  column,
  count,
  flag,
  isDeleted,
  list,
  NAME,
  nameOf,
  since,
  text,
  textOr,
  wide,
  type TablePrinter,
} from './printer.ts';

type Fields = Record<string, unknown>;

/** How a pod is summed up in one word: the first thing that keeps it from running, else its phase. */
interface Summary {
  reason: string;
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string | undefined;
}

const isSidecar = (container: Fields | undefined): boolean => container?.['restartPolicy'] === 'Always';

const later = (a: string | undefined, b: string): string => {
  const [left, right] = [parseTime(a ?? '') ?? -Infinity, parseTime(b) ?? -Infinity];
  return a !== undefined && left >= right ? a : b;
};

const lastTermination = (status: Fields): string | undefined => {
  const finished = text(status, 'lastState', 'terminated', 'finishedAt');
  return finished === '' ? undefined : finished;
};

const exitText = (terminated: unknown): string => {
  const reason = text(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = count(terminated, 'signal');
  return signal === 0 ? `ExitCode:${count(terminated, 'exitCode')}` : `Signal:${signal}`;
};

/** Why an init container is not done; undefined when it is, or runs as a sidecar should. */
const initReason = (status: Fields, position: string): string | undefined => {
  const terminated = at(status, 'state', 'terminated');
  if (terminated !== undefined) return `Init:${exitText(terminated)}`;
  const waiting = text(status, 'state', 'waiting', 'reason');
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${position}`;
};

const isDone = (status: Fields): boolean =>
  at(status, 'state', 'terminated') !== undefined && count(status, 'state', 'terminated', 'exitCode') === 0;

/** Walks the init containers up to the first that is not done. Returns whether there is one. */
const summarizeInit = (pod: KubernetesObject, summary: Summary, sidecars: Summary): boolean => {
  const specs = list(pod, 'spec', 'initContainers');
  const byName = new Map(specs.map((spec) => [spec['name'], spec]));
  summary.total += specs.filter(isSidecar).length;
  for (const [at_, status] of list(pod, 'status', 'initContainerStatuses').entries()) {
    const sidecar = isSidecar(byName.get(status['name']));
    for (const sum of sidecar ? [summary, sidecars] : [summary]) {
      sum.restarts += count(status, 'restartCount');
      const finished = lastTermination(status);
      if (finished !== undefined) sum.lastRestart = later(sum.lastRestart, finished);
    }
    if (isDone(status)) continue;
    if (sidecar && flag(status, 'started')) {
      if (flag(status, 'ready')) summary.ready += 1;
      continue;
    }
    summary.reason = initReason(status, `${at_}/${specs.length}`)!;
    return true;
  }
  return false;
};

const summarizeContainers = (pod: KubernetesObject, summary: Summary): void => {
  let hasRunning = false;
  let errorReason = '';
  for (const status of list(pod, 'status', 'containerStatuses').toReversed()) {
    summary.restarts += count(status, 'restartCount');
    const finished = lastTermination(status);
    if (finished !== undefined) summary.lastRestart = later(summary.lastRestart, finished);
    const waiting = text(status, 'state', 'waiting', 'reason');
    const terminated = at(status, 'state', 'terminated');
    if (waiting !== '') summary.reason = waiting;
    else if (terminated !== undefined) {
      summary.reason = exitText(terminated);
      if (count(terminated, 'exitCode') !== 0) errorReason = summary.reason;
    } else if (flag(status, 'ready') && at(status, 'state', 'running') !== undefined) {
      hasRunning = true;
      summary.ready += 1;
    }
  }
  if (summary.reason !== 'Completed') return;
  if (hasRunning && isConditionTrue(at(pod, 'status'), 'Ready')) summary.reason = 'Running';
  else if (errorReason !== '') summary.reason = errorReason;
  else if (hasRunning) summary.reason = 'NotReady';
};

const summarize = (pod: KubernetesObject): Summary => {
  const phase = text(pod, 'status', 'phase');
  const gated = list(pod, 'status', 'conditions').some(
    (condition) => condition['type'] === 'PodScheduled' && condition['reason'] === 'SchedulingGated',
  );
  const summary: Summary = {
    reason: gated ? 'SchedulingGated' : textOr(phase, pod, 'status', 'reason'),
    ready: 0,
    total: list(pod, 'spec', 'containers').length,
    restarts: 0,
    lastRestart: undefined,
  };
  const sidecars: Summary = { ...summary };
  const initializing = summarizeInit(pod, summary, sidecars);
  if (!initializing || isConditionTrue(at(pod, 'status'), 'Initialized')) {
    summary.restarts = sidecars.restarts;
    summary.lastRestart = sidecars.lastRestart;
    summarizeContainers(pod, summary);
  }
  if (isDeleted(pod) && text(pod, 'status', 'reason') === 'NodeLost') summary.reason = 'Unknown';
  else if (isDeleted(pod) && phase !== 'Succeeded' && phase !== 'Failed') summary.reason = 'Terminating';
  return summary;
};

const readinessGates = (pod: KubernetesObject): string => {
  const gates = list(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => isConditionTrue(at(pod, 'status'), text(gate, 'conditionType')));
  return `${open.length}/${gates.length}`;
};

/** The one word that stands for a pod in a list. */
export const podStatusText = (pod: KubernetesObject): string => summarize(pod).reason;

export const POD: TablePrinter = {
  columns: [
    NAME,
    column('Ready', 'How many of its containers are ready.'),
    column('Status', 'What the pod is doing, or what keeps it from it.'),
    column('Restarts', 'How often its containers were restarted, and when the last one was.'),
    AGE,
    wide('IP', 'The address of the pod.'),
    wide('Node', 'The node it runs on.'),
    wide('Nominated Node', 'The node that is being cleared for it.'),
    wide('Readiness Gates', 'How many of its readiness gates are open.'),
  ],
  cells(pod, nowMs) {
    const { reason, ready, total, restarts, lastRestart } = summarize(pod);
    const ago = restarts !== 0 && lastRestart !== undefined ? ` (${since(lastRestart, nowMs)} ago)` : '';
    return [
      nameOf(pod),
      `${ready}/${total}`,
      reason,
      `${restarts}${ago}`,
      ageOf(pod, nowMs),
      textOr('<none>', list(pod, 'status', 'podIPs')[0], 'ip'),
      textOr('<none>', pod, 'spec', 'nodeName'),
      textOr('<none>', pod, 'status', 'nominatedNodeName'),
      readinessGates(pod),
    ];
  },
  conditions(pod) {
    const phase = at(pod, 'status', 'phase');
    if (phase === 'Succeeded')
      return [
        {
          type: 'Completed',
          status: 'True',
          reason: 'Succeeded',
          message: 'The pod has completed successfully.',
        },
      ];
    if (phase === 'Failed')
      return [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }];
    return undefined;
  },
};
