import { supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child } from '../../field/field-path.ts';
import type { Obj } from '../read.ts';
import { has, str } from '../read.ts';

/** What the volumes of pods and PersistentVolumes have in common. */

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export const noBacksteps = (path: FieldPath, target: string): FieldError[] =>
  target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : [];

export const requiredText = (path: FieldPath, of: Obj, ...names: readonly string[]): FieldError[] =>
  names.flatMap((name) => (str(of, name) === '' ? [required(child(path, name))] : []));

export const hostPathSource = (path: FieldPath, source: Obj): FieldError[] =>
  str(source, 'path') === ''
    ? [required(child(path, 'path'))]
    : [
        ...noBacksteps(child(path, 'path'), str(source, 'path')),
        ...(has(source, 'type')
          ? supportedOnly(child(path, 'type'), str(source, 'type'), HOST_PATH_TYPES)
          : []),
      ];

export const nfsSource = (path: FieldPath, source: Obj): FieldError[] => [
  ...requiredText(path, source, 'server', 'path'),
  ...(str(source, 'path').startsWith('/')
    ? []
    : [invalid(child(path, 'path'), str(source, 'path'), 'must be an absolute path')]),
];
