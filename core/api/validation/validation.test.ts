import { expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import {
  aggregateText,
  causesOf,
  duplicate,
  errorText,
  forbidden,
  internalError,
  invalid,
  notFound,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../field/field-error.ts';
import { child, index, key } from '../field/field-path.ts';
import {
  isDns1123Label,
  isLabelValue,
  isPortName,
  isQualifiedName,
  nameIsDnsSubdomain,
} from '../field/formats.ts';
import { goJson, goQuote } from '../field/go-text.ts';
import { endpointIp, inRange, parseCidr, parseIp } from './ip.ts';
import { fieldManagerName, objectMeta, objectMetaUpdate } from './object-meta.ts';
import { metadata, stored, texts } from './testing/objects.ts';
import { bindingErrors } from './kinds/pod.ts';
import { deleteOptionsErrors, patchOptionsErrors, writeOptionsErrors } from './request-options.ts';
import { statusOf, validateCreate } from './validate.ts';

const AT = child(index(child('spec', 'containers'), 0), 'image');

test('every kind of field error reads as upstream writes it', () => {
  expect(
    [
      required(AT),
      required(AT, 'really'),
      invalid(AT, 'a "b"\n', 'no'),
      invalid(AT, 5, 'no'),
      invalid(AT, { a: ['<'] }, 'no'),
      typeInvalid(AT, null, 'no'),
      notSupported(AT, 'x', ['a', 'b']),
      forbidden(AT, 'no'),
      tooLong(AT, 1),
      tooLong(AT, 10),
      tooMany(AT, 3, 2),
      duplicate(key('data', 'k'), 'v'),
      notFound(AT, 'v'),
      internalError(AT, 'oops'),
      invalid('', 'v', 'no path'),
    ].map(errorText),
  ).toEqual([
    'spec.containers[0].image: Required value',
    'spec.containers[0].image: Required value: really',
    'spec.containers[0].image: Invalid value: "a \\"b\\"\\n": no',
    'spec.containers[0].image: Invalid value: 5: no',
    'spec.containers[0].image: Invalid value: {"a":["\\u003c"]}: no',
    'spec.containers[0].image: Invalid value: null: no',
    'spec.containers[0].image: Unsupported value: "x": supported values: "a", "b"',
    'spec.containers[0].image: Forbidden: no',
    'spec.containers[0].image: Too long: may not be more than 1 byte',
    'spec.containers[0].image: Too long: may not be more than 10 bytes',
    'spec.containers[0].image: Too many: 3: must have at most 2 items',
    'data[k]: Duplicate value: "v"',
    'spec.containers[0].image: Not found: "v"',
    'spec.containers[0].image: Internal error: oops',
    '<nil>: Invalid value: "v": no path',
  ]);
});

test('a list becomes causes and one line', () => {
  const errors = [required('a'), required('b'), required('a')];
  expect([aggregateText(errors), aggregateText([required('a')]), causesOf([required('a')])]).toEqual([
    '[a: Required value, b: Required value]',
    'a: Required value',
    [{ reason: 'FieldValueRequired', message: 'Required value', field: 'a' }],
  ]);
});

test('values are quoted as Go quotes them', () => {
  expect([goQuote('ä\x00\u200b😀'), goJson({ a: '&' })]).toEqual(['"ä\\x00\\u200b😀"', '{"a":"\\u0026"}']);
});

test('formats explain what is wrong', () => {
  expect([
    isDns1123Label('a.b'),
    isDns1123Label('A'),
    isPortName('a--b-'),
    isQualifiedName('/x'),
    isLabelValue('-'),
    nameIsDnsSubdomain('web-', true),
  ]).toEqual([
    ['must not contain dots'],
    [
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
    ['must not contain consecutive hyphens', 'must not begin or end with a hyphen'],
    ['prefix part must be non-empty'],
    [
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [],
  ]);
});

const RULES = { namespaced: true, name: nameIsDnsSubdomain };

test('metadata is checked', () => {
  const object = {
    metadata: metadata({
      name: '',
      namespace: '',
      labels: { a: '!' },
      annotations: { 'A/b': 'x'.repeat(256 * 1024) },
      ownerReferences: [
        { apiVersion: '', kind: 'ReplicaSet', name: 'a', uid: 'u', controller: true },
        { apiVersion: 'v1', kind: 'Event', name: 'b', uid: 'u', controller: true },
      ],
      finalizers: ['orphan', 'foregroundDeletion'],
      managedFields: [{ operation: 'Patch', fieldsType: 'FieldsV2' }],
    }),
  };
  expect(texts(objectMeta(object, RULES)).map((text) => text.slice(0, 100))).toEqual(
    [
      'metadata.name: Required value: name or generateName is required',
      'metadata.namespace: Required value',
      'metadata.labels: Invalid value: "!": a valid label must be an empty string or consist of alphanumeri',
      'metadata.annotations: Too long: may not be more than 262144 bytes',
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"b","uid":"u","con',
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"","kind":"ReplicaSet","name":"a","uid":"u","c',
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDe',
      'metadata.managedFields[0].operation: Unsupported value: "Patch": supported values: "Apply", "Update"',
      'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
    ].map((text) => text.slice(0, 100)),
  );
});

test('metadata that the server owns does not change', () => {
  const before = stored({ metadata: metadata({ deletionTimestamp: 't', finalizers: ['a.b/c'] }) });
  const object = {
    metadata: {
      ...(before['metadata'] as object),
      uid: 'u2',
      resourceVersion: '',
      finalizers: ['a.b/c', 'd.e/f'],
    },
  };
  expect(texts(objectMetaUpdate(object, before))).toEqual([
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"d.e/f"}',
    'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    'metadata.uid: Invalid value: "u2": field is immutable',
  ]);
});

test('names of field managers must be printable and short', () => {
  expect(texts(fieldManagerName('fieldManager', `a\u0007${'b'.repeat(128)}`))).toEqual([
    'fieldManager: Too long: may not be more than 128 bytes',
    `fieldManager: Invalid value: "a\\a${'b'.repeat(128)}": invalid character U+0007 (at position 1)`,
  ]);
});

test('a cluster-scoped object has no namespace', () => {
  expect(texts(objectMeta({ metadata: metadata() }, { ...RULES, namespaced: false }))).toEqual([
    'metadata.namespace: Forbidden: not allowed on this type',
  ]);
});

test('errors become a 422', () => {
  const kind = { group: '', kind: 'ConfigMap' };
  const object = { metadata: metadata({ name: 'c' }), data: { 'a b': '' } };
  const status = statusOf(kind, object, validateCreate(kind, object, RULES));
  expect([status?.code, status?.reason, status?.message.slice(0, 76)]).toEqual([
    422,
    'Invalid',
    'ConfigMap "c" is invalid: data[a b]: Invalid value: "a b": a valid config ke',
  ]);
});

test.each<[string, string]>([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['@often', 'unrecognized descriptor: @often'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['', 'empty spec string'],
])('the schedule %j is refused', (schedule, message) => {
  expect(parseCron(schedule)).toEqual({ kind: 'invalid', message });
});

test('schedules are read', () => {
  const parsed = parseCron('*/20 8-10,22 1 JAN-mar,12 mon-FRI');
  const fields = parsed.kind === 'fields' ? parsed.fields : undefined;
  expect([
    [...(fields?.minutes ?? [])],
    [...(fields?.hours ?? [])],
    [...(fields?.months ?? [])],
    [...(fields?.daysOfWeek ?? [])],
    fields?.anyDayOfMonth,
    parseCron('@every 1h30m'),
    parseCron('@daily').kind,
  ]).toEqual([
    [0, 20, 40],
    [8, 9, 10, 22],
    [1, 2, 3, 12],
    [1, 2, 3, 4, 5],
    false,
    { kind: 'every', everyMs: 5_400_000 },
    'fields',
  ]);
});

test('addresses and ranges are read', () => {
  const range = parseCidr('2001:db8::/32');
  const address = parseIp('2001:db8::1');
  expect([
    parseIp('10.0.0.1')?.bits,
    parseIp('10.0.0.01'),
    parseIp('10.0.0'),
    parseIp('::ffff:1.2.3.4')?.bits,
    parseIp('1::2::3'),
    parseIp('1:2:3:4:5:6:7:8:9'),
    parseCidr('10.0.0.0/33'),
    range !== undefined && address !== undefined && inRange(address, range),
    texts(endpointIp('ip', '127.0.0.1')),
  ]).toEqual([
    0x0a000001n,
    undefined,
    undefined,
    0xffff01020304n,
    undefined,
    undefined,
    undefined,
    true,
    ['ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ]);
});

test('options of requests are checked', () => {
  expect([
    texts(writeOptionsErrors({ dryRun: ['Some'], fieldValidation: 'Loose' })),
    texts(patchOptionsErrors({}, true)),
    texts(patchOptionsErrors({ force: true }, false)),
    texts(deleteOptionsErrors({ propagationPolicy: 'Never', orphanDependents: true })),
    texts(bindingErrors({ target: { kind: 'Pod' } })),
  ]).toEqual([
    [
      'dryRun: Unsupported value: ["Some"]: supported values: "All"',
      'fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    ['fieldManager: Required value: is required for apply patch'],
    ['force: Forbidden: may not be specified for non-apply patch'],
    [
      'propagationPolicy: Invalid value: "Never": orphanDependents and deletionPropagation cannot be both set',
      'propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      'target.name: Required value',
    ],
  ]);
});
