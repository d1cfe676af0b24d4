import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { yamlFault } from '../../base/parse-fault.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import { applyDefaults, decodeObject, structOf, type V1Pod } from '../../api/schema/index.ts';
import { aggregateText } from '../../api/field/field-error.ts';
import { rulesOf } from '../../api/validation/validate.ts';

export const CONFIG_SOURCE = 'kubernetes.io/config.source';
export const CONFIG_HASH = 'kubernetes.io/config.hash';
export const CONFIG_SEEN = 'kubernetes.io/config.seen';
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';

export class ManifestError extends ReasonError<'Malformed' | 'Invalid'> {
  override readonly name = 'ManifestError';
}

export interface ManifestContext {
  readonly nodeName: string;
  readonly file: string;
  /** RFC 3339 */
  readonly now: string;
  readonly minor: number;
}

const malformed = (file: string, why: string): ManifestError =>
  new ManifestError('Malformed', `${file}: couldn't parse as pod(${why}), please check config file`);

const decode = (text: string, context: ManifestContext): V1Pod => {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw malformed(context.file, yamlFault(error));
  }
  if (!isJsonObject(value)) throw malformed(context.file, 'the file holds no object');
  if (value['kind'] !== 'Pod' || value['apiVersion'] !== 'v1')
    throw malformed(context.file, `it is a ${String(value['apiVersion'])} ${String(value['kind'])}`);
  const struct = structOf('core.v1.Pod');
  try {
    const { object } = decodeObject(struct, value);
    applyDefaults(struct, object, { minor: context.minor, now: context.now });
    return object as V1Pod;
  } catch (error) {
    throw malformed(context.file, messageOf(error));
  }
};

/** API objects may be away while a static pod has to start. */
const findApiReference = (pod: V1Pod): string | undefined => {
  const { spec } = pod;
  const volumes = spec?.volumes ?? [];
  if (volumes.some(({ configMap }) => configMap)) return 'configmaps';
  if (volumes.some(({ secret }) => secret)) return 'secrets';
  if (volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim)) return 'persistentvolumeclaims';
  if (volumes.some(({ projected }) => projected)) return 'projected volumes';
  if (spec?.serviceAccountName !== undefined) return 'serviceaccounts';
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const isConfigured = containers.some(
    ({ env, envFrom }) =>
      (envFrom ?? []).length > 0 ||
      (env ?? []).some(({ valueFrom }) => valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef),
  );
  return isConfigured ? 'configmaps or secrets' : undefined;
};

/**
 * The pod of a manifest, with the name, uid and annotations that the kubelet gives to static pods. The uid is a hash
 * of the content, so an edited file is another pod. ManifestError says what is wrong.
 */
export const readManifest = (text: string, context: ManifestContext): V1Pod => {
  const pod = decode(text, context);
  const { name } = pod.metadata ?? {};
  if (!name) throw new ManifestError('Invalid', 'invalid pod: name is needed for the pod');
  const hash = createHash('sha256')
    .update(JSON.stringify(pod))
    .update(`host:${context.nodeName}file:${context.file}`)
    .digest('hex')
    .slice(0, 32);
  const uid = pod.metadata?.uid ?? hash;
  const result: V1Pod = {
    ...pod,
    metadata: {
      ...pod.metadata,
      name: `${name}-${context.nodeName.toLowerCase()}`,
      namespace: pod.metadata?.namespace ?? 'default',
      uid,
      annotations: {
        ...pod.metadata?.annotations,
        [CONFIG_HASH]: uid,
        [CONFIG_SEEN]: context.now,
        [CONFIG_SOURCE]: 'file',
      },
    },
    spec: {
      ...pod.spec!,
      nodeName: context.nodeName,
      tolerations: [...(pod.spec?.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }],
    },
    status: { phase: 'Pending' },
  };
  const errors = rulesOf({ group: '', kind: 'Pod' })?.create(result as Record<string, unknown>) ?? [];
  if (errors.length > 0) throw new ManifestError('Invalid', `invalid pod: ${aggregateText(errors)}`);
  const reference = findApiReference(pod);
  if (reference !== undefined)
    throw new ManifestError('Invalid', `static pods may not reference ${reference}`);
  return result;
};
