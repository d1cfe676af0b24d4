import { parseApiVersion } from '../meta/group-version.ts';
import { FIELD_IMMUTABLE, immutable, labels, nonnegative, qualifiedName } from './checks.ts';
import type { FieldError } from '../field/field-error.ts';
import { forbidden, invalid, notSupported, required, tooLong } from '../field/field-error.ts';
import type { FieldPath } from '../field/field-path.ts';
import { child, index } from '../field/field-path.ts';
import type { NameCheck } from '../field/formats.ts';
import { isQualifiedName, nameIsDnsLabel } from '../field/formats.ts';
import { byteLength, goQuote, isPrintable } from '../field/go-text.ts';
import type { Obj } from './read.ts';
import { int, isTrue, num, obj, objs, str, strMap, strs } from './read.ts';

export const ANNOTATIONS_BYTES_MAX = 256 * 1_024;
export const FIELD_MANAGER_BYTES_MAX = 128;
const SUBRESOURCE_BYTES_MAX = 256;

export { FIELD_IMMUTABLE };

export function annotations(path: FieldPath, values: Readonly<Record<string, string>>): FieldError[] {
  const errors = Object.keys(values).flatMap((key) =>
    isQualifiedName(key.toLowerCase()).map((message) => invalid(path, key, message)),
  );
  const bytes = Object.entries(values).reduce(
    (sum, [key, value]) => sum + byteLength(key) + byteLength(value),
    0,
  );
  return bytes > ANNOTATIONS_BYTES_MAX ? [...errors, tooLong(path, ANNOTATIONS_BYTES_MAX)] : errors;
}

function ownerReferences(path: FieldPath, references: readonly Obj[]): FieldError[] {
  // Upstream names no index here.
  const errors = references.flatMap((reference) => ownerReference(path, reference));
  let controller: string | undefined;
  for (const reference of references) {
    if (!isTrue(reference, 'controller')) continue;
    const name = `${str(reference, 'kind')}/${str(reference, 'name')}`;
    if (controller === undefined) controller = name;
    else
      errors.push(
        invalid(
          path,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      );
  }
  return errors;
}

function ownerReference(path: FieldPath, reference: Obj): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = str(reference, 'apiVersion');
  if ((parseApiVersion(apiVersion)?.version ?? '') === '')
    errors.push(invalid(child(path, 'apiVersion'), apiVersion, 'version must not be empty'));
  for (const key of ['kind', 'name', 'uid'])
    if (str(reference, key) === '') errors.push(invalid(child(path, key), '', 'must not be empty'));
  if (apiVersion === 'v1' && str(reference, 'kind') === 'Event')
    errors.push(invalid(path, reference, '/v1, Kind=Event is disallowed from being an owner'));
  return errors;
}

function finalizers(path: FieldPath, names: readonly string[]): FieldError[] {
  const errors = names.flatMap((name) => qualifiedName(path, name));
  if (names.includes('orphan') && names.includes('foregroundDeletion'))
    errors.push(invalid(path, names, 'finalizer orphan and foregroundDeletion cannot be both set'));
  return errors;
}

/** Names of managers, in managedFields and in the fieldManager parameter. */
export function fieldManagerName(path: FieldPath, name: string): FieldError[] {
  const errors = byteLength(name) > FIELD_MANAGER_BYTES_MAX ? [tooLong(path, FIELD_MANAGER_BYTES_MAX)] : [];
  let position = 0;
  for (const character of name) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    if (!isPrintable(character))
      errors.push(invalid(path, name, `invalid character U+${code} (at position ${position})`));
    position += byteLength(character);
  }
  return errors;
}

const managedFields = (path: FieldPath, entries: readonly Obj[]): FieldError[] =>
  entries.flatMap((entry, i) => {
    const at = index(path, i);
    const operation = str(entry, 'operation');
    const fieldsType = str(entry, 'fieldsType');
    return [
      ...(operation === '' ? [required(child(at, 'operation'), 'must not be empty')] : []),
      ...(operation !== '' && operation !== 'Apply' && operation !== 'Update'
        ? [notSupported(child(at, 'operation'), operation, ['Apply', 'Update'])]
        : []),
      ...(fieldsType !== '' && fieldsType !== 'FieldsV1'
        ? [invalid(child(at, 'fieldsType'), fieldsType, 'must be `FieldsV1`')]
        : []),
      ...fieldManagerName(child(at, 'manager'), str(entry, 'manager')),
      ...(byteLength(str(entry, 'subresource')) > SUBRESOURCE_BYTES_MAX
        ? [tooLong(child(at, 'subresource'), SUBRESOURCE_BYTES_MAX)]
        : []),
    ];
  });

