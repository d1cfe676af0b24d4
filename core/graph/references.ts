import { shell } from '../base/shell-words.ts';
import type { V1ConfigMap, V1Container, V1PodSpec, V1Secret, V1ServiceAccount } from '../api/schema/index.ts';
import { say, type GraphRelation } from '../contract/index.ts';
import { reasonOf, type GraphBuilder } from './graph-builder.ts';

interface Wanted {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly keys: readonly string[];
  readonly isOptional: boolean;
  readonly relation: GraphRelation;
}

const containersOf = (spec: V1PodSpec): readonly V1Container[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
];

const ofEnvironment = (spec: V1PodSpec): Wanted[] =>
  containersOf(spec).flatMap(({ env, envFrom }) => [
    ...(env ?? []).flatMap(({ valueFrom }): Wanted[] => {
      const one = (
        kind: Wanted['kind'],
        ref: { name?: string; key?: string; optional?: boolean },
      ): Wanted => ({
        kind,
        name: ref.name ?? '',
        keys: ref.key === undefined ? [] : [ref.key],
        isOptional: ref.optional === true,
        relation: 'reads',
      });
      if (valueFrom?.configMapKeyRef) return [one('ConfigMap', valueFrom.configMapKeyRef)];
      return valueFrom?.secretKeyRef ? [one('Secret', valueFrom.secretKeyRef)] : [];
    }),
    ...(envFrom ?? []).flatMap(({ configMapRef, secretRef }): Wanted[] => {
      const ref = configMapRef ?? secretRef;
      if (!ref) return [];
      const kind = configMapRef ? 'ConfigMap' : 'Secret';
      return [{ kind, name: ref.name ?? '', keys: [], isOptional: ref.optional === true, relation: 'reads' }];
    }),
  ]);

const ofVolumes = (spec: V1PodSpec): Wanted[] => {
  const one = (
    kind: Wanted['kind'],
    name: string | undefined,
    items: readonly { key: string }[] | undefined,
    optional: boolean | undefined,
  ): Wanted => ({
    kind,
    name: name ?? '',
    keys: (items ?? []).map(({ key }) => key),
    isOptional: optional === true,
    relation: 'mounts',
  });
  return (spec.volumes ?? []).flatMap(({ configMap, secret, projected }) => [
    ...(configMap ? [one('ConfigMap', configMap.name, configMap.items, configMap.optional)] : []),
    ...(secret ? [one('Secret', secret.secretName, secret.items, secret.optional)] : []),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...(source.configMap
        ? [one('ConfigMap', source.configMap.name, source.configMap.items, source.configMap.optional)]
        : []),
      ...(source.secret
        ? [one('Secret', source.secret.name, source.secret.items, source.secret.optional)]
        : []),
    ]),
  ]);
};

/** Every namespace has it, and every pod mounts it with its token. */
const ROOT_CA = 'kube-root-ca.crt';

const keysOf = (object: V1ConfigMap | V1Secret): readonly string[] => [
  ...Object.keys(object.data ?? {}),
  ...Object.keys((object as V1ConfigMap).binaryData ?? {}),
];

const addConfig = (b: GraphBuilder, from: string, namespace: string, wanted: Wanted): void => {
  const { kind, name, keys, isOptional, relation } = wanted;
  if (name === '' || name === ROOT_CA) return;
  const contents = keys.length > 0 ? keys.map((key) => `--from-literal=${key}=VALUE`) : ['--from-file=FILE'];
  const command =
    kind === 'ConfigMap'
      ? shell`kubectl -n ${namespace} create configmap ${name} ${contents}`
      : shell`kubectl -n ${namespace} create secret generic ${name} ${contents}`;
  const found = b.refer<V1ConfigMap | V1Secret>(from, { kind, namespace, name }, relation, {
    isOptional,
    command,
  });
  if (!found || isOptional) return;
  const known = keysOf(found);
  for (const key of keys)
    if (!known.includes(key))
      b.edge(from, `${kind}/${namespace}/${name}`, relation, [
        reasonOf(
          'error',
          say('graph.keyNotFound', { kind, name, key, known: known.join(', ') || '-' }),
          say('graph.fix.keyNotFound'),
          shell`kubectl -n ${namespace} edit ${kind.toLowerCase()} ${name}`,
        ),
      ]);
};

/** What a pod needs besides itself, from its spec or from a template that has no pods yet. */
export const addReferences = (b: GraphBuilder, from: string, namespace: string, spec: V1PodSpec): void => {
  for (const wanted of [...ofEnvironment(spec), ...ofVolumes(spec)]) addConfig(b, from, namespace, wanted);
  for (const { persistentVolumeClaim } of spec.volumes ?? [])
    if (persistentVolumeClaim)
      b.refer(
        from,
        { kind: 'PersistentVolumeClaim', namespace, name: persistentVolumeClaim.claimName },
        'claims',
      );
  const account = spec.serviceAccountName ?? 'default';
  const found = b.refer<V1ServiceAccount>(
    from,
    { kind: 'ServiceAccount', namespace, name: account },
    'runsAs',
    {
      command: shell`kubectl -n ${namespace} create serviceaccount ${account}`,
    },
  );
  const pulls = [...(spec.imagePullSecrets ?? []), ...(found?.imagePullSecrets ?? [])];
  for (const name of new Set(pulls.map((secret) => secret.name ?? '')))
    if (name !== '')
      b.refer(from, { kind: 'Secret', namespace, name }, 'pulls', {
        command: shell`kubectl -n ${namespace} create secret docker-registry ${name} --docker-server=SERVER --docker-username=USER --docker-password=PASSWORD`,
      });
};
