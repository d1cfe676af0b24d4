import { expect, test } from 'vitest';
import type { V1Endpoint } from '../../api/schema/index.ts';
import type { EndpointSlice, Stored } from '../../client/index.ts';
import { portsKey } from './endpoints-of.ts';
import { planSlices } from './plan-slices.ts';

const PORTS = [{ name: '', port: 80, protocol: 'TCP' }];
const endpoint = (n: number, ready = true): V1Endpoint => ({
  addresses: [`10.0.0.${n}`],
  conditions: { ready },
  targetRef: { name: `p${n}` },
});
const endpoints = (...numbers: readonly number[]) => numbers.map((n) => endpoint(n));
const slice = (name: string, held: V1Endpoint[], ports = PORTS): Stored<EndpointSlice> => ({
  metadata: { name, uid: name, resourceVersion: '1' },
  addressType: 'IPv4',
  ports,
  endpoints: held,
});
const plan = (existing: Stored<EndpointSlice>[], wanted: V1Endpoint[], sliceEndpointsMax = 3) => {
  const groups = new Map(
    wanted.length === 0 ? [] : [[portsKey(PORTS), { ports: PORTS, endpoints: wanted }] as const],
  );
  const { create, update, remove } = planSlices({
    existing,
    groups,
    sliceEndpointsMax,
    keepsOne: true,
    isStale: () => false,
  });
  const names = (list: readonly V1Endpoint[] | undefined) =>
    (list ?? []).map(({ targetRef }) => targetRef?.name);
  return {
    create: create.map((one) => names(one.endpoints)),
    update: update.map((one) => [one.metadata.name, ...names(one.endpoints)]),
    remove: remove.map(({ metadata }) => metadata.name),
  };
};

test.each([
  ['nothing changes: nothing is written', [slice('a', endpoints(1, 2))], endpoints(1, 2), {}],
  [
    'new slices are as full as they may be',
    [],
    endpoints(1, 2, 3, 4),
    { create: [['p1', 'p2', 'p3'], ['p4']] },
  ],
  [
    'a slice that changes anyway takes what is new',
    [slice('a', endpoints(1, 2)), slice('b', endpoints(3, 4))],
    endpoints(1, 3, 4, 5),
    { update: [['a', 'p1', 'p5']] },
  ],
  [
    'one that is not otherwise written takes all of the rest, or none of it',
    [slice('a', endpoints(1, 2)), slice('b', endpoints(3))],
    endpoints(1, 2, 3, 4),
    { update: [['a', 'p1', 'p2', 'p4']] },
  ],
  [
    'readiness is changed in place',
    [slice('a', endpoints(1, 2))],
    [endpoint(1, false), endpoint(2)],
    { update: [['a', 'p1', 'p2']] },
  ],
  ['empty slices go', [slice('a', endpoints(1)), slice('b', endpoints(2))], endpoints(1), { remove: ['b'] }],
  ['without endpoints an empty slice stays', [slice('a', endpoints(1))], [], { create: [[]], remove: ['a'] }],
  ['and is kept', [slice('a', [], [])], [], {}],
  ['until there are endpoints', [slice('a', [], [])], endpoints(1), { create: [['p1']], remove: ['a'] }],
])('%s', (_, existing, wanted, expected) => {
  expect(plan(existing, wanted)).toEqual({ create: [], update: [], remove: [], ...expected });
});
