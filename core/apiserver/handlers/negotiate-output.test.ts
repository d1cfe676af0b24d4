import { expect, test } from 'vitest';
import { fakeContext } from '../server/testing/fake-context.ts';
import { bodyEncoding, patchTypeOf } from './media-types.ts';
import { negotiateOutput, negotiateStream } from './negotiate-output.ts';

const requestWith = (headers: Record<string, string>, query = '') =>
  fakeContext({ url: `/api/v1/pods${query}`, headers }).context.request;
const formOf = (accept: string, query = '') => negotiateOutput(requestWith({ accept }, query));

test.each([
  ['', 'json', 'object'],
  ['*/*', 'json', 'object'],
  ['application/*', 'json', 'object'],
  ['application/yaml', 'yaml', 'object'],
  ['application/json;q=0.5,application/yaml', 'yaml', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'json', 'object'],
  ['application/vnd.kubernetes.protobuf, */*', 'json', 'object'],
  ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json', 'table'],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json', 'object'],
  ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'json', 'metadata-list'],
  ['application/json; as=PartialObjectMetadata; v=v1beta1; g=meta.k8s.io', 'json', 'metadata'],
  ['application/json;stream=watch', 'json', 'object'],
])('Accept %j is answered as %s, %s', (accept, encoding, view) => {
  expect(formOf(accept)).toMatchObject({ encoding, view });
});

test.each(['text/html', 'application/json;as=Table;v=v9;g=meta.k8s.io', 'application/json;q=0'])(
  'Accept %j is not acceptable',
  (accept) => {
    expect(() => formOf(accept)).toThrow(
      'only the following media types are accepted: application/json, application/yaml',
    );
  },
);

test('a stream is JSON only', () => {
  expect(() => negotiateStream(requestWith({ accept: 'application/yaml' }))).toThrow(
    'only the following media types are accepted: application/json;stream=watch',
  );
});

test('answers are indented for people, unless they say no', () => {
  expect(formOf('', '?pretty=true').pretty).toBe(true);
  expect(negotiateOutput(requestWith({ 'user-agent': 'curl/8' })).pretty).toBe(true);
  expect(negotiateOutput(requestWith({ 'user-agent': 'curl/8' }, '?pretty=false')).pretty).toBe(false);
  expect(negotiateOutput(requestWith({ 'user-agent': 'kubectl/v1' })).pretty).toBe(false);
});

test('a body is what its Content-Type says, or JSON', () => {
  expect(bodyEncoding(undefined)).toBe('json');
  expect(bodyEncoding('Application/YAML; charset=utf-8')).toBe('yaml');
  expect(() => bodyEncoding('application/cbor')).toThrow(
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  );
});

test('a built-in kind names its representations, a custom one its media types', () => {
  const route = (isCustom: boolean, isList: boolean, accept = 'text/html') => {
    try {
      return negotiateOutput(requestWith({ accept }), { isCustom, isList });
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect([
    route(false, false),
    route(false, true),
    route(true, true),
    route(false, true, 'application/json;as=X'),
  ]).toEqual([
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  ]);
});

test('patches that a kind does not know are refused by name', () => {
  expect(patchTypeOf('application/apply-patch+yaml', true)).toBe('apply');
  expect(() => patchTypeOf('application/apply-patch+cbor', true)).toThrow('415: Unsupported Media Type');
  expect(() => patchTypeOf('application/strategic-merge-patch+json', false)).toThrow(/unknown format/);
});
