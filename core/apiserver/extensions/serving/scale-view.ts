import type { KubernetesObject } from '../../../api/meta/index.ts';
import { badRequest, internalError } from '../../../api/meta/index.ts';
import { invalid, type FieldError } from '../../../api/field/field-error.ts';
import type { ScaleView } from '../../registry/subresources/scale.ts';
import { isMap, setOwn, type JsonMap } from '../structural/structural.ts';
import type { ScalePaths } from './custom-resource.ts';

const INT32_MAX = 2_147_483_647;

export const pathOf = (text: string): readonly string[] => text.replace(/^\./, '').split('.');

type Found<T> = { readonly value: T | undefined } | { readonly problem: string };

const goTypeOf = (value: unknown): string => {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return value === null ? '<nil>' : 'map[string]interface {}';
};

const goValueOf = (value: unknown): string =>
  value === null ? '<nil>' : isMap(value) ? 'map[]' : String(value);

/** As Go finds a nested value of a type. */
const nested = <T>(object: unknown, path: string, type: string): Found<T> => {
  const names = pathOf(path);
  let value = object;
  for (const [at, name] of names.entries()) {
    if (value === null) return { value: undefined };
    if (!isMap(value))
      return {
        problem: `.${names.join('.')} accessor error: ${goValueOf(value)} is of the type ${goTypeOf(value)}, expected map[string]interface{}`,
      };
    if (!Object.hasOwn(value, name)) return { value: undefined };
    value = value[name];
    if (at === names.length - 1 && goTypeOf(value) !== type)
      return {
        problem: `.${names.join('.')} accessor error: ${goValueOf(value)} is of the type ${goTypeOf(value)}, expected ${type}`,
      };
  }
  return { value: value as T };
};

const replicasErrors = (object: KubernetesObject, path: string): FieldError[] => {
  const found = nested<number>(object, path, 'int64');
  if ('problem' in found) return [invalid(path, 0, found.problem)];
  const { value = 0 } = found;
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > INT32_MAX ? [invalid(path, value, `should be less than or equal to ${INT32_MAX}`)] : [];
};

export const scaleSpecErrors = (object: KubernetesObject, scale: ScalePaths): FieldError[] =>
  replicasErrors(object, scale.specReplicasPath);

export const scaleStatusErrors = (object: KubernetesObject, scale: ScalePaths): FieldError[] => {
  const errors = replicasErrors(object, scale.statusReplicasPath);
  if (scale.labelSelectorPath === '') return errors;
  const selector = nested<string>(object, scale.labelSelectorPath, 'string');
  return 'problem' in selector ? [...errors, invalid(scale.labelSelectorPath, '', selector.problem)] : errors;
};

const valueOf = <T>(found: Found<T>): T | undefined => {
  if ('problem' in found) throw badRequest(found.problem);
  return found.value;
};

const withValue = (object: JsonMap, [name = '', ...rest]: readonly string[], value: unknown): JsonMap => {
  const copy = { ...object };
  const inside = object[name];
  setOwn(copy, name, rest.length === 0 ? value : withValue(isMap(inside) ? inside : {}, rest, value));
  return copy;
};

/** Where a custom resource has what a Scale shows. */
export const customScaleView = (scale: ScalePaths): ScaleView => ({
  isValidatedByParent: true,
  read(parent) {
    const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
    return {
      replicas: valueOf(nested<number>(parent, specReplicasPath, 'int64')),
      statusReplicas: valueOf(nested<number>(parent, statusReplicasPath, 'int64')) ?? 0,
      selector:
        labelSelectorPath === '' ? '' : (valueOf(nested<string>(parent, labelSelectorPath, 'string')) ?? ''),
    };
  },
  write: (parent, replicas) =>
    withValue(parent as JsonMap, pathOf(scale.specReplicasPath), replicas) as KubernetesObject,
  missing: () =>
    internalError(`the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`),
});
