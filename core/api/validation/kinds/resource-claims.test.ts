import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import { cluster, namespaced, rules } from '../testing/kinds.ts';
import { stored, texts } from '../testing/objects.ts';

const GROUP = 'resource.k8s.io';
const created = (kind: string, object: Obj): string[] => texts(rules(kind, GROUP).create(object));

const exactly = (change: Obj = {}): Obj => ({
  deviceClassName: 'gpu.example.com',
  allocationMode: 'ExactCount',
  count: 1,
  ...change,
});
const request = (change: Obj = {}): Obj => ({ name: 'gpu', exactly: exactly(), ...change });
const claim = (devices: Obj = {}, status: Obj = {}): Obj =>
  namespaced({ spec: { devices: { requests: [request()], ...devices } }, status });
const slice = (spec: Obj = {}): Obj =>
  cluster({
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'node-a', resourceSliceCount: 1, generation: 1 },
      nodeName: 'node-a',
      devices: [
        { name: 'gpu-0', attributes: { model: { string: 'x' } }, capacity: { memory: { value: '1Gi' } } },
      ],
      ...spec,
    },
  });
const result = (change: Obj = {}): Obj => ({
  request: 'gpu',
  driver: 'gpu.example.com',
  pool: 'node-a',
  device: 'gpu-0',
  ...change,
});
const granted = (change: Obj = {}): Obj => ({ allocation: { devices: { results: [result(change)] } } });

test.each<[string, Obj]>([
  ['ResourceClaim', claim()],
  [
    'ResourceClaim',
    claim({
      requests: [
        {
          name: 'gpu',
          firstAvailable: [
            { name: 'big', ...exactly() },
            { name: 'small', ...exactly() },
          ],
        },
      ],
      constraints: [{ requests: ['gpu/big'], matchAttribute: 'gpu.example.com/numa' }],
      config: [{ requests: ['gpu'], opaque: { driver: 'gpu.example.com', parameters: { mode: 'x' } } }],
    }),
  ],
  ['ResourceClaimTemplate', namespaced({ spec: { spec: { devices: { requests: [request()] } } } })],
  [
    'DeviceClass',
    cluster({
      spec: { selectors: [{ cel: { expression: 'true' } }], extendedResourceName: 'example.com/gpu' },
    }),
  ],
  ['ResourceSlice', slice()],
])('a good %s passes', (kind, object) => {
  expect(created(kind, object)).toEqual([]);
});

test.each<[string, Obj, readonly string[]]>([
  [
    'ResourceClaim',
    claim({ requests: [{ name: 'gpu' }] }),
    ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
  ],
  [
    'ResourceClaim',
    claim({ requests: [request({ exactly: exactly({ deviceClassName: '', allocationMode: 'Some' }) })] }),
    [
      'spec.devices.requests[0].exactly.deviceClassName: Required value',
      'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
    ],
  ],
  [
    'ResourceClaim',
    claim({ requests: [request(), request({ exactly: exactly({ allocationMode: 'All' }) })] }),
    [
      "spec.devices.requests[1].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'",
      'spec.devices.requests[1]: Duplicate value: "gpu"',
    ],
  ],
  [
    'ResourceClaim',
    claim({ constraints: [{ requests: ['cpu'], matchAttribute: 'numa' }] }),
    [
      `spec.devices.constraints[0].requests[0]: Invalid value: "cpu": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
      'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash',
    ],
  ],
  [
    'DeviceClass',
    cluster({
      spec: {
        selectors: [{}],
        config: [{ opaque: { driver: 'd', parameters: 'x' } }],
        extendedResourceName: 'cpu',
      },
    }),
    [
      'spec.selectors[0].cel: Required value',
      'spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
    ],
  ],
  [
    'ResourceSlice',
    slice({ nodeName: undefined, pool: { name: '', resourceSliceCount: 0, generation: -1 } }),
    [
      'spec.pool.name: Required value',
      'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
      'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
      'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
    ],
  ],
  [
    'ResourceSlice',
    slice({ allNodes: true, devices: [{ name: 'gpu-0', attributes: { model: {} } }, { name: 'gpu-0' }] }),
    [
      'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      'spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified',
      'spec.devices[1]: Duplicate value: "gpu-0"',
    ],
  ],
])('an invalid %s is rejected with its error', (kind, object, expected) => {
  expect(created(kind, object)).toEqual(expected);
});

const claimRules = rules('ResourceClaim', GROUP);
const statusErrors = (after: Obj, before: Obj = claim()): string[] =>
  texts(claimRules.subresources!['status']!(stored(after), stored(before)));

test('the spec of a claim never changes', () => {
  const after = stored(claim({ requests: [] }));
  expect(texts(claimRules.update(after, stored(claim())))).toEqual([
    'spec: Invalid value: {"devices":{"requests":[]}}: field is immutable',
  ]);
});

test('devices are granted for a request of the claim, once', () => {
  expect(statusErrors(claim({}, granted()))).toEqual([]);
  expect(statusErrors(claim({}, granted({ request: 'cpu', pool: '' })))).toEqual([
    `status.allocation.devices.results[0].request: Invalid value: "cpu": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
    'status.allocation.devices.results[0].pool: Required value',
  ]);
  const moved = statusErrors(claim({}, granted({ device: 'gpu-1' })), claim({}, granted()));
  expect(moved).toHaveLength(1);
  expect(moved[0]).toMatch(/^status\.allocation: Invalid value: .*: field is immutable$/);
});

test('a claim is reserved only while devices are granted', () => {
  const reservedFor = [{ resource: 'pods', name: 'a', uid: 'u' }];
  expect(statusErrors(claim({}, { reservedFor }))).toEqual([
    'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
  ]);
  expect(statusErrors(claim({}, { ...granted(), reservedFor }))).toEqual([]);
});
