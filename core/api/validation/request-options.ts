import type { FieldError } from '../field/field-error.ts';
import { forbidden, invalid, notSupported, required } from '../field/field-error.ts';
import { fieldManagerName } from './object-meta.ts';
import type { Obj } from './read.ts';
import { has, str, strs } from './read.ts';

/** Options of requests, whether they came as query parameters or as a body. */

const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];
const PROPAGATIONS = ['Foreground', 'Background', 'Orphan'];

const dryRun = (options: Obj): FieldError[] => {
  const values = strs(options, 'dryRun');
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
};

const fieldValidation = (options: Obj): FieldError[] => {
  const value = str(options, 'fieldValidation');
  return FIELD_VALIDATIONS.includes(value) ? [] : [notSupported('fieldValidation', value, FIELD_VALIDATIONS)];
};

/** CreateOptions and UpdateOptions. */
export const writeOptionsErrors = (options: Obj): FieldError[] => [
  ...fieldManagerName('fieldManager', str(options, 'fieldManager')),
  ...dryRun(options),
  ...fieldValidation(options),
];

export const patchOptionsErrors = (options: Obj, isApply: boolean): FieldError[] => [
  ...(isApply && str(options, 'fieldManager') === ''
    ? [required('fieldManager', 'is required for apply patch')]
    : []),
  ...(!isApply && has(options, 'force')
    ? [forbidden('force', 'may not be specified for non-apply patch')]
    : []),
  ...writeOptionsErrors(options),
];

export function deleteOptionsErrors(options: Obj): FieldError[] {
  const policy = str(options, 'propagationPolicy');
  const errors: FieldError[] = [];
  if (has(options, 'orphanDependents') && has(options, 'propagationPolicy'))
    errors.push(
      invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  if (has(options, 'propagationPolicy') && !PROPAGATIONS.includes(policy))
    errors.push(notSupported('propagationPolicy', policy, [...PROPAGATIONS, 'nil']));
  return [...errors, ...dryRun(options)];
}
