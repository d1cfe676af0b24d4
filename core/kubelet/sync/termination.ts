import { messageOf } from '../../base/errors.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import type { ActionTarget } from '../probes/action.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import { runHook } from './lifecycle-hook.ts';
import type { NodeContext } from './node-context.ts';
import { formatPod } from './pod-text.ts';

/** What a container gets at least between SIGTERM and SIGKILL, however late it is. */
export const GRACE_MS_MIN = 2_000;

export interface StopRequest {
  readonly context: NodeContext;
  readonly pod: V1Pod;
  readonly record: ContainerRecord;
  readonly target: ActionTarget;
  /** Of the monotonic clock; may move closer while the hook runs. */
  deadlineMs(): number;
}

const preStop = async (request: StopRequest): Promise<void> => {
  const { context, pod, record } = request;
  const hook = record.spec.lifecycle?.preStop;
  const remainingMs = request.deadlineMs() - context.clock.monotonicMs();
  if (!hook || remainingMs <= 0) return;
  const run = runHook(hook, { ...request.target, spec: record.spec }, remainingMs).catch((error: unknown) => {
    context.log.write('warn', 'preStop hook failed', { pod: formatPod(pod), error: messageOf(error) });
    context.event(pod, 'Warning', 'FailedPreStopHook', 'PreStopHook failed');
  });
  await new Promise<void>((resolve) => {
    const timer = context.clock.after(remainingMs, resolve);
    void run.then(() => {
      timer.dispose();
      resolve();
    });
  });
};

/** The hook, SIGTERM, and SIGKILL when the time is up. Resolves when the container has exited. */
export const stopContainer = async (request: StopRequest): Promise<void> => {
  const { current } = request.record;
  if (!current || current.exit) return;
  const exited = new Promise<void>((resolve) => current.container.onExit(() => resolve()));
  await preStop(request);
  if (!current.exit) {
    const remainingMs = request.deadlineMs() - request.context.clock.monotonicMs();
    current.container.stop(Math.max(GRACE_MS_MIN, remainingMs));
  }
  await exited;
};

/** Main containers immediately, then sidecars one by one from the last: each may need those before it to the end. */
export const stopInOrder = async (
  running: readonly ContainerRecord[],
  stop: (record: ContainerRecord) => Promise<void>,
): Promise<void> => {
  await Promise.all(running.filter(({ kind }) => kind !== 'sidecar').map(stop));
  for (const record of running.filter(({ kind }) => kind === 'sidecar').reverse()) await stop(record);
};
