import { goQuote } from '../../field/go-text.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notFound } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import type { Obj } from '../read.ts';
import { differences, has, obj, objs, sameValue, str } from '../read.ts';
import type { PodContext } from './containers.ts';
import { containerCommon } from './containers.ts';

/** Containers added to a running pod to look into it: they have no resources and nothing that restarts them. */

const NOT_ALLOWED = 'cannot be set for an Ephemeral Container';
const NOT_ALLOWED_FIELDS = [
  'ports',
  'resources',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
] as const;

export function ephemeralContainers(path: FieldPath, spec: Obj, context: PodContext): FieldError[] {
  const others = [...objs(spec, 'containers'), ...objs(spec, 'initContainers')].map((container) =>
    str(container, 'name'),
  );
  const names = new Set(others);
  return objs(spec, 'ephemeralContainers').flatMap((container, i) => {
    const at = index(path, i);
    const name = str(container, 'name');
    const image = str(container, 'image');
    const target = str(container, 'targetContainerName');
    const errors = containerCommon(at, container, context);
    if (image !== image.trim())
      errors.push(invalid(child(at, 'image'), image, 'must not have leading or trailing whitespace'));
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    names.add(name);
    if (target !== '' && !others.includes(target))
      errors.push(notFound(child(at, 'targetContainerName'), target));
    for (const field of NOT_ALLOWED_FIELDS)
      if (has(container, field) && !sameValue(container[field], {}))
        errors.push(forbidden(child(at, field), NOT_ALLOWED));
    objs(container, 'volumeMounts').forEach((mount, m) => {
      for (const field of ['subPath', 'subPathExpr'])
        if (str(mount, field) !== '')
          errors.push(forbidden(child(index(child(at, 'volumeMounts'), m), field), NOT_ALLOWED));
    });
    return errors;
  });
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** They can be added, never changed or removed. */
export function ephemeralContainersUpdate(pod: Obj, before: Obj): FieldError[] {
  if (has(obj(obj(before, 'metadata'), 'annotations'), MIRROR_ANNOTATION))
    return [{ ...forbidden('', 'static pods do not support ephemeral containers'), field: '[]' }];
  const path = 'spec.ephemeralContainers';
  const now = new Map(
    objs(obj(pod, 'spec'), 'ephemeralContainers').map((container) => [str(container, 'name'), container]),
  );
  return objs(obj(before, 'spec'), 'ephemeralContainers').flatMap((old) => {
    const name = str(old, 'name');
    const next = now.get(name);
    if (next === undefined)
      return [forbidden(path, `existing ephemeral containers ${goQuote(name)} may not be removed\n`)];
    const changes = differences(old, next, path);
    return changes.length === 0
      ? []
      : [
          forbidden(
            path,
            `existing ephemeral containers ${goQuote(name)} may not be changed\n${changes.join('\n')}`,
          ),
        ];
  });
}
