import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReasonError } from '../../base/errors.ts';
import {
  decodeObject,
  fillZeroValues,
  findDuplicateFields,
  nullEmptyCollections,
  pathText,
  pruneObject,
  strictDecodingMessage,
  structOf,
  structOfKind,
  typeAt,
} from './index.ts';

const POD = structOf('core.v1.Pod');
const DEPLOYMENT = structOf('apps.v1.Deployment');

test('unknown fields are reported with their path and dropped', () => {
  const { object, strictErrors } = decodeObject(POD, {
    metadata: { name: 'a', foo: 1 },
    spec: { containers: [{ name: 'c' }, { name: 'd', imagee: 'x' }], bar: {} },
  });
  expect(strictDecodingMessage(strictErrors)).toBe(
    'strict decoding error: unknown field "metadata.foo", unknown field "spec.containers[1].imagee", unknown field "spec.bar"',
  );
  expect(object).toEqual({ metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }, { name: 'd' }] } });
});

test.each([
  [
    { spec: { template: { spec: { volumes: [{ name: 'v', secret: 7 }] } } } },
    'json: cannot unmarshal number into Go struct field Volume.spec.template.spec.volumes.VolumeSource.secret of type v1.SecretVolumeSource',
  ],
  [
    { spec: { template: { spec: { containers: [{ name: 'c', resources: { limits: 'x' } }] } } } },
    'json: cannot unmarshal string into Go struct field ResourceRequirements.spec.template.spec.containers.resources.limits of type v1.ResourceList',
  ],
  [
    {
      spec: {
        template: { spec: { containers: [{ name: 'c', securityContext: { capabilities: { add: [1] } } }] } },
      },
    },
    'json: cannot unmarshal number into Go struct field Capabilities.spec.template.spec.containers.securityContext.capabilities.add of type v1.Capability',
  ],
  [
    { spec: { replicas: '3' } },
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    { spec: { replicas: 1.5 } },
    'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    { spec: { template: { spec: { containers: [{ name: 'a', image: 7 }] } } } },
    'json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.image of type string',
  ],
  [
    { spec: { template: { spec: { containers: {} } } } },
    'json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
  ],
  [
    { metadata: { labels: { a: 1 } } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    { spec: { paused: 'yes' } },
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool',
  ],
  [
    { spec: [] },
    'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec',
  ],
  [
    { metadata: { creationTimestamp: 'now' } },
    'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
  ],
])('a wrong value is reported as in Go: %j', (value, message) => {
  expect(() => decodeObject(DEPLOYMENT, value)).toThrow(message);
});

test('nulls and empty collections go, quantities become canonical, opaque values stay as they are', () => {
  const spec = {
    nodeName: null,
    nodeSelector: {},
    containers: [
      {
        name: 'c',
        args: [],
        env: null,
        resources: { limits: { cpu: '1000m', memory: 1024 } },
        securityContext: {},
      },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
  };
  expect(decodeObject(POD, { spec }).object).toEqual({
    spec: {
      containers: [{ name: 'c', resources: { limits: { cpu: '1', memory: '1024' } }, securityContext: {} }],
      volumes: [{ name: 'v', emptyDir: {} }],
    },
  });
  const revision = structOf('apps.v1.ControllerRevision');
  const data = { any: [null, {}, { x: null }] };
  expect(decodeObject(revision, { data, revision: 1 }).object).toEqual({ data, revision: 1 });
});

test('the schemas inside a custom resource definition are checked, and their unions understood', () => {
  const crd = structOf('apiextensions.v1.CustomResourceDefinition');
  const schemaOf = (openAPIV3Schema: unknown): Record<string, unknown> => ({
    spec: {
      group: 'x',
      names: {},
      scope: 'Namespaced',
      versions: [{ name: 'v1', schema: { openAPIV3Schema } }],
    },
  });
  const good = schemaOf({
    type: 'object',
    properties: { a: { items: { type: 'string' }, default: [] } },
    additionalProperties: false,
  });
  expect(decodeObject(crd, good)).toEqual({ object: good, strictErrors: [] });
  expect(
    decodeObject(crd, schemaOf({ properties: { a: { items: { typ: 'string' } } } })).strictErrors,
  ).toEqual(['unknown field "spec.versions[0].schema.openAPIV3Schema.properties.a.items.typ"']);
});

test('times are written in UTC, in seconds or microseconds', () => {
  const lease = structOf('coordination.v1.Lease');
  const value = {
    metadata: { creationTimestamp: '2026-01-01T02:00:00.5+02:00' },
    spec: { renewTime: '2026-01-01T00:00:00.500000+00:00' },
  };
  expect(decodeObject(lease, value).object).toEqual({
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { renewTime: '2026-01-01T00:00:00.500000Z' },
  });
});

test.each([
  ['2026-01-01T00:00:00Z', 'cannot parse "Z" as ".000000"'],
  ['2026-01-01T00:00:00.123Z', 'cannot parse ".123Z" as ".000000"'],
  ['2026-01-01T00:00:00.123456789Z', 'cannot parse "789Z" as "Z07:00"'],
  ['', 'cannot parse "" as "2006"'],
])('the micro time %j is refused', (text, why) => {
  expect(() => decodeObject(structOf('coordination.v1.Lease'), { spec: { renewTime: text } })).toThrow(
    `parsing time "${text}" as "2006-01-02T15:04:05.000000Z07:00": ${why}`,
  );
});

test('a custom unmarshaller is reported before a wrong type that precedes it', () => {
  const volume = { spec: { azureDisk: { diskName: 1 }, capacity: { storage: 'x' } } };
  expect(() => decodeObject(structOf('core.v1.PersistentVolume'), volume)).toThrow('quantities must match');
});

test('zeros of optional fields are kept unless Go holds them by value', () => {
  const value = { description: '', globalDefault: false, preemptionPolicy: '', value: 0 };
  const struct = structOf('scheduling.v1.PriorityClass');
  expect(decodeObject(struct, value).object).toEqual(value);
  const byValue = new Set(['description', 'globalDefault']);
  expect(decodeObject(struct, value, 'json', () => byValue).object).toEqual({
    preemptionPolicy: '',
    value: 0,
  });
});

test('an object without fields has what Go writes, and empty lists end as null', () => {
  const filled = (id: string, object: Record<string, unknown>): [boolean, Record<string, unknown>] => [
    fillZeroValues(structOf(id), object),
    object,
  ];
  expect(filled('storage.v1.CSINodeSpec', {})).toEqual([false, { drivers: null }]);
  expect(filled('core.v1.PodCondition', { type: 'a', status: 'True' })).toEqual([
    false,
    { type: 'a', status: 'True', lastProbeTime: null, lastTransitionTime: null },
  ]);
  const [hasEmpty, spec] = filled('core.v1.LimitRange', { spec: { limits: [] } });
  expect(hasEmpty).toBe(true);
  nullEmptyCollections(structOf('core.v1.LimitRange'), spec);
  expect(spec['spec']).toEqual({ limits: null });
});

test.each([
  ['web', 0],
  ['abcde', 4],
  ['ab=', 3],
  ['a=', 1],
  ['ab=c', 3],
  ['abc=x', 4],
  ['ab!d', 2],
])('base64 %s is reported at the offset where Go stops', (text, at) => {
  const secret = structOf('core.v1.Secret');
  expect(() => decodeObject(secret, { data: { a: text } })).toThrow(
    `illegal base64 data at input byte ${at}`,
  );
});

test('a secret takes base64 and nothing else', () => {
  const secret = structOf('core.v1.Secret');
  expect(decodeObject(secret, { data: { a: 'aGk=' } }).object).toEqual({ data: { a: 'aGk=' } });
  expect(() => decodeObject(secret, { data: { a: 'h!' } })).toThrow('illegal base64 data at input byte 1');
});

test('pruning drops unknown fields and touches nothing else', () => {
  const value = { metadata: { name: 'a', labels: { __proto: 'x' } }, x: 1, spec: { y: 2, nodeName: null } };
  expect(pruneObject(POD, value)).toEqual({
    metadata: { name: 'a', labels: { __proto: 'x' } },
    spec: { nodeName: null },
  });
});

test('a duplicate key is reported with its path, whatever text is around it', () => {
  const text =
    '{"a":{"b":1,"b":2,"c":"{\\"b\\":1,\\"b\\":2}"},"l":[{"x":1},{"x":1,"\\u0078":2}],"a":null,"e":"\\\\","f":[1,2]}';
  expect(() => JSON.parse(text) as unknown).not.toThrow();
  expect(findDuplicateFields(text)).toEqual([
    'duplicate field "a.b"',
    'duplicate field "l[1].x"',
    'duplicate field "a"',
  ]);
  expect(findDuplicateFields('{"a":{"x":1},"b":{"x":1},"c":["x","x"]}')).toEqual([]);
});

test('a type is found at a path, with what the tables know of its field', () => {
  expect(typeAt(POD, ['spec', 'containers', 0, 'ports'])?.field).toMatchObject({
    listType: 'map',
    listMapKeys: ['containerPort', 'protocol'],
    patchStrategy: ['merge'],
    patchMergeKey: 'containerPort',
  });
  expect(typeAt(POD, ['spec', 'containers', 0, 'resources', 'limits', 'cpu'])?.type).toEqual({
    node: 'scalar',
    scalar: 'quantity',
  });
  expect(typeAt(POD, ['spec', 'nope'])).toBeUndefined();
  expect(pathText(['spec', 'containers', 0, 'image'])).toBe('spec.containers[0].image');
});

test('structs held by value and required scalars are written as Go writes them', () => {
  const service = { spec: {} };
  fillZeroValues(structOf('core.v1.Service'), service);
  expect(service).toEqual({ metadata: {}, spec: {}, status: { loadBalancer: {} } });
  const pod = { metadata: {}, spec: { containers: [{ name: 'a' }] } };
  fillZeroValues(POD, pod);
  expect(pod).toEqual({ metadata: {}, spec: { containers: [{ name: 'a', resources: {} }] }, status: {} });
});

test('whatever the body, it is decoded or refused for a reason, and what was decoded is left as it is', () => {
  const kinds = [
    'core.v1.Pod',
    'apps.v1.Deployment',
    'apiextensions.v1.CustomResourceDefinition',
    'core.v1.Secret',
  ];
  const names = kinds.flatMap((id) => [
    ...structOf(id).fields.keys(),
    ...structOf('core.v1.PodSpec').fields.keys(),
  ]);
  const { value: body } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue({ maxDepth: 2 }),
      tie('object'),
      fc.array(tie('object'), { maxLength: 2 }),
    ),
    object: fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value'), { maxKeys: 5 }),
  }));
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...names), body), (id, value) => {
      const struct = structOf(id);
      try {
        const { object } = decodeObject(struct, value as Record<string, unknown>);
        expect(decodeObject(struct, object)).toEqual({ object, strictErrors: [] });
      } catch (error) {
        expect(error).toBeInstanceOf(ReasonError);
      }
    }),
  );
});

