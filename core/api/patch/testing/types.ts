import type { TypeNode } from '../type-node.ts';

/** A small part of the real types, with upstream's list and patch keys, for tests. */

export const SCALAR: TypeNode = { kind: 'scalar' };

export const struct = (
  fields: Readonly<Record<string, TypeNode>>,
  rest: Partial<TypeNode> = {},
): TypeNode => ({
  kind: 'struct',
  field: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined),
  ...rest,
});

export const list = (items: TypeNode, rest: Partial<TypeNode> = {}): TypeNode => ({
  kind: 'list',
  items,
  ...rest,
});

export const listMap = (items: TypeNode, ...keys: readonly string[]): TypeNode =>
  list(items, { listType: 'map', listMapKeys: keys, patchStrategy: 'merge', patchMergeKey: keys[0] });

export const STRINGS: TypeNode = { kind: 'map', values: SCALAR };

const CONTAINER = struct({
  name: SCALAR,
  image: SCALAR,
  args: list(SCALAR, { listType: 'atomic' }),
  env: listMap(struct({ name: SCALAR, value: SCALAR }), 'name'),
  ports: list(
    struct({
      containerPort: SCALAR,
      protocol: { kind: 'scalar', default: 'TCP' },
      name: SCALAR,
      hostPort: SCALAR,
    }),
    {
      listType: 'map',
      listMapKeys: ['containerPort', 'protocol'],
      patchStrategy: 'merge',
      patchMergeKey: 'containerPort',
    },
  ),
});

const POD_SPEC = struct({
  containers: listMap(CONTAINER, 'name'),
  nodeSelector: { kind: 'map', values: SCALAR, mapType: 'atomic' },
  volumes: list(struct({ name: SCALAR, emptyDir: struct({}), hostPath: struct({ path: SCALAR }) }), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge,retainKeys',
    patchMergeKey: 'name',
  }),
});

const METADATA = struct({
  name: SCALAR,
  namespace: SCALAR,
  uid: SCALAR,
  generation: SCALAR,
  resourceVersion: SCALAR,
  creationTimestamp: SCALAR,
  labels: STRINGS,
  annotations: STRINGS,
  finalizers: list(SCALAR, { listType: 'set', patchStrategy: 'merge' }),
  managedFields: list({ kind: 'untyped' }, { listType: 'atomic' }),
});

export const DEPLOYMENT = struct({
  apiVersion: SCALAR,
  kind: SCALAR,
  metadata: METADATA,
  spec: struct({
    replicas: SCALAR,
    paused: SCALAR,
    strategy: struct(
      { type: SCALAR, rollingUpdate: struct({ maxSurge: SCALAR }) },
      { patchStrategy: 'retainKeys' },
    ),
    selector: struct({ matchLabels: STRINGS }, { mapType: 'atomic' }),
    template: struct({ metadata: METADATA, spec: POD_SPEC }),
  }),
  status: struct({ replicas: SCALAR, conditions: listMap(struct({ type: SCALAR, status: SCALAR }), 'type') }),
});
