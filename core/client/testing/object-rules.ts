import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { generateName } from '../../api/meta/generate-name.ts';
import { apiVersionOf } from '../../api/meta/group-version.ts';
import type { KubernetesObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { conflict, invalid } from '../../api/meta/status-errors.ts';
import { formatTime } from '../../api/meta/time.ts';
import { jsonEquals, type Json } from '../../api/patch/json.ts';
import { applyDefaults, structOfKind } from '../../api/schema/index.ts';
import type { ResourceType } from '../../api/scheme/resource-type.ts';
import { NEWEST_MINOR } from '../../api/releases/index.ts';
import type { AnyStored } from './memory-store.ts';

export interface RuleContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly defaults: boolean;
}

export const resourceOf = (type: ResourceType) => ({ group: type.group, resource: type.plural });
export const hasSubresource = (type: ResourceType, name: string): boolean =>
  type.subresources.some((subresource) => subresource.name === name);

const HEX = '0123456789abcdef';

const uid = (random: Random): string =>
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => HEX[random.below(16)]!);

/** As JSON carries it: what is undefined is not there. */
const clean = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const withDefaults = (
  type: ResourceType,
  object: KubernetesObject,
  context: RuleContext,
): KubernetesObject => {
  const struct = structOfKind(type);
  if (!context.defaults || !struct) return object;
  applyDefaults(struct, object, { minor: NEWEST_MINOR, now: formatTime(context.clock.nowMs()) });
  return object;
};

/** What the strategies of these kinds set when they are made. */
const withInitialState = (type: ResourceType, object: KubernetesObject): KubernetesObject => {
  const { status: _, ...bare } = object;
  const fresh = hasSubresource(type, 'status') ? bare : object;
  if (type.group !== '') return fresh;
  if (type.kind === 'Pod') return { ...fresh, status: { phase: 'Pending' } };
  if (type.kind === 'Namespace')
    return { ...fresh, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  return fresh;
};

/** The object as it is first kept. `keepStatus` is for what a test puts there itself. */
export const prepareCreate = (
  type: ResourceType,
  given: KubernetesObject,
  context: RuleContext & { readonly namespace: string; readonly keepStatus: boolean },
): KubernetesObject => {
  const metadata: ObjectMeta = given.metadata ?? {};
  const name =
    metadata.name || (metadata.generateName ? generateName(metadata.generateName, context.random) : '');
  if (name === '')
    throw invalid(type, '', [
      {
        reason: 'FieldValueRequired',
        message: 'Required value: name or generateName is required',
        field: 'metadata.name',
      },
    ]);
  const kept = context.keepStatus ? given : withInitialState(type, given);
  return withDefaults(
    type,
    clean({
      ...kept,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        ...metadata,
        name,
        ...(type.namespaced && { namespace: context.namespace }),
        uid: (context.keepStatus && metadata.uid) || uid(context.random),
        creationTimestamp:
          (context.keepStatus && metadata.creationTimestamp) || formatTime(context.clock.nowMs()),
        ...('spec' in given && { generation: (context.keepStatus && metadata.generation) || 1 }),
      },
    }),
    context,
  );
};

const FIXED = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
] as const;

/** Metadata that a writer cannot change. */
const withFixedMeta = (next: ObjectMeta, before: ObjectMeta): ObjectMeta => {
  const metadata: Record<string, unknown> = { ...next, name: before.name, namespace: before.namespace };
  for (const field of FIXED) metadata[field] = before[field];
  return metadata;
};

/** The object after a write to the main resource (`subresource` empty) or to status. */
export const prepareUpdate = (
  type: ResourceType,
  before: AnyStored,
  given: KubernetesObject,
  context: RuleContext & { readonly subresource: string },
): KubernetesObject => {
  const asked = given.metadata ?? {};
  const { name } = before.metadata;
  if (asked.resourceVersion && asked.resourceVersion !== before.metadata.resourceVersion)
    throw conflict(resourceOf(type), name);
  if (asked.uid && asked.uid !== before.metadata.uid)
    throw invalid(type, name, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(asked.uid)}: field is immutable`,
        field: 'metadata.uid',
      },
    ]);
  const metadata = withFixedMeta(asked, before.metadata);
  const { labels, annotations, finalizers } = metadata;
  const next: KubernetesObject =
    context.subresource === 'status'
      ? {
          ...before,
          status: given['status'],
          metadata: { ...before.metadata, labels, annotations, finalizers } as ObjectMeta,
        }
      : { ...given, ...(hasSubresource(type, 'status') && { status: before['status'] }), metadata };
  const whole = withDefaults(
    type,
    clean({ ...next, apiVersion: apiVersionOf(type), kind: type.kind }),
    context,
  );
  const specChanged = !jsonEquals(whole['spec'] as Json, before['spec'] as Json);
  if (specChanged && before.metadata.generation !== undefined)
    whole.metadata = { ...whole.metadata, generation: before.metadata.generation + 1 };
  return whole;
};

/** Whether a write changes nothing, so that no revision is spent on it. */
export const isSame = (before: AnyStored, next: KubernetesObject): boolean => {
  const bare = ({ metadata, ...rest }: KubernetesObject): Json => {
    const { resourceVersion: _, ...meta } = metadata ?? {};
    return { ...rest, metadata: meta } as unknown as Json;
  };
  return jsonEquals(bare(before), bare(next));
};
