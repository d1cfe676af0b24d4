import { expect, test } from 'vitest';
import { loadDescriptions } from './descriptions.ts';
import { definitionNameOf, typeIds } from './models.ts';
import { openApiDefinition, specialDefinitions, type OpenApiSchema, type OpenApiVersion } from './openapi.ts';

test('OpenAPI 3 says how fields merge and what they default to', () => {
  expect(openApiDefinition('core.v1.ContainerPort', 3)).toEqual({
    type: 'object',
    properties: {
      containerPort: { type: 'integer', format: 'int32', default: 0 },
      hostIP: { type: 'string' },
      hostPort: { type: 'integer', format: 'int32' },
      name: { type: 'string' },
      protocol: { type: 'string', default: 'TCP' },
    },
    required: ['containerPort'],
  });
  expect(openApiDefinition('core.v1.Container', 3).properties?.['env']).toEqual({
    type: 'array',
    items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.EnvVar' }], default: {} },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': 'name',
  });
});

test('a described reference is in allOf in OpenAPI 3 and plain in OpenAPI 2', async () => {
  const describe = await loadDescriptions();
  const lifecycleOf = (version: OpenApiVersion): OpenApiSchema | undefined =>
    openApiDefinition('core.v1.Container', version, describe('core.v1.Container')).properties?.['lifecycle'];
  expect(lifecycleOf(3)).toEqual({
    allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.Lifecycle' }],
    description: expect.stringMatching(/^Lifecycle describes/) as string,
  });
  expect(lifecycleOf(2)).toEqual({
    $ref: '#/definitions/io.k8s.api.core.v1.Lifecycle',
    description: expect.stringMatching(/^Lifecycle describes/) as string,
  });
});

test.each([2, 3] as const)('OpenAPI %d refers to nothing that it does not define', (version) => {
  const known = new Set([...typeIds().map(definitionNameOf), ...Object.keys(specialDefinitions(version))]);
  const text = JSON.stringify(typeIds().map((id) => openApiDefinition(id, version)));
  const refs = [...text.matchAll(/"\$ref":"#\/[a-z/]+\/([^"]+)"/g)].map(([, name]) => name!);
  expect(refs.length).toBeGreaterThan(1000);
  expect([...new Set(refs)].filter((name) => !known.has(name))).toEqual([]);
});
