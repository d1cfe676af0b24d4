import { immutable, oneOf } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, required, tooMany } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index, key } from '../../field/field-path.ts';
import { isDns1035Label, isDns1123Subdomain, nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength, goQuote, isPrintable } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate, type MetaRules } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, isTrue, maybeObj, obj, objs, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { joined } from './admission-matching.ts';
import { structuralSchema } from './structural-schema.ts';
import { isReviewVersionKnown, REVIEW_VERSIONS, webhookClient } from './webhook-clients.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const SELECTABLE_FIELDS_MAX = 8;
const WARNING_BYTES_MAX = 256;
const MIXED_CASE = 'may have mixed case, but should otherwise match: ';
const APPROVAL = 'api-approved.kubernetes.io';
const APPROVAL_RULE = 'see https://github.com/kubernetes/enhancements/pull/1111';

const versionsOf = (definition: Obj): readonly Obj[] => objs(obj(definition, 'spec'), 'versions');
const schemaOf = (version: Obj): Obj | undefined => maybeObj(obj(version, 'schema'), 'openAPIV3Schema');

/** Names that are there; which must be is told by the caller. */
function names(path: FieldPath, of: Obj): FieldError[] {
  const label = (at: FieldPath, value: string): FieldError[] => joined(at, value, isDns1035Label(value));
  const list = (name: string): FieldError[] =>
    strs(of, name).flatMap((value, i) => label(index(child(path, name), i), value));
  const kind = str(of, 'kind');
  return [
    ...['plural', 'singular'].flatMap((name) =>
      str(of, name) === '' ? [] : label(child(path, name), str(of, name)),
    ),
    ...['kind', 'listKind'].flatMap((name) =>
      str(of, name) === ''
        ? []
        : joined(child(path, name), str(of, name), isDns1035Label(str(of, name).toLowerCase()), MIXED_CASE),
    ),
    ...list('shortNames'),
    ...(kind !== '' && kind === str(of, 'listKind')
      ? [invalid(child(path, 'listKind'), kind, 'kind and listKind may not be the same')]
      : []),
    ...list('categories'),
  ];
}

const simplePath = (path: FieldPath, text: string): FieldError[] =>
  text.startsWith('.') ? [] : [invalid(path, text, 'must be a simple json path starting with .')];

