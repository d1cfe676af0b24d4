import { expect, test } from 'vitest';
import { convertObject } from '../../../api/scheme/index.ts';
import { structOfKind } from '../../../api/schema/index.ts';
import { message, protobufBody } from '../../protobuf/testing/protobuf-writer.ts';
import { ObjectCodec } from './codec.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const codec = (gvk = CONFIG_MAP): ObjectCodec =>
  new ObjectCodec(gvk, (kind) => structOfKind(kind), convertObject);

test('what a server of upstream stored as protobuf is read, with the revision of its key', () => {
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
