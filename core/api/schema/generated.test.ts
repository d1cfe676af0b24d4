import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadDescriptions } from './descriptions.ts';
import { factsOf, typesWithFacts } from './facts.ts';
import { definitionNameOf, findStruct, structOf, typeIds } from './models.ts';
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
