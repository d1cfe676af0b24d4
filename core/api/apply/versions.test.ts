import { expect, test } from 'vitest';
import { StatusError } from '../meta/status.ts';
import type { JsonObject } from '../patch/json.ts';
import { SCALAR, struct } from '../patch/testing/types.ts';
import type { FieldManager } from './field-manager.ts';
import { createFieldManager } from './field-manager.ts';
import type { Versions } from './updater.ts';

/** A kind whose field has another name in each version: ownership must follow the field, not the name. */

const metadata = struct({ name: SCALAR, uid: SCALAR });
const TYPES = {
  'x/v1': struct({
    apiVersion: SCALAR,
    kind: SCALAR,
    metadata,
    spec: struct({ replicas: SCALAR, note: SCALAR }),
  }),
  'x/v2': struct({
    apiVersion: SCALAR,
    kind: SCALAR,
    metadata,
    spec: struct({ size: SCALAR, note: SCALAR }),
  }),
} as const;
type Version = keyof typeof TYPES;
const isVersion = (text: string): text is Version => Object.hasOwn(TYPES, text);

const NAMES: Readonly<Record<Version, string>> = { 'x/v1': 'replicas', 'x/v2': 'size' };

const convert = (object: JsonObject, apiVersion: string): JsonObject => {
  const from = object['apiVersion'];
  if (typeof from !== 'string' || !isVersion(from) || !isVersion(apiVersion)) return object;
  const { [NAMES[from]]: value, ...rest } = (object['spec'] ?? {}) as JsonObject;
  const spec = { ...rest, ...(value !== undefined && { [NAMES[apiVersion]]: value }) };
  return { ...object, apiVersion, spec };
};

const versions: Versions = {
  typeOf: (version) => (isVersion(version) ? TYPES[version] : undefined),
  convert,
};

const managerAt = (apiVersion: Version): FieldManager =>
  createFieldManager({ apiVersion, kind: 'Thing', versions });

const config = (apiVersion: Version, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});

const applyAt = (
  apiVersion: Version,
  live: JsonObject | undefined,
  spec: JsonObject,
  by: string,
  force = false,
): JsonObject => {
  const result = managerAt(apiVersion).apply({
    live: live && convert(live, apiVersion),
    config: config(apiVersion, spec),
    manager: by,
    force,
    time: '2026-01-01T00:00:00Z',
  });
  return { ...result, metadata: { ...(result['metadata'] as JsonObject), uid: 'u' } };
};

const ownersOf = (object: JsonObject): unknown =>
  ((object['metadata'] as JsonObject)['managedFields'] as JsonObject[]).map(
    ({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1],
  );

test('a change in one version conflicts with an owner who spoke another', () => {
  const live = applyAt('x/v1', undefined, { replicas: 1 }, 'a');
  let message = '';
  try {
    applyAt('x/v2', live, { size: 2 }, 'b');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    message = error.message;
  }
  expect(message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.replicas');
});

test('each owner keeps the version it spoke', () => {
  const first = applyAt('x/v1', undefined, { replicas: 1, note: 'n' }, 'a');
  expect(ownersOf(applyAt('x/v2', first, { size: 2 }, 'b', true))).toEqual([
    ['a', 'x/v1', { 'f:spec': { 'f:note': {} } }],
    ['b', 'x/v2', { 'f:spec': { 'f:size': {} } }],
  ]);
});

test('an apply in a new version removes fields that were applied in an old one', () => {
  const first = applyAt('x/v1', undefined, { replicas: 1, note: 'n' }, 'a');
  const second = applyAt('x/v2', first, { note: 'n' }, 'a');
  expect([second['spec'], ownersOf(second)]).toEqual([
    { note: 'n' },
    [['a', 'x/v2', { 'f:spec': { 'f:note': {} } }]],
  ]);
});

test('a field that another owns in another version stays when its applier gives it up', () => {
  const first = applyAt('x/v1', undefined, { replicas: 1 }, 'a');
  const shared = applyAt('x/v2', first, { size: 1 }, 'b');
  const result = applyAt('x/v1', shared, { note: 'n' }, 'a');
  expect(result['spec']).toEqual({ replicas: 1, note: 'n' });
});
