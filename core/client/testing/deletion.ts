import type { Clock } from '../../base/clock.ts';
import type { KubernetesObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { conflict } from '../../api/meta/status-errors.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { ResourceType } from '../../api/scheme/resource-type.ts';
import { resourceOf } from './object-rules.ts';
import type { AnyStored } from './memory-store.ts';

export interface DeleteBody {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const DEFAULT_GRACE_SECONDS = 30;
const FINALIZER_OF_POLICY: Readonly<Record<string, string>> = {
  Orphan: 'orphan',
  Foreground: 'foregroundDeletion',
};

export const checkPreconditions = (type: ResourceType, object: AnyStored, body: DeleteBody): void => {
  const { uid, resourceVersion } = body.preconditions ?? {};
  const fail = (what: string, asked: string, is: string): Error =>
    conflict(
      resourceOf(type),
      object.metadata.name,
      `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${is}`,
    );
  if (uid !== undefined && uid !== object.metadata.uid) throw fail('UID', uid, object.metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
    throw fail('ResourceVersion', resourceVersion, object.metadata.resourceVersion);
};

/** Pods on a node stay until their kubelet has stopped them and deletes them with no grace. */
const graceSecondsOf = (type: ResourceType, object: AnyStored, body: DeleteBody): number => {
  if (type.group !== '' || type.kind !== 'Pod') return 0;
  const spec = (object['spec'] ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const phase = (object['status'] as { phase?: string } | undefined)?.phase;
  if (!spec.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
  const asked = body.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  const held = object.metadata.deletionGracePeriodSeconds;
  return held === undefined ? asked : Math.min(asked, held);
};

const isHeld = (type: ResourceType, object: KubernetesObject): boolean => {
  const spec = object['spec'] as { finalizers?: string[] } | undefined;
  const holdsNamespace =
    type.group === '' && type.kind === 'Namespace' && (spec?.finalizers ?? []).length > 0;
  return holdsNamespace || (object.metadata?.finalizers ?? []).length > 0;
};

/** Whether nothing keeps an object any longer whose deletion was asked for. */
export const mayGo = (type: ResourceType, object: KubernetesObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined &&
  (object.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  !isHeld(type, object);

/** The object as a delete leaves it, or `gone`. */
export const prepareDelete = (
  type: ResourceType,
  object: AnyStored,
  body: DeleteBody,
  clock: Clock,
): KubernetesObject | 'gone' => {
  const graceSeconds = graceSecondsOf(type, object, body);
  const finalizer = FINALIZER_OF_POLICY[body.propagationPolicy ?? ''];
  const held = object.metadata.finalizers ?? [];
  const finalizers = finalizer === undefined || held.includes(finalizer) ? held : [...held, finalizer];
  const metadata: ObjectMeta = {
    ...object.metadata,
    ...(finalizers.length > 0 && { finalizers }),
    deletionTimestamp: object.metadata.deletionTimestamp ?? formatTime(clock.nowMs() + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  const next: KubernetesObject = { ...object, metadata };
  if (type.group === '' && type.kind === 'Namespace')
    next['status'] = { ...(object['status'] as object | undefined), phase: 'Terminating' };
  return mayGo(type, next) ? 'gone' : next;
};
