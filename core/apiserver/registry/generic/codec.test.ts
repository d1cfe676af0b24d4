import { expect, test } from 'vitest';
import { structOfKind } from '../../../api/schema/index.ts';
import { message, protobufBody } from '../../protobuf/testing/protobuf-writer.ts';
import { ObjectCodec } from './codec.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const codec = (gvk = CONFIG_MAP): ObjectCodec => new ObjectCodec(gvk, (kind) => structOfKind(kind));

test('an object that kube-apiserver stored as protobuf is decoded with the revision of its key', () => {
  const stored = protobufBody(
    'v1',
    'ConfigMap',
    message([1, message([1, 'a'], [3, 'default'], [5, 'uid'])], [2, message([1, 'k'], [2, 'v'])]),
  );
  expect(codec().decode('/registry/configmaps/default/a', stored, 7)).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace: 'default', uid: 'uid', resourceVersion: '7' },
    data: { k: 'v' },
  });
});

test('protobuf of an older version is converted to the one that objects are kept in', () => {
  const autoscaler = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' };
  const spec = message([1, message([1, 'Deployment'], [2, 'web'])], [3, 5], [4, 80]);
  const stored = protobufBody('autoscaling/v1', autoscaler.kind, message([1, message([1, 'a'])], [2, spec]));
  expect(codec(autoscaler).decode('k', stored, 1)).toMatchObject({
    apiVersion: 'autoscaling/v2',
    spec: {
      maxReplicas: 5,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
        },
      ],
    },
  });
});

test('a definition that a server of upstream stored is read, whatever it says for all versions', () => {
  const definition = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  const column = { name: 'A', type: 'integer', priority: 0 };
  const webhookClientConfig = { url: 'https://x' };
  const read = (spec: object): unknown => {
    const stored = { kind: definition.kind, apiVersion: 'apiextensions.k8s.io/v1beta1', metadata: {}, spec };
    return codec(definition).decode('k', Buffer.from(JSON.stringify(stored)), 3);
  };
  const as = (spec: object): object => ({
    kind: definition.kind,
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { resourceVersion: '3' },
    spec,
  });
  expect([
    read({
      group: 'six.io',
      version: 'v1',
      scope: 'Cluster',
      validation: schema,
      subresources: { status: {} },
      additionalPrinterColumns: [{ ...column, JSONPath: '.spec.a' }],
      versions: [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: false, storage: false, deprecated: true },
      ],
      preserveUnknownFields: false,
    }),
    read({
      group: 'six.io',
      version: 'v1',
      conversion: { strategy: 'Webhook', webhookClientConfig, conversionReviewVersions: ['v1'] },
    }),
  ]).toEqual([
    as({
      group: 'six.io',
      scope: 'Cluster',
      conversion: { strategy: 'None' },
      versions: [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: false, storage: false, deprecated: true },
      ].map((version) => ({
        ...version,
        schema,
        subresources: { status: {} },
        additionalPrinterColumns: [{ ...column, jsonPath: '.spec.a' }],
      })),
    }),
    as({
      group: 'six.io',
      scope: 'Namespaced',
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: webhookClientConfig, conversionReviewVersions: ['v1'] },
      },
      preserveUnknownFields: true,
      versions: [{ name: 'v1', served: true, storage: true }],
    }),
  ]);
});

test('a kind that was stored in another version of the same shape gets the name of the one it is kept in', () => {
  const policy = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingAdmissionPolicy' };
  const before = 'admissionregistration.k8s.io/v1beta1';
  const json = Buffer.from(
    JSON.stringify({ kind: policy.kind, apiVersion: before, spec: { failurePolicy: 'Fail' } }),
  );
  const rule = message([2, message([1, 'CREATE'], [2, message([1, 'apps'], [3, 'deployments'])])]);
  const spec = message([2, message([3, rule])]);
  const protobuf = protobufBody(before, policy.kind, message([1, message([1, 'm'])], [2, spec]));
  expect([codec(policy).decode('k', json, 1), codec(policy).decode('k', protobuf, 1)]).toMatchObject([
    { apiVersion: 'admissionregistration.k8s.io/v1', spec: { failurePolicy: 'Fail' } },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      metadata: { name: 'm' },
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: ['apps'], resources: ['deployments'] }],
        },
      },
    },
  ]);
});
