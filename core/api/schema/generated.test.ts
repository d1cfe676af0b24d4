import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, expectTypeOf, test } from 'vitest';
import type { KubernetesObject } from '../meta/object-meta.ts';
import { decodeObject } from './decode.ts';
import { loadDescriptions } from './descriptions.ts';
import { factsOf, typesWithFacts } from './facts.ts';
import { fieldsWithSince, kindsWithSince } from '../releases/release.ts';
import { RESOURCES } from '../scheme/registry.ts';
import { definitionNameOf, findStruct, structOf, typeIds } from './models.ts';
import type { CoreV1Event, V1Pod, V2HorizontalPodAutoscaler } from './index.ts';
import type { TypeNode } from './types.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('the generated files are what the dependency gives', () => {
  const check = (): Buffer =>
    execFileSync(process.execPath, ['resources/setup/generate-api.mjs', '--check'], {
      cwd: ROOT,
      stdio: 'pipe',
    });
  expect(check).not.toThrow();
});

test('the types of kinds appear where any object may, with times and quantities as on the wire', () => {
  expectTypeOf<V1Pod>().toExtend<KubernetesObject>();
  expectTypeOf<V2HorizontalPodAutoscaler>().toExtend<KubernetesObject>();
  const pod: V1Pod = {
    metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      containers: [
        { name: 'c', resources: { limits: { cpu: '1' } }, livenessProbe: { httpGet: { port: 'http' } } },
      ],
    },
  };
  expectTypeOf<CoreV1Event['eventTime']>().toEqualTypeOf<string | undefined>();
  expect(decodeObject(structOf('core.v1.Pod'), pod)).toEqual({ object: pod, strictErrors: [] });
});

test('every type that a field names exists', () => {
  const leaf = (node: TypeNode): TypeNode =>
    node.node === 'list' ? leaf(node.items) : node.node === 'map' ? leaf(node.values) : node;
  const named = typeIds().flatMap((id) =>
    [...structOf(id).fields.values()].flatMap((field) => {
      const type = leaf(field.type);
      return type.node === 'struct' ? [type.struct.id] : [];
    }),
  );
  expect(named.length).toBeGreaterThan(1000);
  expect(named.filter((id) => findStruct(id) === undefined)).toEqual([]);
});

test('every fact is about a field that exists', () => {
  const wrong = typesWithFacts().flatMap((id) => {
    const struct = findStruct(id);
    return [...factsOf(id).keys()]
      .filter((field) => field !== '*' && !struct?.fields.has(field))
      .map((field) => `${id}.${field}`);
  });
  expect(wrong).toEqual([]);
});

test('a type says what it and its fields are for, by their names', async () => {
  const describe = await loadDescriptions();
  const container = describe('core.v1.Container');
  expect(container?.type).toBe('A single application container that you want to run within a pod.');
  expect(container?.fields['image']).toMatch(/^Container image name/);
  expect(describe('core.v1.Nope')).toBeUndefined();
  expect(definitionNameOf('core.v1.Container')).toBe('io.k8s.api.core.v1.Container');
  expect(definitionNameOf('meta.v1.ObjectMeta')).toBe('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
});

test('every field that came later exists, and older releases do not know it', () => {
  const split = (path: string): [string, string] => {
    const dot = path.lastIndexOf('.');
    return [path.slice(0, dot), path.slice(dot + 1)];
  };
  const wrong = fieldsWithSince().filter((path) => {
    const [id, field] = split(path);
    return !structOf(id).fields.has(field) || structOf(id, 34).fields.has(field);
  });
  expect(wrong).toEqual([]);
});

test('kinds that came with a release are kinds that are served', () => {
  const served = new Set(RESOURCES.map(({ group, version, kind }) => `${group}/${version} ${kind}`));
  expect(kindsWithSince().filter((kind) => !served.has(kind))).toEqual([]);
});