test('a body that nests without end is refused', () => {
  let schema: Record<string, unknown> = {};
  for (let depth = 0; depth < 50_000; depth += 1) schema = { not: schema };
  const crd = structOf('apiextensions.v1.CustomResourceDefinition');
  const value = { spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } };
  expect(() => decodeObject(crd, value)).toThrow('exceeded max depth');
});

test('a label named __proto__ is a label', () => {
  const value = JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}') as Record<string, unknown>;
  expect(JSON.stringify(decodeObject(POD, value).object)).toBe('{"metadata":{"labels":{"__proto__":"x"}}}');
});

test('kinds are found in their group', () => {
  expect(structOfKind({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' })?.id).toBe(
    'rbac.v1.Role',
  );
  expect(structOfKind({ group: 'apps', version: 'v1', kind: 'DeleteOptions' })?.id).toBe(
    'meta.v1.DeleteOptions',
  );
  expect(structOfKind({ group: 'example.com', version: 'v1', kind: 'Foo' })).toBeUndefined();
});

test.each([
  [34, 'unknown field "spec.schedulingGroup"'],
  [35, 'unknown field "spec.schedulingGroup"'],
  [36, ''],
])('1.%d takes only the fields that it knows', (minor, expected) => {
  const pod = { spec: { containers: [], schedulingGroup: { podGroupName: 'a' } } };
  const { object, strictErrors } = decodeObject(structOf('core.v1.Pod', minor), pod);
  expect(strictErrors.join()).toBe(expected);
  expect(Object.keys(object['spec'] as object)).toEqual(
    expected === '' ? ['containers', 'schedulingGroup'] : ['containers'],
  );
});

test.each([
  [{ spec: { replicas: 'x' } }, 'unrecognized type: int32'],
  [{ spec: { replicas: 1.5 } }, 'cannot convert float64 to int32'],
  [{ spec: { paused: 'yes' } }, 'unrecognized type: bool'],
  [{ metadata: { labels: { a: 1 } } }, 'cannot convert int64 to string'],
  [{ spec: { template: { spec: { containers: {} } } } }, 'cannot restore slice from map'],
  [{ spec: [] }, 'cannot restore struct from: slice'],
  [{ metadata: { labels: 'x' } }, 'cannot restore map from string'],
])('a strategic merge patch is refused in the words of the converter: %j', (value, message) => {
  expect(() => decodeObject(DEPLOYMENT, value, 'converter')).toThrow(new ReasonError('WrongType', message));
});
