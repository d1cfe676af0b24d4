import type { GroupKind } from '../meta/group-version.ts';
import { groupKindText } from '../meta/group-version.ts';
import { forbidden, type FieldError } from '../field/field-error.ts';
import { child, index } from '../field/field-path.ts';
import { isTrue, obj, objs, type Obj } from './read.ts';

const TEMPLATE = ['spec', 'template', 'spec'];

/** By group and kind: where the pod spec is. */
const POD_SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['PodTemplate', ['template', 'spec']],
  ['ReplicationController', TEMPLATE],
  ['Deployment.apps', TEMPLATE],
  ['ReplicaSet.apps', TEMPLATE],
  ['StatefulSet.apps', TEMPLATE],
  ['DaemonSet.apps', TEMPLATE],
  ['Job.batch', TEMPLATE],
  ['CronJob.batch', ['spec', 'jobTemplate', ...TEMPLATE]],
]);
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

/** What --allow-privileged=false forbids. */
export const privilegedContainers = (kind: GroupKind, object: Obj): FieldError[] => {
  const path = POD_SPECS.get(groupKindText(kind));
  if (path === undefined) return [];
  const spec = path.reduce<Obj>((at, name) => obj(at, name), object);
  return CONTAINER_LISTS.flatMap((list) =>
    objs(spec, list).flatMap((container, at) =>
      isTrue(obj(container, 'securityContext'), 'privileged')
        ? [
            forbidden(
              child(index(child('', ...path, list), at), 'securityContext', 'privileged'),
              'disallowed by cluster policy',
            ),
          ]
        : [],
    ),
  );
};
