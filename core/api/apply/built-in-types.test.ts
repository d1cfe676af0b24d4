import { expect, test } from 'vitest';
import type { JsonObject } from '../patch/json.ts';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { typeNodeOf } from '../patch/schema-types.ts';
import { structOfKind } from '../schema/models.ts';
import type { StructType } from '../schema/types.ts';
import { createFieldManager, emptyObjectOf } from './index.ts';

/** Patches and apply over the real types, not over those made for tests. */

const structFor = (group: string, version: string, kind: string): StructType => {
  const struct = structOfKind({ group, version, kind });
  if (struct === undefined) throw new Error(`no type ${kind}`);
  return struct;
};

const DEPLOYMENT = structFor('apps', 'v1', 'Deployment');
const SERVICE = structFor('', 'v1', 'Service');

const managerFor = (
  apiVersion: string,
  kind: string,
  struct: StructType,
): ReturnType<typeof createFieldManager> =>
  createFieldManager({
    apiVersion,
    kind,
    empty: emptyObjectOf(struct),
    versions: {
      typeOf: (version) => (version === apiVersion ? typeNodeOf(struct) : undefined),
      convert: (object) => object,
    },
  });

const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          { name: 'nginx', image: 'nginx', ports: [{ containerPort: 80, protocol: 'TCP' }], resources: {} },
        ],
      },
    },
  },
};

test('a created deployment is tracked as kubectl create shows it upstream', () => {
  const manager = managerFor('apps/v1', 'Deployment', DEPLOYMENT);
  const result = manager.update({
    live: undefined,
    next: deployment,
    manager: 'kubectl-create',
    time: '2026-01-01T00:00:00Z',
  });
  const [entry] = (result['metadata'] as { managedFields: JsonObject[] }).managedFields;
  expect(entry?.['fieldsV1']).toEqual({
    'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:selector': {},
      'f:template': {
        'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
        'f:spec': {
          'f:containers': {
            'k:{"name":"nginx"}': {
              '.': {},
              'f:image': {},
              'f:name': {},
              'f:ports': {
                '.': {},
                'k:{"containerPort":80,"protocol":"TCP"}': {
                  '.': {},
                  'f:containerPort': {},
                  'f:protocol': {},
                },
              },
              'f:resources': {},
            },
          },
        },
      },
    },
  });
});

test('an applied service owns its ports by number and default protocol', () => {
  const manager = managerFor('v1', 'Service', SERVICE);
  const result = manager.apply({
    live: undefined,
    config: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
    manager: 'ctl',
    force: false,
    time: '2026-01-01T00:00:00Z',
  });
  const [entry] = (result['metadata'] as { managedFields: JsonObject[] }).managedFields;
  expect(entry?.['fieldsV1']).toEqual({
    'f:spec': {
      'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:targetPort': {} } },
      'f:selector': {},
    },
  });
});

test('a field that the type does not have is refused with its path', () => {
  const manager = managerFor('apps/v1', 'Deployment', DEPLOYMENT);
  expect(() =>
    manager.apply({
      live: undefined,
      config: { ...deployment, spec: { ...(deployment['spec'] as JsonObject), replica: 1 } },
      manager: 'ctl',
      force: false,
      time: '2026-01-01T00:00:00Z',
    }),
  ).toThrow('(default/web; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema');
});

test('a strategic merge patch merges containers by name and their ports by number', () => {
  const result = applyStrategicMergePatch(
    deployment,
    {
      spec: {
        template: {
          spec: { containers: [{ name: 'nginx', image: 'nginx:2', ports: [{ containerPort: 443 }] }] },
        },
      },
    },
    typeNodeOf(DEPLOYMENT),
  ) as { spec: { template: { spec: { containers: JsonObject[] } } } };
  expect(result.spec.template.spec.containers).toEqual([
    {
      name: 'nginx',
      image: 'nginx:2',
      ports: [{ containerPort: 443 }, { containerPort: 80, protocol: 'TCP' }],
      resources: {},
    },
  ]);
});
