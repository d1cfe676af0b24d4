import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../meta/status.ts';
import type { Json, JsonObject } from '../patch/json.ts';
import { jsonEquals } from '../patch/json.ts';
import { DEPLOYMENT } from '../patch/testing/types.ts';
import type { FieldManager } from './field-manager.ts';
import { createFieldManager, UPDATE_MANAGERS_MAX } from './field-manager.ts';
import { FieldSet } from './field-set.ts';
import { LAST_APPLIED_ANNOTATION } from './last-applied.ts';
import { ignoreTimestampChanges } from './timestamps.ts';

const API = 'apps/v1';
const manager = (options: { subresource?: string; ignored?: FieldSet } = {}): FieldManager =>
  createFieldManager({
    apiVersion: API,
    kind: 'Deployment',
    ...(options.subresource !== undefined && { subresource: options.subresource }),
    versions: {
      typeOf: (version) => (version === API ? DEPLOYMENT : undefined),
      convert: (object) => object,
      ignored: () => options.ignored,
    },
  });

const main = manager();
const config = (spec: Json, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: API,
  kind: 'Deployment',
  metadata: { name: 'web', ...metadata },
  spec,
});
/** As the store gives it: with what the server sets. */
const stored = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object['metadata'] as JsonObject), uid: 'u1' },
});
const managersOf = (object: JsonObject): Record<string, unknown> =>
  Object.fromEntries(
    (((object['metadata'] as JsonObject)['managedFields'] ?? []) as JsonObject[]).map((entry) => [
      `${String(entry['manager'])}/${String(entry['operation'])}`,
      entry['fieldsV1'],
    ]),
  );
const thrownBy = (run: () => unknown): StatusError => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

const container = (name: string, image: string): JsonObject => ({ name, image });
const template = (...containers: JsonObject[]): JsonObject => ({ spec: { containers } });

const apply = (
  live: JsonObject | undefined,
  applied: JsonObject,
  by: string,
  options: { force?: boolean; time?: string } = {},
): JsonObject =>
  stored(
    main.apply({
      live,
      config: applied,
      manager: by,
      force: options.force ?? false,
      time: options.time ?? '2026-01-01T00:00:00Z',
    }),
  );
const update = (
  live: JsonObject | undefined,
  next: JsonObject,
  by: string,
  time = '2026-01-02T00:00:00Z',
): JsonObject => stored(main.update({ live, next, manager: by, time }));

test('an apply creates the object and owns what it set', () => {
  expect(
    main.apply({
      live: undefined,
      config: config({ replicas: 1 }),
      manager: 'ctl',
      force: false,
      time: '2026-01-01T00:00:00Z',
    }),
  ).toEqual({
    apiVersion: API,
    kind: 'Deployment',
    metadata: {
      name: 'web',
      managedFields: [
        {
          manager: 'ctl',
          operation: 'Apply',
          apiVersion: API,
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        },
      ],
    },
    spec: { replicas: 1 },
  });
});

