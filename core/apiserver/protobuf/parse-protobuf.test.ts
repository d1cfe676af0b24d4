import { expect, test } from 'vitest';
import { findStruct, structOfKind } from '../../api/schema/index.ts';
import { message, protobufBody } from './testing/protobuf-writer.ts';
import { messageOf, numberedTypes } from './message-type.ts';
import { parseProtobuf as parseIn } from './parse-protobuf.ts';

const parseProtobuf = (bytes: Uint8Array): unknown => parseIn(bytes, (kind) => structOfKind(kind));

test('a body is read as the JSON that Go would write of it', () => {
  const container = message(
    [1, 'web'],
    [2, 'nginx'],
    [8, message([2, message([1, 'cpu'], [2, message([1, '100m'])])])],
    [
      10,
      message([1, message([2, message([1, '/healthz'], [2, message([1, 0], [2, 8080], [3, ''])])])], [2, 0]),
    ],
    [16, 0],
  );
  const volume = message([1, 'tmp'], [2, message([2, message([1, ''])])]);
  const pod = message(
    [
      1,
      message([1, 'web-0'], [2, ''], [8, new Uint8Array()], [10, 0], [11, message([1, 'app'], [2, 'web'])]),
    ],
    [2, message([1, volume], [2, container], [3, ''], [4, -1], [99, 'newer than we are'])],
  );
  expect(parseProtobuf(protobufBody('v1', 'Pod', pod))).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', deletionGracePeriodSeconds: 0, labels: { app: 'web' } },
    spec: {
      volumes: [{ name: 'tmp', emptyDir: {} }],
      containers: [
        {
          name: 'web',
          image: 'nginx',
          resources: { requests: { cpu: '100m' } },
          livenessProbe: { httpGet: { path: '/healthz', port: 8080 } },
        },
      ],
      terminationGracePeriodSeconds: -1,
    },
  });
});

test('bytes, times and lists in maps are written as JSON has them', () => {
  const secret = message(
    [1, message([8, message([1, 1_700_000_000], [2, 0])])],
    [2, message([1, 'p'], [2, Buffer.from('pw')])],
  );
  expect(parseProtobuf(protobufBody('v1', 'Secret', secret))).toMatchObject({
    metadata: { creationTimestamp: '2023-11-14T22:13:20Z' },
    data: { p: 'cHc=' },
  });
  const review = message([2, message([5, message([1, 'scopes'], [2, message([1, 'a'], [1, 'b'])])])]);
  const body = protobufBody('authorization.k8s.io/v1', 'SubjectAccessReview', review);
  expect(parseProtobuf(body)).toMatchObject({ spec: { extra: { scopes: ['a', 'b'] } } });
});

test('definitions of custom resources are read with their schemas', () => {
  const text = message([5, 'string'], [8, message([1, Buffer.from('"red"')])]);
  const list = message([5, 'array'], [24, message([1, text])]);
  const map = message([5, 'object'], [30, message([1, 1], [2, message([5, 'integer'])])], [39, 1]);
  const spec = message(
    [5, 'object'],
    [29, message([1, 'color'], [2, text])],
    [29, message([1, 'list'], [2, list])],
    [29, message([1, 'map'], [2, map])],
  );
  const version = message(
    [1, 'v1'],
    [2, 1],
    [3, 1],
    [4, message([1, spec])],
    [5, message([1, new Uint8Array()])],
  );
  const definition = message(
    [1, message([1, 'widgets.example.com'])],
    [2, message([1, 'example.com'], [7, version])],
  );
  expect(
    parseProtobuf(protobufBody('apiextensions.k8s.io/v1', 'CustomResourceDefinition', definition)),
  ).toEqual({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                color: { type: 'string', default: 'red' },
                list: { type: 'array', items: { type: 'string', default: 'red' } },
                map: {
                  type: 'object',
                  additionalProperties: { type: 'integer' },
                  'x-kubernetes-embedded-resource': true,
                },
              },
            },
          },
        },
      ],
    },
  });
});

test.each([
  ['no magic', Buffer.from('{}')],
  ['cut off', protobufBody('v1', 'ConfigMap', message([1, 'x'])).subarray(0, 12)],
  ['a wrong wire type', protobufBody('v1', 'ConfigMap', message([1, 7]))],
])('a body with %s is malformed', (_what, bytes) => {
  expect(() => parseProtobuf(bytes)).toThrow(/^proto: /);
});

test('every field of every served type has a number', () => {
  // Behind feature gates that are off by default, and newer than the table's release.
  const alpha = /NodeAllocatableResource|nodeAllocatableResource|ListMeta|v\dalpha|v\dbeta/;
  const names = (fields: ReturnType<typeof messageOf>): string[] =>
    [...fields.values()].flatMap((one) => ('inline' in one ? names(one.inline) : [one.field.name]));
  const missing = numberedTypes().flatMap((id) => {
    const struct = findStruct(id)!;
    const known = new Set([...names(messageOf(struct)), 'kind', 'apiVersion']);
    return [...struct.fields.keys()].filter((name) => !known.has(name)).map((name) => `${id}.${name}`);
  });
  expect(missing.filter((path) => !alpha.test(path))).toEqual([]);
});
