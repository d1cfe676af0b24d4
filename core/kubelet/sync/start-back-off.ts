import { formatDuration } from '../../base/duration.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { CONTAINER_BACK_OFF, nextBackOff, remainingBackOffMs } from '../containers/back-off.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import type { NodeContext } from './node-context.ts';
import { formatPod } from './pod-text.ts';

/** `ErrImagePull` is shown this long before it becomes `ImagePullBackOff`. */
const IMAGE_ERROR_SHOWN_MS = 2_000;

const imageUntilMs = (context: NodeContext, pod: V1Pod, record: ContainerRecord): number => {
  const { imageFailure, imageBackOff } = record;
  const nowMs = context.clock.nowMs();
  if (!imageFailure || !imageBackOff) return 0;
  const untilMs = imageFailure.atMs + imageBackOff.durationMs;
  if (nowMs >= untilMs) return 0;
  const shownMs = imageFailure.atMs + IMAGE_ERROR_SHOWN_MS;
  if (nowMs < shownMs) return shownMs;
  if (record.waiting?.reason !== 'ImagePullBackOff') {
    const text = `Back-off pulling image "${record.spec.image ?? ''}"`;
    context.event(pod, 'Normal', 'BackOff', text);
    context.event(pod, 'Warning', 'Failed', 'Error: ImagePullBackOff');
    record.waiting = {
      reason: 'ImagePullBackOff',
      message: `${text}: ${imageFailure.reason}: ${imageFailure.message}`,
    };
  }
  return untilMs;
};

const crashUntilMs = (context: NodeContext, pod: V1Pod, record: ContainerRecord): number => {
  const exit = record.current?.exit;
  const nowMs = context.clock.nowMs();
  if (!exit) return 0;
  const waitMs = remainingBackOffMs(record.backOff, CONTAINER_BACK_OFF, exit.finishedMs, nowMs);
  if (waitMs > 0) {
    if (record.waiting?.reason !== 'CrashLoopBackOff') {
      const { name } = record.spec;
      const text = formatPod(pod);
      context.event(pod, 'Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${text}`);
      const duration = formatDuration(record.backOff?.durationMs ?? 0);
      record.waiting = {
        reason: 'CrashLoopBackOff',
        message: `back-off ${duration} restarting failed container=${name} pod=${text}`,
      };
    }
    return nowMs + waitMs;
  }
  // Once per exit: a start that fails for its image or configuration does not count as a crash.
  if (!record.backOff || record.backOff.updatedMs < exit.finishedMs)
    record.backOff = nextBackOff(record.backOff, CONTAINER_BACK_OFF, exit.finishedMs, nowMs);
  return 0;
};

/**
 * Until when a container has to wait before it is started, by the wall clock; not in the future when it may start
 * now. Shows the wait in the record and tells it, once, as an event.
 */
export const backOffUntilMs = (context: NodeContext, pod: V1Pod, record: ContainerRecord): number =>
  imageUntilMs(context, pod, record) || crashUntilMs(context, pod, record) || record.retryAtMs;
