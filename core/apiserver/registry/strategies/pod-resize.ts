import type { FieldError } from '../../../api/field/field-error.ts';
import { forbidden, invalid } from '../../../api/field/field-error.ts';
import { podSpec } from '../../../api/validation/kinds/pod.ts';
import { obj, objs, sameValue, str, strMap, type Obj } from '../../../api/validation/read.ts';
import { podQosClass } from './pod-qos.ts';

/** Rules for `pods/resize`, beside those that every pod keeps. */
const MIRROR = 'kubernetes.io/config.mirror';
const LISTS = ['containers', 'initContainers'] as const;

const orderErrors = (pod: Obj, before: Obj): FieldError[] =>
  LISTS.flatMap((list) => {
    const [after, old] = [objs(obj(pod, 'spec'), list), objs(obj(before, 'spec'), list)];
    if (after.length !== old.length)
      return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
    return after.flatMap((container, i) =>
      str(container, 'name') === str(old[i]!, 'name')
        ? []
        : [forbidden(`spec.${list}[${i}].name`, `${list} may not be renamed or reordered on resize`)],
    );
  });

const removed = (after: Obj, before: Obj): boolean =>
  Object.keys(before).some((name) => after[name] === undefined);

const beside = (resources: Obj): Obj =>
  Object.fromEntries(
    ['requests', 'limits'].map((part) => {
      const { cpu: _cpu, memory: _memory, ...rest } = obj(resources, part) as Record<string, unknown>;
      return [part, rest];
    }),
  );

const containerErrors = (path: string, after: Obj, before: Obj, isMain: boolean): FieldError[] => {
  const [now, old] = [obj(after, 'resources'), obj(before, 'resources')];
  if (!isMain && str(before, 'restartPolicy') !== 'Always')
    return sameValue(after, before)
      ? []
      : [forbidden('spec', 'resources for non-sidecar init containers are immutable')];
  return [
    ...(['requests', 'limits'] as const).flatMap((part) =>
      removed(obj(now, part), obj(old, part))
        ? [forbidden(`${path}.resources.${part}`, `resource ${part} cannot be removed`)]
        : [],
    ),
    ...(sameValue(beside(now), beside(old)) && sameValue(now['claims'], old['claims'])
      ? []
      : isMain
        ? [forbidden('spec', 'only cpu and memory resources are mutable')]
        : [forbidden(path, 'only cpu and memory resources for sidecar containers are mutable')]),
  ];
};

export const resizeErrors = (pod: Obj, before: Obj): FieldError[] => {
  const annotations = strMap(obj(before, 'metadata'), 'annotations');
  if (annotations[MIRROR] !== undefined) return [forbidden('', 'static pods cannot be resized')];
  const [spec, old] = [obj(pod, 'spec'), obj(before, 'spec')];
  if (str(obj(old, 'os'), 'name') === 'windows') return [forbidden('', 'windows pods cannot be resized')];
  const qos = str(obj(before, 'status'), 'qosClass') || podQosClass(old);
  const errors = [
    ...podSpec('spec', spec, true),
    ...(qos === podQosClass(spec)
      ? []
      : [invalid('spec', qos, 'Pod QOS Class may not change as a result of resizing')]),
  ];
  const order = orderErrors(pod, before);
  if (order.length > 0) return [...errors, ...order];
  return [
    ...errors,
    ...LISTS.flatMap((list) =>
      objs(spec, list).flatMap((container, i) =>
        containerErrors(`spec.${list}[${i}]`, container, objs(old, list)[i]!, list === 'containers'),
      ),
    ),
  ];
};
