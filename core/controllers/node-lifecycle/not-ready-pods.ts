import { findCondition, formatTime, isNotFound, type Condition } from '../../api/meta/index.ts';
import { POD, type Pod, type Stored } from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';

/** A pod whose node says nothing cannot be said to be ready: services must not send it anything. */
export const markPodNotReady = async (
  { client, clock, events }: ControllerContext,
  pod: Stored<Pod>,
): Promise<void> => {
  const held = findCondition(pod.status?.conditions, 'Ready');
  if (held?.status !== 'True') return;
  const { name, namespace, uid } = pod.metadata;
  const condition: Condition = {
    type: 'Ready',
    status: 'False',
    lastTransitionTime: formatTime(clock.nowMs()),
  };
  try {
    await client.resource(POD, namespace).patchStatus(name, {
      type: 'strategic',
      body: { metadata: { uid }, status: { conditions: [condition] } },
    });
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  events.event(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
};
