import { label } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import type { Obj } from '../read.ts';
import { has, isObj, maybeObj, num, obj, objs, quantity, str } from '../read.ts';
import { persistentVolumeClaimSpec } from './storage.ts';
import { hostPathSource, nfsSource, noBacksteps, requiredText } from './volume-paths.ts';

export { noBacksteps } from './volume-paths.ts';

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';
const FILE_MODE_MAX = 0o777;

export const localDescendingPath = (path: FieldPath, target: string): FieldError[] => [
  ...(target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : []),
  ...noBacksteps(path, target),
];

const localPath = (path: FieldPath, target: string): FieldError[] => [
  ...localDescendingPath(path, target),
  ...(target.startsWith('..') && !target.startsWith('../')
    ? [invalid(path, target, "must not start with '..'")]
    : []),
];

const mode = (path: FieldPath, of: Obj, name: string): FieldError[] => {
  const value = num(of, name);
  return value !== undefined && (value < 0 || value > FILE_MODE_MAX)
    ? [invalid(child(path, name), value, FILE_MODE)]
    : [];
};

const keysToPaths = (path: FieldPath, items: readonly Obj[]): FieldError[] =>
  items.flatMap((item, i) => {
    const at = index(path, i);
    return [
      ...(str(item, 'key') === '' ? [required(child(at, 'key'))] : []),
      ...(str(item, 'path') === '' ? [required(child(at, 'path'))] : []),
      ...localPath(child(at, 'path'), str(item, 'path')),
      ...mode(at, item, 'mode'),
    ];
  });

type SourceCheck = (path: FieldPath, source: Obj) => FieldError[];

const fileMap =
  (nameField: string): SourceCheck =>
  (path, source) => [
    ...requiredText(path, source, nameField),
    ...mode(path, source, 'defaultMode'),
    ...keysToPaths(child(path, 'items'), objs(source, 'items')),
  ];

const downwardItems = (path: FieldPath, items: readonly Obj[]): FieldError[] =>
  items.flatMap((item, i) => {
    const at = index(path, i);
    const sources = ['fieldRef', 'resourceFieldRef'].filter((name) => has(item, name));
    return [
      ...(str(item, 'path') === '' ? [required(child(at, 'path'))] : []),
      ...localPath(child(at, 'path'), str(item, 'path')),
      ...(sources.length > 1
        ? [invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
        : []),
      ...(sources.length === 0 ? [required(at, 'one of fieldRef and resourceFieldRef is required')] : []),
      ...mode(at, item, 'mode'),
    ];
  });

const projected: SourceCheck = (path, source) => [
  ...mode(path, source, 'defaultMode'),
  ...objs(source, 'sources').flatMap((projection, i) => {
    const at = index(child(path, 'sources'), i);
    const given = Object.keys(projection).filter((name) => has(projection, name));
    const errors: FieldError[] = given
      .slice(1)
      .map((name) => forbidden(child(at, name), 'may not specify more than 1 volume type per source'));
    const secret = maybeObj(projection, 'secret');
    if (secret !== undefined)
      errors.push(
        ...requiredText(child(at, 'secret'), secret, 'name'),
        ...keysToPaths(child(at, 'secret', 'items'), objs(secret, 'items')),
      );
    const configMap = maybeObj(projection, 'configMap');
    if (configMap !== undefined)
      errors.push(
        ...requiredText(child(at, 'configMap'), configMap, 'name'),
        ...keysToPaths(child(at, 'configMap', 'items'), objs(configMap, 'items')),
      );
    const downward = maybeObj(projection, 'downwardAPI');
    if (downward !== undefined)
      errors.push(...downwardItems(child(at, 'downwardAPI', 'items'), objs(downward, 'items')));
    const token = maybeObj(projection, 'serviceAccountToken');
    if (token !== undefined) errors.push(...serviceAccountToken(child(at, 'serviceAccountToken'), token));
    return errors;
  }),
];

const TOKEN_SECONDS_MIN = 10 * 60;
const TOKEN_SECONDS_MAX = 2 ** 32;

function serviceAccountToken(path: FieldPath, token: Obj): FieldError[] {
  const seconds = num(token, 'expirationSeconds') ?? TOKEN_SECONDS_MIN;
  const at = child(path, 'expirationSeconds');
  return [
    ...(seconds < TOKEN_SECONDS_MIN
      ? [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(seconds > TOKEN_SECONDS_MAX
      ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
    ...requiredText(path, token, 'path'),
  ];
}

const SOURCES: Readonly<Record<string, SourceCheck>> = {
  emptyDir: (path, source) => {
    const limit = has(source, 'sizeLimit') ? quantity(source['sizeLimit']) : undefined;
    return limit !== undefined && limit.sign < 0
      ? [forbidden(child(path, 'sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [];
  },
  hostPath: hostPathSource,
  secret: fileMap('secretName'),
  configMap: fileMap('name'),
  nfs: nfsSource,
  persistentVolumeClaim: (path, source) => requiredText(path, source, 'claimName'),
  downwardAPI: (path, source) => [
    ...mode(path, source, 'defaultMode'),
    ...downwardItems(child(path, 'items'), objs(source, 'items')),
  ],
  projected,
  csi: (path, source) => requiredText(path, source, 'driver'),
  image: (path, source) => requiredText(path, source, 'reference'),
  ephemeral: (path, source) => {
    const template = maybeObj(source, 'volumeClaimTemplate');
    return template === undefined
      ? [required(child(path, 'volumeClaimTemplate'))]
      : persistentVolumeClaimSpec(child(path, 'volumeClaimTemplate', 'spec'), obj(template, 'spec'));
  },
};

function volumeSource(path: FieldPath, volume: Obj): FieldError[] {
  const errors: FieldError[] = [];
  // Any object beside the name is a volume type, also those that are only served for old objects.
  const given = Object.keys(volume).filter((name) => name !== 'name' && isObj(volume[name]));
  given.forEach((name, i) => {
    if (i > 0) errors.push(forbidden(child(path, name), 'may not specify more than 1 volume type'));
    else errors.push(...(SOURCES[name]?.(child(path, name), obj(volume, name)) ?? []));
  });
  return given.length === 0 ? [required(path, 'must specify a volume type')] : errors;
}

export interface CheckedVolumes {
  readonly errors: FieldError[];
  /** Volumes a mount may name: only those without an error. */
  readonly byName: ReadonlyMap<string, Obj>;
}

export function volumes(path: FieldPath, list: readonly Obj[]): CheckedVolumes {
  const byName = new Map<string, Obj>();
  const errors = list.flatMap((volume, i) => {
    const at = index(path, i);
    const name = str(volume, 'name');
    const found = [
      ...volumeSource(at, volume),
      ...(name === '' ? [required(child(at, 'name'))] : label(child(at, 'name'), name)),
      ...(byName.has(name) ? [duplicate(child(at, 'name'), name)] : []),
    ];
    if (found.length === 0) byName.set(name, volume);
    return found;
  });
  return { errors, byName };
}