const common = (path: FieldPath, metadata: Obj): FieldError[] => [
  ...labels(child(path, 'labels'), strMap(metadata, 'labels')),
  ...annotations(child(path, 'annotations'), strMap(metadata, 'annotations')),
  ...ownerReferences(child(path, 'ownerReferences'), objs(metadata, 'ownerReferences')),
];

export interface MetaRules {
  readonly namespaced: boolean;
  readonly name: NameCheck;
  /** Finalizers without a domain, other than Kubernetes' own, are for a few younger groups only. */
  readonly allowsBareFinalizers?: boolean;
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Of the metadata of almost all built-in kinds. */
export const bareFinalizers = (metadata: Obj, path: FieldPath = 'metadata'): FieldError[] =>
  strs(metadata, 'finalizers').flatMap((name, i) =>
    name.includes('/') || STANDARD_FINALIZERS.has(name)
      ? []
      : [
          invalid(
            index(child(path, 'finalizers'), i),
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );

/** After a generated name has been filled in. */
export function objectMeta(object: Obj, rules: MetaRules, path: FieldPath = 'metadata'): FieldError[] {
  const metadata = obj(object, 'metadata');
  const name = str(metadata, 'name');
  const generateName = str(metadata, 'generateName');
  const errors: FieldError[] = [];
  if (generateName !== '')
    for (const message of rules.name(generateName, true))
      errors.push(invalid(child(path, 'generateName'), generateName, message));
  if (name === '') errors.push(required(child(path, 'name'), 'name or generateName is required'));
  else
    for (const message of rules.name(name, false)) errors.push(invalid(child(path, 'name'), name, message));
  return [
    ...errors,
    ...namespace(child(path, 'namespace'), str(metadata, 'namespace'), rules.namespaced),
    ...nonnegative(child(path, 'generation'), num(metadata, 'generation')),
    ...common(path, metadata),
    ...finalizers(child(path, 'finalizers'), strs(metadata, 'finalizers')),
    ...managedFields(child(path, 'managedFields'), objs(metadata, 'managedFields')),
    ...(rules.allowsBareFinalizers === true ? [] : bareFinalizers(metadata, path)),
  ];
}

function namespace(path: FieldPath, name: string, namespaced: boolean): FieldError[] {
  if (!namespaced) return name === '' ? [] : [forbidden(path, 'not allowed on this type')];
  if (name === '') return [required(path)];
  return nameIsDnsLabel(name, false).map((message) => invalid(path, name, message));
}

const NEVER_CHANGES = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

export function objectMetaUpdate(object: Obj, before: Obj, path: FieldPath = 'metadata'): FieldError[] {
  const metadata = obj(object, 'metadata');
  const old = obj(before, 'metadata');
  const errors: FieldError[] = [];
  if (str(old, 'deletionTimestamp') !== '') {
    const known = new Set(strs(old, 'finalizers'));
    const added = [...new Set(strs(metadata, 'finalizers'))].filter((name) => !known.has(name)).sort();
    if (added.length > 0)
      errors.push(
        forbidden(
          child(path, 'finalizers'),
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(goQuote).join(', ')}}`,
        ),
      );
  }
  if (str(metadata, 'resourceVersion') === '')
    errors.push(invalid(child(path, 'resourceVersion'), '', 'must be specified for an update'));
  errors.push(...nonnegative(child(path, 'generation'), num(metadata, 'generation')));
  if (int(metadata, 'generation') < int(old, 'generation'))
    errors.push(invalid(child(path, 'generation'), int(metadata, 'generation'), 'must not be decremented'));
  for (const key of NEVER_CHANGES) errors.push(...immutable(child(path, key), metadata[key], old[key]));
  return [
    ...errors,
    ...common(path, metadata),
    ...managedFields(child(path, 'managedFields'), objs(metadata, 'managedFields')),
  ];
}
