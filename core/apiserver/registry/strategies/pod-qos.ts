import type { Obj } from '../../../api/validation/read.ts';
import { maybeObj, obj, objs, quantity } from '../../../api/validation/read.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const QOS_RESOURCES = ['cpu', 'memory'] as const;

const resourceQos = (resources: Obj, name: string): QosClass => {
  const request = quantity(obj(resources, 'requests')[name])?.nanos ?? 0n;
  const limit = quantity(obj(resources, 'limits')[name])?.nanos ?? 0n;
  if (request !== limit) return 'Burstable';
  return request === 0n ? 'BestEffort' : 'Guaranteed';
};

/** One class where all agree; where they do not, neither promise holds. */
const common = (classes: readonly QosClass[]): QosClass => {
  const [first = 'BestEffort'] = classes;
  return classes.every((one) => one === first) ? first : 'Burstable';
};

const requirementsQos = (resources: Obj): QosClass =>
  common(QOS_RESOURCES.map((name) => resourceQos(resources, name)));

/** Who is killed first when a node runs out of memory: settled at creation, from requests and limits. */
export const podQosClass = (spec: Obj): QosClass => {
  const own = maybeObj(spec, 'resources');
  if (
    own !== undefined &&
    QOS_RESOURCES.some(
      (name) => obj(own, 'requests')[name] !== undefined || obj(own, 'limits')[name] !== undefined,
    )
  )
    return requirementsQos(own);
  return common(
    [...objs(spec, 'initContainers'), ...objs(spec, 'containers')].map((container) =>
      requirementsQos(obj(container, 'resources')),
    ),
  );
};