test('changing what another set conflicts, in upstream’s words', () => {
  const live = apply(undefined, config({ replicas: 1, paused: true }), 'a');
  const one = thrownBy(() => apply(live, config({ replicas: 2 }), 'b'));
  const two = thrownBy(() => apply(live, config({ replicas: 2, paused: false }), 'b'));
  expect([one.message, one.code, one.details?.causes, two.message]).toEqual([
    'Apply failed with 1 conflict: conflict with "a": .spec.replicas',
    409,
    [{ reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.spec.replicas' }],
    'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.paused\n- .spec.replicas',
  ]);
});

test('a conflict with an updater names its version', () => {
  const live = update(undefined, config({ replicas: 1 }), 'kubectl-client-side-apply');
  expect(thrownBy(() => apply(live, config({ replicas: 2 }), 'b')).message).toBe(
    'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas',
  );
});

test('force takes the field over', () => {
  const live = apply(undefined, config({ replicas: 1, paused: true }), 'a');
  expect(managersOf(apply(live, config({ replicas: 2 }), 'b', { force: true }))).toEqual({
    'a/Apply': { 'f:spec': { 'f:paused': {} } },
    'b/Apply': { 'f:spec': { 'f:replicas': {} } },
  });
});

test('the same value is shared without a conflict and stays while one owner is left', () => {
  const first = apply(undefined, config({ replicas: 1, paused: true }), 'a');
  const both = apply(first, config({ replicas: 1 }), 'b');
  const left = apply(both, config({}), 'a');
  expect([left['spec'], managersOf(left)]).toEqual([
    { replicas: 1 },
    { 'a/Apply': { 'f:spec': {} }, 'b/Apply': { 'f:spec': { 'f:replicas': {} } } },
  ]);
});

test('an apply removes items that it no longer names and keeps items of other managers', () => {
  const first = apply(
    undefined,
    config({ template: template(container('a', '1'), container('b', '1')) }),
    'x',
  );
  const shared = apply(first, config({ template: template({ name: 'c', image: '1' }) }), 'y');
  const result = apply(shared, config({ template: template(container('b', '1')) }), 'x');
  expect(result['spec']).toEqual({ template: template(container('b', '1'), container('c', '1')) });
});

test('items keep the order of the configuration', () => {
  const first = apply(
    undefined,
    config({ template: template(container('a', '1'), container('b', '1'), container('c', '1')) }),
    'x',
  );
  const result = apply(
    first,
    config({ template: template(container('c', '1'), container('a', '1'), container('d', '1')) }),
    'y',
  );
  const names = (
    (result['spec'] as JsonObject)['template'] as { spec: { containers: JsonObject[] } }
  ).spec.containers.map(({ name }) => name);
  expect(names).toEqual(['b', 'c', 'a', 'd']);
});

test('an update takes what it changed from the applier and keeps its time on a no-op', () => {
  const live = apply(undefined, config({ replicas: 1, paused: true }), 'a');
  const scaled = update(live, { ...live, spec: { replicas: 5, paused: true } }, 'scaler');
  const again = update(scaled, scaled, 'scaler', '2027-01-01T00:00:00Z');
  expect(managersOf(scaled)).toEqual({
    'a/Apply': { 'f:spec': { 'f:paused': {} } },
    'scaler/Update': { 'f:spec': { 'f:replicas': {} } },
  });
  expect(again).toEqual(scaled);
});

test('an apply that changes nothing keeps its time', () => {
  const live = apply(undefined, config({ replicas: 1 }), 'a');
  expect(apply(live, config({ replicas: 1 }), 'a', { time: '2027-01-01T00:00:00Z' })).toEqual(live);
});

test('fields that an update removes are owned by no one', () => {
  const live = apply(undefined, config({ replicas: 1, paused: true }), 'a');
  const result = update(live, { ...live, spec: { replicas: 1 } }, 'b');
  expect(managersOf(result)).toEqual({ 'a/Apply': { 'f:spec': { 'f:replicas': {} } } });
});

test('an object without managers is owned by before-first-apply at its first apply', () => {
  const live = stored(config({ replicas: 1, paused: true }));
  const result = apply(live, config({ paused: true }), 'a');
  expect(managersOf(result)).toEqual({
    'a/Apply': { 'f:spec': { 'f:paused': {} } },
    'before-first-apply/Update': { 'f:spec': { '.': {}, 'f:paused': {}, 'f:replicas': {} } },
  });
});

test('an update of an object without managers does not begin to track it', () => {
  const live = stored(config({ replicas: 1 }));
  expect(managersOf(update(live, { ...live, spec: { replicas: 2 } }, 'b'))).toEqual({});
});

test('an empty list of managers, or one empty entry, forgets them all', () => {
  const live = apply(undefined, config({ replicas: 1 }), 'a');
  const reset = (entries: Json): unknown =>
    managersOf(update(live, { ...live, metadata: { name: 'web', uid: 'u1', managedFields: entries } }, 'b'));
  expect([reset([]), reset([{}]), Object.keys(reset([{ manager: 'junk' }]) as object)]).toEqual([
    {},
    {},
    ['a/Apply'],
  ]);
});

test('a subresource has an entry of its own and leaves ignored fields alone', () => {
  const status = manager({
    subresource: 'status',
    ignored: FieldSet.of(['f:spec'], ['f:metadata', 'f:labels']),
  });
  const live = apply(undefined, config({ replicas: 1 }), 'a');
  const next = { ...live, spec: { replicas: 9 }, status: { replicas: 1 } };
  const result = status.update({ live, next, manager: 'controller', time: '2026-01-02T00:00:00Z' });
  const entries = (result['metadata'] as JsonObject)['managedFields'] as JsonObject[];
  expect(entries.map(({ manager: name, subresource, fieldsV1 }) => [name, subresource, fieldsV1])).toEqual([
    ['a', undefined, { 'f:spec': { 'f:replicas': {} } }],
    ['controller', 'status', { 'f:status': { '.': {}, 'f:replicas': {} } }],
  ]);
});

test('the oldest updaters are folded into one', () => {
  let live = update(undefined, config({ replicas: 0 }), 'm0', '2026-01-01T00:00:00Z');
  for (let i = 1; i <= UPDATE_MANAGERS_MAX + 3; i += 1)
    live = update(
      live,
      {
        ...live,
        metadata: {
          ...(live['metadata'] as JsonObject),
          labels: { ...((live['metadata'] as JsonObject)['labels'] as JsonObject), [`l${i}`]: 'x' },
        },
      },
      `m${String(i).padStart(2, '0')}`,
      `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`,
    );
  const names = Object.keys(managersOf(live));
  expect([names.length, names.includes('ancient-changes/Update'), names.includes('m13/Update')]).toEqual([
    10,
    true,
    true,
  ]);
});

test('kubectl may take over what its annotation holds unchanged, and keeps the annotation', () => {
  const applied = config({ replicas: 1, paused: true });
  const live = update(
    undefined,
    config(
      { replicas: 1, paused: true },
      { annotations: { [LAST_APPLIED_ANNOTATION]: JSON.stringify(applied) } },
    ),
    'kubectl-client-side-apply',
  );
  const result = apply(live, config({ replicas: 3, paused: true }), 'kubectl');
  expect(result['spec']).toEqual({ replicas: 3, paused: true });
  const annotations = (result['metadata'] as JsonObject)['annotations'] as JsonObject;
  expect(JSON.parse(String(annotations[LAST_APPLIED_ANNOTATION]))).toEqual({
    ...config({ replicas: 3, paused: true }),
  });
  expect(thrownBy(() => apply(live, config({ replicas: 3 }), 'other')).code).toBe(409);
});

test('kubectl conflicts over what changed since its annotation', () => {
  const live = update(
    undefined,
    config(
      { replicas: 7 },
      { annotations: { [LAST_APPLIED_ANNOTATION]: JSON.stringify(config({ replicas: 1 })) } },
    ),
    'scaler',
  );
  expect(thrownBy(() => apply(live, config({ replicas: 3 }), 'kubectl')).message).toContain('.spec.replicas');
});

test('bad configurations are refused', () => {
  const refuse = (applied: JsonObject): unknown => {
    try {
      return apply(undefined, applied, 'a');
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect([
    refuse({ ...config({}), kind: 'Pod' }),
    refuse(config({}, { managedFields: [] })),
    refuse(config({ foo: 1 }, { namespace: 'ns' })),
  ]).toEqual([
    'invalid object type: apps/v1, Kind=Pod',
    'metadata.managedFields must be nil',
    'failed to create typed patch object (ns/web; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema',
  ]);
});

test('managers of a version that is gone are forgotten', () => {
  const live = apply(undefined, config({ replicas: 1 }), 'a');
  const entries = (live['metadata'] as JsonObject)['managedFields'] as JsonObject[];
  const old = {
    ...live,
    metadata: {
      ...(live['metadata'] as JsonObject),
      managedFields: entries.map((entry) => ({ ...entry, apiVersion: 'apps/v1beta1' })),
    },
  };
  expect(Object.keys(managersOf(apply(old, config({ replicas: 2 }), 'b')))).toEqual(['b/Apply']);
});

test('a write that only changes times is undone', () => {
  const live = apply(undefined, config({ replicas: 1 }), 'a');
  const later = apply(undefined, config({ replicas: 1 }), 'a', { time: '2030-01-01T00:00:00Z' });
  expect([ignoreTimestampChanges(live, later), ignoreTimestampChanges(live, { ...later, spec: {} })]).toEqual(
    [live, { ...later, spec: {} }],
  );
});

const specs = fc.record(
  {
    replicas: fc.nat(3),
    paused: fc.boolean(),
    template: fc
      .uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c'), image: fc.constantFrom('1', '2') }), {
        selector: ({ name }) => name,
        minLength: 1,
      })
      .map((containers) => template(...containers)),
  },
  { requiredKeys: [] },
) as unknown as fc.Arbitrary<JsonObject>;

test('an apply holds what it set, is idempotent, and gives back all with an empty apply', () => {
  fc.assert(
    fc.property(specs, specs, specs, (a, b, c) => {
      const first = apply(undefined, config(a), 'a');
      const before = structuredClone(first) as Json;
      const second = apply(first, config(b), 'b', { force: true });
      expect(jsonEquals(first, before)).toBe(true);
      for (const [key, value] of Object.entries(b))
        if (key !== 'template') expect((second['spec'] as JsonObject)[key]).toEqual(value);
      expect(apply(second, config(b), 'b', { time: '2030-01-01T00:00:00Z' })).toEqual(second);
      const third = apply(second, config(c), 'b', { force: true });
      const emptied = apply(apply(third, config({}), 'a', { force: true }), config({}), 'b', { force: true });
      expect(emptied['spec'] ?? {}).toEqual({});
    }),
    { numRuns: 60 },
  );
});
