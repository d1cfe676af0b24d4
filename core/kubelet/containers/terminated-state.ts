import { formatTime } from '../../api/meta/time.ts';
import type { V1ContainerStateTerminated } from '../../api/schema/index.ts';
import type { Incarnation } from './container-record.ts';

/** How a container ended, as its status says it; undefined while it runs. */
export const terminatedState = (incarnation: Incarnation): V1ContainerStateTerminated | undefined => {
  const { exit } = incarnation;
  return (
    exit && {
      exitCode: exit.exitCode,
      ...(exit.signal !== undefined && { signal: exit.signal }),
      reason: exit.reason,
      ...(exit.message !== undefined && { message: exit.message }),
      startedAt: formatTime(incarnation.startedMs),
      finishedAt: formatTime(exit.finishedMs),
      containerID: incarnation.container.id,
    }
  );
};