function column(path: FieldPath, of: Obj): FieldError[] {
  const [type, format, jsonPath] = [str(of, 'type'), str(of, 'format'), str(of, 'jsonPath')];
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  return [
    ...(str(of, 'name') === '' ? [required(child(path, 'name'))] : []),
    ...(type === ''
      ? [required(child(path, 'type'), types)]
      : COLUMN_TYPES.includes(type)
        ? []
        : [invalid(child(path, 'type'), type, types)]),
    ...(format === '' || COLUMN_FORMATS.includes(format)
      ? []
      : [invalid(child(path, 'format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`)]),
    ...(jsonPath === ''
      ? [required(child(path, 'JSONPath'))]
      : simplePath(child(path, 'JSONPath'), jsonPath)),
  ];
}

function subresources(path: FieldPath, of: Obj): FieldError[] {
  const scale = maybeObj(of, 'scale');
  if (scale === undefined) return [];
  const under = (
    name: string,
    roots: readonly string[],
    isRequired: boolean,
    where: string,
  ): FieldError[] => {
    const at = child(path, `scale.${name}`);
    const text = str(scale, name);
    if (text === '') return isRequired ? [required(at)] : [];
    const wrong = simplePath(at, text);
    return wrong.length > 0 || roots.some((root) => text.startsWith(root))
      ? wrong
      : [invalid(at, text, `should be a json path under ${where}`)];
  };
  return [
    ...under('specReplicasPath', ['.spec.'], true, '.spec'),
    ...under('statusReplicasPath', ['.status.'], true, '.status'),
    ...under('labelSelectorPath', ['.spec.', '.status.'], false, 'either .spec or .status'),
  ];
}

function selectableFields(path: FieldPath, fields: readonly Obj[]): FieldError[] {
  return [
    ...fields.flatMap((field, i) => {
      const at = child(index(path, i), 'jsonPath');
      const text = str(field, 'jsonPath');
      if (text === '') return [required(at)];
      return text.startsWith('.metadata.')
        ? [invalid(at, text, 'must not point to fields in metadata')]
        : simplePath(at, text);
    }),
    ...(fields.length > SELECTABLE_FIELDS_MAX ? [tooMany(path, fields.length, SELECTABLE_FIELDS_MAX)] : []),
  ];
}

function deprecation(path: FieldPath, version: Obj): FieldError[] {
  if (!has(version, 'deprecationWarning')) return [];
  const text = str(version, 'deprecationWarning');
  const wrong = (why: string): FieldError => invalid(path, text, why);
  if (!isTrue(version, 'deprecated')) return [wrong('can only be set for deprecated versions')];
  const unprintable = [...text].findIndex((character) => !isPrintable(character));
  return [
    ...(byteLength(text) > WARNING_BYTES_MAX
      ? [wrong(`must be <= ${WARNING_BYTES_MAX} characters long`)]
      : []),
    ...(text === '' ? [wrong('must not be an empty string')] : []),
    ...(unprintable < 0
      ? []
      : [
          wrong(
            `must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`,
          ),
        ]),
  ];
}

/**
 * Where something of a version is: upstream reads what all versions share as one thing of the definition, and says so
 * in its errors.
 */
const shared = (versions: readonly Obj[], name: string): boolean =>
  versions.every((version) => has(version, name) && sameValue(version[name], versions[0]![name]));

const SHARED_NAMES: Readonly<Record<string, string>> = { schema: 'validation' };

function versionParts(versions: readonly Obj[], before: readonly Obj[]): FieldError[] {
  const each = (name: string, check: (path: FieldPath, version: Obj) => FieldError[]): FieldError[] =>
    shared(versions, name)
      ? check(child('spec', SHARED_NAMES[name] ?? name), versions[0]!)
      : versions.flatMap((version, i) => check(child(index('spec.versions', i), name), version));
  const isUnchanged = (version: Obj): boolean =>
    before.some(
      (old) => str(old, 'name') === str(version, 'name') && sameValue(schemaOf(old), schemaOf(version)),
    );
  return [
    ...each('schema', (path, version) => {
      const schema = schemaOf(version);
      // What was stored once stays good enough: rules have grown since.
      return schema === undefined || isUnchanged(version)
        ? []
        : structuralSchema(child(path, 'openAPIV3Schema'), schema);
    }),
    ...each('subresources', (path, version) => subresources(path, obj(version, 'subresources'))),
    ...each('additionalPrinterColumns', (path, version) =>
      objs(version, 'additionalPrinterColumns').flatMap((of, i) => column(index(path, i), of)),
    ),
    ...each('selectableFields', (path, version) => selectableFields(path, objs(version, 'selectableFields'))),
  ];
}

function versions(spec: Obj, before: readonly Obj[]): FieldError[] {
  const path = 'spec.versions';
  const all = objs(spec, 'versions');
  const unique = new Set(all.map((version) => str(version, 'name')));
  const whole = (why: string): FieldError => invalid(path, has(spec, 'versions') ? printed(all) : null, why);
  return [
    ...all.flatMap((version, i) =>
      schemaOf(version) === undefined ? [required(child(index(path, i), 'schema', 'openAPIV3Schema'))] : [],
    ),
    ...all.flatMap((version, i) => {
      const name = str(version, 'name');
      return [
        ...joined(child(index(path, i), 'name'), name, isDns1035Label(name)),
        ...deprecation(child(index(path, i), 'deprecationWarning'), version),
      ];
    }),
    ...(all.length === 0 ? [] : versionParts(all, before)),
    ...(unique.size < all.length ? [whole('must contain unique version names')] : []),
    ...(all.filter((version) => isTrue(version, 'storage')).length === 1
      ? []
      : [whole('must have exactly one version marked as storage version')]),
  ];
}

function reviewVersions(path: FieldPath, values: readonly string[], needsKnown: boolean): FieldError[] {
  if (values.length === 0) return [required(path)];
  return [
    ...values.flatMap((version, i) =>
      values.indexOf(version) < i
        ? [invalid(index(path, i), version, 'duplicate version')]
        : isDns1035Label(version).map((message) => invalid(index(path, i), version, message)),
    ),
    ...(needsKnown && !isReviewVersionKnown(values)
      ? [invalid(path, values, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`)]
      : []),
  ];
}

const reviewVersionsOf = (spec: Obj): readonly string[] =>
  strs(obj(obj(spec, 'conversion'), 'webhook'), 'conversionReviewVersions');

function conversion(spec: Obj, before: Obj): FieldError[] {
  const path = 'spec.conversion';
  const of = maybeObj(spec, 'conversion');
  if (of === undefined) return [];
  const webhook = maybeObj(of, 'webhook');
  const client = webhook && maybeObj(webhook, 'clientConfig');
  const at = child(path, 'webhookClientConfig');
  const old = reviewVersionsOf(before);
  if (str(of, 'strategy') !== 'Webhook')
    return [
      ...oneOf(child(path, 'strategy'), str(of, 'strategy'), ['None', 'Webhook']),
      ...(client === undefined
        ? []
        : [forbidden(at, 'should not be set when strategy is not set to Webhook')]),
      ...(reviewVersionsOf(spec).length === 0
        ? []
        : [
            forbidden(
              child(path, 'conversionReviewVersions'),
              'should not be set when strategy is not set to Webhook',
            ),
          ]),
    ];
  return [
    ...(client === undefined
      ? [required(at, 'required when strategy is set to Webhook')]
      : webhookClient(at, client)),
    ...reviewVersions(
      child(path, 'conversionReviewVersions'),
      reviewVersionsOf(spec),
      old.length === 0 || isReviewVersionKnown(old),
    ),
  ];
}

function definitionSpec(definition: Obj, before: Obj): FieldError[] {
  const spec = obj(definition, 'spec');
  const group = str(spec, 'group');
  const groupErrors =
    group === '' ? [required('spec.group')] : joined('spec.group', group, isDns1123Subdomain(group));
  return [
    ...(groupErrors.length === 0 && !group.includes('.')
      ? [invalid('spec.group', group, 'should be a domain with at least one dot')]
      : groupErrors),
    ...oneOf('spec.scope', str(spec, 'scope'), ['Cluster', 'Namespaced']),
    ...versions(spec, versionsOf(before)),
    ...['plural', 'singular', 'kind', 'listKind'].flatMap((name) =>
      str(obj(spec, 'names'), name) === '' ? [required(child('spec', 'names', name))] : [],
    ),
    ...names('spec.names', obj(spec, 'names')),
    ...conversion(spec, obj(before, 'spec')),
  ];
}

const PARTS_OF_ALL = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

/** Upstream prints its internal type, in which parts that all versions share stand elsewhere. */
const printed = (versions: readonly Obj[]): readonly Obj[] => {
  const [first = {}] = versions;
  const areShared = versions.every((version) =>
    PARTS_OF_ALL.every((part) => sameValue(version[part], first[part])),
  );
  if (!areShared) return versions;
  return versions.map((version) => ({
    Name: str(version, 'name'),
    Served: isTrue(version, 'served'),
    Storage: isTrue(version, 'storage'),
    Deprecated: isTrue(version, 'deprecated'),
    DeprecationWarning: version['deprecationWarning'] ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }));
};

function storedVersions(definition: Obj): FieldError[] {
  const path = 'status.storedVersions';
  const stored = strs(obj(definition, 'status'), 'storedVersions');
  const all = versionsOf(definition);
  if (stored.length === 0)
    return [
      invalid(
        path,
        obj(definition, 'status')['storedVersions'] ?? null,
        'must have at least one stored version',
      ),
    ];
  return [
    ...all.flatMap((version) =>
      isTrue(version, 'storage') && !stored.includes(str(version, 'name'))
        ? [invalid(path, stored, `must have the storage version ${str(version, 'name')}`)]
        : [],
    ),
    ...stored.flatMap((name, i) =>
      all.some((version) => str(version, 'name') === name)
        ? []
        : [
            invalid(
              index(path, i),
              name,
              `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
            ),
          ],
    ),
  ];
}

const approvalOf = (definition: Obj): string =>
  str(obj(obj(definition, 'metadata'), 'annotations'), APPROVAL);

const approvalState = (text: string): 'missing' | 'bypassed' | 'approved' | 'invalid' => {
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/\s]+/.test(text) ? 'approved' : 'invalid';
};

/** The groups of the Kubernetes community are open to reviewed APIs alone. */
function approval(definition: Obj, before: Obj | undefined): FieldError[] {
  const group = str(obj(definition, 'spec'), 'group');
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const state = approvalState(approvalOf(definition));
  if (before !== undefined && approvalState(approvalOf(before)) === state) return [];
  const path = key('metadata.annotations', APPROVAL);
  const needs = `protected groups must have approval annotation ${goQuote(APPROVAL)}`;
  if (state === 'missing') return [required(path, `${needs}, ${APPROVAL_RULE}`)];
  if (state !== 'invalid') return [];
  const why = `${needs} with either a URL or a reason starting with "unapproved", ${APPROVAL_RULE}`;
  return [invalid(path, approvalOf(definition), why)];
}

function preserveUnknown(definition: Obj, before: Obj): FieldError[] {
  const isSet = (of: Obj): boolean => isTrue(obj(of, 'spec'), 'preserveUnknownFields');
  return isSet(definition) && !isSet(before)
    ? [
        invalid(
          'spec.preserveUnknownFields',
          true,
          'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ),
      ]
    : [];
}

const statusNames = (definition: Obj): FieldError[] =>
  names('status.acceptedNames', obj(obj(definition, 'status'), 'acceptedNames'));

const isEstablished = (definition: Obj): boolean =>
  objs(obj(definition, 'status'), 'conditions').some(
    (condition) => str(condition, 'type') === 'Established' && str(condition, 'status') === 'True',
  );

function metaOf(definition: Obj): MetaRules {
  const spec = obj(definition, 'spec');
  const wanted = `${str(obj(spec, 'names'), 'plural')}.${str(spec, 'group')}`;
  return {
    namespaced: false,
    allowsBareFinalizers: true,
    name: (name, prefix) => [
      ...nameIsDnsSubdomain(name, prefix),
      ...(name === wanted ? [] : ['must be spec.names.plural+"."+spec.group']),
    ],
  };
}

export const CustomResourceDefinitionRules: KindRules = {
  namespaced: false,
  name: nameIsDnsSubdomain,
  create: (definition) => [
    ...objectMeta(definition, metaOf(definition)),
    ...definitionSpec(definition, {}),
    ...statusNames(definition),
    ...storedVersions(definition),
    ...approval(definition, undefined),
    ...preserveUnknown(definition, {}),
  ],
  update(definition, before) {
    const [spec, old] = [obj(definition, 'spec'), obj(before, 'spec')];
    const [own, oldNames] = [obj(spec, 'names'), obj(old, 'names')];
    return [
      ...objectMetaUpdate(definition, before),
      ...definitionSpec(definition, before),
      ...(isEstablished(before)
        ? [
            ...immutable('spec.scope', spec['scope'], old['scope']),
            ...immutable('spec.names.kind', own['kind'], oldNames['kind']),
          ]
        : []),
      ...immutable('spec.group', spec['group'], old['group']),
      ...immutable('spec.names.plural', own['plural'], oldNames['plural']),
      ...statusNames(definition),
      ...storedVersions(definition),
      ...approval(definition, before),
      ...preserveUnknown(definition, before),
    ];
  },
  subresources: {
    status: (definition, before) => [...objectMetaUpdate(definition, before), ...statusNames(definition)],
  },
};
